/** Text of programs with line numbers, and for Python with its comments, texts and words told apart. */

import { h } from "../core/dom.js";
import { visible } from "./ansi.js";

const PYTHON = /(#[^\n]*)|("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|\b(and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False|self)\b|\b(\d[\w.]*)\b/g;
const KINDS = ["", "comment", "text", "word", "number"];
const MOST_COLOURED = 200_000;

/**
 * @param {string} text
 * @param {string} name Of the file.
 * @param {number} [first] The number of its first line.
 */
export function code(text, name, first = 1) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (lines.length > 1 && !lines[lines.length - 1]) lines.pop();
  const numbers = lines.map((_, at) => String(first + at)).join("\n");
  const isPython = /\.pyi?$/.test(name) && text.length < MOST_COLOURED;
  const content = isPython ? coloured(lines.join("\n")) : [visible(lines.join("\n"))];
  return h("div", { class: "code", tabindex: "0", role: "region", "aria-label": name }, h("pre", { class: "code-numbers", "aria-hidden": "true" }, numbers), h("pre", { class: "code-text" }, h("code", null, ...content)));
}

/** @param {string} text */
function coloured(text) {
  /** @type {(Node | string)[]} */
  const found = [];
  let done = 0;
  for (const match of text.matchAll(PYTHON)) {
    if (match.index > done) found.push(visible(text.slice(done, match.index)));
    const kind = match.findIndex((part, at) => at > 0 && part !== undefined);
    found.push(h("span", { class: `code-${KINDS[kind]}` }, visible(match[0])));
    done = match.index + match[0].length;
  }
  found.push(visible(text.slice(done)));
  return found;
}

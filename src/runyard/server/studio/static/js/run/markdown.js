/**
 * Markdown as elements. Only what is understood becomes one, and all else stays the text that it is: there is no way
 * for markup to get into the page, and links lead to http, https and mailto alone.
 */

import { h } from "../core/dom.js";
import { visible } from "./ansi.js";

/** @typedef {Node | string} Part */

const MOST_DEPTH = 8;
const LONGEST = 200_000;

/**
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  const lines = visible(text.slice(0, LONGEST).replace(/\r\n?/g, "\n")).split("\n");
  return h("div", { class: "markdown" }, ...blocks(lines, 0));
}

/**
 * @param {string[]} lines
 * @param {number} depth
 * @returns {HTMLElement[]}
 */
function blocks(lines, depth) {
  /** @type {HTMLElement[]} */
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^ {0,3}(```+|~~~+)\s*([\w+-]*)/.exec(line);
    const heading = /^ {0,3}(#{1,6})\s+(.*)$/.exec(line);
    if (!line.trim()) at++;
    else if (fence) {
      const until = endOf(lines, at + 1, (each) => !each.trim().startsWith(fence[1]));
      found.push(h("pre", { tabindex: "0" }, h("code", null, lines.slice(at + 1, until).join("\n"))));
      at = until + 1;
    } else if (heading) {
      // The page's own heading is above: the largest of a text is one below it.
      found.push(h(`h${Math.min(6, heading[1].length + 2)}`, null, ...inline(heading[2].trimEnd().replace(/(?<=\s)#+$/, "").trimEnd())));
      at++;
    } else if (/^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      found.push(h("hr"));
      at++;
    } else if (/^ {0,3}>/.test(line) && depth < MOST_DEPTH) {
      const until = endOf(lines, at, (each) => /^ {0,3}>/.test(each) || Boolean(each.trim()));
      found.push(h("blockquote", null, ...blocks(lines.slice(at, until).map((each) => each.replace(/^ {0,3}> ?/, "")), depth + 1)));
      at = until;
    } else if (bullet(line) && depth < MOST_DEPTH) at = list(lines, at, depth, found);
    else if (at + 1 < lines.length && line.includes("|") && cells(lines[at + 1]).every((each) => /^:?-+:?$/.test(each))) at = table(lines, at, found);
    else {
      const until = Math.max(at + 1, endOf(lines, at, (each) => Boolean(each.trim()) && !/^ {0,3}(#{1,6}\s|```|~~~|>)/.test(each) && !bullet(each)));
      found.push(h("p", null, ...inline(lines.slice(at, until).join("\n"))));
      at = until;
    }
  }
  return found;
}

/**
 * @param {string[]} lines
 * @param {number} from
 * @param {(line: string) => boolean} belongs
 */
function endOf(lines, from, belongs) {
  let at = from;
  while (at < lines.length && belongs(lines[at])) at++;
  return at;
}

/** @param {string} line */
function bullet(line) {
  return /^( *)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/.exec(line);
}

/**
 * @param {string[]} lines
 * @param {number} from
 * @param {number} depth
 * @param {HTMLElement[]} found
 */
function list(lines, from, depth, found) {
  const first = /** @type {RegExpExecArray} */ (bullet(lines[from]));
  const indent = first[1].length;
  const ordered = first[3] !== undefined;
  const element = h(ordered ? "ol" : "ul", ordered && first[3] !== "1" ? { start: first[3] } : null);
  let at = from;
  while (at < lines.length) {
    const mark = bullet(lines[at]);
    if (!mark || mark[1].length !== indent || (mark[3] !== undefined) !== ordered) break;
    const until = endOf(lines, at + 1, (each) => !each.trim() || (/^ +/.exec(each)?.[0].length ?? 0) > indent);
    const inner = [mark[4], ...lines.slice(at + 1, until).map((each) => each.slice(Math.min(indent + 2, /^ */.exec(each)?.[0].length ?? 0)))];
    while (inner.length && !inner[inner.length - 1].trim()) inner.pop();
    const task = /^\[([ xX])\]\s+(.*)$/.exec(inner[0] ?? "");
    if (task) inner[0] = `${task[1] === " " ? "☐" : "☑"} ${task[2]}`;
    const content = blocks(inner, depth + 1);
    if (content.length && content[0].tagName === "P") content.splice(0, 1, .../** @type {any[]} */ ([...content[0].childNodes]));
    element.append(h("li", null, ...content));
    at = until;
  }
  found.push(element);
  return at;
}

/** @param {string} line */
function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

/**
 * @param {string[]} lines
 * @param {number} from
 * @param {HTMLElement[]} found
 */
function table(lines, from, found) {
  const until = endOf(lines, from + 2, (each) => each.includes("|"));
  const head = h("tr", null, ...cells(lines[from]).map((cell) => h("th", { scope: "col" }, ...inline(cell))));
  const rows = lines.slice(from + 2, until).map((line) => h("tr", null, ...cells(line).map((cell) => h("td", null, ...inline(cell)))));
  found.push(h("div", { class: "table-frame" }, h("table", { class: "table" }, h("thead", null, head), h("tbody", null, ...rows))));
  return until;
}

const INLINE = /(?<!`)(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|!?\[([^[\]]{0,500})\]\(\s*<?([^\s()<>]{1,2000})>?(?:\s+"[^"]{0,500}")?\s*\)|<?(https?:\/\/[^\s<>()]{1,2000}[^\s<>().,;:!?'"])>?|(\*\*|__)(?=\S)([\s\S]{1,2000}?\S)\6|(~~)(?=\S)([\s\S]{1,2000}?\S)~~|(?<![\w*_])([*_])(?=\S)([^*_]{1,2000}?\S|\S)\10(?![\w*_])|\\([!-/:-@[-`{-~])|(?<! ) {2,}\n|\\\n/g;

/**
 * @param {string} text
 * @param {number} [depth]
 * @returns {Part[]}
 */
function inline(text, depth = 0) {
  if (depth > MOST_DEPTH) return [text];
  /** @type {Part[]} */
  const found = [];
  let done = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index < done) continue;
    if (match.index > done) found.push(text.slice(done, match.index));
    done = match.index + match[0].length;
    if (match[2] !== undefined) found.push(h("code", null, match[2].trim()));
    else if (match[4] !== undefined) found.push(link(match[4], match[3] || match[4], depth) ?? match[0]);
    else if (match[5] !== undefined) found.push(link(match[5], null, depth) ?? match[0]);
    else if (match[7] !== undefined) found.push(h("strong", null, ...inline(match[7], depth + 1)));
    else if (match[9] !== undefined) found.push(h("del", null, ...inline(match[9], depth + 1)));
    else if (match[11] !== undefined) found.push(h("em", null, ...inline(match[11], depth + 1)));
    else if (match[12] !== undefined) found.push(match[12]);
    else found.push(h("br"));
  }
  if (done < text.length) found.push(text.slice(done));
  return found;
}

/**
 * A link, where it leads to something that is safe to open. Pictures are links too: nothing is loaded from elsewhere.
 * @param {string} href
 * @param {string | null} text
 * @param {number} depth
 */
function link(href, text, depth) {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return null;
  return h("a", { href, rel: "noreferrer noopener", target: "_blank" }, ...(text === null ? [href] : inline(text, depth + 1)));
}

/** What a file looks like: text, code, images, figures, tables, JSON, Markdown, notebooks. Never more of it than is shown. */

import { request } from "../core/api.js";
import { bytes, h, number } from "../core/dom.js";
import { shown, visible } from "./ansi.js";
import { code } from "./code.js";
import { drawn, figureIn, figureOf, mayBeFigure } from "./figure.js";
import { markdown } from "./markdown.js";

const TEXT = 256 * 1024;
/** Bytes of a text that are fetched. */
const NOTEBOOK = 8 << 20;
const FIGURE = 32 << 20;
const IMAGE = 64 << 20;
const ROWS = 500;

const IMAGES = /\.(png|jpe?g|gif|webp|bmp|svg|ico|avif)$/i;

/**
 * @param {string} href Where its bytes are.
 * @param {string} name
 * @param {number} size
 * @returns {Promise<HTMLElement>}
 */
export async function preview(href, name, size) {
  if (!size) return h("p", { class: "faint" }, "The file is empty.");
  if (IMAGES.test(name)) return size > IMAGE ? none(`An image of ${bytes(size)} is too large to be shown.`) : image(href, name);
  if (/\.ipynb$/i.test(name) && size <= NOTEBOOK) return notebook(await text(href, size), name);
  const content = await text(href, TEXT);
  if (content === null) return none("This is no text, and there is no preview of its kind.");
  const whole = size <= TEXT;
  if (size <= FIGURE && mayBeFigure(content, name)) {
    const figure = figureIn(whole ? content : ((await text(href, size)) ?? ""), name);
    if (figure) return drawn(figure, name);
  }
  const parts = [form(content, name, whole)];
  if (!whole) parts.unshift(h("p", { class: "faint" }, `The first ${bytes(TEXT)} of ${bytes(size)}. The download has all of it.`));
  return h("div", null, parts);
}

/**
 * @param {string} content
 * @param {string} name
 * @param {boolean} whole
 */
function form(content, name, whole) {
  if (/\.(csv|tsv)$/i.test(name)) return table(content, /\.tsv$/i.test(name) ? "\t" : ",", whole);
  if (/\.(md|markdown)$/i.test(name)) return markdown(content);
  if (/\.json$/i.test(name) && whole) {
    try {
      return code(JSON.stringify(JSON.parse(content), null, 2), name);
    } catch {
      return code(content, name); // as it is: it is no JSON
    }
  }
  return code(content, name);
}

/** @param {string} why */
function none(why) {
  return h("div", { class: "empty" }, h("h2", null, "No preview"), h("p", null, why));
}

/**
 * The beginning of a file as text; null when it is none.
 * @param {string} href
 * @param {number} most
 */
async function text(href, most) {
  const answer = await fetchPart(href, most);
  const content = new Uint8Array(answer);
  if (content.subarray(0, 8192).includes(0)) return null;
  const decoded = new TextDecoder("utf-8").decode(content);
  const odd = decoded.slice(0, 4000).split("\ufffd").length - 1;
  return odd > 40 ? null : decoded;
}

/** @param {string} href @param {number} most */
async function fetchPart(href, most) {
  const answer = await fetch(href, { headers: { Range: `bytes=0-${most - 1}` }, credentials: "same-origin" });
  if (answer.ok) return answer.arrayBuffer();
  return (await request("GET", href)).arrayBuffer(); // tells the reader why
}

/** @param {string} href @param {string} name */
function image(href, name) {
  return h("div", { class: "preview-image" }, h("img", { src: href, alt: name.split("/").pop() ?? name, loading: "lazy" }));
}

/**
 * @param {string} content
 * @param {string} separator
 * @param {boolean} whole
 */
function table(content, separator, whole) {
  const rows = parsed(content, separator, ROWS + 2);
  if (!whole && rows.length <= ROWS + 1) rows.pop(); // the last one may be cut
  const [head = [], ...body] = rows;
  const width = Math.min(100, Math.max(head.length, ...body.slice(0, 50).map((row) => row.length)));
  const isNumber = Array.from({ length: width }, (_, at) => body.length > 0 && body.slice(0, 50).every((row) => !row[at] || !Number.isNaN(Number(row[at]))));
  const told = body.length > ROWS ? `The first ${number(ROWS)} rows` : `${number(body.length)} rows`;
  return h(
    "div",
    null,
    h("p", { class: "faint" }, `${told}, ${number(head.length)} columns`),
    h(
      "div",
      { class: "table-frame preview-table", tabindex: "0", role: "region", "aria-label": "Table" },
      h(
        "table",
        { class: "table" },
        h("thead", null, h("tr", null, head.slice(0, width).map((cell) => h("th", { scope: "col" }, visible(cell))))),
        h("tbody", null, body.slice(0, ROWS).map((row) => h("tr", null, Array.from({ length: width }, (_, at) => h("td", isNumber[at] ? { class: "number" } : null, visible((row[at] ?? "").slice(0, 2000))))))),
      ),
    ),
  );
}

/**
 * Rows of a table whose cells are separated, in quotes where they hold the separator.
 * @param {string} content
 * @param {string} separator
 * @param {number} most
 */
export function parsed(content, separator, most) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let at = content.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < content.length && rows.length < most) {
    let cell = "";
    if (content[at] === '"') {
      let from = at + 1;
      for (;;) {
        const end = content.indexOf('"', from);
        if (end < 0) {
          cell += content.slice(from);
          at = content.length;
          break;
        }
        cell += content.slice(from, end);
        at = end + 1;
        if (content[at] !== '"') break;
        cell += '"';
        from = at + 1;
      }
    }
    const start = at;
    while (at < content.length && content[at] !== separator && content[at] !== "\n") at++;
    cell += content.slice(start, at).replace(/\r$/, "");
    row.push(cell);
    if (at >= content.length || content[at] === "\n") {
      rows.push(row);
      row = [];
    } else if (at === content.length - 1) row.push("");
    at++;
  }
  if (row.length) rows.push(row);
  return rows;
}

/**
 * A notebook with what its cells have put out. Pictures are shown, HTML and scripts are not: they are what somebody
 * else wrote.
 * @param {string | null} content
 * @param {string} name
 */
export function notebook(content, name) {
  /** @type {any} */
  let read;
  try {
    read = JSON.parse(content ?? "");
  } catch {
    return code(content ?? "", name);
  }
  const cells = Array.isArray(read?.cells) ? read.cells.slice(0, 1000) : [];
  if (!cells.length) return code(JSON.stringify(read, null, 2), name);
  return h("div", { class: "notebook" }, cells.map(cell));
}

/** @param {any} cell */
function cell(cell) {
  const source = joined(cell?.source);
  if (cell?.cell_type === "markdown") return markdown(source);
  if (cell?.cell_type !== "code") return h("pre", { tabindex: "0" }, visible(source));
  const outputs = Array.isArray(cell.outputs) ? cell.outputs.slice(0, 100) : [];
  const label = `In [${Number.isInteger(cell.execution_count) ? cell.execution_count : " "}]`;
  return h("div", { class: "notebook-cell" }, h("span", { class: "notebook-count faint" }, label), code(source, "cell.py"), outputs.map(output));
}

/** @param {any} output */
function output(output) {
  const kinds = output?.data ?? {};
  for (const kind of ["image/png", "image/jpeg", "image/gif"]) {
    const encoded = joined(kinds[kind]).replace(/\s/g, "");
    if (encoded && /^[A-Za-z0-9+/=]+$/.test(encoded)) return h("img", { src: `data:${kind};base64,${encoded}`, alt: joined(kinds["text/plain"]) || "output" });
  }
  const figure = figureOf(kinds["application/vnd.plotly.v1+json"]);
  if (figure) return drawn(figure, "of the cell");
  if (kinds["text/markdown"]) return markdown(joined(kinds["text/markdown"]));
  const lines = output?.output_type === "error" ? joined(output.traceback, "\n") : joined(output?.text ?? kinds["text/plain"]);
  if (!lines) return null;
  return h("pre", { class: "notebook-output", tabindex: "0" }, lines.slice(0, 100_000).split("\n").flatMap((line) => [...shown(line), "\n"]));
}

/** @param {any} parts @param {string} [between] */
function joined(parts, between = "") {
  if (Array.isArray(parts)) return parts.filter((each) => typeof each === "string").join(between);
  return typeof parts === "string" ? parts : "";
}

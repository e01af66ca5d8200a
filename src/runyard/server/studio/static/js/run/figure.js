/** Figures of Plotly: which files hold one, and the frame in which it is drawn (`studio/figures.py`). */

import { embedded, h } from "../core/dom.js";
import { visible } from "./ansi.js";
import { code } from "./code.js";

const FRAME = "/figures/frame";
const HEIGHT = 450;

/** @typedef {{ data: any[], layout: any, frames?: any[] }} Figure */

/**
 * Whether a file of which this is the beginning may hold a figure: `write_json` and `write_html` make such.
 * @param {string} beginning
 * @param {string} name
 */
export function mayBeFigure(beginning, name) {
  if (/\.json$/i.test(name)) return /^\s*\{\s*"(data|layout)"\s*:/.test(beginning);
  return /\.html?$/i.test(name) && /plotly/i.test(beginning);
}

/**
 * The figure in the text of a file; null where there is none.
 * @param {string} content
 * @param {string} name
 * @returns {Figure | null}
 */
export function figureIn(content, name) {
  try {
    return /\.json$/i.test(name) ? figureOf(JSON.parse(content)) : called(content);
  } catch {
    return null;
  }
}

/** @param {any} found @returns {Figure | null} */
export function figureOf(found) {
  const { data, layout = {}, frames } = found ?? {};
  const isFigure = Array.isArray(data) && data.every((trace) => typeof trace === "object" && trace !== null) && typeof layout === "object" && layout !== null && !Array.isArray(layout);
  return isFigure && (data.length || Object.keys(layout).length) ? { data, layout, frames: Array.isArray(frames) ? frames : undefined } : null;
}

/**
 * What a page that Plotly wrote calls `Plotly.newPlot` with, after the name of a place.
 * @param {string} html
 */
function called(html) {
  const at = html.lastIndexOf("Plotly.newPlot(");
  if (at < 0) return null;
  const data = bracketed(html, html.indexOf("[", at));
  const layout = data && bracketed(html, html.indexOf("{", data.end));
  return data && layout ? figureOf({ data: JSON.parse(data.text), layout: JSON.parse(layout.text) }) : null;
}

/**
 * The JSON that begins with the bracket at this place, and where it ends; null where it does not end.
 * @param {string} text
 * @param {number} from
 */
function bracketed(text, from) {
  if (from < 0) return null;
  const marks = /["[\]{}]/g;
  marks.lastIndex = from;
  let depth = 0;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    if (mark[0] === '"') marks.lastIndex = afterString(text, marks.lastIndex);
    else if (mark[0] === "[" || mark[0] === "{") depth++;
    else if (--depth === 0) return { text: text.slice(from, marks.lastIndex), end: marks.lastIndex };
  }
  return null;
}

/** @param {string} text @param {number} from After the quote that begins it. */
function afterString(text, from) {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text[escapes - 1] === "\\") escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
  return text.length;
}

/**
 * The figure as it is drawn, and its definition below.
 * @param {Figure} figure
 * @param {string} name
 */
export function drawn(figure, name) {
  const definition = h("details", null, h("summary", null, "Its definition"));
  definition.addEventListener("toggle", () => definition.append(code(JSON.stringify(figure, null, 2).slice(0, 256 * 1024), "figure.json")), { once: true });
  const missing = embedded("figures-data").missing;
  if (missing) {
    return h("div", null, h("div", { class: "empty" }, h("h2", null, "A figure of Plotly"), h("p", null, "It is drawn where the server has Plotly. On the server's machine:"), h("pre", null, missing)), definition);
  }
  const asked = Number(figure.layout.height);
  const height = asked >= 100 && asked <= 4000 ? asked : HEIGHT;
  const frame = /** @type {HTMLIFrameElement} */ (h("iframe", { class: "figure", src: FRAME, sandbox: "allow-scripts", loading: "lazy", height, title: `Figure ${visible(name)}` }));
  const told = h("p", { class: "faint", role: "status" }, "Plotly is loaded …");
  let ready = false;
  const hear = (/** @type {MessageEvent} */ event) => {
    if (ready && !frame.isConnected) return removeEventListener("message", hear);
    if (event.source !== frame.contentWindow) return;
    if (event.data?.ready) {
      ready = true;
      frame.contentWindow?.postMessage(figure, "*"); // it has no origin that could be named
    } else told.textContent = event.data?.problem ? `Plotly could not draw it: ${visible(String(event.data.problem))}` : "";
  };
  addEventListener("message", hear);
  return h("div", null, told, frame, definition);
}

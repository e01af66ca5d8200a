/** The files of a dataset or of a datastore, fetched by the piece: they may lie far away, and be many. */

import { get, Problem, report } from "../core/api.js";
import { byId, bytes, embedded, h, replace } from "../core/dom.js";

const PIECE = 200;

/** `content` is where the bytes of a file are, by its path; without it, a file says itself where, below `base`. */
const { files: address, content, base } = embedded();
const place = byId("files");
const body = h("tbody", null);
const more = h("p", { class: "pager" });
let shown = 0;

/** @param {any} file */
function row(file) {
  const href = content ? `${content}?path=${encodeURIComponent(file.path)}` : file.content ? `${base}/${file.content}` : null;
  const name = href ? h("a", { href, download: true }, file.path) : file.path;
  return h("tr", null, h("td", { class: "wrap" }, name), h("td", { class: "number" }, bytes(file.size)));
}

/** @param {string | null} after */
async function fetchPiece(after) {
  const separator = address.includes("?") ? "&" : "?";
  const query = `limit=${PIECE}${after ? `&after=${encodeURIComponent(after)}` : ""}`;
  const answer = await get(`${address}${separator}${query}`);
  if (!shown) {
    if (!answer.files.length) return replace(place, h("p", { class: "faint" }, "No file is there."));
    const head = h("thead", null, h("tr", null, h("th", { scope: "col" }, "File"), h("th", { scope: "col", class: "number" }, "Size")));
    const frame = h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Files" }, h("table", { class: "table" }, head, body));
    replace(place, frame, more);
  }
  body.append(...answer.files.map(row));
  shown += answer.files.length;
  const next = answer.next ?? null;
  replace(more, h("span", { class: "faint" }, `${shown} file${shown === 1 ? "" : "s"} `),
    next ? h("button", { type: "button", on: { click: () => fetchPiece(next).catch(report) } }, "Show more") : null);
}

if (address) {
  fetchPiece(null).catch((error) => {
    if (error instanceof Problem) replace(place, h("div", { class: "problem" }, h("p", null, error.message), h("p", { class: "faint" }, error.help)));
    else report(error);
  });
}

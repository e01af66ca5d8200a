/** The source of two runs side by side, with the lines that have changed. */

import { get, report } from "../core/api.js";
import { h, replace } from "../core/dom.js";
import { placeOf } from "../core/tabs.js";
import { visible } from "../run/ansi.js";

/**
 * @typedef {object} Line
 * @property {number} number
 * @property {string} text
 */

const MOST_LINES = 2000;

/**
 * @param {HTMLElement} element
 * @param {import("./page.js").Compared[]} compared
 * @param {URLSearchParams} asked
 */
export async function showSource(element, compared, asked) {
  const pick = (/** @type {string | null} */ id, /** @type {number} */ otherwise) => compared.find((each) => each.id === id) ?? compared[otherwise];
  const [first, second] = [pick(asked.get("from"), 0), pick(asked.get("to"), 1)];
  const choose = (/** @type {string} */ label, /** @type {string} */ chosen) => h("select", { "aria-label": label }, compared.map((each) => h("option", { value: each.id, selected: each.id === chosen }, each.label)));
  const [from, to] = /** @type {HTMLSelectElement[]} */ ([choose("From", first.id), choose("To", second.id)]);
  for (const each of [from, to]) each.addEventListener("change", () => (location.hash = placeOf("source", { from: from.value, to: to.value })));
  const place = h("div", { class: "diffs" }, h("p", { class: "faint" }, "…"));
  replace(element, h("div", { class: "curves-bar" }, from, h("span", { class: "faint" }, "to"), to), place);
  if (first.id === second.id) return replace(place, h("div", { class: "empty" }, h("h2", null, "This is the same run"), h("p", null, "Choose two.")));
  try {
    const { files } = await get(`/api/comparisons/source?run=${encodeURIComponent(first.id)}&run=${encodeURIComponent(second.id)}`);
    replace(place, files.length ? files.map(file) : h("div", { class: "empty" }, h("h2", null, "The source is the same")));
  } catch (error) {
    report(error);
  }
}

/** @param {any} file */
function file(file) {
  const mark = { added: "good", removed: "bad", changed: "busy" }[/** @type {string} */ (file.change)] ?? "";
  const head = h("summary", { class: "diff-head" }, h("code", null, visible(file.path)), h("span", { class: `badge plain ${mark}` }, file.change), file.note ? h("span", { class: "faint" }, visible(file.note)) : null);
  return h("details", { class: "diff", open: true }, head, file.diff ? sides(file.diff, file.path) : null);
}

/**
 * A unified diff as two columns: what was taken away on the left, what has come on the right.
 * @param {string} diff
 * @param {string} path
 */
function sides(diff, path) {
  /** @type {HTMLElement[]} */
  const rows = [];
  /** @type {Line[]} */
  let gone = [];
  /** @type {Line[]} */
  let come = [];
  let left = 0;
  let right = 0;
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at++) rows.push(row(gone[at], come[at], true));
    gone = [];
    come = [];
  };
  const lines = diff.split("\n").slice(2, MOST_LINES);
  for (const text of lines) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
    if (hunk) {
      flush();
      if (rows.length) rows.push(h("tr", { class: "diff-gap" }, h("td", { colspan: 4 }, "⋯")));
      left = Number(hunk[1]);
      right = Number(hunk[2]);
    } else if (text.startsWith("-")) gone.push({ number: left++, text: text.slice(1) });
    else if (text.startsWith("+")) come.push({ number: right++, text: text.slice(1) });
    else if (text.startsWith(" ")) {
      flush();
      rows.push(row({ number: left++, text: text.slice(1) }, { number: right++, text: text.slice(1) }, false));
    }
  }
  flush();
  return h("div", { class: "diff-frame", tabindex: "0", role: "region", "aria-label": `Changes in ${path}` }, h("table", { class: "diff-table" }, h("colgroup", null, h("col", { class: "diff-narrow" }), h("col"), h("col", { class: "diff-narrow" }), h("col")), h("thead", null, h("tr", null, ["line", "before", "line", "after"].map((name) => h("th", { scope: "col" }, h("span", { class: "unseen" }, name))))), h("tbody", null, rows)));
}

/**
 * @param {Line | undefined} before
 * @param {Line | undefined} after
 * @param {boolean} changed
 */
function row(before, after, changed) {
  const [old, fresh] = changed && before && after ? words(before.text, after.text) : [before && visible(before.text), after && visible(after.text)];
  return h(
    "tr",
    null,
    h("td", { class: "diff-number" }, before?.number),
    h("td", { class: !before ? "diff-none" : changed ? "diff-gone" : null }, old),
    h("td", { class: "diff-number" }, after?.number),
    h("td", { class: !after ? "diff-none" : changed ? "diff-come" : null }, fresh),
  );
}

/**
 * Two lines with the part marked in which they differ.
 * @param {string} before
 * @param {string} after
 */
function words(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return [before, after].map((text) => {
    const middle = text.slice(start, text.length - end);
    return [visible(text.slice(0, start)), middle ? h("mark", null, visible(middle)) : null, visible(text.slice(text.length - end))];
  });
}

/** A table of what differs between runs: a row for each argument, metric, tag, package, input, and a column for each run. */

import { h, number, replace } from "../core/dom.js";
import { runHref } from "../run/account.js";
import { visible } from "../run/ansi.js";
import { textOf } from "../run/points.js";

/** @typedef {{ group: string, name: string, values: any[], same: boolean }} Row */

const AT_FIRST = 300;

/**
 * @param {HTMLElement} element
 * @param {import("./page.js").Compared[]} compared
 * @param {Row[]} rows
 */
export function showTable(element, compared, rows) {
  let all = false;
  let shown = AT_FIRST;
  const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Search rows", "aria-label": "Search rows", class: "curves-search" }));
  const every = h("button", { type: "button", "aria-pressed": "false" }, "Also what is the same");
  const told = h("span", { class: "faint", role: "status" });
  const place = h("div");
  const fill = () => {
    const wanted = search.value.toLowerCase();
    const fits = rows.filter((row) => (all || !row.same) && `${row.group} ${row.name}`.toLowerCase().includes(wanted));
    told.textContent = `${number(fits.length)} of ${number(rows.length)} rows`;
    if (!fits.length) return replace(place, h("div", { class: "empty" }, h("h2", null, wanted ? "No row has this name" : "Nothing differs")));
    const parts = [];
    let group = "";
    for (const row of fits.slice(0, shown)) {
      if (row.group !== group) parts.push(h("tr", { class: "compare-group" }, h("th", { scope: "colgroup", colspan: compared.length + 1 }, row.group)));
      group = row.group;
      const best = extremes(row);
      parts.push(h("tr", { class: row.same ? "compare-same" : null }, h("th", { scope: "row" }, visible(row.name)), row.values.map((value) => h("td", { class: typeof value === "number" ? "number" : null, title: value === best.high ? "the largest" : value === best.low ? "the smallest" : null }, cell(value, row)))));
    }
    const more = h("button", { type: "button", class: "curves-more", hidden: fits.length <= shown }, `Show more of ${number(fits.length)}`);
    more.addEventListener("click", () => {
      shown += 2000;
      fill();
    });
    const head = h("tr", null, h("th", { scope: "col" }, h("span", { class: "unseen" }, "what")), compared.map(({ run, label }) => h("th", { scope: "col" }, h("a", { href: runHref(run.workspace, run.id) }, label))));
    replace(place, h("div", { class: "table-frame compare-table", tabindex: "0", role: "region", "aria-label": "What differs" }, h("table", { class: "table" }, h("thead", null, head), h("tbody", null, parts))), more);
  };
  search.addEventListener("input", fill);
  every.addEventListener("click", () => {
    all = !all;
    every.setAttribute("aria-pressed", String(all));
    fill();
  });
  replace(element, h("div", { class: "curves-bar" }, search, every, told), place);
  fill();
}

/** @param {Row} row */
function extremes(row) {
  const numbers = row.values.filter((value) => typeof value === "number" && Number.isFinite(value));
  return numbers.length > 1 && !row.same ? { high: Math.max(...numbers), low: Math.min(...numbers) } : { high: null, low: null };
}

/** @param {any} value @param {Row} row */
function cell(value, row) {
  if (value === null || value === undefined) return h("span", { class: "faint" }, "–");
  if (typeof value === "number") return number(value);
  const text = textOf(value);
  return visible(/snapshot|digest|commit/.test(row.name) ? text.slice(0, 12) : text.slice(0, 400));
}

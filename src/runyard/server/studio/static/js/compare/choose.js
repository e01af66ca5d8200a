/** The choice of runs to compare, where none or one was named. */

import { get, report } from "../core/api.js";
import { badge, h, replace, time } from "../core/dom.js";
import { visible } from "../run/ansi.js";

const SHOWN = 50;

/**
 * @param {HTMLElement} element
 * @param {string} workspace
 * @param {string[]} chosen
 */
export async function choose(element, workspace, chosen) {
  const place = h("div");
  const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Search by a part of the id", "aria-label": "Search runs", class: "curves-search", "data-search": true }));
  const go = /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: "primary" }, "Compare"));
  const marked = new Set(chosen);
  const tell = () => {
    go.disabled = marked.size < 2;
    go.textContent = marked.size < 2 ? "Compare" : `Compare ${marked.size} runs`;
  };
  go.addEventListener("click", () => location.assign(`?runs=${[...marked].map(encodeURIComponent).join(",")}`));
  const fill = async () => {
    const asked = new URLSearchParams({ workspace, limit: String(SHOWN), include_children: "true" });
    if (search.value) asked.set("part", search.value);
    const { runs } = await get(`/api/runs?${asked}`);
    if (!runs.length) return replace(place, h("p", { class: "faint" }, "No runs."));
    const rows = runs.map((/** @type {any} */ run) => {
      const name = visible(run.display_name || run.id);
      const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", "aria-label": name, checked: marked.has(run.id) }));
      box.addEventListener("change", () => {
        if (box.checked) marked.add(run.id);
        else marked.delete(run.id);
        tell();
      });
      return h("tr", null, h("td", null, h("label", { class: "row" }, box, name)), h("td", null, visible(run.experiment)), h("td", null, badge(run.status)), h("td", null, time(run.created_at)));
    });
    replace(place, h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Runs" }, h("table", { class: "table" }, h("thead", null, h("tr", null, ["run", "experiment", "state", "made"].map((head) => h("th", { scope: "col" }, head)))), h("tbody", null, rows))));
  };
  search.addEventListener("input", () => fill().catch(report));
  tell();
  replace(element, h("div", { class: "curves-bar" }, search, go), place);
  await fill();
}

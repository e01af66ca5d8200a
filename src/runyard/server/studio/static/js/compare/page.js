/** The comparison of runs: curves on one chart, what differs, parameters against metrics, and source side by side. */

import { get, report } from "../core/api.js";
import { badge, byId, embedded, h, replace, time } from "../core/dom.js";
import { key } from "../core/keys.js";
import { tabs } from "../core/tabs.js";
import { colourOf, onTheme, theme } from "../charts/theme.js";
import { runHref } from "../run/account.js";
import { visible } from "../run/ansi.js";
import { choose } from "./choose.js";
import { CompareCurves } from "./curves.js";
import { showRelations } from "./relations.js";
import { showSource } from "./source.js";
import { showTable } from "./table.js";

/**
 * A run with the name that tells it from the others here.
 * @typedef {{ id: string, label: string, run: any }} Compared
 */

/** @type {string[]} */
const wanted = embedded().wanted;

/** @param {any[]} runs @returns {Compared[]} */
function labelled(runs) {
  const names = runs.map((run) => run.display_name || run.id);
  return runs.map((run, at) => ({ id: run.id, run, label: visible(names.filter((name) => name === names[at]).length > 1 ? `${names[at]} (${run.number})` : names[at]) }));
}

/** @param {Compared[]} compared */
function showRuns(compared) {
  const { dark } = theme();
  replace(
    byId("runs"),
    compared.slice(0, 40).map(({ run, label }, at) => {
      const others = wanted.filter((id) => id !== run.id);
      const dot = h("span", { class: "chart-dot", style: { background: colourOf(at, dark) } });
      const without = others.length > 1 ? h("a", { class: "compared-without", href: `?runs=${others.map(encodeURIComponent).join(",")}${location.hash}`, "aria-label": `Leave out ${label}`, title: "Leave it out" }, "×") : null;
      return h("div", { class: "compared-run" }, dot, h("a", { class: "clip", href: runHref(run.workspace, run.id) }, label), badge(run.status), h("span", { class: "faint" }, time(run.created_at)), without);
    }),
    compared.length > 40 ? h("span", { class: "faint" }, `and ${compared.length - 40} more`) : null,
  );
}

async function begin() {
  const { runs, rows } = await get(`/api/comparisons?${wanted.map((id) => `run=${encodeURIComponent(id)}`).join("&")}`);
  const compared = labelled(runs);
  showRuns(compared);
  onTheme(() => showRuns(compared));
  /** @type {CompareCurves | null} */
  let curves = null;
  let related = false;
  showTable(byId("panel-table"), compared, rows);
  tabs(byId("tabs"), (name, asked) => {
    if (name === "curves") curves ??= new CompareCurves(byId("panel-curves"), compared, rows);
    if (name === "relations" && !related) {
      related = true;
      showRelations(byId("panel-relations"), compared, rows);
    }
    if (name === "source") showSource(byId("panel-source"), compared, asked).catch(report);
  });
  ["curves", "table", "relations", "source"].forEach((name, at) => key(String(at + 1), `Show ${byId(`tab-${name}`).textContent?.toLowerCase()}`, () => (location.hash = name)));
}

if (wanted.length < 2) choose(byId("choose"), document.body.dataset.workspace ?? "", wanted).catch(report);
else begin().catch((error) => {
  replace(byId("panel-curves"), h("div", { class: "problem" }, h("p", null, error.message), error.help ? h("p", null, error.help) : null));
  report(error);
});

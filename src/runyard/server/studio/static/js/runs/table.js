/** Drawing the table: only what has changed is drawn anew, so that nothing jumps while runs go on. */

import { badge, h, lasted, number, time } from "../core/dom.js";
import { FIXED } from "./menus.js";
import { parts } from "./view.js";

/** @typedef {{ id: string, number: number, name: string | null, experiment: string, status: string, reason: string | null, type: string, target: string, user: string | null, created_at: string, started_at: string | null, ended_at: string | null, archived: boolean, parent_id: string | null, children: number, sweep: boolean, metrics: Record<string, number | null>, params: Record<string, string | null>, tags: Record<string, string | null> }} Run */

const NUMERIC = new Set(["duration", "number"]);

/** @param {string} column */
export function isNumeric(column) {
  return NUMERIC.has(column) || column.startsWith("metrics.") || column.startsWith("params.");
}

/**
 * The head of the table.
 * @param {string[]} columns
 * @param {string} sort
 * @param {boolean} allChosen
 * @returns {HTMLElement}
 */
export function head(columns, sort, allChosen) {
  const by = sort.replace(/^-/, "");
  const cell = (/** @type {string} */ column, /** @type {string} */ called, /** @type {string} */ family = "") => {
    const sorted = by === column || (by === parts(column)[1] && column.startsWith("metrics."));
    const down = sort.startsWith("-");
    return h("th", { scope: "col", class: isNumeric(column) ? "number" : null, "data-column": column, "aria-sort": sorted ? (down ? "descending" : "ascending") : null },
      h("button", { type: "button", "data-sort": column, title: family ? `${family} ${called}` : null },
        family ? h("span", { class: "family" }, family) : null, h("span", { class: "clip" }, called),
        h("span", { class: "arrow", "aria-hidden": "true" }, sorted ? (down ? "▼" : "▲") : "")));
  };
  return h("tr", null,
    h("th", { class: "tick", "data-column": "tick" }, h("input", { type: "checkbox", "data-all": true, "aria-label": "Choose all of this page", checked: allChosen })),
    cell("name", "Run"),
    columns.map((column) => {
      const [family, name] = parts(column);
      return family ? cell(column, name, { metrics: "", params: "param", tag: "tag" }[family] ?? family) : cell(column, FIXED[/** @type {keyof typeof FIXED} */ (column)] ?? column);
    }));
}

/**
 * One run.
 * @param {Run} run
 * @param {{ columns: string[], workspace: string, chosen: boolean, open: boolean, depth: number }} how
 * @returns {HTMLElement}
 */
export function row(run, how) {
  const called = run.name || run.id;
  const link = h("a", { class: "clip", href: `/studio/${encodeURIComponent(how.workspace)}/runs/${encodeURIComponent(run.id)}`, title: run.name ? `${run.name}\n${run.id}` : run.id }, called);
  const twist = h("button", { type: "button", class: run.children ? "twist" : "twist none", "data-twist": run.id, "aria-expanded": run.children ? String(how.open) : null, "aria-label": `Child runs of ${called}`, tabindex: run.children ? null : -1 }, how.open ? "▾" : "▸");
  return h("tr", { "data-id": run.id, "data-depth": how.depth || null, "aria-selected": how.chosen ? "true" : null },
    h("td", { class: "tick" }, h("input", { type: "checkbox", "data-choose": run.id, "aria-label": `Choose ${called}`, checked: how.chosen })),
    h("td", { class: "name", "data-column": "name" }, h("div", null, twist, link, run.children ? h("span", { class: "of" }, `${run.sweep ? "sweep of " : ""}${run.children}`) : null)),
    how.columns.map((column) => cell(run, column)));
}

/**
 * @param {Run} run
 * @param {string} column
 */
function cell(run, column) {
  const [family, name] = parts(column);
  const attributes = { "data-column": column, class: isNumeric(column) ? "number" : "text" };
  if (family === "metrics") {
    const value = run.metrics[name];
    return h("td", { ...attributes, title: value ?? null }, value === undefined ? "" : value === null ? "NaN" : number(value));
  }
  if (family) {
    const value = (family === "params" ? run.params : run.tags)[name];
    return h("td", { ...attributes, title: value ?? null }, value ?? "");
  }
  switch (column) {
    case "status": return h("td", { ...attributes, title: run.reason }, badge(run.status), run.archived ? h("span", { class: "of" }, "archived") : null);
    case "created": return h("td", attributes, time(run.created_at));
    case "started": return h("td", attributes, time(run.started_at));
    case "ended": return h("td", attributes, time(run.ended_at));
    case "duration": return h("td", attributes, lasted(run.started_at, run.ended_at));
    case "number": return h("td", attributes, run.number);
    default: {
      const text = /** @type {any} */ (run)[column] ?? "";
      return h("td", { ...attributes, title: text }, text);
    }
  }
}

/**
 * The row of a group.
 * @param {{ value: string | null, runs: number, states: Record<string, number>, metrics: Record<string, { min: number, mean: number, max: number }> }} group
 * @param {{ columns: string[], open: boolean }} how
 */
export function groupRow(group, how) {
  const called = group.value === null || group.value === "" ? "(none)" : group.value;
  return h("tr", { class: "group", "data-group": JSON.stringify(group.value) },
    h("td", { class: "tick" }),
    h("td", { class: "name", "data-column": "name" }, h("div", null,
      h("button", { type: "button", class: "twist", "data-open-group": true, "aria-expanded": String(how.open), "aria-label": `Runs of ${called}` }, how.open ? "▾" : "▸"),
      h("span", { class: "clip", title: called }, called), h("span", { class: "of" }, group.runs.toLocaleString("en-US")))),
    how.columns.map((column) => {
      const [family, name] = parts(column);
      if (column === "status") return h("td", { "data-column": column }, Object.entries(group.states).slice(0, 3).map(([status, many]) => h("span", { class: "of" }, `${many.toLocaleString("en-US")} ${status}`)));
      const of = family === "metrics" ? group.metrics[name] : undefined;
      return h("td", { class: isNumeric(column) ? "number" : "text", "data-column": column, title: of ? `least ${number(of.min)}, largest ${number(of.max)}` : null },
        of ? [number(of.mean), h("span", { class: "of" }, `${number(of.min)} – ${number(of.max)}`)] : "");
    }));
}

/**
 * Let the first columns stay where they are when the table is scrolled sideways.
 * @param {HTMLElement} table
 * @param {number} count
 */
export function stick(table, count) {
  const heads = [...table.querySelectorAll("thead th")].slice(0, count);
  let left = 0;
  const places = heads.map((each) => {
    const here = left;
    left += /** @type {HTMLElement} */ (each).offsetWidth;
    return here;
  });
  for (const line of table.querySelectorAll("tr")) {
    [...line.children].forEach((cell, place) => {
      const stuck = place < count;
      cell.classList.toggle("stuck", stuck);
      cell.classList.toggle("last", place === count - 1);
      /** @type {HTMLElement} */ (cell).style.left = stuck ? `${places[place]}px` : "";
    });
  }
}

/** How parameters and metrics hang together: parallel coordinates, a scatter plot, and which parameters matter. */

import { BarChart } from "../charts/bars.js";
import { ParallelChart } from "../charts/parallel.js";
import { ScatterChart } from "../charts/scatter.js";
import { h, replace } from "../core/dom.js";
import { runHref } from "../run/account.js";
import { visible } from "../run/ansi.js";
import { numberOf } from "../run/points.js";
import { importance } from "./importance.js";

/** @typedef {import("./table.js").Row} Row */
/** @typedef {{ name: string, label: string, values: (number | string | null)[], isNumber: boolean, group: string }} Column */

/** @type {Record<string, string>} */
const SINGULAR = { parameters: "parameter", metrics: "metric", tags: "tag" };

const MOST_AXES = 9;

/**
 * @param {HTMLElement} element
 * @param {import("./page.js").Compared[]} compared
 * @param {Row[]} rows
 */
export function showRelations(element, compared, rows) {
  const parameters = rows.filter((row) => row.group === "parameters" && !row.same).map(column);
  const metrics = rows.filter((row) => row.group === "metrics").map(column).filter((each) => each.isNumber);
  const more = rows.filter((row) => (row.group === "tags" && !row.same) || (row.group === "run" && row.name === "seconds")).map(column);
  const all = [...parameters, ...metrics, ...more];
  for (const each of all.filter((one) => all.some((other) => other !== one && other.name === one.name))) each.label = `${each.name} (${SINGULAR[each.group] ?? each.group})`;
  if (!metrics.length) {
    replace(element, h("div", { class: "empty" }, h("h2", null, "Nothing to relate"), h("p", null, "None of these runs has logged a number.")));
    return;
  }
  const target = choice("Judge by", metrics, metrics[0]);
  const xs = all.filter((each) => each.isNumber);
  const x = choice("Across", xs, xs[0]);
  const y = choice("Up", xs, xs[0] === metrics[0] ? (xs[1] ?? xs[0]) : metrics[0]);
  const z = choice("Colour", [{ name: "none", label: "none", values: [], isNumber: true, group: "" }, ...xs], undefined);
  const parallel = h("div");
  const scatter = h("div");
  const bars = h("div");
  const names = compared.map((each) => each.label);
  const parallelChart = new ParallelChart(parallel, { title: "Parallel coordinates", axes: [], names, height: 340 });
  const scatterChart = new ScatterChart(scatter, { title: "Scatter", points: [], height: 300 });

  const drawParallel = () => {
    const last = target.chosen();
    const before = [...parameters, ...more, ...metrics].filter((each) => each !== last).slice(0, MOST_AXES - 1);
    parallelChart.set({ axes: [...before, last].map((each) => ({ name: visible(each.label), values: each.values })) });
    const found = importance(parameters, last.values.map((value) => (typeof value === "number" ? value : NaN)));
    replace(bars);
    if (!found.length) {
      const why = parameters.length ? "It takes four runs or more with different values." : "These runs do not differ in a parameter.";
      replace(bars, h("div", { class: "chart" }, h("h3", { class: "chart-title" }, "Importance of parameters"), h("p", { class: "faint" }, why)));
    } else new BarChart(bars, { title: `Importance for ${visible(last.label)}`, note: "part that each tells", names: found.map((each) => visible(each.name)), values: found.map((each) => each.part) });
  };
  const drawScatter = () => {
    const [across, up, colour] = [x.chosen(), y.chosen(), z.chosen()];
    const points = compared
      .map(({ run, label }, at) => ({ x: Number(across.values[at] ?? NaN), y: Number(up.values[at] ?? NaN), name: label, value: colour.values.length ? Number(colour.values[at] ?? NaN) : undefined, href: runHref(run.workspace, run.id) }))
      .filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y));
    scatterChart.set({ points, xLabel: visible(across.label), yLabel: visible(up.label), valueLabel: visible(colour.label) });
  };
  target.select.addEventListener("change", drawParallel);
  for (const each of [x, y, z]) each.select.addEventListener("change", drawScatter);
  replace(element, h("div", { class: "relations" }, h("div", { class: "relations-wide" }, h("div", { class: "curves-bar" }, target.label, h("span", { class: "faint" }, "Drag along an axis to choose runs; a double click shows all again.")), parallel), h("div", null, h("div", { class: "curves-bar" }, x.label, y.label, z.label), scatter), h("div", null, bars)));
  drawParallel();
  drawScatter();
}

/** @param {Row} row @returns {Column} */
function column(row) {
  const read = row.values.map((value) => (value === null || value === undefined ? null : typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : typeof value === "string" ? value : numberOf(value)));
  const isNumber = read.every((value) => value === null || typeof value === "number") && read.some((value) => typeof value === "number");
  return { name: row.name, label: row.name, group: row.group, isNumber, values: isNumber ? read : read.map((value) => (value === null ? null : String(value))) };
}

/**
 * @param {string} text
 * @param {Column[]} columns
 * @param {Column | undefined} first
 */
function choice(text, columns, first) {
  const select = /** @type {HTMLSelectElement} */ (h("select", null, columns.map((each, at) => h("option", { value: at, selected: each === first }, visible(each.label)))));
  return { select, label: h("label", { class: "row" }, h("span", { class: "faint" }, text), select), chosen: () => columns[Number(select.value) || 0] };
}

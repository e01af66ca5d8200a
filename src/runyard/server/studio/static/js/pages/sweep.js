/** A sweep while it goes on: the best so far, the curves of its children, their parameters, why some were stopped. */

import { LineChart } from "../charts/line.js";
import { ParallelChart } from "../charts/parallel.js";
import { get } from "../core/api.js";
import { badge, byId, embedded, h, number, replace } from "../core/dom.js";
import { every } from "./poll.js";

/**
 * @typedef {object} Trial
 * @property {number} number
 * @property {string} run_id
 * @property {Record<string, number | string>} parameters
 * @property {string | null} status
 * @property {number | null} best
 * @property {number} intervals
 * @property {string | null} verdict
 */

const EVERY = 2000;
const MOST_CURVES = 100;
const POINTS = 200;
const ENDED = ["Completed", "Failed", "Canceled"];

const runId = embedded().run;
const workspace = document.body.dataset.workspace ?? "";
const api = `/api/runs/${encodeURIComponent(runId)}`;
const progress = new LineChart(byId("progress-chart"), { title: "The best so far", series: [], xLabel: "child", height: 240 });
const curves = new LineChart(byId("curves-chart"), { title: "Curves of the children", series: [], xLabel: "step", height: 240, legend: false });
/** @type {ParallelChart | null} */
let parallel = null;
let drawn = "";

/** @param {Trial} trial */
function linkTo(trial) {
  return h("a", { href: `/studio/${encodeURIComponent(workspace)}/runs/${encodeURIComponent(trial.run_id)}` }, `child ${trial.number}`);
}

/** @param {any} sweep @returns {boolean} */
function maximizes(sweep) {
  return String(sweep.goal).toLowerCase().startsWith("max");
}

/** @param {any} sweep @param {Trial[]} known */
function drawProgress(sweep, known) {
  const inOrder = [...known].sort((one, other) => one.number - other.number);
  const choose = maximizes(sweep) ? Math.max : Math.min;
  let best = inOrder.length ? Number(inOrder[0].best) : 0;
  // A step where a child is better than all before it.
  const steps = inOrder.flatMap((each) => {
    const before = best;
    best = choose(best, Number(each.best));
    return [[each.number, before], [each.number, best]];
  });
  progress.update([
    { name: "each child", x: inOrder.map((each) => each.number), y: inOrder.map((each) => Number(each.best)), dash: [2, 3] },
    { name: "best so far", x: steps.map(([x]) => x), y: steps.map(([, y]) => y) },
  ]);
}

/** @param {any} sweep @param {Trial[]} known */
function drawParallel(sweep, known) {
  const names = [...new Set(known.flatMap((each) => Object.keys(each.parameters)))].slice(0, 12);
  if (!known.length || !names.length) return;
  /** @type {import("../charts/parallel.js").ParallelAxis[]} */
  const axes = names.map((name) => ({ name, values: known.map((each) => each.parameters[name] ?? null) }));
  axes.push({ name: sweep.metric, values: known.map((each) => each.best) });
  const settings = { axes, names: known.map((each) => `child ${each.number}`) };
  if (parallel) parallel.set(settings);
  else parallel = new ParallelChart(byId("parallel-chart"), { title: "Parameters", height: 280, ...settings });
}

/** @param {any} sweep @param {Trial[]} trials */
async function drawCurves(sweep, trials) {
  const answer = await get(`${api}/metrics?recursive=true&name=${encodeURIComponent(sweep.metric)}&buckets=${POINTS}`);
  const series = [];
  for (const trial of trials) {
    const metric = (answer.metrics[trial.run_id] ?? [])[0];
    if (!metric || series.length >= MOST_CURVES) continue;
    const buckets = metric.buckets;
    const y = buckets ? buckets.map((/** @type {any} */ each) => plain(each.last)) : metric.values.map(plain);
    const steps = buckets ? buckets.map((/** @type {any} */ each) => each.step_last) : metric.steps;
    const x = steps && steps.every((/** @type {any} */ step) => step !== null) ? steps : y.map((/** @type {number} */ _, /** @type {number} */ at) => at);
    series.push({ name: `child ${trial.number}`, x, y, note: trial.best === null ? "" : number(trial.best) });
  }
  curves.update(series);
}

/** @param {any} value @returns {number} */
function plain(value) {
  return typeof value === "number" ? value : NaN;
}

/** @param {any} sweep @param {Trial[]} known */
function showTiles(sweep, known) {
  /** @type {Trial[]} */
  const trials = sweep.trials;
  const best = trials.find((each) => each.run_id === sweep.best);
  byId("best-value").textContent = best ? number(best.best) : "–";
  if (best) replace(byId("best-run"), linkTo(best));
  byId("child-count").textContent = `${trials.length} of ${sweep.runs}`;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const each of trials) counts.set(each.status ?? "waiting", (counts.get(each.status ?? "waiting") ?? 0) + 1);
  byId("child-states").textContent = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
  byId("stopped-count").textContent = String(trials.filter((each) => each.verdict).length);
  void known;
}

/** @param {any} sweep */
function showTable(sweep) {
  const names = [...new Set(sweep.trials.flatMap((/** @type {Trial} */ each) => Object.keys(each.parameters)))].slice(0, 20);
  const sign = maximizes(sweep) ? -1 : 1;
  const rows = [...sweep.trials].sort((one, other) => {
    if (one.best === null || other.best === null) return Number(one.best === null) - Number(other.best === null) || one.number - other.number;
    return sign * (one.best - other.best);
  });
  replace(byId("trials-head"), h("tr", null, h("th", { scope: "col" }, "Child"), h("th", { scope: "col" }, "State"),
    h("th", { scope: "col", class: "number" }, sweep.metric), ...names.map((name) => h("th", { scope: "col", class: "number" }, name)),
    h("th", { scope: "col" }, "Why it was stopped")));
  replace(byId("trials"), rows.map((each) => h("tr", { class: each.run_id === sweep.best ? "best" : null },
    h("td", null, linkTo(each)),
    h("td", null, each.status ? badge(each.status) : h("span", { class: "faint" }, "waiting")),
    h("td", { class: "number" }, number(each.best)),
    ...names.map((name) => h("td", { class: "number" }, shown(each.parameters[name]))),
    h("td", { class: "wrap" }, each.verdict ?? ""))));
}

/** @param {number | string | undefined} value */
function shown(value) {
  return typeof value === "number" ? number(value) : value ?? "–";
}

every(EVERY, async () => {
  const [sweep, run] = await Promise.all([get(`${api}/sweep`), get(api)]);
  const state = byId("sweep-status");
  if (state.textContent !== run.status) state.replaceWith(Object.assign(badge(run.status), { id: "sweep-status" }));
  const text = JSON.stringify(sweep.trials);
  if (text !== drawn) {
    drawn = text;
    const known = sweep.trials.filter((/** @type {Trial} */ each) => typeof each.best === "number");
    showTiles(sweep, known);
    showTable(sweep);
    drawProgress(sweep, known);
    drawParallel(sweep, known);
    await drawCurves(sweep, sweep.trials);
  }
  return !ENDED.includes(run.status);
});

/** What a run has logged besides curves: images, tables, texts, and the charts of SDK v1 that come as JSON files. */

import { BarChart } from "../charts/bars.js";
import { HeatMap } from "../charts/heatmap.js";
import { LineChart } from "../charts/line.js";
import { get, report } from "../core/api.js";
import { h, number, replace } from "../core/dom.js";
import { visible } from "./ansi.js";
import { numberOf, textOf } from "./points.js";

/** @typedef {import("./points.js").Metric} Metric */

const LAST = 200;
/** Rows of a table, and images of a series, that are fetched. */
const AT_ONCE = 40;

export class Media {
  /**
   * @param {HTMLElement} element
   * @param {string} runId
   */
  constructor(element, runId) {
    this.runId = runId;
    this.element = element;
    /** @type {Map<string, number>} */
    this.counts = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.places = new Map();
    /** @type {Map<string, number>} */
    this.steps = new Map();
    this.grid = h("div", { class: "media-grid" });
    this.shown = AT_ONCE;
    this.busy = false;
    /** @type {Metric[]} */
    this.metrics = [];
    this.visible = false;
  }

  /** @param {Metric[]} metrics Those that are no curves. */
  list(metrics) {
    this.metrics = metrics;
    if (this.visible) this.load().catch(report);
  }

  show() {
    this.visible = true;
    this.load().catch(report);
  }

  async load() {
    if (!this.metrics.length) {
      if (!this.grid.childElementCount) replace(this.element, h("div", { class: "empty" }, h("h2", null, "No images or tables yet"), h("p", null, "They appear here as they are logged:"), h("pre", null, 'run.log_image("sample", path="sample.png")\nrun.log_table("scores", {"class": ["a", "b"], "f1": [0.9, 0.8]})')));
      return;
    }
    if (this.busy) return;
    const wanted = this.metrics.slice(0, this.shown).filter((metric) => this.counts.get(metric.name + metric.kind) !== metric.count);
    if (!wanted.length) return;
    this.busy = true;
    try {
      const asked = new URLSearchParams({ buckets: String(LAST) });
      for (const metric of wanted) asked.append("name", metric.name);
      const found = /** @type {Metric[]} */ ((await get(`/api/runs/${encodeURIComponent(this.runId)}/metrics?${asked}`)).metrics[this.runId] ?? []);
      if (!this.element.contains(this.grid)) replace(this.element, this.grid);
      for (const metric of found) {
        const key = metric.name + metric.kind;
        if (!wanted.some((each) => each.name + each.kind === key)) continue;
        this.counts.set(key, metric.count);
        const known = this.places.get(key);
        const place = known ?? h("div", { class: "media-place" });
        if (!known) {
          this.places.set(key, place);
          this.grid.append(place);
        }
        this.draw(place, metric, key);
      }
      this.more();
    } finally {
      this.busy = false;
    }
  }

  more() {
    this.element.querySelector(".curves-more")?.remove();
    if (this.metrics.length <= this.shown) return;
    const more = h("button", { type: "button", class: "curves-more" }, `Show more of ${number(this.metrics.length)}`);
    more.addEventListener("click", () => {
      this.shown += AT_ONCE;
      this.load().catch(report);
    });
    this.element.append(more);
  }

  /**
   * @param {HTMLElement} place
   * @param {Metric} metric
   * @param {string} key
   */
  draw(place, metric, key) {
    if (metric.kind === "table") return replace(place, card(metric.name, table(metric)));
    if (metric.kind === "values") return replace(place, card(metric.name, texts(metric)));
    const names = (metric.values ?? []).map(String);
    const at = Math.min(this.steps.get(key) ?? names.length - 1, names.length - 1);
    const body = h("div", { class: "media-body" });
    const told = h("output", { class: "faint number" });
    const isImage = metric.type === "azureml.v2.image";
    const before = metric.count - names.length;
    const show = (/** @type {number} */ index) => {
      told.textContent = `${number(before + index + 1)} of ${number(metric.count)}`;
      if (isImage) image(body, this.href(names[index]), metric.name, told.textContent);
      else chart(body, this.href(names[index]), metric).catch(report);
    };
    const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: names.length - 1, value: at, "aria-label": `Step of ${metric.name}`, class: "media-slider" }));
    slider.addEventListener("input", () => {
      const index = Number(slider.value);
      if (index === names.length - 1) this.steps.delete(key);
      else this.steps.set(key, index);
      show(index);
    });
    replace(place, card(isImage || metric.type?.endsWith("artifact") ? metric.name : null, body, names.length > 1 ? h("div", { class: "row media-steps" }, slider, told) : null));
    show(at);
  }

  /** @param {string} name Of a file of the run's history. */
  href(name) {
    return `/api/runs/${encodeURIComponent(this.runId)}/files/${name.split("/").map(encodeURIComponent).join("/")}`;
  }
}

/**
 * @param {string | null} name Null where what is in it has a title.
 * @param {...(HTMLElement | null)} parts
 */
function card(name, ...parts) {
  return h("div", { class: "chart media-card" }, name === null ? null : h("h3", { class: "chart-title" }, visible(name)), parts);
}

/**
 * @param {HTMLElement} body
 * @param {string} href
 * @param {string} name
 * @param {string} which
 */
function image(body, href, name, which) {
  const known = body.querySelector("img");
  if (known) {
    known.src = href;
    known.alt = `${name}, ${which}`;
  } else replace(body, h("a", { href, target: "_blank", rel: "noopener" }, h("img", { src: href, alt: `${name}, ${which}`, loading: "lazy" })));
}

/** @param {Metric} metric */
function table(metric) {
  const columns = Object.entries(metric.columns ?? {}).slice(0, 50);
  const rows = Math.max(0, ...columns.map(([, values]) => values.length));
  const told = metric.count > rows ? h("p", { class: "faint" }, `The last ${number(rows)} of ${number(metric.count)} rows`) : null;
  const body = Array.from({ length: rows }, (_, at) => h("tr", null, columns.map(([, values]) => h("td", typeof values[at] === "number" ? { class: "number" } : null, cell(values[at])))));
  return h("div", null, told, h("div", { class: "table-frame media-table", tabindex: "0", role: "region", "aria-label": metric.name }, h("table", { class: "table" }, h("thead", null, h("tr", null, columns.map(([name]) => h("th", { scope: "col" }, visible(name))))), h("tbody", null, body))));
}

/** @param {any} value */
function cell(value) {
  return typeof value === "number" ? number(value) : visible(textOf(value)).slice(0, 500);
}

/** @param {Metric} metric */
function texts(metric) {
  const values = metric.values ?? [];
  return h("div", { class: "media-table", tabindex: "0", role: "region", "aria-label": metric.name }, h("ol", { class: "plain media-texts" }, values.slice(-LAST).map((value) => h("li", null, cell(value)))));
}

// -- the charts of SDK v1 -------------------------------------------------------------------------------------------

/**
 * @param {HTMLElement} body
 * @param {string} href
 * @param {Metric} metric
 */
async function chart(body, href, metric) {
  /** @type {any} */
  const said = await get(href);
  const content = said?.data ?? {};
  const title = visible(metric.name);
  replace(body);
  if (metric.type === "azureml.v2.confusion_matrix") confusion(body, title, content);
  else if (metric.type === "azureml.v2.accuracy_table") accuracy(body, title, content);
  else if (metric.type === "azureml.v2.residuals") residuals(body, title, content);
  else if (metric.type === "azureml.v2.predictions") predictions(body, title, content);
  else replace(body, h("pre", { tabindex: "0" }, JSON.stringify(said, null, 2).slice(0, 20_000)));
}

/** @param {any} value @returns {number[]} */
function numbers(value) {
  return Array.isArray(value) ? value.map(numberOf) : [];
}

/** @param {HTMLElement} body @param {string} title @param {any} content */
function confusion(body, title, content) {
  const matrix = (Array.isArray(content.matrix) ? content.matrix : []).slice(0, 300).map(numbers);
  const labels = (Array.isArray(content.class_labels) ? content.class_labels : []).map(String);
  const names = matrix.map((/** @type {number[]} */ _, /** @type {number} */ at) => labels[at] ?? String(at));
  new HeatMap(body, { title, matrix, rows: names, columns: names, rowLabel: "true", columnLabel: "predicted", byRow: true });
}

/**
 * ROC and precision-recall curves from counts of true and false answers at each threshold.
 * @param {HTMLElement} body
 * @param {string} title
 * @param {any} content
 */
function accuracy(body, title, content) {
  const tables = Array.isArray(content.probability_tables) ? content.probability_tables.slice(0, 30) : [];
  const labels = (Array.isArray(content.class_labels) ? content.class_labels : []).map(String);
  /** @type {import("../charts/series.js").Series[]} */
  const roc = [];
  /** @type {import("../charts/series.js").Series[]} */
  const recall = [];
  tables.forEach((/** @type {any} */ rows, /** @type {number} */ at) => {
    const counts = (Array.isArray(rows) ? rows : []).map(numbers); // tp, fp, tn, fn
    const name = labels[at] ?? `class ${at}`;
    const sorted = (/** @type {[number, number][]} */ points) => points.filter((point) => point.every(Number.isFinite)).sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const curve = sorted(counts.map(([tp, fp, tn, fn]) => [fp / (fp + tn), tp / (tp + fn)]));
    const exact = sorted(counts.map(([tp, fp, , fn]) => [tp / (tp + fn), tp / (tp + fp)]));
    roc.push({ name, x: curve.map((point) => point[0]), y: curve.map((point) => point[1]) });
    recall.push({ name, x: exact.map((point) => point[0]), y: exact.map((point) => point[1]) });
  });
  roc.push({ name: "chance", x: [0, 1], y: [0, 1], dash: [4, 4], colour: "gray" });
  new LineChart(body, { title: `${title}: ROC`, series: roc, xLabel: "false positive rate", yLabel: "true positive rate", yRange: [0, 1], height: 240, legend: true });
  new LineChart(body, { title: `${title}: precision and recall`, series: recall, xLabel: "recall", yLabel: "precision", yRange: [0, 1], height: 240, legend: tables.length > 1 });
}

/** @param {HTMLElement} body @param {string} title @param {any} content */
function residuals(body, title, content) {
  new BarChart(body, { title, edges: numbers(content.bin_edges), values: numbers(content.bin_counts), xLabel: "residual", yLabel: "count", height: 240 });
}

/** @param {HTMLElement} body @param {string} title @param {any} content */
function predictions(body, title, content) {
  const edges = numbers(content.bin_edges);
  const averages = numbers(content.bin_averages);
  const errors = numbers(content.bin_errors);
  const x = averages.map((_, at) => (edges[at] + edges[at + 1]) / 2);
  const series = [
    { name: "predicted", x, y: averages, low: averages.map((value, at) => value - (errors[at] || 0)), high: averages.map((value, at) => value + (errors[at] || 0)) },
    { name: "ideal", x: [edges[0], edges[edges.length - 1]], y: [edges[0], edges[edges.length - 1]], dash: [4, 4], colour: "gray" },
  ];
  new LineChart(body, { title: `${title}: predicted and true`, series, xLabel: "true", yLabel: "predicted", height: 240 });
  new BarChart(body, { title: `${title}: how often`, edges, values: numbers(content.bin_counts), xLabel: "true", yLabel: "count", height: 140 });
}

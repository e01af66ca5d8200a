/**
 * What is observed of a run besides what it logs: its machine, in charts by group, and the scalars of event files that
 * its script writes, below its own charts. Asked for only while it is looked at.
 */

import { LineChart } from "../charts/line.js";
import { ZoomGroup } from "../charts/zoom.js";
import { Away, get, report } from "../core/api.js";
import { bytes, h, number } from "../core/dom.js";
import { numberOf } from "./points.js";

/** @typedef {import("./points.js").Metric & { nodes?: number[] }} Metric */
/** @typedef {{ name: string, x: number[], y: number[], low?: number[], high?: number[] }} Line */

const EVERY = 2000;
const POINTS = 400;
const MOST_TAGS = 60;
const CONSTANT = ["cpu/cores", "memory/limit", "space/total"];
/** @type {Record<string, [string, number]>} The title of a group of series, and by what its numbers are divided. */
const GROUPS = {
  cpu: ["Processors (cores)", 1],
  memory: ["Memory (GB)", 1e9],
  disk: ["Disk (MB a second)", 1e6],
  network: ["Network (MB a second)", 1e6],
  space: ["Space on the disk (GB)", 1e9],
  processes: ["Processes", 1],
};

/**
 * The points of a series, over time or over steps.
 * @param {Metric} metric
 * @param {number} scale
 * @param {boolean} bySteps
 * @returns {Line}
 */
function lineOf(metric, scale, bySteps) {
  if (metric.buckets) {
    const of = (/** @type {string} */ key) => metric.buckets?.map((each) => numberOf(each[key]) / scale) ?? [];
    const x = metric.buckets.map((each, at) => (bySteps ? each.step_last ?? at : each.time_last));
    return { name: metric.name, x, y: of("last"), low: of("min"), high: of("max") };
  }
  const values = metric.values ?? [];
  const x = values.map((_, at) => (bySteps ? metric.steps?.[at] ?? at : metric.times?.[at] ?? at));
  return { name: metric.name, x, y: values.map((each) => numberOf(each) / scale) };
}

/** @param {string} group @returns {[string, (name: string) => number]} */
function groupOf(group) {
  if (!/^gpu\d+$/.test(group)) {
    const [title, scale] = GROUPS[group] ?? [group, 1];
    return [title, () => scale];
  }
  return [`GPU ${group.slice(3)} (%, GB, W, °C)`, (name) => (name.includes("memory") ? 1e9 : 1)];
}

export class Machine {
  /**
   * @param {HTMLElement} element Where the machine is drawn.
   * @param {HTMLElement} beside Below what is there come the charts of event files.
   * @param {string} runId
   */
  constructor(element, beside, runId) {
    this.path = `/api/runs/${encodeURIComponent(runId)}/metrics`;
    this.element = element;
    this.events = h("section", { class: "machine-events", "aria-label": "From event files", hidden: true });
    beside.append(this.events);
    /** @type {Map<string, LineChart>} */
    this.charts = new Map();
    this.zoom = new ZoomGroup();
    this.eventZoom = new ZoomGroup();
    this.shown = "";
    this.live = false;
    this.said = h("p", { class: "faint" }, "…");
    this.tiles = h("div", { class: "machine-tiles" });
    this.grid = h("div", { class: "machine-grid" });
    element.append(this.said, this.tiles, this.grid);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /**
   * @param {string} name The part of the page that is shown now.
   * @param {boolean} live Whether more is to come.
   */
  show(name, live) {
    this.shown = name;
    this.live = live;
    clearTimeout(this.timer);
    if (name === "machine" || name === "charts") void this.look();
  }

  async look() {
    const shown = this.shown;
    try {
      if (document.visibilityState !== "hidden") await (shown === "machine" ? this.lookAtMachine() : this.lookAtEvents());
    } catch (error) {
      if (!(error instanceof Away)) report(error);
    }
    clearTimeout(this.timer);
    if (this.live && shown === this.shown) this.timer = setTimeout(() => void this.look(), EVERY);
  }

  /** @param {string} source @param {string} more @returns {Promise<Metric[]>} */
  async ask(source, more) {
    const answer = await get(`${this.path}?source=${source}&buckets=${POINTS}${more}`);
    return /** @type {Metric[][]} */ (Object.values(answer.metrics)).flat();
  }

  async lookAtMachine() {
    const found = await this.ask("system", "&by_rank=true");
    this.said.textContent = found.length
      ? ""
      : "Nothing is recorded: the run has ended at once, or has not begun, or the workspace's setting runs.system-metrics is false.";
    const nodes = new Set(found.flatMap((each) => each.nodes ?? []));
    /** @type {Map<string, Metric[]>} */
    const groups = new Map();
    for (const metric of found) {
      const group = metric.name.split("/")[0];
      groups.set(group, [...(groups.get(group) ?? []), metric]);
    }
    for (const [group, metrics] of groups) {
      const [title, scale] = groupOf(group);
      const lines = metrics.filter((each) => !CONSTANT.includes(each.name) && each.name !== "memory/largest process").map((each) => {
        const name = each.name.slice(group.length + 1);
        return { ...lineOf(each, scale(each.name), false), name: nodes.size > 1 ? `${name}, node ${each.nodes?.[0] ?? 0}` : name };
      });
      this.draw(this.grid, `system ${group}`, { title, xKind: "time", zoom: this.zoom, height: 200, legend: true }, lines);
    }
    this.drawTiles(found);
  }

  /** @param {Metric[]} found */
  drawTiles(found) {
    const highest = (/** @type {string} */ name) => Math.max(...found.filter((each) => each.name === name).flatMap((each) => each.buckets?.map((one) => numberOf(one.max)) ?? (each.values ?? []).map(numberOf)), -Infinity);
    /** @type {[string, string, string][]} */
    const tiles = [];
    if (highest("cpu/run") >= 0) tiles.push(["Most processors", number(highest("cpu/run")), `of ${number(highest("cpu/cores"))}`]);
    if (highest("memory/run") >= 0) tiles.push(["Most memory", bytes(highest("memory/run")), `of ${bytes(highest("memory/limit"))}`]);
    if (highest("memory/largest process") >= 0) tiles.push(["Largest process", bytes(highest("memory/largest process")), "at its largest"]);
    if (highest("gpu0/busy") >= 0) tiles.push(["GPU 0 at its busiest", `${number(highest("gpu0/busy"))} %`, `${bytes(highest("gpu0/memory"))} of ${bytes(highest("gpu0/memory limit"))}`]);
    this.tiles.replaceChildren(...tiles.map(([label, figure, below]) => h("div", { class: "machine-tile" },
      h("div", { class: "faint" }, label), h("div", { class: "machine-figure" }, figure), h("div", { class: "faint" }, below))));
  }

  async lookAtEvents() {
    const found = await this.ask("events", `&limit=${MOST_TAGS}`);
    if (!found.length) return;
    if (this.events.hidden) {
      this.events.hidden = false;
      this.events.append(h("h2", null, "From event files"), h("p", { class: "faint" }, "Scalars that the script has written for TensorBoard."), h("div", { class: "machine-grid" }));
    }
    const grid = /** @type {HTMLElement} */ (this.events.querySelector(".machine-grid"));
    for (const metric of found) {
      this.draw(grid, `events ${metric.name}`, { title: metric.name, xLabel: "step", zoom: this.eventZoom, height: 200, legend: false }, [lineOf(metric, 1, true)]);
    }
  }

  /**
   * @param {HTMLElement} place
   * @param {string} key
   * @param {import("../charts/line.js").LineOptions} options
   * @param {Line[]} lines
   */
  draw(place, key, options, lines) {
    const chart = this.charts.get(key);
    if (chart) return chart.update(lines);
    const room = h("div");
    place.append(room);
    this.charts.set(key, new LineChart(room, { ...options, series: lines }));
  }
}

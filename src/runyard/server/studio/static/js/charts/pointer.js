/** Mouse, touch and keys on a chart of lines: a crosshair, and a range to zoom into. */

import { theme } from "./theme.js";

/** @typedef {import("./line.js").LineChart} LineChart */

const LEAST = 5;
/** Pixels that a pointer has to be moved by to mean a range. */

export class PlotPointer {
  /** @param {LineChart} chart */
  constructor(chart) {
    this.chart = chart;
    /** @type {number | null} */
    this.start = null;
    const canvas = chart.canvas;
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => (this.start = null));
    canvas.addEventListener("dblclick", () => chart.group.zoom(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.leave());
  }

  /** @param {PointerEvent} event */
  place(event) {
    const box = this.chart.canvas.getBoundingClientRect();
    return { left: event.clientX - box.left, top: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { chart } = this;
    const area = chart.area;
    if (!area) return;
    const { left, top } = this.place(event);
    if (this.start !== null && Math.abs(left - this.start) >= LEAST) {
      chart.tip.hidden = true;
      this.range(this.start, left);
      return;
    }
    if (left < area.left - 4 || left > area.right + 4 || top < area.top - 8 || top > area.bottom + 8) return this.leave();
    const x = area.x.value(Math.max(area.left, Math.min(area.right, left)));
    chart.group.point(x);
    const found = chart.tell(x, left, top);
    const near = found && found.length > 1 && Math.abs(area.y.at(found[0].y) - top) < 12 ? found[0].name : null;
    if (chart.drawn.length > 1 && chart.drawn.length <= 200) chart.emphasise(chart.drawn.length > 6 ? near : null);
  }

  leave() {
    if (this.start !== null) return;
    this.chart.group.point(null);
    this.chart.tip.hidden = true;
    this.chart.emphasise(null);
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { left } = this.place(event);
    const area = this.chart.area;
    if (event.button !== 0 || !area || left < area.left || left > area.right || event.pointerType === "touch") return;
    this.start = left;
    this.chart.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  up(event) {
    const start = this.start;
    this.start = null;
    const area = this.chart.area;
    if (start === null || !area) return;
    const { left } = this.place(event);
    this.chart.overlay();
    if (Math.abs(left - start) < LEAST) return;
    const ends = [start, left].map((at) => area.x.value(Math.max(area.left, Math.min(area.right, at))));
    this.chart.group.point(null);
    this.chart.group.zoom([Math.min(...ends), Math.max(...ends)]);
  }

  /** @param {number} from @param {number} to */
  range(from, to) {
    const area = this.chart.area;
    const surface = this.chart.overlay();
    if (!surface || !area) return;
    const ends = [from, to].map((at) => Math.max(area.left, Math.min(area.right, at)));
    surface.fillStyle = theme().accent;
    surface.globalAlpha = 0.15;
    surface.fillRect(Math.min(...ends), area.top, Math.abs(ends[1] - ends[0]), area.bottom - area.top);
    surface.globalAlpha = 1;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { chart } = this;
    const area = chart.area;
    if (!area || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = chart.group.pointer;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight" || event.key === "Home" || event.key === "End") {
      this.step(event.key, event.shiftKey ? 10 : 1);
    } else if (event.key === "+" || event.key === "=" || event.key === "-") {
      const middle = area.x.at(now ?? (area.x.low + area.x.high) / 2);
      const half = ((area.right - area.left) / 2) * (event.key === "-" ? 2 : 0.5);
      chart.group.zoom([area.x.value(middle - half), area.x.value(middle + half)]);
    } else if (event.key === "0" || (event.key === "Escape" && chart.group.range && !chart.figure.classList.contains("chart-large"))) {
      chart.group.zoom(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * To the next point of the line that has most of them.
   * @param {string} key
   * @param {number} by
   */
  step(key, by) {
    const { chart } = this;
    const area = chart.area;
    const widest = chart.drawn.filter((each) => !each.hidden && each.sorted).sort((a, b) => b.series.x.length - a.series.x.length)[0];
    if (!area || !widest || !widest.series.x.length) return;
    const x = widest.series.x;
    const now = chart.group.pointer;
    let at = now === null ? 0 : chart.valuesAt(now).find((each) => each.name === widest.series.name)?.point ?? 0;
    if (key === "Home") at = 0;
    else if (key === "End") at = x.length - 1;
    else if (now !== null) at += key === "ArrowLeft" ? -by : by;
    at = Math.max(0, Math.min(x.length - 1, at));
    chart.group.point(x[at]);
    const found = chart.tell(x[at], area.x.at(x[at]), null);
    if (found) {
      const values = found.slice(0, MOST_SPOKEN).map((each) => `${each.name} ${chart.yText(each.y)}`);
      chart.announce(`${chart.settings.xLabel || "x"} ${chart.xText(x[at])}: ${values.join(", ")}`);
    }
  }
}

const MOST_SPOKEN = 5;

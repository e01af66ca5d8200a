/** Points over two axes, one for each run or row, coloured by a third value where there is one. */

import { h } from "../core/dom.js";
import { axes } from "./axes.js";
import { Chart } from "./chart.js";
import { number, padded } from "./scales.js";
import { extent } from "./series.js";
import { colourOf, spectrum } from "./theme.js";

/**
 * @typedef {object} ScatterSettings
 * @property {{ x: number, y: number, name: string, value?: number, colour?: string, href?: string }[]} points
 * @property {string} [xLabel]
 * @property {string} [yLabel]
 * @property {string} [valueLabel] What the colours stand for.
 * @property {boolean} [logX]
 * @property {boolean} [logY]
 * @property {boolean} [diagonal] A line where both are the same.
 */

/** @typedef {import("./chart.js").ChartOptions & ScatterSettings} ScatterOptions */

const NEAR = 14;

export class ScatterChart extends Chart {
  /**
   * @param {HTMLElement} element
   * @param {ScatterOptions} options
   */
  constructor(element, options) {
    super(element, options);
    this.settings = { ...options };
    /** @type {import("./axes.js").Frame | null} */
    this.area = null;
    this.chosen = -1;
    this.canvas.addEventListener("pointermove", (event) => {
      const box = this.canvas.getBoundingClientRect();
      this.choose(this.at(event.clientX - box.left, event.clientY - box.top));
    });
    this.canvas.addEventListener("pointerleave", () => this.choose(-1));
    this.canvas.addEventListener("blur", () => this.choose(-1));
    this.canvas.addEventListener("click", () => this.follow());
    this.canvas.addEventListener("keydown", (event) => {
      const count = this.settings.points.length;
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (event.key === "Enter") this.follow();
      if (!step || !count) return;
      event.preventDefault();
      this.choose((this.chosen + step + count) % count);
      const point = this.settings.points[this.chosen];
      this.announce(`${point.name}: ${this.texts(point).join(", ")}`);
    });
    this.redraw();
  }

  /** @param {Partial<ScatterSettings>} settings */
  set(settings) {
    Object.assign(this.settings, settings);
    this.redraw();
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paint(surface, width, height, theme) {
    const { points, logX = false, logY = false } = this.settings;
    const x = extent([points.map((each) => each.x)], logX);
    const y = extent([points.map((each) => each.y)], logY);
    const area = axes(
      surface,
      width,
      height,
      theme,
      { range: padded(x[0], x[1], logX), log: logX && x[0] <= x[1], kind: "number", label: this.settings.xLabel ?? "" },
      { range: padded(y[0], y[1], logY), log: logY && y[0] <= y[1], kind: "number", label: this.settings.yLabel ?? "" },
    );
    this.area = area;
    if (this.settings.diagonal) {
      const from = Math.max(area.x.low, area.y.low);
      const to = Math.min(area.x.high, area.y.high);
      surface.strokeStyle = theme.faint;
      surface.setLineDash([4, 4]);
      surface.beginPath();
      surface.moveTo(area.x.at(from), area.y.at(from));
      surface.lineTo(area.x.at(to), area.y.at(to));
      if (from < to) surface.stroke();
      surface.setLineDash([]);
    }
    const [low, high] = extent([points.map((each) => each.value ?? NaN)], false);
    surface.globalAlpha = points.length > 500 ? 0.5 : 0.85;
    const radius = points.length > 500 ? 2.5 : 4.5;
    for (const point of points) {
      const px = area.x.at(point.x);
      const py = area.y.at(point.y);
      if (px - px !== 0 || py - py !== 0) continue;
      const coloured = point.value !== undefined && low < high && Number.isFinite(point.value);
      surface.fillStyle = coloured ? spectrum((Number(point.value) - low) / (high - low), theme.dark) : (point.colour ?? colourOf(0, theme.dark));
      surface.beginPath();
      surface.arc(px, py, radius, 0, 7);
      surface.fill();
    }
    surface.globalAlpha = 1;
    if (!points.length) {
      surface.fillStyle = theme.faint;
      surface.textAlign = "center";
      surface.fillText("No run has both values", width / 2, height / 2);
    }
  }

  /** @param {number} left @param {number} top */
  at(left, top) {
    const area = this.area;
    if (!area) return -1;
    let best = -1;
    let nearest = NEAR * NEAR;
    this.settings.points.forEach((point, at) => {
      const away = (area.x.at(point.x) - left) ** 2 + (area.y.at(point.y) - top) ** 2;
      if (away < nearest) [best, nearest] = [at, away];
    });
    return best;
  }

  /** @param {number} at */
  choose(at) {
    if (at === this.chosen) return;
    this.chosen = at;
    const surface = this.overlay();
    const point = this.settings.points[at];
    this.tip.hidden = !point;
    this.canvas.classList.toggle("chart-follow", Boolean(point?.href));
    if (!point || !this.area || !surface) return;
    const left = this.area.x.at(point.x);
    const top = this.area.y.at(point.y);
    surface.strokeStyle = getComputedStyle(this.canvas).color;
    surface.lineWidth = 2;
    surface.beginPath();
    surface.arc(left, top, 7, 0, 7);
    surface.stroke();
    this.tip.replaceChildren(h("div", { class: "chart-tip-head" }, point.name), ...this.texts(point).map((text) => h("div", {}, text)));
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${left + 14 + width > this.width ? Math.max(-8, left - width - 14) : left + 14}px`;
    this.tip.style.top = `${Math.max(0, Math.min(top - 20, this.height - this.tip.offsetHeight))}px`;
  }

  follow() {
    const href = this.settings.points[this.chosen]?.href;
    if (href) location.assign(href);
  }

  /** @param {{ x: number, y: number, value?: number }} point */
  texts(point) {
    const { xLabel, yLabel, valueLabel } = this.settings;
    const texts = [`${xLabel || "x"}: ${number(point.x)}`, `${yLabel || "y"}: ${number(point.y)}`];
    if (point.value !== undefined) texts.push(`${valueLabel || "value"}: ${number(point.value)}`);
    return texts;
  }

  describe() {
    const { points, xLabel, yLabel } = this.settings;
    return `${this.title || "Scatter"}: ${points.length} points of ${yLabel || "y"} over ${xLabel || "x"}. Arrow keys go from point to point.`;
  }

  numbers() {
    const { points, xLabel, yLabel, valueLabel } = this.settings;
    const third = points.some((each) => each.value !== undefined);
    return {
      head: ["name", xLabel || "x", yLabel || "y", ...(third ? [valueLabel || "value"] : [])],
      rows: points.map((each) => [each.name, each.x, each.y, ...(third ? [each.value ?? ""] : [])]),
    };
  }
}

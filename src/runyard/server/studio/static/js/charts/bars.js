/** Bars: lying ones for named values (importance, counts), standing ones for the bins of a histogram. */

import { h } from "../core/dom.js";
import { axes } from "./axes.js";
import { Chart } from "./chart.js";
import { number } from "./scales.js";
import { extent } from "./series.js";
import { colourOf } from "./theme.js";

/**
 * @typedef {object} BarSettings
 * @property {string[]} [names] One for each value: the bars lie.
 * @property {number[]} [edges] One more than values: the bars stand between them.
 * @property {number[]} values
 * @property {string} [xLabel]
 * @property {string} [yLabel]
 */

/** @typedef {import("./chart.js").ChartOptions & BarSettings} BarOptions */

const THICK = 22;

export class BarChart extends Chart {
  /**
   * @param {HTMLElement} element
   * @param {BarOptions} options
   */
  constructor(element, options) {
    super(element, { ...options, height: options.height ?? (options.names ? options.names.length * THICK + 12 : undefined) });
    this.settings = { ...options };
    this.chosen = -1;
    /** @type {{ left: number, top: number, width: number, height: number }[]} */
    this.places = [];
    this.canvas.addEventListener("pointermove", (event) => {
      const box = this.canvas.getBoundingClientRect();
      this.choose(this.at(event.clientX - box.left, event.clientY - box.top));
    });
    this.canvas.addEventListener("pointerleave", () => this.choose(-1));
    this.canvas.addEventListener("blur", () => this.choose(-1));
    this.canvas.addEventListener("keydown", (event) => {
      const count = this.settings.values.length;
      const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : 0;
      if (!step || !count) return;
      event.preventDefault();
      this.choose((this.chosen + step + count) % count);
      this.announce(`${this.nameOf(this.chosen)}: ${number(this.settings.values[this.chosen])}`);
    });
    this.redraw();
  }

  /** @param {Partial<BarSettings>} settings */
  set(settings) {
    Object.assign(this.settings, settings);
    if (this.settings.names) this.box.style.height = `${this.settings.names.length * THICK + 12}px`;
    this.redraw();
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paint(surface, width, height, theme) {
    if (this.settings.names) this.paintLying(surface, width, height, theme);
    else this.paintStanding(surface, width, height, theme);
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paintLying(surface, width, height, theme) {
    const { values, names = [] } = this.settings;
    surface.font = `12px ${theme.font}`;
    const room = Math.min(width * 0.45, Math.max(40, ...names.map((name) => surface.measureText(name).width + 14)));
    const most = Math.max(1e-300, ...values.map((value) => (Number.isFinite(value) ? Math.abs(value) : 0)));
    const thick = (height - 12) / Math.max(1, values.length);
    this.places = values.map((value, at) => ({
      left: room,
      top: 6 + at * thick + thick * 0.16,
      width: Number.isFinite(value) ? (Math.abs(value) / most) * (width - room - 64) : 0,
      height: thick * 0.68,
    }));
    this.places.forEach((place, at) => {
      surface.fillStyle = colourOf(values[at] < 0 ? 1 : 0, theme.dark);
      surface.fillRect(place.left, place.top, Math.max(1, place.width), place.height);
      surface.fillStyle = theme.text;
      surface.textBaseline = "middle";
      surface.textAlign = "right";
      surface.fillText(shortened(surface, names[at], room - 12), room - 8, place.top + place.height / 2);
      surface.textAlign = "left";
      surface.fillStyle = theme.faint;
      surface.fillText(number(values[at]), room + place.width + 6, place.top + place.height / 2);
    });
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paintStanding(surface, width, height, theme) {
    const { values, edges = values.map((_, at) => at).concat(values.length) } = this.settings;
    const [low, high] = extent([values], false);
    const top = high > 0 ? high * 1.06 : 1;
    const x = extent([edges], false);
    const area = axes(
      surface,
      width,
      height,
      theme,
      { range: x[0] < x[1] ? x : [0, 1], log: false, kind: "number", label: this.settings.xLabel ?? "" },
      { range: [Math.min(0, low < high ? low : 0), top], log: false, kind: "number", label: this.settings.yLabel ?? "" },
    );
    const ground = area.y.at(0);
    this.places = values.map((value, at) => {
      const left = area.x.at(edges[at]);
      const right = area.x.at(edges[at + 1]);
      const y = Number.isFinite(value) ? area.y.at(value) : ground;
      return { left: left + 0.5, top: Math.min(y, ground), width: Math.max(1, right - left - 1), height: Math.abs(ground - y) };
    });
    surface.fillStyle = colourOf(0, theme.dark);
    surface.globalAlpha = 0.85;
    for (const place of this.places) surface.fillRect(place.left, place.top, place.width, place.height);
    surface.globalAlpha = 1;
  }

  /** @param {number} left @param {number} top */
  at(left, top) {
    return this.places.findIndex((place) =>
      this.settings.names ? top >= place.top - 3 && top <= place.top + place.height + 3 : left >= place.left && left <= place.left + place.width,
    );
  }

  /** @param {number} at */
  choose(at) {
    if (at === this.chosen) return;
    this.chosen = at;
    const surface = this.overlay();
    const place = this.places[at];
    this.tip.hidden = !place;
    if (!place || !surface) return;
    surface.strokeStyle = getComputedStyle(this.canvas).color;
    surface.strokeRect(place.left - 0.5, place.top - 0.5, place.width + 1, place.height + 1);
    this.tip.replaceChildren(h("div", { class: "chart-tip-head" }, this.nameOf(at)), h("b", {}, number(this.settings.values[at])));
    const left = this.settings.names ? place.left + 8 : place.left + place.width + 8;
    this.tip.style.left = `${Math.max(0, Math.min(left, this.width - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${this.settings.names ? Math.min(place.top + place.height + 4, this.height - this.tip.offsetHeight) : 8}px`;
  }

  /** @param {number} at */
  nameOf(at) {
    const { names, edges, xLabel } = this.settings;
    if (names) return names[at];
    return edges ? `${xLabel ? `${xLabel} ` : ""}${number(edges[at])} to ${number(edges[at + 1])}` : String(at);
  }

  describe() {
    const { values } = this.settings;
    const first = values.slice(0, 5).map((value, at) => `${this.nameOf(at)} ${number(value)}`);
    return `${this.title || "Bars"}: ${values.length} bars. ${first.join(", ")}${values.length > 5 ? ", ..." : ""}`;
  }

  numbers() {
    return { head: [this.settings.xLabel || "name", this.settings.yLabel || "value"], rows: this.settings.values.map((value, at) => [this.nameOf(at), value]) };
  }
}

/**
 * A text that is no wider than there is room.
 * @param {import("./surface.js").Surface} surface
 * @param {string} text
 * @param {number} room
 */
export function shortened(surface, text, room) {
  const start = text.slice(0, 200);
  if (start === text && surface.measureText(text).width <= room) return text;
  let low = 0;
  let high = start.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (surface.measureText(`${start.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${start.slice(0, low)}…`;
}

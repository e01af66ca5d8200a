/** Parallel coordinates: an axis for each parameter or metric, a line for each run, and ranges of axes to choose runs by. */

import { h } from "../core/dom.js";
import { shortened } from "./bars.js";
import { Chart } from "./chart.js";
import { label, number, padded, scale, ticks } from "./scales.js";
import { extent } from "./series.js";
import { spectrum, theme as now } from "./theme.js";

/**
 * @typedef {object} ParallelAxis
 * @property {string} name
 * @property {(number | string | null)[]} values One for each line; null where it has none.
 * @property {boolean} [log]
 */

/**
 * @typedef {object} ParallelSettings
 * @property {ParallelAxis[]} axes The last one colours the lines.
 * @property {string[]} names Of the lines.
 */

/** @typedef {import("./chart.js").ChartOptions & ParallelSettings} ParallelOptions */

/**
 * @typedef {object} Placed
 * @property {ParallelAxis} axis
 * @property {number} x
 * @property {import("./scales.js").Scale} y
 * @property {string[] | null} words What the values are, where they are no numbers.
 */

export class ParallelChart extends Chart {
  /**
   * @param {HTMLElement} element
   * @param {ParallelOptions} options
   */
  constructor(element, options) {
    super(element, { ...options, height: options.height ?? 320 });
    this.settings = { ...options };
    /** @type {Placed[]} */
    this.placed = [];
    /** @type {Map<string, [number, number]>} */
    this.ranges = new Map();
    this.chosen = -1;
    /** @type {{ axis: Placed, from: number } | null} */
    this.drag = null;
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerleave", () => this.choose(-1));
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("dblclick", () => this.clear());
    canvas.addEventListener("keydown", (event) => {
      const count = this.settings.names.length;
      const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : 0;
      if (event.key === "Escape" && this.ranges.size) this.clear();
      if (!step || !count) return;
      event.preventDefault();
      this.choose((this.chosen + step + count) % count);
      this.announce(`${this.settings.names[this.chosen]}: ${this.texts(this.chosen).join(", ")}`);
    });
    this.redraw();
  }

  /** @param {Partial<ParallelSettings>} settings */
  set(settings) {
    Object.assign(this.settings, settings);
    this.redraw();
  }

  clear() {
    this.ranges.clear();
    this.redraw();
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paint(surface, width, height, theme) {
    const { axes, names } = this.settings;
    surface.font = `11px ${theme.font}`;
    this.placed = axes.map((axis, at) => place(axis, at, axes.length, width, height));
    const last = this.placed[this.placed.length - 1];
    surface.lineWidth = 1.3;
    names.forEach((_, at) => {
      const within = this.within(at);
      surface.globalAlpha = within ? Math.max(0.25, Math.min(0.9, 40 / names.length)) : 0.06;
      surface.strokeStyle = last ? this.colour(at, last, theme) : theme.faint;
      this.stroke(surface, at);
    });
    surface.globalAlpha = 1;
    surface.lineWidth = 1;
    this.placed.forEach((each, at) => this.paintAxis(surface, each, at, width, height, theme));
    if (!axes.length || !names.length) {
      surface.fillStyle = theme.faint;
      surface.textAlign = "center";
      surface.fillText("Nothing differs in a number", width / 2, height / 2);
    }
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {Placed} placed
   * @param {number} at
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paintAxis(surface, placed, at, width, height, theme) {
    const { axis, x, y, words } = placed;
    surface.strokeStyle = theme.faint;
    surface.beginPath();
    surface.moveTo(Math.round(x) + 0.5, 30);
    surface.lineTo(Math.round(x) + 0.5, height - 14);
    surface.stroke();
    const count = this.placed.length;
    const room = count > 1 ? (width - 80) / (count - 1) : width;
    const first = at === 0;
    const final = at === count - 1 && count > 1;
    surface.textAlign = first ? "left" : final ? "right" : "center";
    surface.textBaseline = "top";
    surface.fillStyle = theme.text;
    surface.fillText(shortened(surface, axis.name, room - 8), first ? 4 : final ? width - 4 : x, 8);
    surface.textAlign = final ? "left" : "left";
    surface.textBaseline = "middle";
    surface.fillStyle = theme.faint;
    const marks = words ? words.map((_, index) => index) : ticks(y.low, y.high, 6, y.log);
    const cramped = room < 60;
    // Between axes that are close together only the ends have room.
    const every = cramped && !words ? Math.max(1, marks.length - 1) : Math.max(1, Math.ceil((marks.length * 13) / (height - 44)));
    marks.forEach((value, index) => {
      if (index % every) return;
      const text = words ? words[index] : label(value, "number", y.high - y.low);
      surface.fillText(shortened(surface, text, final ? 34 : Math.max(20, room - (cramped ? 6 : 12))), x + 5, y.at(value));
    });
    const range = this.ranges.get(axis.name);
    if (range) {
      surface.fillStyle = theme.accent;
      surface.globalAlpha = 0.3;
      const ends = range.map((value) => y.at(value));
      surface.fillRect(x - 6, Math.min(...ends), 12, Math.abs(ends[1] - ends[0]));
      surface.globalAlpha = 1;
    }
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} line
   */
  stroke(surface, line) {
    surface.beginPath();
    let open = false;
    for (const placed of this.placed) {
      const at = placed.y.at(valueOf(placed, line));
      if (at - at !== 0) {
        open = false;
        continue;
      }
      if (open) surface.lineTo(placed.x, at);
      else surface.moveTo(placed.x, at);
      open = true;
    }
    surface.stroke();
  }

  /**
   * @param {number} line
   * @param {Placed} last
   * @param {import("./theme.js").Theme} theme
   */
  colour(line, last, theme) {
    const value = valueOf(last, line);
    if (!Number.isFinite(value)) return theme.faint;
    const ends = [last.y.at(last.y.low), last.y.at(last.y.high)];
    return spectrum((last.y.at(value) - ends[0]) / (ends[1] - ends[0] || 1), theme.dark);
  }

  /** @param {number} line */
  within(line) {
    for (const placed of this.placed) {
      const range = this.ranges.get(placed.axis.name);
      if (!range) continue;
      const value = valueOf(placed, line);
      if (!(value >= range[0] && value <= range[1])) return false;
    }
    return true;
  }

  // -- pointing --------------------------------------------------------------------------------------------------

  /** @param {PointerEvent} event */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { left: event.clientX - box.left, top: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { left, top } = this.place(event);
    const axis = this.placed.find((each) => Math.abs(each.x - left) < 10);
    if (!axis || event.button !== 0) return;
    this.drag = { axis, from: top };
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  up(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    const { top } = this.place(event);
    if (Math.abs(top - drag.from) < 4) this.ranges.delete(drag.axis.axis.name);
    else {
      const ends = [drag.axis.y.value(drag.from), drag.axis.y.value(top)];
      this.ranges.set(drag.axis.axis.name, [Math.min(...ends), Math.max(...ends)]);
    }
    this.redraw();
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { left, top } = this.place(event);
    if (this.drag) {
      const ends = [this.drag.axis.y.value(this.drag.from), this.drag.axis.y.value(top)];
      this.ranges.set(this.drag.axis.axis.name, [Math.min(...ends), Math.max(...ends)]);
      return this.redraw();
    }
    this.choose(this.at(left, top));
  }

  /**
   * The line that passes nearest to a place.
   * @param {number} left
   * @param {number} top
   */
  at(left, top) {
    let best = -1;
    let nearest = 8;
    const after = this.placed.findIndex((each) => each.x >= left);
    if (after < 1) return -1;
    const [one, other] = [this.placed[after - 1], this.placed[after]];
    const part = (left - one.x) / (other.x - one.x);
    this.settings.names.forEach((_, line) => {
      const [from, to] = [one.y.at(valueOf(one, line)), other.y.at(valueOf(other, line))];
      const away = Math.abs(from + (to - from) * part - top);
      if (away < nearest && this.within(line)) [best, nearest] = [line, away];
    });
    return best;
  }

  /** @param {number} line */
  choose(line) {
    if (line === this.chosen) return;
    this.chosen = line;
    const surface = this.overlay();
    const name = this.settings.names[line];
    this.tip.hidden = name === undefined;
    if (name === undefined || !surface) return;
    surface.strokeStyle = now().text;
    surface.lineWidth = 2.5;
    this.stroke(surface, line);
    this.tip.replaceChildren(h("div", { class: "chart-tip-head" }, name), ...this.texts(line).map((text) => h("div", {}, text)));
    this.tip.style.left = `${Math.max(0, this.width - this.tip.offsetWidth - 8)}px`;
    this.tip.style.top = "32px";
  }

  /** @param {number} line */
  texts(line) {
    return this.settings.axes.map((axis) => {
      const value = axis.values[line];
      return `${axis.name}: ${typeof value === "number" ? number(value) : (value ?? "–")}`;
    });
  }

  describe() {
    const { axes, names } = this.settings;
    const within = this.ranges.size ? `, ${names.filter((_, at) => this.within(at)).length} of them within the chosen ranges` : "";
    return `${this.title || "Parallel coordinates"}: ${names.length} runs over ${axes.map((axis) => axis.name).slice(0, 12).join(", ")}${within}. Arrow keys go from run to run.`;
  }

  numbers() {
    const { axes, names } = this.settings;
    return { head: ["name", ...axes.map((axis) => axis.name)], rows: names.map((name, at) => [name, ...axes.map((axis) => axis.values[at] ?? "")]) };
  }
}

/**
 * @param {ParallelAxis} axis
 * @param {number} at
 * @param {number} count
 * @param {number} width
 * @param {number} height
 * @returns {Placed}
 */
function place(axis, at, count, width, height) {
  const x = count > 1 ? 40 + ((width - 80) * at) / (count - 1) : width / 2;
  const isText = axis.values.some((value) => typeof value === "string");
  if (isText) {
    const words = [...new Set(axis.values.filter((value) => value !== null).map(String))].sort();
    return { axis, x, words, y: scale(-0.5, words.length - 0.5, height - 14, 30, false) };
  }
  const values = axis.values.map((value) => (value === null ? NaN : Number(value)));
  const log = Boolean(axis.log);
  const [low, high] = extent([values], log);
  const [bottom, top] = low < high ? [low, high] : padded(low, high, log);
  return { axis, x, words: null, y: scale(bottom, top, height - 18, 34, log) };
}

/** @param {Placed} placed @param {number} line */
function valueOf(placed, line) {
  const value = placed.axis.values[line];
  if (value === null || value === undefined) return NaN;
  return placed.words ? placed.words.indexOf(String(value)) : Number(value);
}

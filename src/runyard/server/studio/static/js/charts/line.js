/**
 * Lines over an axis: one or many series, smoothed where asked for, with the band between smallest and largest values,
 * a crosshair that tells all values, and a zoom that charts of a page share.
 */

import { h } from "../core/dom.js";
import { axes } from "./axes.js";
import { Chart } from "./chart.js";
import { legend } from "./legend.js";
import { PlotPointer } from "./pointer.js";
import { clock, duration, number, padded } from "./scales.js";
import { clipped, extent, firstFrom, isSorted, nearest, smoothed } from "./series.js";
import { band, line, signs } from "./strokes.js";
import { colourOf, theme } from "./theme.js";
import { ZoomGroup } from "./zoom.js";

/** @typedef {import("./series.js").Series} Series */
/** @typedef {import("./axes.js").Frame} Frame */

/**
 * @typedef {object} LineSettings
 * @property {Series[]} [series]
 * @property {string} [xLabel]
 * @property {string} [yLabel]
 * @property {import("./scales.js").Kind} [xKind]
 * @property {import("./scales.js").Kind} [yKind]
 * @property {boolean} [logX]
 * @property {boolean} [logY]
 * @property {number} [smoothing] From 0 (as it is) to just under 1; the line as it is stays, faint.
 * @property {boolean} [clip] Whether outliers may lie outside.
 * @property {[number, number]} [yRange] At least this much of the axis is shown.
 * @property {ZoomGroup} [zoom] Shared with other charts.
 * @property {boolean} [legend] Whether names are shown below; where there are several, without.
 */

/** @typedef {import("./chart.js").ChartOptions & LineSettings} LineOptions */

/**
 * A series with what is drawn of it.
 * @typedef {{ series: Series, shown: ArrayLike<number>, sorted: boolean, hidden: boolean }} Drawn
 */

const MOST_TOLD = 14;

export class LineChart extends Chart {
  /**
   * @param {HTMLElement} element
   * @param {LineOptions} options
   */
  constructor(element, options) {
    super(element, options);
    /** @type {LineSettings} */
    this.settings = { ...options };
    this.group = options.zoom ?? new ZoomGroup();
    /** @type {Drawn[]} */
    this.drawn = [];
    /** @type {Set<string>} */
    this.hidden = new Set();
    /** @type {string | null} */
    this.emphasised = null;
    /** @type {Frame | null} */
    this.area = null;
    /** @type {import("./zoom.js").Member} */
    const member = { zoomed: () => this.zoomed(), pointed: () => this.pointed() };
    this.group.members.add(member);
    this.endings.push(() => this.group.members.delete(member));
    this.resetTool = options.tools === false ? null : this.tool("reset", "Show everything again", () => this.group.zoom(null));
    if (this.resetTool) {
      this.resetTool.hidden = true;
      this.tools.prepend(this.resetTool);
    }
    this.logTool = options.tools === false ? null : this.tool("log", "Logarithmic y axis", () => this.set({ logY: !this.settings.logY }));
    if (this.logTool) this.tools.prepend(this.logTool);
    new PlotPointer(this);
    this.set({});
    this.update(options.series ?? []);
  }

  /**
   * Show other points.
   * @param {Series[]} series
   */
  update(series) {
    this.settings.series = series;
    const weight = this.settings.smoothing ?? 0;
    this.drawn = series.map((each) => ({
      series: each,
      shown: weight > 0 ? smoothed(each.y, Math.min(0.9999, weight)) : each.y,
      sorted: isSorted(each.x),
      hidden: this.hidden.has(each.name),
    }));
    const several = this.settings.legend ?? series.length > 1;
    this.below.replaceChildren(...(several ? [legend(this)] : []));
    this.redraw();
  }

  /**
   * Change how it is shown.
   * @param {LineSettings} settings
   */
  set(settings) {
    const again = settings.smoothing !== undefined && settings.smoothing !== this.settings.smoothing;
    Object.assign(this.settings, settings);
    this.logTool?.setAttribute("aria-pressed", String(Boolean(this.settings.logY)));
    if (again || settings.series) this.update(this.settings.series ?? []);
    else this.redraw();
  }

  recoloured() {
    this.update(this.settings.series ?? []);
  }

  /** @param {string} name */
  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    for (const each of this.drawn) each.hidden = this.hidden.has(each.series.name);
    this.redraw();
  }

  /** @param {string | null} name Its line is drawn strongly, the others faintly. */
  emphasise(name) {
    if (this.emphasised === name) return;
    this.emphasised = name;
    this.redraw();
  }

  /**
   * @param {number} at
   * @param {boolean} dark
   */
  colour(at, dark) {
    const series = this.settings.series?.[at];
    return series?.colour ?? colourOf(series?.index ?? at, dark);
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paint(surface, width, height, theme) {
    const visible = this.drawn.filter((each) => !each.hidden);
    const settings = this.settings;
    const x = this.xRange(visible);
    const logX = Boolean(settings.logX) && x[0] > 0;
    const [y, logY] = this.yRange(visible, x);
    const bare = !visible.some((each) => each.series.x.length);
    const area = axes(
      surface,
      width,
      height,
      theme,
      { range: x, log: logX, kind: settings.xKind ?? "number", label: settings.xLabel ?? "", bare },
      { range: y, log: logY, kind: settings.yKind ?? "number", label: settings.yLabel ?? "", bare },
    );
    this.area = area;
    surface.save();
    surface.beginPath();
    surface.rect(area.left, area.top - 1, area.right - area.left, area.bottom - area.top + 2);
    surface.clip();
    surface.lineJoin = "round";
    this.drawn.forEach((each, at) => {
      if (!each.hidden) this.paintSeries(surface, area, each, this.colour(at, theme.dark));
    });
    surface.restore();
    surface.globalAlpha = 1;
    if (bare) {
      surface.fillStyle = theme.faint;
      surface.textAlign = "center";
      surface.textBaseline = "middle";
      surface.fillText(this.drawn.length ? "Nothing to draw" : "No points yet", (area.left + area.right) / 2, (area.top + area.bottom) / 2);
    }
    if (this.resetTool) this.resetTool.hidden = !this.group.range;
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {Frame} area
   * @param {Drawn} each
   * @param {string} colour
   */
  paintSeries(surface, area, each, colour) {
    const { series, shown, sorted } = each;
    const strong = this.emphasised === null || this.emphasised === series.name;
    surface.strokeStyle = colour;
    surface.fillStyle = colour;
    surface.setLineDash(series.dash ?? []);
    if (series.low && series.high && strong) {
      surface.globalAlpha = 0.14;
      band(surface, area, series.x, series.low, series.high, sorted);
    }
    if (shown !== series.y && strong) {
      surface.globalAlpha = 0.3;
      surface.lineWidth = 1;
      line(surface, area, series.x, series.y, sorted);
    }
    surface.globalAlpha = strong ? 1 : 0.15;
    surface.lineWidth = this.drawn.length > 30 ? 1 : 1.5;
    line(surface, area, series.x, shown, sorted);
    surface.setLineDash([]);
    surface.lineWidth = 1;
    signs(surface, area, series.x, series.y, sorted);
  }

  /**
   * @param {Drawn[]} visible
   * @returns {[number, number]}
   */
  xRange(visible) {
    if (this.group.range) return this.group.range;
    const log = Boolean(this.settings.logX);
    const [low, high] = extent(visible.map((each) => each.series.x), log);
    if (!(low < high)) return padded(low, high, log);
    return [low, high];
  }

  /**
   * The range of y, and whether it can be logarithmic: of the points that are within the range of x.
   * @param {Drawn[]} visible
   * @param {[number, number]} x
   * @returns {[[number, number], boolean]}
   */
  yRange(visible, x) {
    /** @type {ArrayLike<number>[]} */
    const lists = [];
    for (const { series, shown, sorted } of visible) {
      const whole = !this.group.range || !sorted;
      const from = whole ? 0 : Math.max(0, firstFrom(series.x, x[0]) - 1);
      const until = whole ? series.x.length : firstFrom(series.x, x[1]) + 1;
      const parts = this.settings.clip ? [shown] : [shown, series.y, series.low, series.high];
      for (const list of new Set(parts)) if (list) lists.push(whole ? list : Array.prototype.slice.call(list, from, until));
    }
    let log = Boolean(this.settings.logY);
    let [low, high] = this.settings.clip ? clipped(lists, log) : extent(lists, log);
    if (log && !(low <= high)) {
      log = false; // nothing above zero: a logarithm shows nothing
      [low, high] = extent(lists, false);
    }
    const least = this.settings.yRange;
    if (least && !log) [low, high] = [Math.min(low, least[0]), Math.max(high, least[1])];
    return [padded(low, high, log), log];
  }

  // -- pointing --------------------------------------------------------------------------------------------------

  zoomed() {
    this.redraw();
    this.clearOver();
  }

  clearOver() {
    this.tip.hidden = true;
    this.overlay();
  }

  /** Show the place that somebody points at, in this chart or another one. */
  pointed() {
    if (!this.seen || !this.area) return;
    const x = this.group.pointer;
    if (x === null) return this.clearOver();
    const surface = this.overlay();
    if (!surface) return;
    const area = this.area;
    const found = this.valuesAt(x);
    const place = found.length ? area.x.at(found[0].x) : area.x.at(x);
    if (!(place >= area.left - 1 && place <= area.right + 1)) return;
    const colours = theme();
    surface.strokeStyle = colours.faint;
    surface.setLineDash([3, 3]);
    surface.beginPath();
    surface.moveTo(Math.round(place) + 0.5, area.top);
    surface.lineTo(Math.round(place) + 0.5, area.bottom);
    surface.stroke();
    for (const each of found) {
      const y = area.y.at(each.y);
      if (!(y >= area.top - 2 && y <= area.bottom + 2)) continue;
      surface.fillStyle = this.colour(each.at, colours.dark);
      surface.beginPath();
      surface.arc(area.x.at(each.x), y, 3, 0, 7);
      surface.fill();
    }
  }

  /**
   * The value of each line at a place, the nearest to it first where several have others.
   * @param {number} x
   */
  valuesAt(x) {
    const found = [];
    for (let at = 0; at < this.drawn.length; at++) {
      const { series, shown, sorted, hidden } = this.drawn[at];
      const point = hidden ? -1 : nearest(series.x, x, sorted);
      if (point >= 0) found.push({ at, point, x: series.x[point], y: shown[point], name: series.name });
    }
    return found.sort((one, other) => Math.abs(one.x - x) - Math.abs(other.x - x));
  }

  /**
   * The tip beside the pointer.
   * @param {number} x In values.
   * @param {number} left In pixels.
   * @param {number | null} top In pixels: lines near to it come first. Null where a key has moved it.
   */
  tell(x, left, top) {
    const area = this.area;
    const found = this.valuesAt(x);
    if (!area || !found.length) return (this.tip.hidden = true), undefined;
    const place = this.xText(found[0].x);
    if (top !== null)
      found.sort((one, other) => distance(area.y.at(one.y), top) - distance(area.y.at(other.y), top));
    const told = found.slice(0, MOST_TOLD);
    if (top === null || found.length <= MOST_TOLD) told.sort((one, other) => other.y - one.y || one.at - other.at);
    const { dark } = theme();
    const rows = told.map((each) => {
      const dot = h("span", { class: "chart-dot" });
      dot.style.background = this.colour(each.at, dark);
      const { low, high } = this.drawn[each.at].series;
      const range = low && high && low[each.point] < high[each.point] ? `${number(low[each.point])} – ${number(high[each.point])}` : "";
      return h("div", { class: "chart-tip-row" }, dot, h("span", { class: "chart-tip-name" }, each.name), h("b", {}, this.yText(each.y)), range && h("span", { class: "chart-tip-range" }, range));
    });
    if (found.length > told.length) rows.push(h("div", { class: "chart-tip-more" }, `and ${found.length - told.length} more`));
    this.tip.replaceChildren(h("div", { class: "chart-tip-head" }, `${this.settings.xLabel || "x"} ${place}`), ...rows);
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    const right = left + 14 + width > this.width;
    this.tip.style.left = `${Math.max(-8, Math.min(this.width - width, right ? left - width - 14 : left + 14))}px`;
    this.tip.style.top = `${Math.min(8, this.height - this.tip.offsetHeight)}px`;
    return found;
  }

  /** @param {number} value */
  xText(value) {
    if (this.settings.xKind === "time") return `${clock(value, 1e6)} ${clock(value)}`;
    return this.settings.xKind === "duration" ? duration(value) : number(value);
  }

  /** @param {number} value */
  yText(value) {
    return this.settings.yKind === "duration" ? duration(value) : number(value);
  }

  // -- texts -----------------------------------------------------------------------------------------------------

  describe() {
    const parts = this.drawn.slice(0, 5).map(({ series }) => {
      const [low, high] = extent([series.low ?? series.y, series.high ?? series.y], false);
      const last = series.y[series.y.length - 1];
      return series.y.length
        ? `${series.name}: ${series.y.length} points from ${number(low)} to ${number(high)}, the last ${number(last)}`
        : `${series.name}: no points`;
    });
    const more = this.drawn.length > 5 ? `; ${this.drawn.length - 5} more` : "";
    return `${this.title || "Chart"} over ${this.settings.xLabel || "x"}. ${parts.join("; ")}${more}. Arrow keys tell values, plus and minus zoom.`;
  }

  numbers() {
    const several = this.drawn.length > 1;
    const bands = this.drawn.some(({ series }) => series.low);
    const head = [...(several ? ["series"] : []), this.settings.xLabel || "x", this.settings.yLabel || (several ? "value" : this.title || "value"), ...(bands ? ["min", "max"] : [])];
    const drawn = this.drawn;
    return {
      head,
      rows: (function* () {
        for (const { series } of drawn)
          for (let at = 0; at < series.x.length; at++) {
            const range = bands ? [series.low?.[at] ?? "", series.high?.[at] ?? ""] : [];
            yield [...(several ? [series.name] : []), series.x[at], series.y[at], ...range];
          }
      })(),
    };
  }
}

/** @param {number} one @param {number} other */
function distance(one, other) {
  const between = Math.abs(one - other);
  return Number.isNaN(between) ? 1e9 : between;
}

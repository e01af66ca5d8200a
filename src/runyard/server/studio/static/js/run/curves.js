/**
 * All curves of a run, in groups by the part of their names before the first slash. Points are fetched only of charts
 * that are in sight, downsampled for the width at which they are drawn, and again when there are new ones.
 */

import { LineChart } from "../charts/line.js";
import { ZoomGroup } from "../charts/zoom.js";
import { get, report } from "../core/api.js";
import { h, number, replace } from "../core/dom.js";
import { visible } from "./ansi.js";
import { isCurve, labelOf, pointsOf, textOf, xOf } from "./points.js";
import { bar, fromAddress, matcher } from "./settings.js";

/** @typedef {import("./points.js").Metric} Metric */
/** @typedef {import("./points.js").Points} Points */

/** Charts that a group shows until more are asked for. */
const AT_FIRST = 24;
const MOST_TEXTS = 100;
const EVERY = 400;
/** Milliseconds between two looks for new points. */

/** A metric that has a place on the page; it has a chart once that was in sight. */
class Place {
  /**
   * @param {Metric} metric
   * @param {HTMLElement} element
   */
  constructor(metric, element) {
    this.metric = metric;
    this.element = element;
    /** @type {LineChart | null} */
    this.chart = null;
    /** @type {{ name: string, points: Points }[]} */
    this.lines = [];
    this.fetched = -1;
    this.seen = false;
  }
}

export class Curves {
  /**
   * @param {HTMLElement} element
   * @param {string} runId
   * @param {{ start: number, isOver: () => boolean }} run When it began, in seconds since 1970, and whether it goes on.
   */
  constructor(element, runId, run) {
    this.runId = runId;
    this.path = `/api/runs/${encodeURIComponent(runId)}/metrics`;
    this.run = run;
    this.view = fromAddress();
    this.zoom = new ZoomGroup();
    /** @type {Metric[]} */
    this.metrics = [];
    /** @type {Map<string, Place>} */
    this.places = new Map();
    /** @type {Map<string, Points>} */
    this.others = new Map();
    /** @type {Set<string>} */
    this.open = new Set();
    this.groups = h("div", { class: "curves" });
    this.byRank = false;
    const settings = bar(this.view, () => this.metrics.slice(0, 200).map((each) => each.name), (what) => this.changed(what));
    this.ranks = h("button", { type: "button", "aria-pressed": "false", hidden: true, title: "A line for each rank that logged it" }, "By rank");
    this.ranks.addEventListener("click", () => {
      this.byRank = !this.byRank;
      this.ranks.setAttribute("aria-pressed", String(this.byRank));
      this.again();
    });
    settings.append(this.ranks);
    element.replaceChildren(settings, this.groups);
    this.sight = new IntersectionObserver((entries) => this.sighted(entries), { rootMargin: "300px" });
    this.zoom.members.add({ zoomed: () => this.zoomed(), pointed: () => {} });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.busy = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.zooming = undefined;
  }

  /**
   * What metrics there are now.
   * @param {Metric[]} metrics
   */
  show(metrics) {
    const before = this.metrics;
    this.metrics = metrics;
    this.ranks.hidden = !metrics.some((each) => each.ranks && each.ranks.length > 1);
    const same = before.length === metrics.length && before.every((each, at) => each.name === metrics[at].name);
    for (const metric of metrics) {
      const place = this.places.get(metric.name);
      if (place) place.metric = metric;
    }
    if (!same || !metrics.length) this.layOut();
    this.plan();
  }

  // -- layout ----------------------------------------------------------------------------------------------------

  layOut() {
    const fits = matcher(this.view.search);
    /** @type {Map<string, Metric[]>} */
    const groups = new Map();
    for (const metric of this.metrics) {
      if (!fits(metric.name)) continue;
      const slash = metric.name.indexOf("/");
      const group = slash > 0 ? metric.name.slice(0, slash) : "";
      const list = groups.get(group);
      if (list) list.push(metric);
      else groups.set(group, [metric]);
    }
    const kept = this.places;
    this.places = new Map();
    const several = groups.size > 1;
    const inOrder = [...groups].sort(([one], [other]) => Number(!one) - Number(!other));
    const parts = inOrder.map(([name, metrics], at) => this.group(name, metrics, several, at, kept));
    for (const place of kept.values()) this.drop(place);
    if (!parts.length) parts.push(this.empty());
    this.groups.replaceChildren(...parts);
  }

  empty() {
    if (this.metrics.length) return h("div", { class: "empty" }, h("h2", null, "No metric has this name"), h("p", null, `${number(this.metrics.length)} others are there.`));
    if (this.run.isOver()) return h("div", { class: "empty" }, h("h2", null, "No metrics"), h("p", null, "Its script has logged none with run.log."));
    return h("div", { class: "empty" }, h("h2", null, "No metrics yet"), h("p", null, "A curve appears here within a second of the first call of"), h("pre", null, 'run.log("loss", 0.5)'));
  }

  /**
   * @param {string} name
   * @param {Metric[]} metrics
   * @param {boolean} several
   * @param {number} at
   * @param {Map<string, Place>} kept
   */
  group(name, metrics, several, at, kept) {
    const grid = h("div", { class: "chart-grid" });
    const key = `group ${name}`;
    const shown = this.open.has(key) ? metrics.length : Math.min(metrics.length, AT_FIRST);
    const fill = (/** @type {number} */ from, /** @type {number} */ until) => {
      for (const metric of metrics.slice(from, until)) {
        const known = kept.get(metric.name);
        kept.delete(metric.name);
        const place = known ?? new Place(metric, h("div", { class: "curve-place", "data-metric": metric.name }));
        place.metric = metric;
        this.places.set(metric.name, place);
        grid.append(place.element);
        if (!known) this.sight.observe(place.element);
      }
    };
    const more = h("button", { type: "button", class: "curves-more" });
    let until = shown;
    const tell = () => {
      more.textContent = `Show ${Math.min(120, metrics.length - until)} more of ${number(metrics.length)}`;
      more.hidden = until >= metrics.length;
    };
    more.addEventListener("click", () => {
      fill(until, until + 120);
      until += 120;
      tell();
    });
    tell();
    if (!several) {
      fill(0, shown);
      return h("div", null, grid, more);
    }
    const summary = h("summary", null, h("span", { class: "curves-name" }, name || "Without a group"), h("span", { class: "faint" }, number(metrics.length)));
    const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "curves-group", open: at < 8 }, summary, grid, more));
    let filled = false;
    const first = () => {
      if (filled || !details.open) return;
      filled = true;
      fill(0, shown);
    };
    details.addEventListener("toggle", first);
    first();
    return details;
  }

  /** @param {Place} place */
  drop(place) {
    this.sight.unobserve(place.element);
    place.chart?.destroy();
    place.element.remove();
  }

  /** @param {IntersectionObserverEntry[]} entries */
  sighted(entries) {
    for (const entry of entries) {
      const place = this.places.get(/** @type {HTMLElement} */ (entry.target).dataset.metric ?? "");
      if (place) place.seen = entry.isIntersecting;
    }
    this.plan(0);
  }

  // -- points ----------------------------------------------------------------------------------------------------

  /** Fetch what is in sight and has changed, soon. */
  plan(wait = 30) {
    if (this.timer === undefined) this.timer = setTimeout(() => this.fetch(), wait);
  }

  async fetch() {
    this.timer = undefined;
    if (this.busy) return;
    const wanted = [...this.places.values()].filter((place) => place.seen && place.fetched < place.metric.count).slice(0, 60);
    if (!wanted.length) return;
    this.busy = true;
    const began = performance.now();
    try {
      await this.load(wanted, "");
    } catch (error) {
      report(error);
      return;
    } finally {
      this.busy = false;
    }
    this.plan(Math.max(0, EVERY - (performance.now() - began)));
  }

  /**
   * @param {Place[]} places
   * @param {string} window
   */
  async load(places, window) {
    const width = Math.max(200, ...places.map((place) => place.element.clientWidth));
    const asked = new URLSearchParams();
    const other = this.view.axis.startsWith("metric:") ? this.view.axis.slice(7) : null;
    const names = new Set(places.map((place) => place.metric.name));
    if (other) names.add(other);
    for (const name of names) asked.append("name", name);
    asked.set("buckets", String(Math.ceil(width * Math.min(2, devicePixelRatio))));
    if (this.byRank) asked.set("by_rank", "true");
    // Counted before the points are read: what comes meanwhile is fetched with the next look.
    const counts = places.map((place) => place.metric.count);
    const found = /** @type {Metric[]} */ ((await get(`${this.path}?${asked}${window}`)).metrics[this.runId] ?? []);
    if (other) {
      const metric = found.find((each) => each.name === other);
      if (metric) this.others.set(other, pointsOf(metric));
    }
    places.forEach((place, at) => {
      const metrics = found.filter((each) => each.name === place.metric.name && each.kind === "values");
      place.lines = metrics.map((metric) => ({
        name: this.byRank && metric.ranks?.length === 1 ? `rank ${metric.ranks[0]}` : visible(metric.name),
        points: pointsOf(metric),
      }));
      place.fetched = counts[at];
      if (metrics.length && !place.chart && !metrics.some(isCurve)) this.tell(place, metrics[0]);
      else this.draw(place);
    });
  }

  /**
   * A metric whose values are texts has no curve.
   * @param {Place} place
   * @param {Metric} metric
   */
  tell(place, metric) {
    const values = (metric.values ?? []).slice(-MOST_TEXTS);
    const list = h("ol", { class: "plain media-texts" }, values.map((value) => h("li", null, visible(textOf(value)).slice(0, 500))));
    const texts = h("div", { class: "media-table", tabindex: "0", role: "region", "aria-label": metric.name }, list);
    replace(place.element, h("div", { class: "chart media-card" }, h("h3", { class: "chart-title" }, visible(metric.name)), texts));
  }

  /** @param {Place} place */
  draw(place) {
    const { view, run } = this;
    const { xLabel, xKind } = labelOf(view.axis);
    const other = this.others.get(xLabel) ?? null;
    const series = place.lines.map(({ name, points }) => ({
      name,
      x: xOf(points, view.axis, run.start, view.axis.startsWith("metric:") ? other : null),
      y: points.y,
      low: points.low ?? undefined,
      high: points.high ?? undefined,
    }));
    const last = place.lines[0]?.points.y.at(-1);
    const settings = { xLabel, xKind, logX: view.logX, smoothing: view.smoothing, clip: view.clip };
    if (place.chart) place.chart.set({ ...settings, series });
    else {
      place.chart = new LineChart(place.element, { ...settings, series, logY: view.logY, title: visible(place.metric.name), zoom: this.zoom });
      if (place.metric.description) place.chart.heading.title = visible(`${place.metric.name}: ${place.metric.description}`);
    }
    place.chart.noted.textContent = last === undefined || place.lines.length > 1 ? "" : number(last);
  }

  // -- changes ---------------------------------------------------------------------------------------------------

  /** @param {string} what */
  changed(what) {
    if (what === "search") return this.layOut(), this.plan();
    if (what === "axis") {
      this.zoom.zoom(null);
      return this.again();
    }
    for (const place of this.places.values()) {
      if (!place.chart) continue;
      if (what === "logY") place.chart.set({ logY: this.view.logY });
      else this.draw(place);
    }
  }

  /** Fetch everything anew. */
  again() {
    for (const place of this.places.values()) place.fetched = -1;
    this.plan(0);
  }

  /** A part of long series is fetched in full detail. */
  zoomed() {
    clearTimeout(this.zooming);
    this.zooming = setTimeout(() => this.detail().catch(report), 60);
  }

  async detail() {
    const { range } = this.zoom;
    if (!range) return this.again();
    if (this.view.axis.startsWith("metric:")) return;
    for (const place of this.places.values()) {
      const line = place.lines[0];
      if (!place.seen || !place.chart || place.lines.length !== 1 || !line.points.low) continue;
      const { positions } = line.points;
      const x = xOf(line.points, this.view.axis, this.run.start);
      const from = x.findIndex((value) => value >= range[0]);
      let until = x.length;
      while (until > 0 && x[until - 1] > range[1]) until--;
      if (from < 0 || until <= from) continue;
      const first = Math.max(0, Math.floor(positions[Math.max(0, from - 1)]));
      const last = Math.ceil(positions[Math.min(positions.length - 1, until)]) + 1;
      await this.load([place], `&first=${first}&until=${last}`);
      place.fetched = place.metric.count;
    }
  }
}

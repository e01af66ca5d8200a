/** The curves of several runs, a chart for each metric that one of them has. */

import { LineChart } from "../charts/line.js";
import { ZoomGroup } from "../charts/zoom.js";
import { get, live, onBack, report } from "../core/api.js";
import { h, number, replace } from "../core/dom.js";
import { isOver } from "../run/account.js";
import { visible } from "../run/ansi.js";
import { isCurve, labelOf, pointsOfCurve, xOf } from "../run/points.js";
import { bar, fromAddress, matcher } from "../run/settings.js";

/** @typedef {import("../run/points.js").Points} Points */
/** @typedef {import("./page.js").Compared} Compared */
/** @typedef {{ element: HTMLElement, chart: LineChart | null, points: Map<string, Points>, seen: boolean, waits: boolean }} Place */

const AT_FIRST = 30;
const MOST_BANDS = 8;
/** Of more runs, the bands between smallest and largest values hide the lines. */

export class CompareCurves {
  /**
   * @param {HTMLElement} element
   * @param {Compared[]} compared
   * @param {import("./table.js").Row[]} rows What the runs have: it names their metrics.
   */
  constructor(element, compared, rows) {
    this.compared = compared;
    this.bands = compared.length <= MOST_BANDS;
    this.view = fromAddress();
    this.zoom = new ZoomGroup();
    /** @type {Map<string, Map<string, number>>} Of each metric, how many points each run has. */
    this.metrics = new Map();
    /** @type {Map<string, Place>} */
    this.places = new Map();
    /** @type {Map<string, Map<string, Points>>} Of metrics that were on the x axis, the points of each run. */
    this.others = new Map();
    /** @type {Set<string>} */
    this.stale = new Set();
    this.shown = AT_FIRST;
    this.grid = h("div", { class: "chart-grid compare-grid" });
    this.more = h("button", { type: "button", class: "curves-more", hidden: true });
    this.more.addEventListener("click", () => {
      this.shown += 100;
      this.layOut();
    });
    const settings = bar(this.view, () => [...this.metrics.keys()].slice(0, 200), (what) => this.changed(what));
    replace(element, settings, this.grid, this.more);
    this.sight = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const place = this.places.get(/** @type {HTMLElement} */ (entry.target).dataset.metric ?? "");
        if (place) place.seen = entry.isIntersecting;
      }
      void this.fetch();
    }, { rootMargin: "300px" });
    for (const row of rows) {
      if (row.group !== "metrics") continue;
      row.values.forEach((value, at) => {
        if (value !== null && typeof value !== "string") this.found(row.name, compared[at].id, -1);
      });
    }
    this.begin();
    onBack(() => void this.fetch());
  }

  /**
   * @param {string} name
   * @param {string} id
   * @param {number} count Of its points; -1 where it is not known yet.
   */
  found(name, id, count) {
    const counts = this.metrics.get(name) ?? new Map();
    this.metrics.set(name, counts);
    if (counts.get(id) !== count) this.stale.add(`${id}\n${name}`);
    counts.set(id, count);
  }

  begin() {
    this.layOut();
    for (const { run } of this.compared.slice(0, 20)) {
      if (isOver(run)) continue;
      let timer = 0;
      live(`/api/runs/${encodeURIComponent(run.id)}/events`, (name) => {
        if (name !== "metrics" || timer) return;
        timer = window.setTimeout(() => {
          timer = 0;
          this.names(run.id).then(() => this.layOut(), report);
        }, 400);
      });
    }
  }

  /** @param {string} id */
  async names(id) {
    const { metrics } = await get(`/api/runs/${encodeURIComponent(id)}/metrics/names`);
    for (const metric of metrics) if (isCurve(metric)) this.found(metric.name, id, metric.count);
  }

  layOut() {
    const fits = matcher(this.view.search);
    // What most of the runs have comes first.
    const names = [...this.metrics].filter(([name]) => fits(name)).sort((one, other) => other[1].size - one[1].size).map(([name]) => name);
    const kept = new Map(this.places);
    const elements = names.slice(0, this.shown).map((name) => {
      let place = this.places.get(name);
      if (!place) {
        place = { element: h("div", { class: "curve-place", "data-metric": name }), chart: null, points: new Map(), seen: false, waits: true };
        this.places.set(name, place);
        this.sight.observe(place.element);
      }
      kept.delete(name);
      return place.element;
    });
    for (const [name, place] of kept) {
      place.chart?.destroy();
      this.sight.unobserve(place.element);
      this.places.delete(name);
    }
    this.grid.classList.toggle("compare-few", names.length < 3);
    const before = [...this.grid.children];
    if (before.length !== elements.length || before.some((each, at) => each !== elements[at]))
      replace(this.grid, elements.length ? elements : [h("div", { class: "empty" }, h("h2", null, this.metrics.size ? "No metric has this name" : "None of these runs has logged numbers"))]);
    this.more.hidden = names.length <= this.shown;
    this.more.textContent = `Show more of ${number(names.length)}`;
    void this.fetch();
  }

  /** Get what charts in sight lack: one request for each, so that the first is drawn while others are on their way. */
  async fetch() {
    const wanted = [...this.places].filter(([name, place]) => place.seen && (place.waits || this.compared.some((each) => this.stale.has(`${each.id}\n${name}`))));
    const other = this.view.axis.startsWith("metric:") ? this.view.axis.slice(7) : null;
    try {
      await Promise.all(wanted.map(([name, place]) => this.load(name, place, other)));
    } catch (error) {
      report(error);
    }
  }

  /**
   * @param {string} name
   * @param {Place} place
   * @param {string | null} other The metric on the x axis.
   */
  async load(name, place, other) {
    place.waits = false;
    const runs = this.compared.filter(({ id }) => this.metrics.get(name)?.has(id) && (this.stale.has(`${id}\n${name}`) || !place.points.has(id)));
    if (runs.length) {
      const width = Math.ceil(Math.max(300, place.element.clientWidth) * Math.min(2, devicePixelRatio));
      const asked = new URLSearchParams({ name, buckets: String(Math.min(1000, width)), bands: String(this.bands) });
      if (other && other !== name) asked.append("name", other);
      for (const { id } of runs) {
        asked.append("run", id);
        this.stale.delete(`${id}\n${name}`);
      }
      /** @type {import("../run/points.js").Curve[]} */
      let curves;
      try {
        ({ curves } = await get(`/api/comparisons/curves?${asked}`));
      } catch (error) {
        for (const { id } of runs) this.stale.add(`${id}\n${name}`);
        throw error;
      }
      for (const curve of curves) {
        const points = pointsOfCurve(curve);
        if (curve.name === name) place.points.set(curve.run, points);
        if (curve.name === other) this.others.set(other, (this.others.get(other) ?? new Map()).set(curve.run, points));
      }
    }
    this.draw(name);
  }

  /** @param {string} name */
  draw(name) {
    const place = this.places.get(name);
    if (!place) return;
    const { view } = this;
    const { xLabel, xKind } = labelOf(view.axis);
    const other = view.axis.startsWith("metric:") ? this.others.get(xLabel) : null;
    /** @type {import("../charts/series.js").Series[]} */
    const series = [];
    this.compared.forEach(({ id, label, run }, at) => {
      const points = place.points.get(id);
      if (!points || (other && !other.has(id))) return;
      const start = Date.parse(run.started_at ?? run.created_at) / 1000;
      series.push({ name: label, x: xOf(points, view.axis, start, other?.get(id)), y: points.y, low: points.low ?? undefined, high: points.high ?? undefined, index: at });
    });
    const settings = { xLabel, xKind, logX: view.logX, smoothing: view.smoothing, clip: view.clip, legend: this.compared.length <= 24 };
    if (place.chart) place.chart.set({ ...settings, series });
    else place.chart = new LineChart(place.element, { ...settings, series, logY: view.logY, title: visible(name), zoom: this.zoom, height: 240 });
  }

  /** @param {string} what */
  changed(what) {
    if (what === "search") return this.layOut();
    if (what === "axis") {
      this.zoom.zoom(null);
      for (const place of this.places.values()) place.waits = true;
      const other = this.view.axis.startsWith("metric:") ? this.view.axis.slice(7) : null;
      if (other) for (const { id } of this.compared) for (const name of this.places.keys()) if (!this.others.get(other)?.has(id)) this.stale.add(`${id}\n${name}`);
      return void this.fetch();
    }
    for (const [name, place] of this.places) {
      if (!place.chart) continue;
      if (what === "logY") place.chart.set({ logY: this.view.logY });
      else this.draw(name);
    }
  }
}

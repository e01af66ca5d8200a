/** The curves of several runs, a chart for each metric that one of them has. */

import { LineChart } from "../charts/line.js";
import { ZoomGroup } from "../charts/zoom.js";
import { get, live, report } from "../core/api.js";
import { h, number, replace } from "../core/dom.js";
import { isOver } from "../run/account.js";
import { visible } from "../run/ansi.js";
import { isCurve, labelOf, pointsOf, xOf } from "../run/points.js";
import { bar, fromAddress, matcher } from "../run/settings.js";

/** @typedef {import("../run/points.js").Points} Points */
/** @typedef {import("./page.js").Compared} Compared */

const AT_FIRST = 30;
const TOGETHER = 6;
/** Requests that are under way at once. */

export class CompareCurves {
  /**
   * @param {HTMLElement} element
   * @param {Compared[]} compared
   * @param {import("./table.js").Row[]} rows What the runs have: it names their metrics.
   */
  constructor(element, compared, rows) {
    this.compared = compared;
    this.view = fromAddress();
    this.zoom = new ZoomGroup();
    /** @type {Map<string, Map<string, number>>} Of each metric, how many points each run has. */
    this.metrics = new Map();
    /** @type {Map<string, { element: HTMLElement, chart: LineChart | null, points: Map<string, Points>, seen: boolean, waits: boolean }>} */
    this.places = new Map();
    /** @type {Map<string, Map<string, Points>>} */
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

  /** Get what charts in sight lack. */
  async fetch() {
    const wanted = [...this.places].filter(([name, place]) => place.seen && (place.waits || this.compared.some((each) => this.stale.has(`${each.id}\n${name}`))));
    if (!wanted.length) return;
    const other = this.view.axis.startsWith("metric:") ? this.view.axis.slice(7) : null;
    for (const [, place] of wanted) place.waits = false;
    const width = Math.ceil(Math.max(300, ...wanted.map(([, place]) => place.element.clientWidth)) * Math.min(2, devicePixelRatio));
    try {
      await inTurn(this.compared, async ({ id }) => {
        const names = wanted.map(([name]) => name).filter((name) => this.metrics.get(name)?.has(id) && (this.stale.has(`${id}\n${name}`) || !this.places.get(name)?.points.has(id)));
        if (!names.length) return;
        if (other && this.metrics.get(other)?.has(id)) names.push(other);
        const asked = new URLSearchParams({ buckets: String(Math.min(1000, width)) });
        for (const name of new Set(names)) {
          asked.append("name", name);
          this.stale.delete(`${id}\n${name}`);
        }
        const found = (await get(`/api/runs/${encodeURIComponent(id)}/metrics?${asked}`)).metrics[id] ?? [];
        for (const metric of found) {
          if (metric.kind !== "values") continue;
          const points = pointsOf(metric);
          this.places.get(metric.name)?.points.set(id, points);
          const values = this.others.get(metric.name) ?? new Map();
          this.others.set(metric.name, values.set(id, points));
        }
      });
    } catch (error) {
      report(error);
    }
    for (const [name] of wanted) this.draw(name);
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
      const bands = this.compared.length <= 8;
      series.push({ name: label, x: xOf(points, view.axis, start, other?.get(id)), y: points.y, low: bands ? (points.low ?? undefined) : undefined, high: bands ? (points.high ?? undefined) : undefined, index: at });
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

/**
 * Do something for each, a few at a time.
 * @template T
 * @param {T[]} all
 * @param {(each: T) => Promise<void>} act
 */
export async function inTurn(all, act) {
  const waiting = [...all];
  await Promise.all(Array.from({ length: TOGETHER }, async () => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) await act(each);
  }));
}

/** The names of a chart's series with their colours: each is a button that hides or shows its line. */

import { h } from "../core/dom.js";
import { theme } from "./theme.js";

const MOST = 24;

/** @param {import("./line.js").LineChart} chart */
export function legend(chart) {
  const list = h("div", { class: "chart-legend", role: "group", "aria-label": "Series" });
  const { dark } = theme();
  chart.drawn.slice(0, MOST).forEach(({ series, hidden }, at) => {
    const dot = h("span", { class: "chart-dot" });
    dot.style.background = chart.colour(at, dark);
    const item = h("button", { type: "button", class: "chart-legend-item", "aria-pressed": String(!hidden), title: series.name }, dot, h("span", {}, series.name), series.note && h("span", { class: "chart-note" }, series.note));
    item.addEventListener("click", () => {
      chart.toggle(series.name);
      item.setAttribute("aria-pressed", String(!chart.hidden.has(series.name)));
    });
    item.addEventListener("pointerenter", () => chart.emphasise(series.name));
    item.addEventListener("pointerleave", () => chart.emphasise(null));
    list.append(item);
  });
  if (chart.drawn.length > MOST) list.append(h("span", { class: "chart-note" }, `and ${chart.drawn.length - MOST} more`));
  return list;
}

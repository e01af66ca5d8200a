/** How curves are shown: smoothing, axes, outliers. Kept in the address, so that a link shows the same. */

import { h } from "../core/dom.js";

/**
 * @typedef {object} View
 * @property {number} smoothing
 * @property {import("./points.js").Axis} axis
 * @property {boolean} logX
 * @property {boolean} logY
 * @property {boolean} clip
 * @property {string} search
 */

/** @returns {View} */
export function fromAddress() {
  const asked = new URLSearchParams(location.search);
  return {
    smoothing: Math.max(0, Math.min(0.999, Number(asked.get("smooth")) || 0)),
    axis: /** @type {import("./points.js").Axis} */ (asked.get("x") ?? "step"),
    logX: asked.has("logx"),
    logY: asked.has("logy"),
    clip: asked.has("clip"),
    search: asked.get("metrics") ?? "",
  };
}

/** @param {View} view */
export function intoAddress(view) {
  const address = new URL(location.href);
  /** @param {string} name @param {string} value */
  const set = (name, value) => (value ? address.searchParams.set(name, value) : address.searchParams.delete(name));
  set("smooth", view.smoothing ? String(view.smoothing) : "");
  set("x", view.axis === "step" ? "" : view.axis);
  set("logx", view.logX ? "1" : "");
  set("logy", view.logY ? "1" : "");
  set("clip", view.clip ? "1" : "");
  set("metrics", view.search);
  history.replaceState(history.state, "", address);
}

/**
 * The bar with which they are changed.
 * @param {View} view Is changed in place.
 * @param {() => string[]} metrics The names that may be on the x axis.
 * @param {(changed: string) => void} onChange
 */
export function bar(view, metrics, onChange) {
  /** @param {string} what */
  const changed = (what) => {
    intoAddress(view);
    onChange(what);
  };
  const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Search metrics (text or /regex/)", "aria-label": "Search metrics", value: view.search, "data-search": true, class: "curves-search" }));
  search.addEventListener("input", () => {
    view.search = search.value;
    changed("search");
  });

  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: view.smoothing, "aria-label": "Smoothing" }));
  const told = h("output", { class: "number" }, view.smoothing.toFixed(2));
  slider.addEventListener("input", () => {
    view.smoothing = Number(slider.value);
    told.textContent = view.smoothing.toFixed(2);
    changed("smoothing");
  });

  const axis = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "X axis" }));
  const fill = () => {
    const choices = [["step", "Step"], ["relative", "Time since the start"], ["time", "Clock time"], ...metrics().map((name) => [`metric:${name}`, name])];
    if (!choices.some(([value]) => value === view.axis)) choices.push([view.axis, view.axis.replace(/^metric:/, "")]);
    axis.replaceChildren(...choices.map(([value, text]) => h("option", { value, selected: value === view.axis }, text)));
  };
  fill();
  axis.addEventListener("focus", fill);
  axis.addEventListener("change", () => {
    view.axis = /** @type {import("./points.js").Axis} */ (axis.value);
    changed("axis");
  });

  /** @param {"logX" | "logY" | "clip"} name @param {string} text @param {string} title */
  const toggle = (name, text, title) => {
    const button = h("button", { type: "button", "aria-pressed": String(view[name]), title }, text);
    button.addEventListener("click", () => {
      view[name] = !view[name];
      button.setAttribute("aria-pressed", String(view[name]));
      changed(name);
    });
    return button;
  };
  return h(
    "div",
    { class: "curves-bar", role: "group", "aria-label": "How curves are shown" },
    search,
    h("label", { class: "row" }, h("span", { class: "faint" }, "X"), axis),
    h("label", { class: "row" }, h("span", { class: "faint" }, "Smoothing"), slider, told),
    toggle("logX", "Log x", "Logarithmic x axes"),
    toggle("logY", "Log y", "Logarithmic y axes"),
    toggle("clip", "Clip outliers", "Leave what lies beyond the 1st and the 99th percentile outside"),
  );
}

/**
 * Whether a name is searched for: a text in it, or a regular expression between slashes.
 * @param {string} search
 * @returns {(name: string) => boolean}
 */
export function matcher(search) {
  const pattern = /^\/(.+)\/?$/.exec(search);
  if (pattern) {
    try {
      const found = new RegExp(pattern[1].replace(/\/$/, ""), "i");
      return (name) => found.test(name.slice(0, 2000));
    } catch {
      return () => true; // not finished yet
    }
  }
  const wanted = search.toLowerCase();
  return (name) => name.toLowerCase().includes(wanted);
}

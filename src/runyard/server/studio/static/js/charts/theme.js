/** The colours of charts: those of the page, and a row of colours that can be told apart on light and dark ground. */

/**
 * @typedef {object} Theme
 * @property {boolean} dark
 * @property {string} surface
 * @property {string} text
 * @property {string} faint
 * @property {string} line
 * @property {string} accent
 * @property {string} bad
 * @property {string} font
 */

const LIGHT = ["#2667cf", "#d9730d", "#0f8a5f", "#c4327f", "#6f4bd1", "#0a8aa3", "#9b7400", "#cf3f36", "#58771c", "#875640"];
const DARK = ["#6ea8ff", "#ffa657", "#4cc38a", "#ff7ac0", "#b394ff", "#46cfe0", "#e0be48", "#ff7b72", "#a5d45f", "#d4a78c"];

/** @type {Theme | null} */
let known = null;

/** @type {Set<() => void>} */
const listeners = new Set();

/** The colours as they are now. */
export function theme() {
  if (known) return known;
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name @param {string} otherwise */
  const colour = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  const ground = colour("--surface", "#ffffff");
  known = {
    dark: isDark(ground),
    surface: ground,
    text: colour("--text", "#1c2128"),
    faint: colour("--faint", "#5b6571"),
    line: colour("--line", "#d9dee4"),
    accent: colour("--accent", "#2667cf"),
    bad: colour("--bad", "#c0362c"),
    font: getComputedStyle(document.body).fontFamily || "system-ui, sans-serif",
  };
  return known;
}

/**
 * The colour of the n-th series. Beyond ten, hues that are far from their neighbours.
 * @param {number} at
 * @param {boolean} dark
 */
export function colourOf(at, dark) {
  const row = dark ? DARK : LIGHT;
  if (at < row.length) return row[at];
  return `hsl(${Math.round((at * 137.508) % 360)} 62% ${dark ? 68 : 40}%)`;
}

/**
 * A colour of a scale from little (0) to much (1).
 * @param {number} part
 * @param {boolean} dark
 */
export function shade(part, dark) {
  const at = Math.max(0, Math.min(1, part));
  const [from, to] = dark
    ? [
        [29, 35, 44],
        [96, 165, 250],
      ]
    : [
        [243, 246, 250],
        [22, 78, 168],
      ];
  const mixed = from.map((value, index) => Math.round(value + (to[index] - value) * at));
  return `rgb(${mixed.join(" ")})`;
}

/**
 * A colour between five that are easy to tell apart, for a value of a scale (viridis-like: dark to bright, and nowhere as
 * dark as a dark page).
 * @param {number} part
 * @param {boolean} dark
 */
export function spectrum(part, dark) {
  const stops = [
    dark ? [146, 104, 214] : [72, 40, 120],
    dark ? [88, 134, 206] : [56, 88, 140],
    [32, 144, 140],
    [94, 201, 98],
    dark ? [230, 200, 40] : [206, 158, 16],
  ];
  const at = Math.max(0, Math.min(1, part)) * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(at));
  const mixed = stops[below].map((value, index) => Math.round(value + (stops[below + 1][index] - value) * (at - below)));
  return `rgb(${mixed.join(" ")})`;
}

/**
 * Call back whenever the page's colours have changed.
 * @param {() => void} listener
 * @returns {() => void} Ends it.
 */
export function onTheme(listener) {
  if (!listeners.size) watch();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let watching = false;

function watch() {
  if (watching) return;
  watching = true;
  const changed = () => {
    known = null;
    for (const listener of listeners) listener();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  new MutationObserver(changed).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

/** @param {string} colour */
function isDark(colour) {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!probe) return false;
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
  return red * 0.3 + green * 0.59 + blue * 0.11 < 128;
}

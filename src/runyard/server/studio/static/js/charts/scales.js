/** Scales: from values to pixels and back, and the round values that axes are labelled with. */

/**
 * @typedef {object} Scale
 * @property {number} low
 * @property {number} high
 * @property {boolean} log
 * @property {(value: number) => number} at From a value to a pixel.
 * @property {(pixel: number) => number} value From a pixel to a value.
 */

/** @typedef {"number" | "duration" | "time"} Kind What the numbers of an axis are: plain, seconds, or seconds since 1970. */

/**
 * @param {number} low
 * @param {number} high
 * @param {number} from The pixel of `low`.
 * @param {number} to The pixel of `high`.
 * @param {boolean} log
 * @returns {Scale}
 */
export function scale(low, high, from, to, log) {
  if (log) {
    const bottom = Math.log10(low);
    const span = Math.log10(high) - bottom || 1;
    return {
      low,
      high,
      log,
      at: (value) => from + ((Math.log10(value) - bottom) / span) * (to - from),
      value: (pixel) => 10 ** (bottom + ((pixel - from) / (to - from)) * span),
    };
  }
  const span = high - low || 1;
  const factor = (to - from) / span;
  return {
    low,
    high,
    log,
    at: (value) => from + (value - low) * factor,
    value: (pixel) => low + (pixel - from) / factor,
  };
}

/**
 * A range with some room around it; a single value becomes a range too.
 * @param {number} low
 * @param {number} high
 * @param {boolean} log
 * @returns {[number, number]}
 */
export function padded(low, high, log) {
  if (!(low <= high)) return log ? [1, 10] : [0, 1];
  if (log) {
    if (low === high) return [low / 3, high * 3];
    const room = (Math.log10(high) - Math.log10(low)) * 0.04;
    return [low * 10 ** -room, high * 10 ** room];
  }
  if (low === high) {
    const room = Math.abs(low) * 0.1 || 1;
    return [low - room, high + room];
  }
  const room = high / 2 - low / 2;
  if (!Number.isFinite(high - low)) return [low, high];
  return [low - room * 0.1, high + room * 0.1];
}

/**
 * Round values in a range, about `count` of them.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @param {boolean} log
 * @param {Kind} [kind]
 * @returns {number[]}
 */
export function ticks(low, high, count, log, kind = "number") {
  if (!(low < high)) return [low];
  if (log && high / low >= 10) return logTicks(low, high, count);
  const span = high - low;
  if (!Number.isFinite(span)) return [low, 0, high];
  const step = kind === "number" ? roundStep(span / count) : timeStep(span / count);
  const shift = kind === "time" ? new Date(low * 1000).getTimezoneOffset() * 60 : 0;
  const found = [];
  for (let at = Math.ceil((low - shift) / step); at * step + shift <= high + span * 1e-9; at++) {
    found.push(at * step + shift);
    if (found.length > 100) break;
  }
  return found;
}

/** @param {number} rough */
function roundStep(rough) {
  const unit = 10 ** Math.floor(Math.log10(rough));
  const part = rough / unit;
  return (part <= 1.5 ? 1 : part <= 3.2 ? 2 : part <= 7 ? 5 : 10) * unit;
}

const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** @param {number} rough */
function timeStep(rough) {
  if (rough < 1) return roundStep(rough);
  const found = SECONDS.find((seconds) => seconds >= rough);
  return found ?? roundStep(rough / 86400) * 86400;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
function logTicks(low, high, count) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const found = [];
  for (let power = first; power <= last; power += every) found.push(10 ** power);
  if (found.length >= 3 || every > 1) return found;
  const between = [];
  for (let power = first - 1; power <= last; power++)
    for (const part of [1, 2, 5]) {
      const value = part * 10 ** power;
      if (value >= low && value <= high) between.push(value);
    }
  return between;
}

/**
 * A number as short as it can be read: six digits, no trailing zeros.
 * @param {number} value
 */
export function number(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(6)));
}

/**
 * @param {number} value
 * @param {Kind} kind
 * @param {number} span How much the axis covers: it decides how exact a time is told.
 */
export function label(value, kind, span) {
  if (kind === "duration") return duration(value, span);
  if (kind === "time") return clock(value, span);
  const size = Math.abs(value);
  if (size < span * 1e-9) return "0";
  if (size >= 1e4 && size < 1e15) {
    for (const [unit, sign] of UNITS) if (size >= unit) return `${Number((value / unit).toPrecision(6))}${sign}`;
  }
  return number(value);
}

/** @type {[number, string][]} */
const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/**
 * @param {number} seconds
 * @param {number} [span]
 */
export function duration(seconds, span = seconds) {
  if (!Number.isFinite(seconds)) return number(seconds);
  const size = Math.abs(seconds);
  if (span < 120 && size < 120) return `${Number(seconds.toPrecision(4))} s`;
  if (span < 7200 && size < 7200) {
    const rest = Math.round(seconds % 60);
    return rest ? `${Math.trunc(seconds / 60)} min ${rest} s` : `${Math.trunc(seconds / 60)} min`;
  }
  if (span < 172800 * 2) {
    const rest = Math.round((seconds % 3600) / 60);
    return rest ? `${Math.trunc(seconds / 3600)} h ${rest} min` : `${Math.trunc(seconds / 3600)} h`;
  }
  return `${Number((seconds / 86400).toPrecision(3))} d`;
}

/**
 * A time in the zone of whoever reads it.
 * @param {number} seconds Since 1970.
 * @param {number} [span]
 */
export function clock(seconds, span = 0) {
  if (!Number.isFinite(seconds) || Math.abs(seconds) > 8e12) return number(seconds);
  const at = new Date(seconds * 1000);
  if (span >= 3 * 86400) return at.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  /** @type {Intl.DateTimeFormatOptions} */
  const form = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (span < 600) form.second = "2-digit";
  return at.toLocaleTimeString(undefined, form);
}

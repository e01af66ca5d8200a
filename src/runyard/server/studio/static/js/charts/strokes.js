/** Lines and bands of many points on a surface: no more strokes than there are pixels, and gaps where there is no value. */

import { firstFrom } from "./series.js";

/** @typedef {import("./surface.js").Surface} Surface */
/** @typedef {import("./axes.js").Frame} Frame */

/**
 * Which points lie within the frame, with one more at each side so that lines run on to its edge.
 * @param {ArrayLike<number>} x
 * @param {boolean} sorted
 * @param {Frame} frame
 * @returns {[number, number]}
 */
export function within(x, sorted, frame) {
  if (!sorted) return [0, x.length];
  return [Math.max(0, firstFrom(x, frame.x.low) - 1), Math.min(x.length, firstFrom(x, frame.x.high) + 2)];
}

/**
 * @param {Surface} surface
 * @param {Frame} frame
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {boolean} sorted
 */
export function line(surface, frame, x, y, sorted) {
  const [from, until] = within(x, sorted, frame);
  surface.beginPath();
  if (sorted && until - from > (frame.right - frame.left) * 4) columns(surface, frame, x, y, from, until);
  else points(surface, frame, x, y, from, until);
  surface.stroke();
}

/**
 * @param {Surface} surface
 * @param {Frame} frame
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {number} from
 * @param {number} until
 */
function points(surface, frame, x, y, from, until) {
  const xAt = frame.x.at;
  const yAt = frame.y.at;
  let open = false;
  let single = -1;
  for (let at = from; at < until; at++) {
    const px = xAt(x[at]);
    const py = yAt(y[at]);
    if (px - px !== 0 || py - py !== 0) {
      if (single >= 0) dot(surface, xAt(x[single]), yAt(y[single]));
      open = false;
      single = -1;
    } else if (open) {
      surface.lineTo(px, py);
      single = -1;
    } else {
      surface.moveTo(px, py);
      open = true;
      single = at;
    }
  }
  if (single >= 0) dot(surface, xAt(x[single]), yAt(y[single]));
}

/**
 * A point that has no neighbour to draw a line to.
 * @param {Surface} surface @param {number} x @param {number} y
 */
function dot(surface, x, y) {
  for (const row of [-1.5, 0, 1.5]) {
    surface.moveTo(x - 2.5, y + row);
    surface.lineTo(x + 2.5, y + row);
  }
}

/**
 * First, lowest, highest and last value of each column of pixels: looks the same as all of the points.
 * @param {Surface} surface
 * @param {Frame} frame
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {number} from
 * @param {number} until
 */
function columns(surface, frame, x, y, from, until) {
  let open = false;
  let at = from;
  while (at < until) {
    const column = Math.floor(frame.x.at(x[at]) * 2);
    let low = Infinity;
    let high = -Infinity;
    let first = NaN;
    let last = NaN;
    let broken = false;
    for (; at < until && Math.floor(frame.x.at(x[at]) * 2) === column; at++) {
      const value = frame.y.at(y[at]);
      if (value - value !== 0) {
        broken = true;
        continue;
      }
      if (first !== first) first = value;
      last = value;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (first !== first) {
      open = false;
      if (column !== column) at++;
      continue;
    }
    const px = column / 2;
    if (open) surface.lineTo(px, first);
    else surface.moveTo(px, first);
    if (low < high) {
      surface.lineTo(px, low);
      surface.lineTo(px, high);
      surface.lineTo(px, last);
    }
    open = !broken;
  }
}

/**
 * The room between the smallest and the largest value.
 * @param {Surface} surface
 * @param {Frame} frame
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} low
 * @param {ArrayLike<number>} high
 * @param {boolean} sorted
 */
export function band(surface, frame, x, low, high, sorted) {
  const [from, until] = within(x, sorted, frame);
  const floor = frame.bottom + 1;
  /** @param {number} value */
  const y = (value) => {
    const at = frame.y.at(value);
    // An infinity goes to the edge, and so does what a logarithm cannot show.
    return at - at === 0 ? Math.max(-1e5, Math.min(1e5, at)) : value > 0 && value === Infinity ? frame.top - 1 : floor;
  };
  let start = -1;
  for (let at = from; at <= until; at++) {
    const there = at < until && low[at] === low[at] && high[at] === high[at] && Number.isFinite(x[at]);
    if (there && start < 0) start = at;
    if (there || start < 0) continue;
    surface.beginPath();
    surface.moveTo(frame.x.at(x[start]), y(high[start]));
    for (let up = start + 1; up < at; up++) surface.lineTo(frame.x.at(x[up]), y(high[up]));
    for (let down = at - 1; down >= start; down--) surface.lineTo(frame.x.at(x[down]), y(low[down]));
    surface.closePath();
    surface.fill();
    start = -1;
  }
}

/**
 * Signs for the values that no line can show: NaN at the bottom, infinities at the edge that they lie beyond.
 * @param {Surface} surface
 * @param {Frame} frame
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {boolean} sorted
 */
export function signs(surface, frame, x, y, sorted) {
  const [from, until] = within(x, sorted, frame);
  let former = "";
  surface.beginPath();
  for (let at = from; at < until; at++) {
    const value = y[at];
    if (value - value === 0) continue;
    const px = Math.round(frame.x.at(x[at]));
    const key = `${px} ${value}`;
    if (key === former || px < frame.left || px > frame.right) continue;
    former = key;
    if (value !== value) {
      surface.moveTo(px - 2.5, frame.bottom - 6);
      surface.lineTo(px + 2.5, frame.bottom - 1);
      surface.moveTo(px + 2.5, frame.bottom - 6);
      surface.lineTo(px - 2.5, frame.bottom - 1);
    } else {
      const edge = value > 0 ? frame.top + 1 : frame.bottom - 1;
      const back = value > 0 ? 5 : -5;
      surface.moveTo(px - 3, edge + back);
      surface.lineTo(px, edge);
      surface.lineTo(px + 3, edge + back);
    }
  }
  surface.stroke();
}

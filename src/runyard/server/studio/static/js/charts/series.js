/** Series of points: their extents, their smoothed form, and the point that is nearest to a place. */

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {ArrayLike<number>} x
 * @property {ArrayLike<number>} y NaN and infinities are gaps in the line.
 * @property {ArrayLike<number>} [low] The smallest value of the points that each point stands for.
 * @property {ArrayLike<number>} [high]
 * @property {string} [colour]
 * @property {number} [index] Which of the row of colours it has; its place among the series without.
 * @property {number[]} [dash]
 * @property {string} [note] Shown beside the name.
 */

/**
 * The exponential moving average, without its bias to the first value. A gap stays a gap and changes nothing after it.
 * @param {ArrayLike<number>} y
 * @param {number} weight From 0 (as it is) to just under 1.
 * @returns {Float64Array}
 */
export function smoothed(y, weight) {
  const found = new Float64Array(y.length);
  let mean = 0;
  let bias = 1;
  for (let at = 0; at < y.length; at++) {
    const value = y[at];
    if (!Number.isFinite(value)) {
      found[at] = value;
      continue;
    }
    mean = mean * weight + value * (1 - weight);
    bias *= weight;
    found[at] = mean / (1 - bias);
  }
  return found;
}

/**
 * @param {Iterable<ArrayLike<number>>} lists
 * @param {boolean} positive Whether only what a logarithm exists of counts.
 * @returns {[number, number]} `[Infinity, -Infinity]` where there is nothing.
 */
export function extent(lists, positive) {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists)
    for (let at = 0; at < list.length; at++) {
      const value = list[at];
      if (value - value !== 0 || (positive && value <= 0)) continue; // not finite
      if (value < low) low = value;
      if (value > high) high = value;
    }
  return [low, high];
}

/**
 * The range without what lies far outside of the rest: from the 1st to the 99th percentile, and as much again.
 * @param {Iterable<ArrayLike<number>>} lists
 * @param {boolean} positive
 * @returns {[number, number]}
 */
export function clipped(lists, positive) {
  /** @type {number[]} */
  const all = [];
  for (const list of lists)
    for (let at = 0; at < list.length; at++) {
      const value = list[at];
      if (Number.isFinite(value) && (!positive || value > 0)) all.push(value);
    }
  if (all.length < 5) return extent([all], positive);
  const sorted = Float64Array.from(all).sort();
  const low = sorted[Math.floor((sorted.length - 1) * 0.01)];
  const high = sorted[Math.ceil((sorted.length - 1) * 0.99) - (sorted.length < 100 ? 1 : 0)];
  return low < high ? [low, high] : [sorted[0], sorted[sorted.length - 1]];
}

/** @param {ArrayLike<number>} x */
export function isSorted(x) {
  for (let at = 1; at < x.length; at++) if (!(x[at] >= x[at - 1])) return false;
  return true;
}

/**
 * The position of the point whose x is nearest; -1 in an empty list.
 * @param {ArrayLike<number>} x
 * @param {number} wanted
 * @param {boolean} sorted
 */
export function nearest(x, wanted, sorted) {
  if (!x.length) return -1;
  if (!sorted) {
    let best = -1;
    for (let at = 0; at < x.length; at++)
      if (best < 0 || !(Math.abs(x[at] - wanted) >= Math.abs(x[best] - wanted))) best = Number.isFinite(x[at]) ? at : best;
    return best;
  }
  let low = firstFrom(x, wanted);
  if (low >= x.length) return x.length - 1;
  if (low > 0 && wanted - x[low - 1] < x[low] - wanted) low--;
  return low;
}

/**
 * The position of the first point at or after a place, in a sorted list.
 * @param {ArrayLike<number>} x
 * @param {number} wanted
 */
export function firstFrom(x, wanted) {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Metrics as the server sends them, as series that charts draw. */

/**
 * @typedef {object} Metric
 * @property {string} name
 * @property {"values" | "table" | "file"} kind
 * @property {string} [type]
 * @property {string | null} [description]
 * @property {number} count
 * @property {number[]} [ranks]
 * @property {any[]} [values]
 * @property {(number | null)[] | null} [steps]
 * @property {number[]} [times]
 * @property {any[]} [buckets]
 * @property {Record<string, any[]>} [columns]
 * @property {number} [first]
 */

/** @typedef {"step" | "relative" | "time" | `metric:${string}`} Axis */

/**
 * What the points of a metric are, in columns of numbers.
 * @typedef {object} Points
 * @property {Float64Array} y
 * @property {Float64Array | null} low
 * @property {Float64Array | null} high
 * @property {Float64Array | null} steps
 * @property {Float64Array} times
 * @property {Float64Array} positions Which point of the series each one is, the last of those that it stands for.
 */

/**
 * A value of the journal as a number; what is none is NaN.
 * @param {any} value
 */
export function numberOf(value) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value && typeof value === "object") return value.f === "inf" ? Infinity : value.f === "-inf" ? -Infinity : NaN;
  return NaN;
}

/**
 * A value as it is read.
 * @param {any} value
 */
export function textOf(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "object") return value.f === "nan" ? "NaN" : value.f === "inf" ? "∞" : value.f === "-inf" ? "−∞" : JSON.stringify(value);
  return String(value);
}

/**
 * Whether a metric is numbers, and so a curve.
 * @param {Metric} metric
 */
export function isCurve(metric) {
  if (metric.kind !== "values") return false;
  return !metric.values || !metric.values.length || metric.values.some((value) => typeof value !== "string");
}

/**
 * @param {Metric} metric
 * @returns {Points}
 */
export function pointsOf(metric) {
  if (metric.buckets) {
    const { buckets } = metric;
    const exact = buckets.every((each) => each.count === 1);
    let position = (metric.first ?? 0) - 1;
    return {
      y: Float64Array.from(buckets, (each) => numberOf(each.last)),
      low: exact ? null : Float64Array.from(buckets, (each) => numberOf(each.min)),
      high: exact ? null : Float64Array.from(buckets, (each) => numberOf(each.max)),
      steps: buckets.some((each) => each.step_last !== null) ? Float64Array.from(buckets, (each) => each.step_last ?? NaN) : null,
      times: Float64Array.from(buckets, (each) => each.time_last),
      positions: Float64Array.from(buckets, (each) => (position += each.count)),
    };
  }
  const values = metric.values ?? [];
  return {
    y: Float64Array.from(values, numberOf),
    low: null,
    high: null,
    steps: metric.steps ? Float64Array.from(metric.steps, (step) => step ?? NaN) : null,
    times: Float64Array.from(metric.times ?? []),
    positions: Float64Array.from(values, (_, at) => at),
  };
}

/**
 * A metric of one run as `/api/comparisons/curves` sends it: in columns.
 * @typedef {object} Curve
 * @property {string} run
 * @property {string} name
 * @property {number} count
 * @property {any[]} values
 * @property {any[] | null} low
 * @property {any[] | null} high
 * @property {(number | null)[] | null} steps
 * @property {number[]} times
 * @property {number[] | null} positions
 */

/**
 * @param {Curve} curve
 * @returns {Points}
 */
export function pointsOfCurve({ values, low, high, steps, times, positions }) {
  const y = Float64Array.from(values, numberOf);
  return {
    y,
    low: low && Float64Array.from(low, numberOf),
    high: high && Float64Array.from(high, numberOf),
    steps: steps && Float64Array.from(steps, (step) => step ?? NaN),
    times: Float64Array.from(times),
    positions: positions ? Float64Array.from(positions) : y.map((_, at) => at),
  };
}

/**
 * The x of points, for an axis. `start` is when the run began, in seconds since 1970.
 * @param {Points} points
 * @param {Axis} axis
 * @param {number} start
 * @param {Points | null} [other] Of the metric on the axis.
 * @returns {Float64Array}
 */
export function xOf(points, axis, start, other = null) {
  if (axis === "time") return points.times;
  if (axis === "relative") return points.times.map((time) => time - start);
  if (axis === "step") return points.steps ?? points.positions;
  if (!other) return points.positions;
  return joined(points, other);
}

/**
 * The value of another metric at each point: at the same step where both have steps, else the last one before its time.
 * @param {Points} points
 * @param {Points} other
 */
function joined(points, other) {
  const key = points.steps && other.steps ? /** @type {const} */ ("steps") : /** @type {const} */ ("times");
  const at = /** @type {Float64Array} */ (other[key]);
  const order = Array.from(at.keys()).sort((one, two) => at[one] - at[two]);
  const keys = Float64Array.from(order, (index) => at[index]);
  return /** @type {Float64Array} */ (points[key]).map((wanted) => {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keys[middle] <= wanted) low = middle + 1;
      else high = middle;
    }
    return low ? other.y[order[low - 1]] : NaN;
  });
}

/**
 * How an axis is labelled, and what its numbers are.
 * @param {Axis} axis
 * @returns {{ xLabel: string, xKind: import("../charts/scales.js").Kind }}
 */
export function labelOf(axis) {
  if (axis === "time") return { xLabel: "time", xKind: "time" };
  if (axis === "relative") return { xLabel: "time since the start", xKind: "duration" };
  return { xLabel: axis === "step" ? "step" : axis.slice("metric:".length), xKind: "number" };
}

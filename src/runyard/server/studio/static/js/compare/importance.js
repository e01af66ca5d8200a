/**
 * Which parameters matter for a metric: how much of its variance a parameter tells by itself. The runs are sorted by the
 * parameter and cut into a few groups; what the groups' means differ, beside all that the runs differ, is its part,
 * less what the same number of groups would tell by chance.
 */

const LEAST = 4;

/**
 * @param {{ name: string, values: (number | string | null)[], isNumber: boolean }[]} parameters
 * @param {number[]} metric One for each run; NaN where there is none.
 * @returns {{ name: string, part: number }[]} The most important one first; empty where there are too few runs.
 */
export function importance(parameters, metric) {
  const found = [];
  for (const parameter of parameters) {
    const rows = metric.map((value, at) => ({ value, key: parameter.values[at] })).filter((row) => Number.isFinite(row.value) && row.key !== null && row.key !== undefined);
    const part = explained(rows, parameter.isNumber);
    if (part !== null) found.push({ name: parameter.name, part });
  }
  return found.sort((one, other) => other.part - one.part).slice(0, 20);
}

/**
 * @param {{ value: number, key: any }[]} rows
 * @param {boolean} isNumber
 * @returns {number | null}
 */
function explained(rows, isNumber) {
  if (rows.length < LEAST) return null;
  const groups = grouped(rows, isNumber);
  if (groups.length < 2) return null;
  const mean = average(rows.map((row) => row.value));
  const whole = rows.reduce((sum, row) => sum + (row.value - mean) ** 2, 0);
  if (!whole) return 0;
  const between = groups.reduce((sum, group) => sum + group.length * (average(group) - mean) ** 2, 0);
  const chance = (groups.length - 1) / (rows.length - 1);
  if (chance >= 1) return null;
  return Math.round(Math.max(0, (between / whole - chance) / (1 - chance)) * 1000) / 1000;
}

/**
 * @param {{ value: number, key: any }[]} rows
 * @param {boolean} isNumber
 * @returns {number[][]}
 */
function grouped(rows, isNumber) {
  /** @type {Map<any, number[]>} */
  const byKey = new Map();
  for (const row of rows) byKey.set(row.key, [...(byKey.get(row.key) ?? []), row.value]);
  const most = Math.max(2, Math.floor(Math.sqrt(rows.length)));
  if (!isNumber || byKey.size <= most) return [...byKey.values()];
  const sorted = [...rows].sort((one, other) => one.key - other.key);
  return Array.from({ length: most }, (_, at) => sorted.slice(Math.floor((sorted.length * at) / most), Math.floor((sorted.length * (at + 1)) / most)).map((row) => row.value));
}

/** @param {number[]} values */
function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

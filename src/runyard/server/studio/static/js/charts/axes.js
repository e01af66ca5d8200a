/** The frame of a chart with two axes: how much room the labels take, the grid, and the labels. */

import { label, scale, ticks } from "./scales.js";

/** @typedef {import("./scales.js").Scale} Scale */
/** @typedef {import("./scales.js").Kind} Kind */
/** @typedef {import("./surface.js").Surface} Surface */
/** @typedef {import("./theme.js").Theme} Theme */

/**
 * @typedef {object} Axis
 * @property {[number, number]} range
 * @property {boolean} log
 * @property {Kind} kind
 * @property {string} label
 * @property {boolean} [bare] Without numbers: nothing has been measured.
 */

/** @typedef {{ left: number, top: number, right: number, bottom: number, x: Scale, y: Scale }} Frame */

/**
 * Draw both axes and their grid.
 * @param {Surface} surface
 * @param {number} width
 * @param {number} height
 * @param {Theme} theme
 * @param {Axis} xAxis
 * @param {Axis} yAxis
 * @returns {Frame} Where the points go.
 */
export function axes(surface, width, height, theme, xAxis, yAxis) {
  surface.font = `11px ${theme.font}`;
  const top = yAxis.label ? 22 : 8;
  const bottom = height - (xAxis.label ? 36 : 22);
  const y = scale(yAxis.range[0], yAxis.range[1], bottom, top, yAxis.log);
  const span = yAxis.range[1] - yAxis.range[0];
  const marks = yAxis.bare ? [] : ticks(y.low, y.high, Math.max(2, Math.floor((bottom - top) / 34)), yAxis.log, yAxis.kind);
  const names = marks.map((value) => label(value, yAxis.kind, span));
  const left = Math.max(24, ...names.map((name) => Math.ceil(surface.measureText(name).width) + 10));
  const right = width - 12;
  const x = scale(xAxis.range[0], xAxis.range[1], left, right, xAxis.log);

  surface.lineWidth = 1;
  surface.setLineDash([]);
  surface.strokeStyle = theme.line;
  surface.globalAlpha = 0.7;
  surface.beginPath();
  for (const value of marks) {
    const at = Math.round(y.at(value)) + 0.5;
    surface.moveTo(left, at);
    surface.lineTo(right, at);
  }
  surface.stroke();
  surface.globalAlpha = 1;
  surface.fillStyle = theme.faint;
  surface.textAlign = "right";
  surface.textBaseline = "middle";
  marks.forEach((value, at) => surface.fillText(names[at], left - 6, y.at(value)));

  bottomAxis(surface, theme, x, xAxis, { left, right, bottom });
  surface.fillStyle = theme.faint;
  if (xAxis.label) {
    surface.textAlign = "right";
    surface.textBaseline = "top";
    surface.fillText(xAxis.label, right, bottom + 21);
  }
  if (yAxis.label) {
    surface.textAlign = "left";
    surface.textBaseline = "top";
    surface.fillText(yAxis.label, 4, 3);
  }
  return { left, top, right, bottom, x, y };
}

/**
 * @param {Surface} surface
 * @param {Theme} theme
 * @param {Scale} x
 * @param {Axis} axis
 * @param {{ left: number, right: number, bottom: number }} place
 */
function bottomAxis(surface, theme, x, axis, { left, right, bottom }) {
  const span = axis.range[1] - axis.range[0];
  const marks = axis.bare ? [] : ticks(x.low, x.high, Math.max(2, Math.floor((right - left) / 84)), axis.log, axis.kind);
  surface.strokeStyle = theme.line;
  surface.beginPath();
  surface.moveTo(left, bottom + 0.5);
  surface.lineTo(right, bottom + 0.5);
  for (const value of marks) {
    const at = Math.round(x.at(value)) + 0.5;
    surface.moveTo(at, bottom);
    surface.lineTo(at, bottom + 4);
  }
  surface.stroke();
  surface.fillStyle = theme.faint;
  surface.textAlign = "center";
  surface.textBaseline = "top";
  let free = -Infinity;
  for (const value of marks) {
    const name = label(value, axis.kind, span);
    const half = surface.measureText(name).width / 2;
    const at = Math.min(Math.max(x.at(value), left - 4 + half), right + 10 - half);
    if (at - half < free) continue;
    surface.fillText(name, at, bottom + 7);
    free = at + half + 8;
  }
}

/** A matrix of numbers as colours: confusion matrices, correlations, and other tables of two directions. */

import { h } from "../core/dom.js";
import { shortened } from "./bars.js";
import { Chart } from "./chart.js";
import { number } from "./scales.js";
import { extent } from "./series.js";
import { shade } from "./theme.js";

/**
 * @typedef {object} HeatSettings
 * @property {number[][]} matrix Row by row.
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} [rowLabel]
 * @property {string} [columnLabel]
 * @property {boolean} [byRow] Colours tell the part of the row: what a confusion matrix is read by.
 */

/** @typedef {import("./chart.js").ChartOptions & HeatSettings} HeatOptions */

export class HeatMap extends Chart {
  /**
   * @param {HTMLElement} element
   * @param {HeatOptions} options
   */
  constructor(element, options) {
    super(element, { ...options, height: options.height ?? Math.max(160, Math.min(520, options.rows.length * 34 + 60)) });
    this.settings = { ...options };
    this.area = { left: 0, top: 0, cell: 0, high: 0 };
    /** @type {[number, number] | null} */
    this.chosen = null;
    this.canvas.addEventListener("pointermove", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left - this.area.left) / this.area.cell);
      const row = Math.floor((event.clientY - box.top - this.area.top) / this.area.high);
      this.choose(this.settings.matrix[row]?.[column] === undefined ? null : [row, column]);
    });
    this.canvas.addEventListener("pointerleave", () => this.choose(null));
    this.canvas.addEventListener("blur", () => this.choose(null));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.redraw();
  }

  /** @param {Partial<HeatSettings>} settings */
  set(settings) {
    Object.assign(this.settings, settings);
    this.redraw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!down && !right) return;
    event.preventDefault();
    const [row, column] = this.chosen ?? [0, 0];
    const to = this.chosen ? [row + down, column + right] : [0, 0];
    if (this.settings.matrix[to[0]]?.[to[1]] === undefined) return;
    this.choose([to[0], to[1]]);
    this.announce(this.texts(to[0], to[1]).join(", "));
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {import("./theme.js").Theme} theme
   */
  paint(surface, width, height, theme) {
    const { matrix, rows, columns, rowLabel = "", columnLabel = "" } = this.settings;
    surface.font = `11px ${theme.font}`;
    const left = Math.min(width * 0.35, Math.max(30, ...rows.slice(0, 200).map((name) => surface.measureText(name.slice(0, 60)).width + 12))) + (rowLabel ? 16 : 0);
    const bottom = columnLabel ? 38 : 22;
    const top = 6;
    const cell = (width - left - 8) / Math.max(1, columns.length);
    const high = (height - top - bottom) / Math.max(1, rows.length);
    this.area = { left, top, cell, high };
    const [low, most] = extent(matrix, false);
    const gap = Math.min(cell, high) > 6 ? 1 : 0;
    matrix.forEach((values, row) => {
      const whole = values.reduce((sum, value) => sum + (Number.isFinite(value) ? Math.abs(value) : 0), 0);
      values.forEach((value, column) => {
        const part = this.settings.byRow ? (whole ? value / whole : 0) : most > low ? (value - low) / (most - low) : 0.5;
        const x = left + column * cell;
        const y = top + row * high;
        surface.fillStyle = Number.isFinite(value) ? shade(part, theme.dark) : theme.line;
        surface.fillRect(x, y, cell - gap, high - gap);
        const text = number(value);
        if (high < 14 || surface.measureText(text).width > cell - 6) return;
        surface.fillStyle = theme.dark ? (part > 0.62 ? "#0b1220" : "#e4e8ec") : part > 0.5 ? "#ffffff" : "#1c2128";
        surface.textAlign = "center";
        surface.textBaseline = "middle";
        surface.fillText(text, x + (cell - gap) / 2, y + (high - gap) / 2);
      });
    });
    surface.fillStyle = theme.faint;
    surface.textBaseline = "middle";
    surface.textAlign = "right";
    const everyRow = Math.max(1, Math.ceil(13 / high));
    rows.forEach((name, at) => {
      if (at % everyRow === 0) surface.fillText(shortened(surface, name, left - (rowLabel ? 26 : 10)), left - 6, top + (at + 0.5) * high);
    });
    surface.textAlign = "center";
    surface.textBaseline = "top";
    const everyColumn = Math.max(1, Math.ceil(26 / cell));
    columns.forEach((name, at) => {
      if (at % everyColumn === 0) surface.fillText(shortened(surface, name, cell * everyColumn - 4), left + (at + 0.5) * cell, height - bottom + 6);
    });
    if (columnLabel) surface.fillText(columnLabel, left + (width - left) / 2, height - 15);
    if (rowLabel) {
      surface.save();
      surface.translate(4, top + (height - top - bottom) / 2);
      surface.rotate(-Math.PI / 2);
      surface.textBaseline = "top";
      surface.fillText(rowLabel, 0, 0);
      surface.restore();
    }
  }

  /** @param {[number, number] | null} place */
  choose(place) {
    if (String(place) === String(this.chosen)) return;
    this.chosen = place;
    const surface = this.overlay();
    this.tip.hidden = !place;
    if (!place || !surface) return;
    const [row, column] = place;
    const { left, top, cell, high } = this.area;
    surface.strokeStyle = getComputedStyle(this.canvas).color;
    surface.lineWidth = 2;
    surface.strokeRect(left + column * cell, top + row * high, cell - 1, high - 1);
    this.tip.replaceChildren(...this.texts(row, column).map((text) => h("div", {}, text)));
    const right = left + (column + 1) * cell + 8;
    this.tip.style.left = `${right + this.tip.offsetWidth > this.width ? Math.max(0, left + column * cell - this.tip.offsetWidth - 8) : right}px`;
    this.tip.style.top = `${Math.max(0, Math.min(top + row * high, this.height - this.tip.offsetHeight))}px`;
  }

  /** @param {number} row @param {number} column */
  texts(row, column) {
    const { matrix, rows, columns, rowLabel, columnLabel } = this.settings;
    const value = matrix[row][column];
    const whole = matrix[row].reduce((sum, each) => sum + each, 0);
    const texts = [`${rowLabel || "row"}: ${rows[row]}`, `${columnLabel || "column"}: ${columns[column]}`, number(value)];
    if (this.settings.byRow && whole) texts[2] += ` (${number(Math.round((value / whole) * 1000) / 10)} % of the row)`;
    return texts;
  }

  describe() {
    const { rows, columns, rowLabel, columnLabel } = this.settings;
    return `${this.title || "Matrix"}: ${rows.length} rows${rowLabel ? ` (${rowLabel})` : ""} and ${columns.length} columns${columnLabel ? ` (${columnLabel})` : ""}. Arrow keys go from cell to cell.`;
  }

  numbers() {
    const { matrix, rows, columns } = this.settings;
    return { head: ["", ...columns], rows: matrix.map((values, at) => [rows[at] ?? String(at), ...values]) };
  }
}

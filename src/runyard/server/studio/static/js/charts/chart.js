/**
 * What all charts share: a figure with a title and tools, a canvas of the right size and colours, its text alternative,
 * its large form, and its files. A kind of chart says how it is painted, and which rows its table has.
 */

import { h } from "../core/dom.js";
import { csv, download, fileName } from "./exports.js";
import { icon } from "./icons.js";
import { SvgSurface } from "./surface.js";
import { onTheme, theme } from "./theme.js";

/** @typedef {import("./surface.js").Surface} Surface */
/** @typedef {import("./theme.js").Theme} Theme */

/**
 * @typedef {object} ChartOptions
 * @property {string} [title]
 * @property {string} [note] A word beside the title.
 * @property {number} [height] In pixels; 220 without.
 * @property {boolean} [tools] Whether it has buttons; true without.
 */

/** @typedef {{ head: string[], rows: Iterable<(string | number)[]> }} Table */

const MOST_ROWS = 500;

/** Ids that elements refer to each other by. */
let made = 0;

export class Chart {
  /**
   * @param {HTMLElement} element Where the figure goes; it is not emptied.
   * @param {ChartOptions} options
   */
  constructor(element, options) {
    const id = `chart-${made++}`;
    this.title = options.title ?? "";
    this.width = 0;
    this.height = 0;
    this.stale = true;
    this.seen = false;
    this.frame = 0;
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "chart-canvas", role: "img", tabindex: "0", "aria-label": this.title || "Chart" }));
    this.over = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "chart-over", "aria-hidden": "true" }));
    this.tip = h("div", { class: "chart-tip", hidden: true });
    this.status = h("div", { class: "chart-status", role: "status" });
    this.box = h("div", { class: "chart-box" }, this.canvas, this.over, this.tip);
    this.box.style.height = `${options.height ?? 220}px`;
    this.heading = h("figcaption", { class: "chart-title", id, title: this.title }, this.title);
    this.noted = h("span", { class: "chart-note" }, options.note ?? "");
    this.tools = h("div", { class: "chart-tools" });
    this.menu = h("div", { class: "chart-menu", hidden: true });
    /** @type {HTMLButtonElement | undefined} */
    this.asTable = undefined;
    /** @type {HTMLButtonElement | undefined} */
    this.files = undefined;
    /** @type {HTMLButtonElement | undefined} */
    this.large = undefined;
    this.bar = h("div", { class: "chart-bar" }, this.heading, this.noted, this.tools);
    this.below = h("div", { class: "chart-below" });
    this.table = h("div", { class: "chart-table", hidden: true, tabindex: "0" });
    this.figure = h("figure", { class: "chart", "aria-labelledby": id }, this.bar, this.box, this.below, this.table, this.status);
    this.bar.hidden = !this.title && options.tools === false;
    if (options.tools !== false) this.addTools();
    element.append(this.figure);

    /** @type {(() => void)[]} */
    this.endings = [onTheme(() => this.recoloured())];
    const sizes = new ResizeObserver(() => this.resized());
    sizes.observe(this.box);
    const sight = new IntersectionObserver((entries) => {
      this.seen = entries[entries.length - 1].isIntersecting;
      if (this.seen && this.stale) this.redraw();
    }, SIGHT);
    sight.observe(this.box);
    this.endings.push(() => sizes.disconnect(), () => sight.disconnect());
  }

  // -- what a kind of chart says ---------------------------------------------------------------------------------

  /**
   * @param {Surface} surface
   * @param {number} width
   * @param {number} height
   * @param {Theme} theme
   */
  paint(surface, width, height, theme) {
    void [surface, width, height, theme];
  }

  /** A sentence on what is to be seen. */
  describe() {
    return this.title;
  }

  /** @returns {Table} */
  numbers() {
    return { head: [], rows: [] };
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  /** Draw in the next frame, or when it comes into sight. */
  redraw() {
    this.stale = true;
    if (!this.seen || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Draw now. */
  draw() {
    this.measured();
    const surface = prepared(this.canvas, this.width, this.height);
    if (!surface || !this.width) return;
    this.stale = false;
    this.paint(surface, this.width, this.height, theme());
    this.canvas.setAttribute("aria-label", this.describe());
    if (!this.table.hidden) this.fillTable();
    this.figure.dataset.drawn = String(Number(this.figure.dataset.drawn ?? 0) + 1);
  }

  /** The context that is drawn on above the chart, emptied. */
  overlay() {
    return prepared(this.over, this.width, this.height);
  }

  /** The page has other colours now. */
  recoloured() {
    this.redraw();
  }

  measured() {
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
  }

  resized() {
    if (this.box.clientWidth !== this.width || this.box.clientHeight !== this.height) this.redraw();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    for (const end of this.endings) end();
    this.figure.remove();
  }

  /** @param {string} text Read out by screen readers. */
  announce(text) {
    this.status.textContent = text;
  }

  // -- tools -----------------------------------------------------------------------------------------------------

  addTools() {
    const asTable = this.tool("table", "Numbers as a table", () => this.showTable(this.table.hidden));
    asTable.setAttribute("aria-expanded", "false");
    this.asTable = asTable;
    const files = this.tool("download", "Save as PNG, SVG or CSV", () => this.showMenu(this.menu.hidden));
    files.setAttribute("aria-expanded", "false");
    this.files = files;
    /** @type {[string, () => void][]} */
    const kinds = [
      ["PNG", () => this.savePng()],
      ["SVG", () => this.saveSvg()],
      ["CSV", () => this.saveCsv()],
    ];
    for (const [name, save] of kinds) {
      const item = h("button", { type: "button" }, name);
      item.addEventListener("click", () => {
        this.showMenu(false);
        save();
      });
      this.menu.append(item);
    }
    this.tools.append(this.menu);
    this.large = this.tool("large", "Full screen", () => this.enlarge(!this.figure.classList.contains("chart-large")));
    this.large.setAttribute("aria-pressed", "false");
    this.figure.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.figure.classList.contains("chart-large")) {
        this.enlarge(false);
        event.stopPropagation();
      }
      if (event.key === "Escape" && !this.menu.hidden) this.showMenu(false);
    });
    this.figure.addEventListener("focusout", (event) => {
      const to = event.relatedTarget;
      if (!(to instanceof Node && this.tools.contains(to))) this.menu.hidden = true;
    });
  }

  /**
   * Add a button to the chart's tools.
   * @param {string} sign
   * @param {string} label
   * @param {() => void} act
   */
  tool(sign, label, act) {
    const button = /** @type {HTMLButtonElement} */ (
      h("button", { type: "button", class: "chart-tool", "aria-label": label, title: label }, icon(sign))
    );
    button.addEventListener("click", act);
    this.tools.append(button);
    return button;
  }

  /** @param {boolean} shown */
  showMenu(shown) {
    this.menu.hidden = !shown;
    this.files?.setAttribute("aria-expanded", String(shown));
    if (shown) /** @type {HTMLElement | null} */ (this.menu.firstElementChild)?.focus();
  }

  /** @param {boolean} large */
  enlarge(large) {
    this.figure.classList.toggle("chart-large", large);
    document.documentElement.classList.toggle("chart-covers", large);
    this.large?.setAttribute("aria-pressed", String(large));
    if (large) this.canvas.focus();
  }

  /** @param {boolean} shown */
  showTable(shown) {
    this.table.hidden = !shown;
    this.asTable?.setAttribute("aria-expanded", String(shown));
    if (shown) this.fillTable();
  }

  fillTable() {
    const { head, rows } = this.numbers();
    const body = h("tbody");
    let more = false;
    for (const row of rows) {
      if (body.childElementCount === MOST_ROWS) {
        more = true;
        break;
      }
      body.append(h("tr", {}, ...row.map((value) => h("td", {}, String(value)))));
    }
    const heads = h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)));
    const caption = h("caption", {}, this.title + (more ? ` (the first ${MOST_ROWS} rows; the CSV has all)` : ""));
    this.table.setAttribute("aria-label", `${this.title}, numbers`);
    this.table.replaceChildren(h("table", { class: "table" }, caption, h("thead", {}, heads), body));
  }

  savePng() {
    this.draw();
    const picture = document.createElement("canvas");
    picture.width = this.canvas.width;
    picture.height = this.canvas.height;
    const context = picture.getContext("2d");
    if (!context) return;
    context.fillStyle = theme().surface;
    context.fillRect(0, 0, picture.width, picture.height);
    context.drawImage(this.canvas, 0, 0);
    picture.toBlob((content) => content && download(fileName(this.title, "png"), content));
  }

  saveSvg() {
    download(fileName(this.title, "svg"), new Blob([this.svg()], { type: "image/svg+xml" }));
  }

  saveCsv() {
    const { head, rows } = this.numbers();
    download(fileName(this.title, "csv"), new Blob([csv(head, rows)], { type: "text/csv" }));
  }

  svg() {
    this.measured();
    const measure = document.createElement("canvas").getContext("2d");
    if (!measure) return "";
    const surface = new SvgSurface(this.width, this.height, measure);
    const colours = theme();
    surface.fillStyle = colours.surface;
    surface.fillRect(0, 0, this.width, this.height);
    this.paint(surface, this.width, this.height, colours);
    this.stale = true;
    return surface.text();
  }
}

const SIGHT = { rootMargin: "200px" };

/**
 * The context of a canvas that is as large as that on this screen, emptied.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
function prepared(canvas, width, height) {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const wide = Math.round(width * ratio);
  const high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

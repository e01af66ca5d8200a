/** What charts are drawn on: a canvas, or a drawing of the same calls that is written as SVG. */

/**
 * The calls that charts use, of a canvas' context or of an SvgSurface.
 * @typedef {Pick<CanvasRenderingContext2D, "beginPath" | "moveTo" | "lineTo" | "closePath" | "rect" | "arc" | "fill" | "stroke" | "clip" | "save" | "restore" | "fillRect" | "strokeRect" | "fillText" | "setLineDash" | "translate" | "rotate" | "measureText" | "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "font" | "textAlign" | "textBaseline" | "lineJoin">} Surface
 */

const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const BASELINES = { top: "hanging", hanging: "hanging", middle: "central", alphabetic: "auto", ideographic: "auto", bottom: "text-after-edge" };

/** @implements {Surface} */
export class SvgSurface {
  /**
   * @param {number} width
   * @param {number} height
   * @param {CanvasRenderingContext2D} measure Texts are as wide as they are there.
   */
  constructor(width, height, measure) {
    this.width = width;
    this.height = height;
    this.measure = measure;
    /** @type {string[]} */
    this.parts = [];
    /** @type {string[]} */
    this.path = [];
    /** @type {string | CanvasGradient | CanvasPattern} */
    this.fillStyle = "#000";
    /** @type {string | CanvasGradient | CanvasPattern} */
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "12px sans-serif";
    /** @type {CanvasTextAlign} */
    this.textAlign = "left";
    /** @type {CanvasTextBaseline} */
    this.textBaseline = "alphabetic";
    /** @type {CanvasLineJoin} */
    this.lineJoin = "miter";
    /** @type {number[]} */
    this.dash = [];
    this.transform = "";
    this.groups = 0;
    this.clips = 0;
    /** @type {any[]} */
    this.states = [];
  }

  beginPath() {
    this.path = [];
  }
  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path.push(`M${short(x)} ${short(y)}`);
  }
  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path.push(`L${short(x)} ${short(y)}`);
  }
  closePath() {
    this.path.push("Z");
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`);
  }
  /** @param {number} x @param {number} y @param {number} radius */
  arc(x, y, radius) {
    const r = short(radius);
    this.path.push(`M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${short(2 * radius)} 0a${r} ${r} 0 1 0 ${short(-2 * radius)} 0Z`);
  }
  fill() {
    this.add(`<path d="${this.path.join("")}" fill="${escaped(String(this.fillStyle))}"${this.opacity()}/>`);
  }
  stroke() {
    this.add(
      `<path d="${this.path.join("")}" fill="none" stroke="${escaped(String(this.strokeStyle))}" ` +
        `stroke-width="${short(this.lineWidth)}" stroke-linejoin="${this.lineJoin}"` +
        `${this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : ""}${this.opacity()}/>`,
    );
  }
  clip() {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`);
    this.groups++;
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.add(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, width))}" height="${short(Math.max(0, height))}" ` +
        `fill="${escaped(String(this.fillStyle))}"${this.opacity()}/>`,
    );
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.beginPath();
    this.rect(x, y, width, height);
    this.stroke();
  }
  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const size = /(\d+)px/.exec(this.font)?.[1] ?? "12";
    const weight = /^(\d+|bold) /.exec(this.font)?.[1];
    this.add(
      `<text x="${short(x)}" y="${short(y)}" font-size="${size}" font-family="system-ui, sans-serif"` +
        `${weight ? ` font-weight="${weight}"` : ""} text-anchor="${ANCHORS[this.textAlign]}" ` +
        `dominant-baseline="${BASELINES[this.textBaseline]}" fill="${escaped(String(this.fillStyle))}"${this.opacity()}>` +
        `${escaped(text)}</text>`,
    );
  }
  /** @param {Iterable<number>} dash */
  setLineDash(dash) {
    this.dash = [...dash];
  }
  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.transform += `translate(${short(x)} ${short(y)})`;
  }
  /** @param {number} angle */
  rotate(angle) {
    this.transform += `rotate(${short((angle * 180) / Math.PI)})`;
  }
  /** @param {string} text */
  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineJoin, dash, transform, groups } = this;
    this.states.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineJoin, dash, transform, groups });
  }
  restore() {
    const state = this.states.pop();
    if (!state) return;
    for (let open = this.groups; open > state.groups; open--) this.parts.push("</g>");
    Object.assign(this, state);
  }

  /** The drawing as a file. */
  text() {
    const size = `${this.width} ${this.height}`;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" width="${this.width}" height="${this.height}">` +
      `${this.parts.join("\n")}</svg>\n`
    );
  }

  /** @param {string} part */
  add(part) {
    this.parts.push(this.transform ? `<g transform="${this.transform}">${part}</g>` : part);
  }
  opacity() {
    return this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
  }
}

/** @param {number} value */
function short(value) {
  return String(Math.round(value * 100) / 100);
}

/** @param {string} text */
function escaped(text) {
  // What XML cannot hold at all is shown as a sign for it.
  // eslint-disable-next-line no-control-regex
  const clean = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  return clean.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

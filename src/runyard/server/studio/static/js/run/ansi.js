/** Lines of logs as elements: colours of terminals, and signs for what cannot be seen. Text is always text. */

import { h } from "../core/dom.js";

/**
 * @typedef {object} Look
 * @property {string | null} colour A class, or a colour.
 * @property {string | null} ground
 * @property {boolean} bold
 * @property {boolean} faint
 * @property {boolean} italic
 * @property {boolean} underlined
 */

// eslint-disable-next-line no-control-regex
const ESCAPE = /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_]|.)|\u001b/g;
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** @returns {Look} */
function plain() {
  return { colour: null, ground: null, bold: false, faint: false, italic: false, underlined: false };
}

/**
 * One line. A line that a program wrote over again and again, as progress bars do, is what it was in the end.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function shown(text) {
  const parts = text.split("\r");
  let line = parts.pop() ?? "";
  while (!line && parts.length) line = parts.pop() ?? "";
  if (!line.includes("\u001b")) return [visible(line)];
  /** @type {(Node | string)[]} */
  const found = [];
  const look = plain();
  let done = 0;
  for (const escape of line.matchAll(ESCAPE)) {
    if (escape.index > done) found.push(piece(line.slice(done, escape.index), look));
    done = escape.index + escape[0].length;
    if (escape[2] === "m") change(look, escape[1] ?? "");
  }
  if (done < line.length) found.push(piece(line.slice(done), look));
  return found;
}

/** @param {string} text What controls terminals, or turns the direction of text, is shown as a sign. */
export function visible(text) {
  return text.replace(UNSEEN, (sign) => {
    const code = sign.charCodeAt(0);
    if (code < 32) return String.fromCharCode(0x2400 + code);
    return code === 127 ? "\u2421" : `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/**
 * @param {string} text
 * @param {Look} look
 */
function piece(text, look) {
  const names = [];
  if (look.bold) names.push("ansi-bold");
  if (look.faint) names.push("ansi-faint");
  if (look.italic) names.push("ansi-italic");
  if (look.underlined) names.push("ansi-underlined");
  if (look.colour && !look.colour.startsWith("rgb")) names.push(`ansi-${look.colour}`);
  if (look.ground && !look.ground.startsWith("rgb")) names.push(`ansi-on-${look.ground}`);
  if (!names.length && !look.colour && !look.ground) return visible(text);
  const element = h("span", { class: names.join(" ") || null }, visible(text));
  if (look.colour?.startsWith("rgb")) element.style.color = look.colour;
  if (look.ground?.startsWith("rgb")) element.style.backgroundColor = look.ground;
  return element;
}

/**
 * @param {Look} look
 * @param {string} codes
 */
function change(look, codes) {
  const numbers = codes.split(/[;:]/).map((each) => Number(each) || 0);
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at];
    if (code === 0) Object.assign(look, plain());
    else if (code === 1) look.bold = true;
    else if (code === 2) look.faint = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.underlined = true;
    else if (code === 22) look.bold = look.faint = false;
    else if (code === 23) look.italic = false;
    else if (code === 24) look.underlined = false;
    else if (code === 39) look.colour = null;
    else if (code === 49) look.ground = null;
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(numbers.slice(at + 1));
      if (code === 38) look.colour = colour;
      else look.ground = colour;
      at += used;
    } else if (code >= 30 && code <= 37) look.colour = NAMES[code - 30];
    else if (code >= 90 && code <= 97) look.colour = NAMES[code - 90];
    else if (code >= 40 && code <= 47) look.ground = NAMES[code - 40];
    else if (code >= 100 && code <= 107) look.ground = NAMES[code - 100];
  }
}

/**
 * A colour of the 256, or one by its parts, and how many numbers told it.
 * @param {number[]} numbers
 * @returns {[string | null, number]}
 */
function extended(numbers) {
  if (numbers[0] === 2) return [`rgb(${numbers.slice(1, 4).map((each) => Math.min(255, each || 0)).join(" ")})`, 4];
  if (numbers[0] !== 5) return [null, 1];
  const at = Math.min(255, numbers[1] ?? 0);
  if (at < 16) return [NAMES[at % 8], 2];
  if (at >= 232) return [`rgb(${Array(3).fill((at - 232) * 10 + 8).join(" ")})`, 2];
  const level = (/** @type {number} */ part) => (part ? part * 40 + 55 : 0);
  return [`rgb(${level(Math.floor((at - 16) / 36))} ${level(Math.floor((at - 16) / 6) % 6)} ${level((at - 16) % 6)})`, 2];
}

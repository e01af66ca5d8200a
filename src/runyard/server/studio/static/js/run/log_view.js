/**
 * One log: a window of its lines, which moves with the reader and with the end of the log while that grows. Only what
 * is near to what is seen is fetched, so a log may be of any size.
 */

import { get, report } from "../core/api.js";
import { bytes, h, number, replace } from "../core/dom.js";
import { placeOf } from "../core/tabs.js";
import { shown } from "./ansi.js";

const PIECE = 500;
/** Lines that are fetched at once. */
const MOST = 3000;
/** Lines that are in the page at once. */

export class LogView {
  /**
   * @param {HTMLElement} element
   * @param {string} runId
   * @param {string} name Of the file.
   * @param {{ line?: number, link?: boolean, title?: string }} [options]
   */
  constructor(element, runId, name, options = {}) {
    this.name = name;
    this.path = `/api/runs/${encodeURIComponent(runId)}/lines/${name.split("/").map(encodeURIComponent).join("/")}`;
    this.link = options.link ?? true;
    this.lines = 0;
    this.from = 0;
    this.until = 0;
    this.isOpen = false;
    this.follows = true;
    this.busy = false;
    this.again = false;
    this.marked = -1;
    this.told = h("span", { class: "faint log-size" });
    this.rows = h("div", { class: "log-rows" });
    this.scroller = h("div", { class: "log", tabindex: "0", role: "log", "aria-label": options.title ?? name, "aria-live": "off" }, this.rows);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    replace(element, options.title ? h("div", { class: "log-title" }, h("b", null, options.title), this.told) : null, this.scroller);
    this.ready = options.line ? this.goTo(options.line - 1) : this.toEnd();
  }

  /**
   * @param {number} first
   * @param {number} count
   */
  async ask(first, count) {
    const answer = await get(`${this.path}?first=${first}&number=${count}`);
    this.lines = answer.lines;
    this.isOpen = answer.open;
    this.told.textContent = `${number(answer.lines)} ${answer.lines === 1 ? "line" : "lines"}, ${bytes(answer.size)}`;
    return answer;
  }

  /** Show the last lines, and go on with them. */
  async toEnd() {
    this.follows = true;
    await this.only(async () => {
      const answer = await this.ask(-PIECE, PIECE);
      this.set(answer);
      this.scroller.scrollTop = this.scroller.scrollHeight;
    });
  }

  /**
   * Show a line, counted from 0, and mark it.
   * @param {number} line
   */
  async goTo(line) {
    this.follows = false;
    this.marked = line;
    await this.only(async () => {
      if (line < this.from || line >= this.until) this.set(await this.ask(Math.max(0, line - PIECE / 2), PIECE));
      for (const row of this.rows.querySelectorAll(".log-marked")) row.classList.remove("log-marked");
      const row = /** @type {HTMLElement | undefined} */ (this.rows.children[line - this.from]);
      row?.classList.add("log-marked");
      if (row) this.scroller.scrollTop = row.offsetTop - this.scroller.clientHeight / 2;
    });
  }

  /** The log has grown: show what has come when the reader is at its end. */
  async grown() {
    if (this.busy) {
      this.again = true;
      return;
    }
    if (!this.follows && this.until < this.lines) return;
    await this.only(async () => {
      // The last line may have been written on.
      const first = this.isOpen && this.until ? this.until - 1 : this.until;
      const answer = await this.ask(first, PIECE);
      if (answer.lines < this.until) return this.set(await this.ask(-PIECE, PIECE));
      if (first < this.until && answer.rows.length) this.rows.lastElementChild?.remove();
      this.rows.append(...this.made(answer));
      this.until = Math.max(this.until, first + answer.rows.length);
      this.trim(true);
      if (this.follows) this.scroller.scrollTop = this.scroller.scrollHeight;
      this.again = this.again || this.until < this.lines;
    });
  }

  /** @param {() => Promise<void>} act */
  async only(act) {
    if (this.busy) return;
    this.busy = true;
    this.again = false;
    try {
      await act();
    } catch (error) {
      report(error);
    } finally {
      this.busy = false;
    }
    if (this.again && this.follows) await this.grown();
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.follows = scrollTop + clientHeight >= scrollHeight - 8 && this.until >= this.lines;
    if (scrollTop < 600 && this.from > 0) void this.more(true);
    else if (scrollTop + clientHeight > scrollHeight - 600 && this.until < this.lines) void this.more(false);
  }

  /** @param {boolean} above */
  async more(above) {
    await this.only(async () => {
      if (above) {
        const first = Math.max(0, this.from - PIECE);
        const answer = await this.ask(first, this.from - first);
        if (first + answer.rows.length !== this.from) return this.set(answer); // long lines: fewer came
        const before = this.scroller.scrollHeight;
        this.rows.prepend(...this.made(answer));
        this.from = first;
        this.scroller.scrollTop += this.scroller.scrollHeight - before;
        this.trim(false);
      } else {
        const answer = await this.ask(this.until, PIECE);
        this.rows.append(...this.made(answer));
        this.until += answer.rows.length;
        this.trim(true);
      }
    });
  }

  /** @param {boolean} above Where lines are given up when there are too many. */
  trim(above) {
    const extra = this.until - this.from - MOST;
    if (extra <= 0) return;
    const before = this.scroller.scrollHeight;
    for (let at = 0; at < extra; at++) (above ? this.rows.firstElementChild : this.rows.lastElementChild)?.remove();
    if (above) {
      this.from += extra;
      this.scroller.scrollTop -= before - this.scroller.scrollHeight;
    } else this.until -= extra;
  }

  /** @param {any} answer */
  set(answer) {
    this.from = answer.first;
    this.until = answer.first + answer.rows.length;
    replace(this.rows, answer.rows.length ? this.made(answer) : [h("p", { class: "faint log-empty" }, "Nothing has been written yet.")]);
  }

  /**
   * @param {any} answer
   * @returns {HTMLElement[]}
   */
  made(answer) {
    if (this.rows.firstElementChild?.classList.contains("log-empty")) this.rows.replaceChildren();
    return answer.rows.map((/** @type {string} */ text, /** @type {number} */ at) => {
      const line = answer.first + at;
      const label = String(line + 1);
      const mark = this.link ? h("a", { class: "log-number", href: placeOf("logs", { file: this.name, line: label }), "aria-label": `Line ${label}`, tabindex: "-1" }, label) : h("span", { class: "log-number" }, label);
      const cut = answer.cut[String(line)];
      return h("div", { class: line === this.marked ? "log-row log-marked" : "log-row" }, mark, h("span", { class: "log-text" }, ...shown(text), cut ? h("span", { class: "log-cut" }, ` … ${bytes(cut)} more in this line`) : null));
    });
  }
}

/** The logs of a run: a choice of files, search, and the logs of ranks beside one another. */

import { get, report } from "../core/api.js";
import { h, number, replace } from "../core/dom.js";
import { placeOf } from "../core/tabs.js";
import { visible } from "./ansi.js";
import { LogView } from "./log_view.js";

const RANK = /(?:^|_)process_(\d+)\.txt$|rank[_-]?(\d+)/;
const MOST_COLUMNS = 8;

export class Logs {
  /**
   * @param {HTMLElement} element
   * @param {string} runId
   * @param {string} empty What is said where there are none.
   */
  constructor(element, runId, empty) {
    this.runId = runId;
    this.empty = empty;
    /** @type {string[]} */
    this.names = [];
    this.file = "";
    this.columns = false;
    /** @type {LogView[]} */
    this.views = [];
    /** @type {number[]} */
    this.hits = [];
    this.hit = -1;
    this.select = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Log" }));
    this.select.addEventListener("change", () => (location.hash = placeOf("logs", { file: this.select.value })));
    this.search = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Search this log", "aria-label": "Search this log", class: "curves-search" }));
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (this.search.value === this.searched && this.hits.length) this.next(event.shiftKey ? -1 : 1);
      else this.find().catch(report);
    });
    this.search.addEventListener("input", () => {
      if (!this.search.value) this.clear();
    });
    this.searched = "";
    this.found = h("span", { class: "faint", role: "status" });
    this.wrap = this.button("Wrap", "Break long lines", true, () => this.body.classList.toggle("log-wrapped"));
    this.beside = this.button("Ranks side by side", "A column for each rank", false, () => {
      this.columns = !this.columns;
      this.show(this.file);
    });
    const end = h("button", { type: "button", title: "Go to the end, and go on with it" }, "End");
    end.addEventListener("click", () => this.views.forEach((view) => void view.toEnd()));
    const start = h("button", { type: "button", title: "Go to the first line" }, "Start");
    start.addEventListener("click", () => this.views.forEach((view) => void view.goTo(0)));
    this.download = h("a", { class: "button", download: "" }, "Download");
    this.body = h("div", { class: "logs-body log-wrapped" });
    this.results = h("ol", { class: "log-found plain", hidden: true });
    replace(element, h("div", { class: "curves-bar" }, this.select, this.search, this.found, this.wrap, this.beside, start, end, this.download), this.results, this.body);
  }

  /**
   * @param {string} text
   * @param {string} title
   * @param {boolean} pressed
   * @param {() => void} act
   */
  button(text, title, pressed, act) {
    const button = h("button", { type: "button", title, "aria-pressed": String(pressed) }, text);
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      act();
    });
    return button;
  }

  /**
   * @param {string[]} names The most interesting one first.
   */
  list(names) {
    if (names.length === this.names.length && names.every((name, at) => name === this.names[at])) return;
    this.names = names;
    replace(this.select, names.map((name) => h("option", { value: name, selected: name === this.file }, visible(name))));
    this.beside.hidden = this.ranks().length < 2;
    if (!this.file && names.length && this.asked) this.open(...this.asked);
  }

  ranks() {
    const current = this.names.filter((name) => !/attempt_\d+\//.test(name) && RANK.test(name));
    const rank = (/** @type {string} */ name) => Number(RANK.exec(name)?.slice(1).find(Boolean));
    return current.sort((one, other) => rank(one) - rank(other));
  }

  /**
   * Show a log; the one that a reader looks for first where none is named.
   * @param {string | null} file
   * @param {number} [line] From 1.
   */
  open(file, line) {
    /** @type {[string | null, number | undefined]} */
    this.asked = [file, line];
    const wanted = file ?? (this.file || this.names[0]);
    if (!wanted) {
      replace(this.body, h("div", { class: "empty" }, h("h2", null, "No logs"), h("p", null, this.empty)));
      return;
    }
    if (wanted === this.file && line && this.views.length === 1) {
      void this.views[0].goTo(line - 1);
      return;
    }
    if (wanted !== this.file || !this.views.length) this.show(wanted, line);
  }

  /**
   * @param {string} file
   * @param {number} [line]
   */
  show(file, line) {
    this.file = file;
    this.select.value = file;
    this.clear();
    this.download.setAttribute("href", `/api/runs/${encodeURIComponent(this.runId)}/files/${file.split("/").map(encodeURIComponent).join("/")}`);
    const files = this.columns ? this.ranks().slice(0, MOST_COLUMNS) : [file];
    const places = files.map(() => h("div", { class: "log-column" }));
    this.body.classList.toggle("log-columns", files.length > 1);
    replace(this.body, places);
    this.views = files.map((each, at) => new LogView(places[at], this.runId, each, { line: this.columns ? undefined : line, title: this.columns ? `Rank ${RANK.exec(each)?.slice(1).find(Boolean)}` : undefined }));
    if (this.columns && this.ranks().length > MOST_COLUMNS) this.found.textContent = `The first ${MOST_COLUMNS} of ${this.ranks().length} ranks`;
  }

  /** @param {string} name A file that has grown. */
  grown(name) {
    for (const view of this.views) if (view.name === name) void view.grown();
  }

  // -- search ----------------------------------------------------------------------------------------------------

  async find() {
    const text = this.search.value;
    const view = this.views[0];
    if (!text || !view) return;
    this.searched = text;
    this.found.textContent = "…";
    const answer = await get(`${view.path}?find=${encodeURIComponent(text)}`);
    this.hits = answer.found.map((/** @type {any} */ each) => each.line);
    this.hit = -1;
    this.results.hidden = !answer.found.length;
    replace(
      this.results,
      answer.found.slice(0, 200).map((/** @type {any} */ each) => h("li", null, h("a", { href: placeOf("logs", { file: view.name, line: String(each.line + 1) }) }, h("span", { class: "log-number" }, number(each.line + 1)), h("span", { class: "log-text" }, visible(each.text))))),
    );
    this.more = answer.more;
    if (this.hits.length) this.next(1);
    else this.found.textContent = "Not in this log";
  }

  /** @param {number} step */
  next(step) {
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    this.found.textContent = `${this.hit + 1} of ${this.more ? "more than " : ""}${number(this.hits.length)}`;
    void this.views[0]?.goTo(this.hits[this.hit]);
  }

  clear() {
    this.hits = [];
    this.searched = "";
    this.found.textContent = "";
    this.results.hidden = true;
  }
}

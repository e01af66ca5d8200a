/** Files of a run, or of its source: a list that can be searched, and a preview beside it. */

import { get, report } from "../core/api.js";
import { bytes, h, number, replace, time } from "../core/dom.js";
import { placeOf } from "../core/tabs.js";
import { visible } from "./ansi.js";
import { preview } from "./preview.js";

/** @typedef {{ name: string, size: number, updated_at?: string, kind?: string, target?: string | null }} File */

const AT_FIRST = 400;

export class Files {
  /**
   * @param {HTMLElement} element
   * @param {string} path Where the list is; a file is below it.
   * @param {string} tab
   * @param {{ title: string, text: string }} empty What is said where there are none.
   * @param {string | null} [first] The one that a reader looks for first.
   */
  constructor(element, path, tab, empty, first = null) {
    this.preferred = first;
    this.path = path;
    this.tab = tab;
    this.empty = empty;
    /** @type {File[] | null} */
    this.files = null;
    this.chosen = "";
    this.shown = AT_FIRST;
    this.search = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Search files", "aria-label": "Search files" }));
    this.search.addEventListener("input", () => {
      this.shown = AT_FIRST;
      this.fill();
    });
    this.rows = h("div", { class: "files-rows" });
    this.told = h("p", { class: "faint files-told" });
    this.view = h("div", { class: "files-view" });
    this.list = h("nav", { class: "files-list", "aria-label": "Files" }, this.search, this.told, this.rows);
    this.element = element;
    replace(element, h("div", { class: "files" }, this.list, this.view));
  }

  /** @param {string} name */
  href(name) {
    return `${this.path}/${name.split("/").map(encodeURIComponent).join("/")}`;
  }

  /** Look for what there is now. */
  async load() {
    const answer = await get(this.path);
    this.files = /** @type {File[]} */ (answer.files);
    if (!this.files.length) {
      replace(this.element, h("div", { class: "empty" }, h("h2", null, this.empty.title), h("p", null, this.empty.text)));
      return;
    }
    if (!this.element.contains(this.list)) replace(this.element, h("div", { class: "files" }, this.list, this.view));
    this.fill();
  }

  /** @param {string | null} name */
  async open(name) {
    try {
      if (this.files === null) await this.load();
      const file = (this.files ?? []).find((each) => each.name === (name ?? this.chosen)) ?? (name ? null : this.first());
      if (name && !file) {
        replace(this.view, h("div", { class: "empty" }, h("h2", null, "There is no such file"), h("p", null, visible(name))));
        return;
      }
      if (!file || file.name === this.chosen) return;
      this.chosen = file.name;
      this.fill();
      await this.show(file);
    } catch (error) {
      report(error);
    }
  }

  /** @returns {File | null} The one that a reader looks for first. */
  first() {
    /** @type {File[]} */
    const files = this.files ?? [];
    return files.find((each) => each.name === this.preferred) ?? files.find((each) => /^(train|main|readme)\.(py|md)$/i.test(each.name)) ?? files.find((each) => each.name.startsWith("outputs/")) ?? files[0] ?? null;
  }

  /** @param {File} file */
  async show(file) {
    const head = h(
      "div",
      { class: "files-head" },
      h("b", { class: "files-name" }, visible(file.name)),
      h("span", { class: "faint" }, bytes(file.size)),
      file.updated_at ? h("span", { class: "faint" }, time(file.updated_at)) : null,
      file.kind && file.kind !== "file" ? null : h("a", { class: "button", href: this.href(file.name), download: file.name.split("/").pop() }, "Download"),
    );
    const body = h("div", { class: "files-body" }, h("p", { class: "faint" }, "…"));
    replace(this.view, head, body);
    if (file.kind && file.kind !== "file") return replace(body, h("p", { class: "faint" }, file.target ? `A link to ${visible(file.target)}` : "A folder"));
    const content = await preview(this.href(file.name), file.name, file.size);
    if (this.chosen === file.name) replace(body, content);
  }

  fill() {
    const wanted = this.search.value.toLowerCase();
    const fits = (this.files ?? []).filter((each) => each.name.toLowerCase().includes(wanted));
    const whole = fits.reduce((sum, each) => sum + each.size, 0);
    this.told.textContent = `${number(fits.length)} ${fits.length === 1 ? "file" : "files"}, ${bytes(whole)}`;
    let folder = "";
    /** @type {HTMLElement[]} */
    const rows = [];
    for (const file of fits.slice(0, this.shown)) {
      const slash = file.name.lastIndexOf("/") + 1;
      const above = file.name.slice(0, slash);
      if (above !== folder) rows.push(h("div", { class: "files-folder faint" }, visible(above)));
      folder = above;
      rows.push(h("a", { class: slash ? "files-row inner" : "files-row", href: placeOf(this.tab, { file: file.name }), "aria-current": file.name === this.chosen ? "true" : null }, h("span", { class: "clip" }, visible(file.name.slice(slash))), h("span", { class: "faint number" }, bytes(file.size))));
    }
    if (fits.length > this.shown) {
      const more = h("button", { type: "button" }, `Show more of ${number(fits.length)}`);
      more.addEventListener("click", () => {
        this.shown += 2000;
        this.fill();
      });
      rows.push(more);
    }
    replace(this.rows, rows);
  }
}

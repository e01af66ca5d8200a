/** The menus of the table: which columns, in which order, pinned or not; and the views that have a name. */

import { report, send } from "../core/api.js";
import { byId, h, toast } from "../core/dom.js";
import { parts } from "./view.js";

export const FIXED = { status: "Status", experiment: "Experiment", created: "Created", duration: "Took", target: "Target", user: "User", number: "No.", started: "Started", ended: "Ended", id: "Id", type: "Type" };
const FAMILIES = { metrics: "Metrics", params: "Parameters", tag: "Tags" };

/**
 * A popover of a button: one at a time, gone with Escape or a click elsewhere.
 * @param {HTMLElement} button
 * @param {string} name
 * @param {(close: () => void) => HTMLElement[]} fill
 */
function menu(button, name, fill) {
  /** @type {HTMLElement | null} */
  let open = null;
  const close = () => {
    open?.remove();
    open = null;
    button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside);
  };
  /** @param {Event} event */
  const outside = (event) => {
    const target = /** @type {Node} */ (event.target);
    if (open && !open.contains(target) && !button.contains(target)) close();
  };
  button.addEventListener("click", () => {
    if (open) return close();
    open = h("div", { class: "popover chooser", role: "dialog", "aria-label": name }, fill(close));
    open.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        close();
        button.focus();
      }
    });
    button.parentElement?.append(open);
    button.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", outside);
    /** @type {HTMLElement | null} */ (open.querySelector("input, button"))?.focus();
  });
}

/**
 * @param {{ names: Record<string, string[]>, view: () => import("./view.js").View, change: (columns: string[], pinned: string[]) => void }} how
 */
export function columnsMenu(how) {
  menu(byId("columns-button"), "Columns", () => {
    const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Find a column", "aria-label": "Find a column" }));
    const list = h("div", null);
    const draw = () => {
      const { columns, pinned } = how.view();
      const wanted = search.value.trim().toLowerCase();
      const fits = (/** @type {string} */ each) => each.toLowerCase().includes(wanted);
      const all = [...Object.keys(FIXED), ...Object.keys(FAMILIES).flatMap((family) => (how.names[family] ?? []).map((name) => `${family}.${name}`))];
      const others = all.filter((each) => !columns.includes(each) && fits(each)).slice(0, 100);
      const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
      list.replaceChildren(
        h("h3", null, "Shown"),
        ...columns.filter(fits).map((each) => shown(each, columns, pinned)),
        h("h3", null, others.length ? "Not shown" : ""),
        ...others.map((each) => choice(each, false, () => how.change([...columns, each], pinned))),
      );
      if (focused) /** @type {HTMLElement | null} */ (list.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    };
    /** @param {string} each @param {string[]} columns @param {string[]} pinned */
    const shown = (each, columns, pinned) => {
      const at = columns.indexOf(each);
      const moved = (/** @type {number} */ step) => {
        const order = [...columns];
        order.splice(at, 1);
        order.splice(at + step, 0, each);
        how.change(order, pinned);
        draw();
      };
      const isPinned = pinned.includes(each);
      return choice(each, true, () => how.change(columns.filter((one) => one !== each), pinned.filter((one) => one !== each)),
        h("button", { type: "button", class: "quiet", title: `Move ${each} up`, "aria-label": `Move ${each} up`, "data-key": `up ${each}`, disabled: at === 0, on: { click: () => moved(-1) } }, "↑"),
        h("button", { type: "button", class: "quiet", title: `Move ${each} down`, "aria-label": `Move ${each} down`, "data-key": `down ${each}`, disabled: at === columns.length - 1, on: { click: () => moved(1) } }, "↓"),
        h("button", { type: "button", class: "quiet", "aria-pressed": String(isPinned), "aria-label": `Pin ${each}`, "data-key": `pin ${each}`, on: { click: () => {
          how.change(columns, isPinned ? pinned.filter((one) => one !== each) : [...pinned, each]);
          draw();
        } } }, "Pin"));
    };
    /** @param {string} each @param {boolean} on @param {() => void} change @param {...HTMLElement} tools */
    const choice = (each, on, change, ...tools) => {
      const [family, name] = parts(each);
      const box = h("input", { type: "checkbox", checked: on, "data-key": `box ${each}`, on: { change: () => { change(); draw(); } } });
      const called = family ? [h("span", { class: "faint" }, family), " ", name] : [FIXED[/** @type {keyof typeof FIXED} */ (each)] ?? each];
      return h("div", { class: "choice" }, h("label", null, box, h("span", { class: "clip", title: each }, called)), ...tools);
    };
    search.addEventListener("input", draw);
    draw();
    return [search, list];
  });
}

/**
 * @param {{ workspace: string, views: { name: string, query: string }[], query: () => string, show: (query: string) => void }} how
 */
export function viewsMenu(how) {
  const path = (/** @type {string} */ name) => `/api/workspaces/${encodeURIComponent(how.workspace)}/views/${encodeURIComponent(name)}`;
  menu(byId("views-button"), "Saved views", (close) => {
    const field = /** @type {HTMLInputElement} */ (h("input", { type: "text", placeholder: "Name of this view", "aria-label": "Name of this view", maxlength: 100, required: true }));
    const list = h("div", null);
    const draw = () => list.replaceChildren(
      h("h3", null, how.views.length ? "Saved views" : "No saved views yet: the address has all of a view, and a name keeps it."),
      ...how.views.map((each) => h("div", { class: "choice" },
        h("button", { type: "button", class: "item quiet clip", on: { click: () => { close(); how.show(each.query); } } }, each.name),
        h("button", { type: "button", class: "quiet", "aria-label": `Delete the view ${each.name}`, on: { click: async () => {
          try {
            await send("DELETE", path(each.name));
            how.views.splice(how.views.indexOf(each), 1);
            draw();
          } catch (error) {
            report(error);
          }
        } } }, "Delete"))));
    const save = h("form", { class: "row", on: { submit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      const name = field.value.trim();
      if (!name) return;
      try {
        await send("PUT", path(name), { query: how.query() });
        const old = how.views.findIndex((each) => each.name === name);
        if (old >= 0) how.views.splice(old, 1);
        how.views.push({ name, query: how.query() });
        field.value = "";
        toast(`Saved the view ${name}.`);
        draw();
      } catch (error) {
        report(error);
      }
    } } }, field, h("button", { type: "submit" }, "Save"));
    draw();
    return [save, list];
  });
}

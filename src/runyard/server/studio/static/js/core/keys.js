/** Keys: each page registers what it understands, and `?` lists it. */

import { byId, h, replace } from "./dom.js";

/** @typedef {{ keys: string[], says: string, act: (event: KeyboardEvent) => void }} Key */

/** @type {Key[]} */
const known = [];

/**
 * Let a key do something, anywhere on the page but in a field. `says` is what `?` shows; an empty one shows nothing.
 * A key may be one after another: `g r`.
 * @param {string | string[]} keys
 * @param {string} says
 * @param {(event: KeyboardEvent) => void} act
 */
export function key(keys, says, act) {
  known.push({ keys: [keys].flat(), says, act });
}

let first = "";
let firstAt = 0;

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest("input:not([type=checkbox]), textarea, select, [contenteditable], dialog")) return;
  const both = Date.now() - firstAt < 900 ? `${first} ${event.key}` : "";
  const found = known.find((each) => both && each.keys.includes(both)) ?? known.find((each) => each.keys.includes(event.key));
  first = event.key;
  firstAt = Date.now();
  if (!found) return;
  event.preventDefault();
  first = "";
  found.act(event);
}

/** Show all keys of this page. */
export function showKeys() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("keys-dialog"));
  const rows = known
    .filter((each) => each.says)
    .map((each) => [
      h("dt", null, each.keys.flatMap((name, place) => [place ? " or " : "", ...name.split(" ").flatMap((part) => [h("kbd", null, part), " "])])),
      h("dd", null, each.says),
    ]);
  replace(
    dialog,
    h("h2", { id: "keys-title" }, "Keys"),
    h("dl", { class: "facts" }, rows.flat()),
    h("form", { method: "dialog", class: "actions" }, h("button", null, "Close")),
  );
  dialog.showModal();
}

export function listen() {
  document.addEventListener("keydown", pressed);
}

/**
 * Let j and k go through the rows of a list, and Enter open one. The current row carries `aria-current`.
 * @param {() => HTMLElement[]} rows
 * @param {{ what: string, open?: (row: HTMLElement) => void, moved?: (row: HTMLElement) => void }} how
 */
export function rowKeys(rows, how) {
  const current = () => rows().findIndex((row) => row.getAttribute("aria-current") === "true");
  const go = (/** @type {number} */ step) => {
    const all = rows();
    if (!all.length) return;
    const at = current();
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + step));
    all.forEach((row, place) => (place === next ? row.setAttribute("aria-current", "true") : row.removeAttribute("aria-current")));
    all[next].scrollIntoView({ block: "nearest" });
    how.moved?.(all[next]);
  };
  key(["j", "ArrowDown"], `Next ${how.what}`, () => go(1));
  key(["k", "ArrowUp"], `Previous ${how.what}`, () => go(-1));
  if (how.open) {
    const open = how.open;
    key(["Enter", "o"], `Open the ${how.what}`, () => {
      const row = rows()[current()];
      if (row) open(row);
    });
  }
}

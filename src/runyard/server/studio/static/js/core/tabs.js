/** Tabs of a page: one panel is shown, its name is in the address, and arrow keys go from one to the next. */

/**
 * What the part of an address after `#` says: a name, and what belongs to it, as `#logs?file=a.txt&line=3`.
 * @returns {{ name: string, asked: URLSearchParams }}
 */
export function place() {
  const [name, query = ""] = location.hash.slice(1).split("?", 2);
  return { name, asked: new URLSearchParams(query) };
}

/**
 * @param {string} name
 * @param {Record<string, string>} [asked]
 */
export function placeOf(name, asked = {}) {
  const query = new URLSearchParams(asked).toString();
  return `#${name}${query ? `?${query}` : ""}`;
}

/**
 * Let the buttons of a tab list show their panels.
 * @param {HTMLElement} list
 * @param {(name: string, asked: URLSearchParams) => void} onShow Called whenever one is shown, and when what is asked of it changes.
 * @param {string} [first] The one that is shown where the address names none.
 */
export function tabs(list, onShow, first) {
  const buttons = /** @type {HTMLButtonElement[]} */ ([...list.querySelectorAll('[role="tab"]')]);
  const names = buttons.map((button) => button.id.slice("tab-".length));

  /** @param {string} name @param {URLSearchParams} asked */
  const show = (name, asked) => {
    buttons.forEach((button, at) => {
      const chosen = names[at] === name;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
      // On a narrow screen some are out of sight.
      if (chosen) list.scrollLeft = button.offsetLeft - (list.clientWidth - button.offsetWidth) / 2;
      const panel = document.getElementById(`panel-${names[at]}`);
      if (panel) panel.hidden = !chosen;
    });
    onShow(name, asked);
  };
  const read = () => {
    const { name, asked } = place();
    show(names.includes(name) ? name : (first ?? names[0]), asked);
  };
  list.addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest('[role="tab"]');
    if (button) location.hash = button.id.slice("tab-".length);
  });
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (at < 0 || !step) return;
    event.preventDefault();
    const next = (at + step + names.length) % names.length;
    buttons[next].focus();
    location.hash = names[next];
  });
  addEventListener("hashchange", read);
  read();
}

/** Making elements, listening to them, and showing times. Text is always text: nothing here reads markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element with attributes and children.
 *
 * `class`, `hidden` and other attributes are set as they are; `true` stands for an attribute without a value, and null,
 * undefined and false leave it out; `dataset` takes an object; `on` an object of listeners; `style` an object, which is
 * set through the CSSOM, as the content policy asks.
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  fill(element, children);
  return element;
}

/**
 * The same for SVG.
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  fill(element, children);
  return element;
}

/**
 * @param {HTMLElement | SVGElement} element
 * @param {string} name
 * @param {any} value
 */
function set(element, name, value) {
  if (name === "dataset") Object.assign(element.dataset, value);
  else if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  else if (name === "style") {
    for (const [property, text] of Object.entries(value)) element.style.setProperty(property, String(text));
  } else if (value === true) element.setAttribute(name, "");
  else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
}

/**
 * @param {Element} element
 * @param {(Child | Child[])[]} children
 */
function fill(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Give an element other children.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function replace(element, ...children) {
  element.replaceChildren();
  fill(element, children);
}

/**
 * The element with an id, which must be there.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}

/**
 * Listen to an element, or with a selector to what is in it; returns what ends that.
 * @param {EventTarget} element
 * @param {string} event
 * @param {string | ((event: any, target: any) => void)} selector
 * @param {(event: any, target: any) => void} [listener]
 * @returns {() => void}
 */
export function on(element, event, selector, listener) {
  const heard = (/** @type {Event} */ happened) => {
    if (typeof selector === "function") return selector(happened, happened.currentTarget);
    const target = happened.target instanceof Element ? happened.target.closest(selector) : null;
    if (target && listener) listener(happened, target);
  };
  element.addEventListener(event, heard);
  return () => element.removeEventListener(event, heard);
}

/**
 * What the server has put into the page for its modules.
 * @param {string} [id]
 * @returns {any}
 */
export function embedded(id = "page-data") {
  return JSON.parse(byId(id).textContent ?? "null");
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const year = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/**
 * A time in words that suit how long ago it is, in the reader's zone.
 * @param {Date} at
 * @param {number} [now]
 * @returns {string}
 */
export function ago(at, now = Date.now()) {
  const seconds = (now - at.getTime()) / 1000;
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 22 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return (seconds < 300 * 86400 ? day : year).format(at);
}

/**
 * A `<time>` in the reader's zone; `–` for none. It stays right while the page is open.
 * @param {string | Date | null | undefined} at
 * @param {{ relative?: boolean }} [how]
 * @returns {HTMLElement | string}
 */
export function time(at, how = {}) {
  if (!at) return "–";
  const element = h("time", { datetime: at instanceof Date ? at.toISOString() : at });
  if (how.relative === false) element.dataset.exact = "";
  showTime(/** @type {HTMLTimeElement} */ (element));
  return element;
}

/** @param {HTMLTimeElement} element */
function showTime(element) {
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  element.title = exact.format(at);
  const text = "exact" in element.dataset ? exact.format(at) : ago(at);
  if (element.textContent !== text) element.textContent = text;
}

/** Put the times that the server has written into the reader's zone, and keep them right. */
export function keepTimes() {
  const all = () => document.querySelectorAll("time[datetime]").forEach((each) => showTime(/** @type {HTMLTimeElement} */ (each)));
  all();
  setInterval(() => {
    if (document.visibilityState === "visible") all();
  }, 20_000);
}

/**
 * How long something took, or has taken so far.
 * @param {string | null | undefined} from
 * @param {string | null | undefined} [until]
 * @returns {string}
 */
export function lasted(from, until) {
  if (!from) return "–";
  return duration(((until ? Date.parse(until) : Date.now()) - Date.parse(from)) / 1000);
}

/**
 * @param {number} seconds
 * @returns {string}
 */
export function duration(seconds) {
  seconds = Math.max(0, seconds);
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * A number as short as it can be told apart: 0.9312, 1.2e-5, 12,345.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return value.toLocaleString("en-US");
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(3).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(5)));
}

/**
 * @param {number | null | undefined} bytes
 * @returns {string}
 */
export function bytes(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (bytes >= 999.95 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return unit ? `${bytes.toFixed(1)} ${units[unit]}` : `${bytes} B`;
}

/**
 * A badge for the state of a run.
 * @param {string} status
 * @returns {HTMLElement}
 */
export function badge(status) {
  return h("span", { class: `badge ${tone(status)}` }, status);
}

/** @param {string} status */
export function tone(status) {
  if (["Completed", "Healthy", "Succeeded", "ready"].includes(status)) return "good";
  if (["Failed", "Unhealthy", "Broken", "unhealthy", "failed"].includes(status)) return "bad";
  if (status === "Canceled") return "still";
  return ["Running", "Finalizing"].includes(status) ? "busy" : "waiting";
}

/**
 * Tell the reader of something that has happened.
 * @param {string} text
 * @param {{ help?: string, bad?: boolean }} [how]
 */
export function toast(text, how = {}) {
  const shown = h("div", { class: how.bad ? "toast bad" : "toast" }, text, how.help ? h("p", { class: "faint" }, how.help) : null);
  byId("toasts").append(shown);
  setTimeout(() => shown.remove(), how.bad ? 12_000 : 5_000);
}

/**
 * Ask before something that cannot be undone.
 * @param {string} title
 * @param {string} text
 * @param {string} action
 * @returns {Promise<boolean>}
 */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (
      h("dialog", { "aria-label": title },
        h("form", { method: "dialog" },
          h("h2", null, title),
          h("p", null, text),
          h("div", { class: "actions" },
            h("button", { value: "no" }, "Cancel"),
            h("button", { value: "yes", class: "danger" }, action))))
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

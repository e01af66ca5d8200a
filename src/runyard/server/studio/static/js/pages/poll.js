/** Asking again and again while the page is looked at; never faster than the server answers. */

import { Away, onBack, Problem, report } from "../core/api.js";

/**
 * @param {number} milliseconds Between two looks.
 * @param {() => Promise<boolean | void>} look Returns false when there is nothing more to come.
 * @returns {() => void} ends it
 */
export function every(milliseconds, look) {
  let over = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let busy = false;

  async function again() {
    clearTimeout(timer);
    if (over || busy || document.visibilityState === "hidden") return;
    busy = true;
    let wait = milliseconds;
    try {
      if ((await look()) === false) over = true;
    } catch (error) {
      if (!(error instanceof Away)) {
        report(error);
        if (!(error instanceof Problem)) over = true;
        wait = 5 * milliseconds;
      }
    } finally {
      busy = false;
    }
    if (!over) timer = setTimeout(again, wait);
  }

  document.addEventListener("visibilitychange", again);
  const forget = onBack(again);
  again();
  return () => {
    over = true;
    clearTimeout(timer);
    forget();
    document.removeEventListener("visibilitychange", again);
  };
}

/** What every page has: its navigation, the theme, the keys, times in the reader's zone. */

import { report, send } from "./api.js";
import { byId, keepTimes } from "./dom.js";
import { key, listen, showKeys } from "./keys.js";

const THEMES = ["system", "light", "dark"];

function theme() {
  return localStorage.getItem("runyard.theme") ?? "system";
}

/** @param {string} chosen */
function setTheme(chosen) {
  if (chosen === "system") {
    localStorage.removeItem("runyard.theme");
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem("runyard.theme", chosen);
    document.documentElement.dataset.theme = chosen;
  }
  byId("theme-button").textContent = `Theme: ${chosen}`;
  document.dispatchEvent(new CustomEvent("themechange"));
}

function begin() {
  const workspace = document.body.dataset.workspace ?? "";
  byId("theme-button").textContent = `Theme: ${theme()}`;
  byId("theme-button").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new CustomEvent("themechange")));
  byId("keys-button").addEventListener("click", showKeys);
  byId("menu-button").addEventListener("click", (event) => {
    const open = document.querySelector(".frame-nav")?.classList.toggle("open") ?? false;
    /** @type {HTMLElement} */ (event.currentTarget).setAttribute("aria-expanded", String(open));
  });
  byId("sign-out-button").addEventListener("click", () => {
    send("DELETE", "/api/studio/sessions/own").then(() => location.assign("/studio/"), report);
  });
  key("/", "Search", () => {
    const field = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-search]"));
    field?.focus();
    field?.select();
  });
  key("?", "Show these keys", showKeys);
  for (const [letter, section] of [["r", "runs"], ["e", "experiments"], ["s", "sweeps"], ["m", "models"], ["v", "services"], ["d", "data"], ["o", "datastores"], ["n", "environments"], ["c", "compute"]]) {
    key(`g ${letter}`, `Go to ${section}`, () => location.assign(`/studio/${encodeURIComponent(workspace)}/${section}`));
  }
  key("t", "Light or dark", () => byId("theme-button").click());
  listen();
  keepTimes();
}

begin();

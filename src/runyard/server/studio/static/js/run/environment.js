/** The environment of a run: as it was asked for, as it was built, and the log of the build. */

import { h, replace } from "../core/dom.js";
import { placeOf } from "../core/tabs.js";
import { visible } from "./ansi.js";
import { code } from "./code.js";

const OF_BUILD = "runyard.environment.";

/**
 * @param {HTMLElement} element
 * @param {any} run
 */
export function showEnvironment(element, run) {
  const asked = run.launch?.environment ?? {};
  const named = run.properties[`${OF_BUILD}asked`];
  const built = Object.entries(run.properties).filter(([name]) => name.startsWith(OF_BUILD) && name !== `${OF_BUILD}asked` && name !== `${OF_BUILD}changes`);
  const isCurrent = !Object.keys(asked).length || asked.user_managed;
  const log = run.logs.find((/** @type {string} */ name) => name.endsWith("environment.log"));
  const variables = Object.entries(run.launch?.environment_variables ?? {});
  const parts = [
    card("As asked for", [
      named ? h("p", null, "Environment ", h("b", null, visible(String(named)))) : null,
      isCurrent ? h("p", null, "None was to be built: the interpreter ", h("code", null, visible(String(asked.interpreter ?? run.launch?.interpreter ?? "python"))), " was used as it is.") : null,
      Object.keys(asked).length ? code(JSON.stringify(asked, null, 2), "environment.json") : null,
      run.launch?.notes?.length ? h("ul", null, run.launch.notes.map((/** @type {string} */ note) => h("li", null, visible(note)))) : null,
    ]),
    card("As built", [
      built.length ? h("dl", { class: "facts" }, built.flatMap(([name, value]) => [h("dt", null, name.slice(OF_BUILD.length)), h("dd", null, h("code", null, visible(String(value))))])) : h("p", { class: "faint" }, isCurrent ? "Nothing was built." : "Not built yet."),
      changes(run.properties[`${OF_BUILD}changes`]),
      log ? h("p", null, h("a", { href: placeOf("logs", { file: log }) }, "The log of the build")) : null,
    ]),
  ];
  if (variables.length) parts.push(card("Variables", [h("dl", { class: "facts" }, variables.flatMap(([name, value]) => [h("dt", null, visible(name)), h("dd", null, h("code", null, visible(String(value))))]))]));
  if (!run.launch) parts.splice(0, parts.length, h("div", { class: "empty" }, h("h2", null, "No environment was asked for"), h("p", null, "This run is led by a process that was there already.")));
  replace(element, h("div", { class: "overview" }, parts));
}

/** @param {string | undefined} text What was asked for in one way and built in another. */
function changes(text) {
  if (!text) return null;
  try {
    /** @type {unknown} */
    const found = JSON.parse(text);
    const rows = Array.isArray(found) ? found : Object.entries(found ?? {}).map(([name, value]) => `${name}: ${value}`);
    return h("ul", null, rows.map((each) => h("li", null, visible(typeof each === "string" ? each : JSON.stringify(each)))));
  } catch {
    return h("p", null, visible(text));
  }
}

/** @param {string} title @param {(Node | null)[]} content */
function card(title, content) {
  return h("section", { class: "card" }, h("h2", null, title), content);
}

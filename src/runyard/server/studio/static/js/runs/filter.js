/** The field of the filter: it completes what is typed, and shows where a sentence cannot be understood. */

import { get } from "../core/api.js";
import { byId, h, replace } from "../core/dom.js";
import { quoted } from "./view.js";

const FAMILIES = { "metrics.": "a metric", "params.": "a parameter", "tag.": "a tag", "prop.": "a property" };
const FIELD_WORDS = {
  status: "completed, failed, running ...", name: "part of a name", experiment: "its name", created: ">2026-01-31",
  age: "<7d", duration: ">1h30m", user: "who submitted it", target: "where it ran", "is:": "archived, active, ended, child, sweep",
};

/**
 * @param {{ workspace: string, names: Record<string, string[]>, fields: string[], flags: string[], apply: (text: string) => void }} how
 */
export function filterField(how) {
  const field = /** @type {HTMLInputElement} */ (byId("filter"));
  const list = byId("filter-list");
  /** @type {{ text: string, says: string }[]} */
  let shown = [];
  let from = 0;
  let chosen = -1;
  let asked = 0;

  /** What is being written where the caret stands. */
  function token() {
    const before = field.value.slice(0, field.selectionStart ?? 0);
    const found = /(?:[^\s()"]|"(?:[^"\\]|\\.)*"?)*$/.exec(before);
    let text = found ? found[0] : "";
    let start = before.length - text.length;
    if (text.startsWith("-")) {
      text = text.slice(1);
      start += 1;
    }
    return { text, start };
  }

  async function complete() {
    const { text, start } = token();
    const mine = ++asked;
    from = start;
    const sign = /^((?:metrics|params|tag|prop)\.(?:"(?:[^"\\]|\\.)*"|[^\s:=<>!~",]+)|[a-z]+)(:|!=|=|~)(.*)$/.exec(text);
    /** @type {{ text: string, says: string }[]} */
    let found = [];
    if (sign) {
      const [, name, comparison, begun] = sign;
      const last = begun.slice(begun.lastIndexOf(",") + 1).replace(/^"/, "");
      const head = name + comparison + begun.slice(0, begun.lastIndexOf(",") + 1);
      if (name === "is") found = how.flags.filter((each) => each.startsWith(last)).map((each) => ({ text: head + each, says: "" }));
      else if (name === "status" || name === "experiment" || name === "target" || name === "user" || name === "type" || /^(params|tag|prop)\./.test(name)) {
        const path = `/api/workspaces/${encodeURIComponent(how.workspace)}/table/values`;
        try {
          const answer = await get(`${path}?${new URLSearchParams({ field: name.replaceAll('"', ""), begin: last, limit: "30" })}`);
          found = answer.values.map((/** @type {string} */ each) => ({ text: head + quoted(each), says: "" }));
        } catch {
          found = [];
        }
      }
    } else {
      const family = Object.keys(FAMILIES).find((each) => text.startsWith(each));
      if (family) {
        const begun = text.slice(family.length).replaceAll('"', "").toLowerCase();
        const names = how.names[family.slice(0, -1)] ?? [];
        found = names.filter((each) => each.toLowerCase().includes(begun)).slice(0, 60)
          .map((each) => ({ text: family + (/^[^\s()"<>=!~:,]+$/.test(each) ? each : quoted(each)), says: FAMILIES[/** @type {keyof typeof FAMILIES} */ (family)] }));
      } else {
        const words = [...how.fields.map((each) => `${each}`), "is:", ...Object.keys(FAMILIES)];
        found = words.filter((each) => each.startsWith(text.toLowerCase()))
          .map((each) => ({ text: each, says: FAMILIES[/** @type {keyof typeof FAMILIES} */ (each)] ?? FIELD_WORDS[/** @type {keyof typeof FIELD_WORDS} */ (each)] ?? "" }));
      }
    }
    if (mine === asked && document.activeElement === field) show(found.filter((each) => each.text !== text));
  }

  /** @param {{ text: string, says: string }[]} found */
  function show(found) {
    shown = found;
    chosen = -1;
    replace(list, found.map((each, place) =>
      h("li", { role: "option", id: `completion-${place}`, "aria-selected": "false" }, each.text, each.says ? h("span", null, each.says) : null)));
    list.hidden = !found.length;
    field.setAttribute("aria-expanded", String(found.length > 0));
    field.removeAttribute("aria-activedescendant");
  }

  /** @param {number} step */
  function choose(step) {
    if (!shown.length) return;
    chosen = (chosen + step + shown.length + (chosen < 0 && step < 0 ? 1 : 0)) % shown.length;
    [...list.children].forEach((each, place) => each.setAttribute("aria-selected", String(place === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `completion-${chosen}`);
  }

  /** @param {number} place */
  function take(place) {
    const caret = field.selectionStart ?? field.value.length;
    const text = shown[place].text;
    const whole = /[:=~](?=.)/.test(text) && !text.endsWith(".");
    field.value = field.value.slice(0, from) + text + (whole ? " " : "") + field.value.slice(caret).replace(/^\s/, "");
    const at = from + text.length + (whole ? 1 : 0);
    field.setSelectionRange(at, at);
    complete();
  }

  field.addEventListener("input", complete);
  field.addEventListener("click", complete);
  field.addEventListener("blur", () => show([]));
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) complete();
      else choose(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape") {
      if (list.hidden) field.blur();
      show([]);
    } else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) {
      event.preventDefault();
      take(chosen);
    }
  });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the field keeps the focus
    const option = /** @type {HTMLElement} */ (event.target).closest("[role=option]");
    if (option) take([...list.children].indexOf(option));
  });
  byId("filter-form").addEventListener("submit", (event) => {
    event.preventDefault();
    show([]);
    how.apply(field.value.trim());
  });

  return {
    /** @param {string} text */
    set(text) {
      field.value = text;
    },
    /** @param {{ title: string, help: string, detail: { position?: number, length?: number } } | null} problem */
    problem(problem) {
      const place = byId("filter-problem");
      field.setAttribute("aria-invalid", String(problem !== null));
      replace(place, ...(problem ? [problem.title, ". ", h("span", { class: "faint" }, problem.help)] : []));
      const { position, length } = problem?.detail ?? {};
      if (position !== undefined && document.activeElement === field) field.setSelectionRange(position, position + (length ?? 1));
    },
  };
}

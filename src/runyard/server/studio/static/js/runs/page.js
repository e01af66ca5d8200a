/** The page of runs: what its parts do together. */

import { get, live, onBack, Problem, report, send } from "../core/api.js";
import { byId, confirmed, embedded, h, on, replace, toast } from "../core/dom.js";
import { key, rowKeys } from "../core/keys.js";
import { filterField } from "./filter.js";
import { columnsMenu, viewsMenu } from "./menus.js";
import { groupRow, head, row, stick } from "./table.js";
import { question, quoted, read, write } from "./view.js";

/** @typedef {import("./table.js").Run} Run */

const data = embedded();
const workspace = document.body.dataset.workspace ?? "";
const base = `/api/workspaces/${encodeURIComponent(workspace)}/table`;
const table = byId("runs-table");
const thead = /** @type {HTMLElement} */ (table.querySelector("thead"));
const tbody = /** @type {HTMLElement} */ (table.querySelector("tbody"));

let view = read(location.search, data.usual);
/** @type {{ runs: Run[], more: boolean, total: number | null }} */
let answer = data.answer ?? { runs: [], more: false, total: null };
/** @type {any[]} */
let groups = [];
/** @type {Set<string>} */
const chosen = new Set();
/** The children that are shown, by the run above them. @type {Map<string, Run[]>} */
const open = new Map();
/** The runs of open groups. @type {Map<string, { runs: Run[], more: boolean }>} */
const openGroups = new Map();
let problem = data.problem;
let loading = new AbortController();

/** The columns in order: those that are pinned come first. */
function columns() {
  return [...view.columns.filter((each) => view.pinned.includes(each)), ...view.columns.filter((each) => !view.pinned.includes(each))];
}

const filter = filterField({ workspace, names: data.names, fields: data.fields, flags: data.flags, apply: (q) => show({ q, page: 1 }) });
columnsMenu({ names: data.names, view: () => view, change: (some, pinned) => show({ columns: some, pinned }, true) });
viewsMenu({ workspace, views: data.views, query: () => write(view, data.usual), show: (query) => {
  view = read(query, data.usual);
  history.pushState(null, "", query ? `?${query}` : location.pathname);
  load();
} });

/**
 * Change the view, in the address too.
 * @param {Partial<import("./view.js").View>} change
 * @param {boolean} [replaces] a small change, which the way back skips
 */
function show(change, replaces = false) {
  view = { ...view, ...change };
  const query = write(view, data.usual);
  history[replaces ? "replaceState" : "pushState"](null, "", query ? `?${query}` : location.pathname);
  load();
}

/** Ask for what the view shows. With `quiet`, it is what is shown already, as it is by now. */
async function load(quiet = false) {
  loading.abort();
  const mine = (loading = new AbortController());
  if (!quiet) {
    open.clear();
    openGroups.clear();
    document.body.classList.add("loading");
  }
  try {
    if (view.group) {
      const asked = question(view);
      const metrics = asked.getAll("metric").slice(0, 8);
      asked.delete("metric");
      for (const each of metrics) asked.append("metric", each);
      asked.set("by", view.group);
      groups = (await get(`${base}/groups?${asked}`, { signal: mine.signal })).groups;
      for (const each of openGroups.keys()) await loadGroup(each);
    } else {
      const asked = question(view);
      asked.set("limit", String(view.size));
      asked.set("offset", String((view.page - 1) * view.size));
      asked.set("total", "true");
      answer = await get(`${base}?${asked}`, { signal: mine.signal });
      for (const each of open.keys()) await loadChildren(each);
    }
    problem = null;
  } catch (error) {
    if (mine.signal.aborted) return;
    if (error instanceof Problem && error.code === "bad_query") problem = { title: error.message, help: error.help, detail: error.detail };
    else report(error);
  } finally {
    if (loading === mine) document.body.classList.remove("loading");
  }
  draw();
}

/** @param {string} id */
async function loadChildren(id) {
  const asked = question({ ...view, q: "", sort: "created", flat: true });
  asked.set("parent", id);
  asked.set("limit", "200");
  open.set(id, (await get(`${base}?${asked}`)).runs);
}

/** @param {string} name the value of a group, as JSON */
async function loadGroup(name) {
  const value = JSON.parse(name);
  const [family, rest] = view.group.includes(".") ? [view.group.split(".")[0], view.group.slice(view.group.indexOf(".") + 1)] : ["", view.group];
  const field = family ? `${family}.${quoted(rest)}` : view.group;
  const within = value === null ? `-has:${field}` : `${field}=${quoted(value)}`;
  const asked = question({ ...view, q: view.q ? `(${view.q}) ${within}` : within });
  asked.set("limit", "100");
  openGroups.set(name, await get(`${base}?${asked}`));
}

/** The rows that there are to be, each with what it is made of. */
function wanted() {
  /** @type {{ key: string, made: string, make: () => HTMLElement }[]} */
  const lines = [];
  const shown = columns();
  const add = (/** @type {Run} */ run, /** @type {number} */ depth) => {
    const how = { columns: shown, workspace, chosen: chosen.has(run.id), open: open.has(run.id), depth };
    const made = JSON.stringify([run, shown, how.chosen, how.open, depth, run.ended_at || run.started_at === null ? 0 : Math.floor(Date.now() / 1000)]);
    lines.push({ key: run.id, made, make: () => row(run, how) });
    for (const child of open.get(run.id) ?? []) add(child, Math.min(depth + 1, 3));
  };
  if (view.group) {
    for (const group of groups) {
      const name = JSON.stringify(group.value);
      const how = { columns: shown, open: openGroups.has(name) };
      lines.push({ key: `group ${name}`, made: JSON.stringify([group, how]), make: () => groupRow(group, how) });
      const of = openGroups.get(name);
      for (const run of of?.runs ?? []) add(run, 1);
      if (of?.more) lines.push({ key: `more ${name}`, made: "", make: () => h("tr", null, h("td", { class: "tick" }), h("td", { colspan: shown.length + 1, class: "faint" }, "The first 100 are shown: narrow the filter for others.")) });
    }
  } else for (const run of answer.runs) add(run, 0);
  return lines;
}

/** @type {Map<string, { made: string, element: HTMLElement }>} */
let drawn = new Map();
let drawnHead = "";

function draw() {
  filter.problem(problem);
  const lines = wanted();
  const ids = runIds();
  const all = ids.length > 0 && ids.every((each) => chosen.has(each));
  const headed = JSON.stringify([columns(), view.sort, all]);
  if (headed !== drawnHead) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.sort;
    thead.replaceChildren(head(columns(), view.sort, all));
    if (focused) /** @type {HTMLElement | null} */ (thead.querySelector(`[data-sort="${CSS.escape(focused)}"]`))?.focus();
    drawnHead = headed;
  }
  const next = new Map();
  let after = /** @type {Element | null} */ (null);
  for (const line of lines) {
    const old = drawn.get(line.key);
    let element = old?.element;
    if (!element || old?.made !== line.made) {
      element = line.make();
      if (old) {
        if (old.element.getAttribute("aria-current")) element.setAttribute("aria-current", "true");
        const focused = old.element.contains(document.activeElement) ? [...old.element.querySelectorAll("input, a, button")].indexOf(/** @type {Element} */ (document.activeElement)) : -1;
        old.element.replaceWith(element);
        if (focused >= 0) /** @type {HTMLElement | undefined} */ (element.querySelectorAll("input, a, button")[focused])?.focus();
      }
    }
    const place = after ? after.nextElementSibling : tbody.firstElementChild;
    if (place !== element) tbody.insertBefore(element, place);
    next.set(line.key, { made: line.made, element });
    after = element;
  }
  for (const [name, { element }] of drawn) if (!next.has(name)) element.remove();
  drawn = next;
  stick(table, 2 + view.columns.filter((each) => view.pinned.includes(each)).length);
  drawAround(lines.length);
}

/** @param {number} lines */
function drawAround(lines) {
  filterText();
  const total = view.group ? groups.reduce((sum, each) => sum + each.runs, 0) : answer.total;
  byId("total").textContent = problem || total === null ? "" : `${total.toLocaleString("en-US")} ${total === 1 ? "run" : "runs"}${view.group ? ` in ${groups.length} ${groups.length === 1 ? "group" : "groups"}` : ""}`;
  byId("runs-frame").hidden = lines === 0;
  const empty = byId("empty");
  empty.hidden = lines > 0;
  if (lines === 0) replace(empty, ...(problem ? [h("h2", null, "The filter cannot be understood"), h("p", null, "What is wrong stands below it.")] : view.q || view.page > 1 ? nothingFound() : noRuns()));
  const from = (view.page - 1) * view.size;
  byId("pager").hidden = Boolean(view.group) || lines === 0 || (from === 0 && !answer.more);
  byId("place").textContent = `${(from + 1).toLocaleString("en-US")} – ${(from + answer.runs.length).toLocaleString("en-US")}${answer.total === null ? "" : ` of ${answer.total.toLocaleString("en-US")}`}`;
  const before = /** @type {HTMLButtonElement} */ (byId("before"));
  const later = /** @type {HTMLButtonElement} */ (byId("after"));
  before.disabled = view.page === 1;
  later.disabled = !answer.more;
  before.textContent = view.sort === "-created" ? "Newer" : "Before";
  later.textContent = view.sort === "-created" ? "Older" : "After";
  const asked = question(view);
  /** @type {HTMLAnchorElement} */ (byId("csv-link")).href = `${base}/csv?${asked}`;
  /** @type {HTMLInputElement} */ (byId("flat")).checked = view.flat;
  /** @type {HTMLSelectElement} */ (byId("group")).value = view.group;
  /** @type {HTMLSelectElement} */ (byId("size")).value = String(view.size);
  drawBulk();
}

let toldFilter = "";

function filterText() {
  if (toldFilter !== view.q) filter.set((toldFilter = view.q));
}

function nothingFound() {
  return [
    h("h2", null, "No run is like that"),
    h("p", null, view.page > 1 ? "There are fewer pages than this." : "Archived runs and child runs are left out unless they are asked for."),
    h("button", { type: "button", on: { click: () => show({ q: "", page: 1 }) } }, "Show all runs"),
  ];
}

function noRuns() {
  return [
    h("h2", null, "No runs yet"),
    h("p", null, "This runs a script on this machine, and it appears here at once:"),
    h("pre", null, "runyard submit train.py"),
    h("p", null, "From Python: ", h("code", null, "Experiment(ws, \"first\").submit(ScriptRunConfig(\".\", script=\"train.py\"))")),
  ];
}

function drawBulk() {
  const many = chosen.size;
  byId("bulk-actions").hidden = many === 0;
  byId("bulk-count").textContent = many ? `${many} chosen` : "Choose runs to compare, tag, archive, stop or delete them.";
  /** @type {HTMLAnchorElement} */ (byId("compare-link")).href = `/studio/${encodeURIComponent(workspace)}/compare?runs=${[...chosen].map(encodeURIComponent).join(",")}`;
  byId("compare-link").hidden = many < 2;
}

function runIds() {
  const inGroups = [...openGroups.values()].flatMap((each) => each.runs);
  return [...(view.group ? inGroups : answer.runs), ...[...open.values()].flat()].map((each) => each.id);
}

/** @param {string} action */
async function act(action) {
  const ids = [...chosen];
  if (action === "none") {
    chosen.clear();
    return draw();
  }
  const runs = ids.length === 1 ? "1 run" : `${ids.length} runs`;
  /** @type {Record<string, any>} */
  const more = {};
  if (action === "tag") {
    const given = await askTag();
    if (!given) return;
    if (given.value === null) more.remove_tags = [given.key];
    else more.set_tags = { [given.key]: given.value };
  } else if (action === "delete" && !(await confirmed(`Delete ${runs}?`, "They go for good, with their child runs, files, logs and metrics.", "Delete"))) return;
  else if (action === "stop" && !(await confirmed(`Stop ${runs}?`, "Their processes get SIGTERM, and SIGKILL when they do not leave. Runs that have ended stay as they are.", "Stop"))) return;
  try {
    const told = await send("POST", "/api/run-batches", { action, runs: ids, ...more });
    if (action !== "tag") {
      chosen.clear();
      draw(); // at once: a box that is still checked would not be chosen again
    }
    const done = { tag: "Tagged", archive: "Archived", restore: "Restored", stop: "Stopping", delete: "Deleted" }[action] ?? "Done:";
    if (told.done.length) toast(`${done} ${told.done.length === 1 ? "1 run" : `${told.done.length} runs`}.`);
    for (const each of told.refused.slice(0, 3)) toast(`${each.id}: ${each.title}`, { help: each.help, bad: true });
  } catch (error) {
    report(error);
  }
  load(true);
}

/** @returns {Promise<{ key: string, value: string | null } | null>} */
function askTag() {
  return new Promise((resolve) => {
    const name = /** @type {HTMLInputElement} */ (h("input", { type: "text", name: "key", required: true, maxlength: 255, list: "tag-names" }));
    const value = /** @type {HTMLInputElement} */ (h("input", { type: "text", name: "value", maxlength: 1000 }));
    const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-label": "Tag the chosen runs" },
      h("form", { method: "dialog" },
        h("h2", null, "Tag the chosen runs"),
        h("label", { class: "field" }, "Tag", name),
        h("datalist", { id: "tag-names" }, data.names.tag.map((/** @type {string} */ each) => h("option", { value: each }))),
        h("label", { class: "field" }, "Value", value),
        h("div", { class: "actions" },
          h("button", { value: "cancel", formnovalidate: true }, "Cancel"),
          h("button", { value: "remove" }, "Remove the tag"),
          h("button", { value: "set", class: "primary" }, "Set the tag")))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      const key_ = name.value.trim();
      if (!key_ || !["set", "remove"].includes(dialog.returnValue)) return resolve(null);
      resolve({ key: key_, value: dialog.returnValue === "set" ? value.value : null });
    });
    document.body.append(dialog);
    dialog.showModal();
    name.focus();
  });
}

/** @param {string} id */
async function twist(id) {
  if (open.has(id)) open.delete(id);
  else await loadChildren(id).catch(report);
  draw();
}

// -- what the reader does ---------------------------------------------------------------------------------------------

on(thead, "click", "[data-sort]", (_, button) => {
  const column = button.dataset.sort;
  const first = column === "name" || column === "experiment" || column === "status" || column === "target" || column === "user" ? column : `-${column}`;
  const other = first.startsWith("-") ? column : `-${column}`;
  show({ sort: view.sort === first ? other : first, page: 1 });
});
on(thead, "change", "[data-all]", (_, box) => {
  for (const id of runIds()) if (box.checked) chosen.add(id); else chosen.delete(id);
  draw();
});
let last = "";
on(tbody, "click", "[data-choose]", (event, box) => {
  const ids = runIds();
  const [from, until] = [ids.indexOf(last), ids.indexOf(box.dataset.choose)];
  const some = event.shiftKey && from >= 0 ? ids.slice(Math.min(from, until), Math.max(from, until) + 1) : [box.dataset.choose];
  for (const id of some) if (box.checked) chosen.add(id); else chosen.delete(id);
  last = box.dataset.choose;
  draw();
});
on(tbody, "click", "[data-twist]", (_, button) => twist(button.dataset.twist));
on(tbody, "click", "[data-open-group]", async (_, button) => {
  const name = button.closest("tr").dataset.group;
  if (openGroups.has(name)) openGroups.delete(name);
  else await loadGroup(name).catch(report);
  draw();
});
on(byId("bulk-actions"), "click", "[data-action]", (_, button) => act(button.dataset.action));
on(byId("before"), "click", () => show({ page: view.page - 1 }));
on(byId("after"), "click", () => show({ page: view.page + 1 }));
on(byId("flat"), "change", (event) => show({ flat: event.target.checked, page: 1 }));
on(byId("group"), "change", (event) => show({ group: event.target.value, page: 1 }));
on(byId("size"), "change", (event) => show({ size: Number(event.target.value), page: 1 }));
addEventListener("popstate", () => {
  view = read(location.search, data.usual);
  load();
});

rowKeys(() => /** @type {HTMLElement[]} */ ([...tbody.querySelectorAll("tr[data-id]")]), {
  what: "run",
  open: (element) => /** @type {HTMLElement | null} */ (element.querySelector("a"))?.click(),
});
const current = () => /** @type {HTMLElement | null} */ (tbody.querySelector("tr[aria-current]"))?.dataset.id ?? "";
key("x", "Choose the run", () => {
  const id = current();
  if (!id) return;
  if (!chosen.delete(id)) chosen.add(id);
  draw();
});
key(["l", "ArrowRight"], "Show its child runs", () => { if (current() && !open.has(current())) twist(current()); });
key(["h", "ArrowLeft"], "Hide its child runs", () => { if (open.has(current())) twist(current()); });
key("n", "Next page", () => { if (answer.more && !view.group) show({ page: view.page + 1 }); });
key("p", "Page before", () => { if (view.page > 1) show({ page: view.page - 1 }); });

// -- what happens to the runs -----------------------------------------------------------------------------------------

/** @type {ReturnType<typeof setTimeout> | undefined} */
let due;

/** Look again soon, at most so often. @param {number} wait */
function soon(wait) {
  due ??= setTimeout(() => {
    due = undefined;
    load(true);
  }, wait);
}

live("/api/changes", (name, value) => {
  if (name !== "runs") return;
  const shown = new Set(runIds());
  if (value.changed.length) soon(300);
  else if (value.delivered.some((/** @type {string} */ id) => shown.has(id))) soon(1000);
});
onBack(() => load(true));
setInterval(() => {
  if (document.visibilityState === "visible" && answer.runs.some((each) => each.started_at && !each.ended_at)) draw();
}, 1000);

const GROUPS = ["experiment", "status", "target", "user", "type"];
replace(byId("group"), h("option", { value: "" }, "nothing"), GROUPS.map((each) => h("option", { value: each }, each)),
  ["tag", "params"].map((family) => data.names[family].slice(0, 100).map((/** @type {string} */ name) => h("option", { value: `${family}.${name}` }, `${family}.${name}`))).flat());
replace(byId("size"), data.sizes.map((/** @type {number} */ each) => h("option", { value: each }, each)));
if (view.group) load();
else draw();

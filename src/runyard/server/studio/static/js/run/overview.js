/** How a run was started, its labels and notes, and what hangs on it: data, models, services, child runs. */

import { get, report, send } from "../core/api.js";
import { badge, h, replace, time, toast } from "../core/dom.js";
import { runHref } from "./account.js";
import { visible } from "./ansi.js";
import { markdown } from "./markdown.js";

/**
 * @param {HTMLElement} element
 * @param {any} run
 */
export function showOverview(element, run) {
  const launch = run.launch ?? {};
  const links = h("div", { class: "overview-links" });
  replace(
    element,
    h(
      "div",
      { class: "overview" },
      notes(run),
      card("Started", facts(started(run, launch))),
      card("Parameters", facts(Object.entries(run.parameters)), "No arguments with names, and none was logged."),
      card("Data", h("div", { class: "overview-data" })),
      card("Models and services", links),
      card("Tags", facts(Object.entries(run.tags).sort().map(([name, value]) => [name, value ?? ""])), "No tags. Add one with run.tag(\"name\", \"value\")."),
      card("Properties", facts(Object.entries(run.properties).sort().map(([name, value]) => [name, value ?? ""]))),
      card("Child runs", h("div", { class: "overview-children" })),
    ),
  );
  Promise.all([models(links, run), data(/** @type {HTMLElement} */ (element.querySelector(".overview-data")), run, launch), children(/** @type {HTMLElement} */ (element.querySelector(".overview-children")), run)]).catch(report);
}

/** @param {string} title @param {HTMLElement | null} content @param {string} [otherwise] */
function card(title, content, otherwise = "None") {
  return h("section", { class: "card" }, h("h2", null, title), content ?? h("p", { class: "faint" }, otherwise));
}

/** @param {[string, any][]} rows */
function facts(rows) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined);
  if (!shown.length) return null;
  return h("dl", { class: "facts" }, shown.map(([name, value]) => [h("dt", { class: "facts-name" }, visible(name)), h("dd", null, value instanceof Node ? value : visible(String(value)))]).flat());
}

/** @param {any} run @param {any} launch @returns {[string, any][]} */
function started(run, launch) {
  const command = launch.command ?? (launch.script ? [launch.script, ...(launch.arguments ?? [])].join(" ") : null);
  const spread = launch.distribution ?? {};
  const commit = run.properties["azureml.git.commit"];
  return [
    ["script", command ? h("code", null, visible(command)) : null],
    ["type", run.type],
    ["compute", run.target],
    ["nodes", run.nodes > 1 ? run.nodes : null],
    ["processes", spread.processes > 1 ? `${spread.processes} (${spread.kind})` : null],
    ["git", commit ? `${run.properties["azureml.git.branch"] ?? ""} ${commit.slice(0, 12)}${run.properties["azureml.git.dirty"] === "True" ? " with uncommitted changes" : ""}` : null],
    ["by", run.submitted_by],
    ["created", time(run.created_at, { relative: false })],
    ["started", run.started_at ? time(run.started_at, { relative: false }) : null],
    ["ended", run.ended_at ? time(run.ended_at, { relative: false }) : null],
  ];
}

/** @param {HTMLElement} element @param {any} run @param {any} launch */
async function data(element, run, launch) {
  if (!launch.inputs?.length && !launch.outputs?.length) return replace(element, h("p", { class: "faint" }, "None was named. Datasets are named with as_mount(), as_download() or OutputFileDatasetConfig."));
  const { datasets } = await get(`/api/workspaces/${encodeURIComponent(run.workspace)}/datasets`);
  const named = new Map(datasets.map((/** @type {any} */ each) => [each.id, each]));
  const place = `/studio/${encodeURIComponent(run.workspace)}/data`;
  /** @type {[string, any][]} */
  const rows = [];
  for (const each of launch.inputs ?? []) {
    const known = named.get(each.dataset);
    const text = known ? `${known.name} version ${known.version}` : `dataset ${each.dataset}`;
    rows.push([`in: ${each.name}`, h("span", null, known ? h("a", { href: `${place}/${encodeURIComponent(known.name)}?version=${known.version}` }, visible(text)) : text, ` (${each.mode})`)]);
  }
  const written = new Map((run.outputs ?? []).map((/** @type {any} */ each) => [each.name, each]));
  for (const each of launch.outputs ?? []) {
    const made = written.get(each.name);
    const text = made?.registered ? `${made.registered} version ${made.version}` : made ? `dataset ${made.dataset}${made.complete ? "" : ", what there was when the run ended"}` : `${each.datastore}/${each.path}`;
    rows.push([`out: ${each.name}`, made?.registered ? h("a", { href: `${place}/${encodeURIComponent(made.registered)}?version=${made.version}` }, visible(text)) : text]);
  }
  replace(element, facts(rows));
}

/** @param {HTMLElement} element @param {any} run */
async function models(element, run) {
  const place = `/studio/${encodeURIComponent(run.workspace)}`;
  if (!run.models.length) return replace(element, h("p", { class: "faint" }, "No model was registered from it. In Python: run.register_model(\"name\", \"outputs/model.pkl\")."));
  const found = await Promise.all(run.models.map(async (/** @type {string} */ id) => {
    const [name, version] = [id.slice(0, id.lastIndexOf(":")), id.slice(id.lastIndexOf(":") + 1)];
    const model = await get(`/api/workspaces/${encodeURIComponent(run.workspace)}/models/${encodeURIComponent(name)}/${version}`);
    const services = (model?.services ?? []).map((/** @type {string} */ service) => h("a", { href: `${place}/services/${encodeURIComponent(service)}` }, service));
    return h("p", null, h("a", { href: `${place}/models/${encodeURIComponent(name)}` }, visible(name)), ` version ${version}`, services.length ? ", served by " : "", services);
  }));
  replace(element, found);
}

/** @param {HTMLElement} element @param {any} run */
async function children(element, run) {
  const answer = await get(`/api/runs?parent=${encodeURIComponent(run.id)}&limit=100`);
  if (!answer.runs.length) return replace(element, h("p", { class: "faint" }, "None"));
  const rows = answer.runs.map((/** @type {any} */ child) => h("tr", null, h("td", null, h("a", { href: runHref(child.workspace, child.id) }, visible(child.display_name || child.id))), h("td", null, badge(child.status)), h("td", null, time(child.created_at))));
  replace(
    element,
    h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Child runs" }, h("table", { class: "table" }, h("thead", null, h("tr", null, ["run", "state", "made"].map((head) => h("th", { scope: "col" }, head)))), h("tbody", null, rows))),
    h("p", null, h("a", { class: "button", href: `/studio/${encodeURIComponent(run.workspace)}/compare?runs=${answer.runs.map((/** @type {any} */ child) => encodeURIComponent(child.id)).join(",")}` }, "Compare them")),
  );
}

/** Notes in Markdown: the run's description. @param {any} run */
function notes(run) {
  const shown = h("div", { class: "notes-shown" });
  const edit = h("button", { type: "button" }, "Edit");
  const section = h("section", { class: "card notes" }, h("div", { class: "row" }, h("h2", null, "Notes"), edit), shown);
  const show = () => {
    edit.hidden = false;
    replace(shown, run.description ? markdown(run.description) : h("p", { class: "faint" }, "None yet. Markdown is understood."));
  };
  edit.addEventListener("click", () => {
    edit.hidden = true;
    const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: "10", class: "notes-field", "aria-label": "Notes in Markdown" }));
    field.value = run.description ?? "";
    const save = h("button", { type: "button", class: "primary" }, "Save");
    const cancel = h("button", { type: "button" }, "Cancel");
    save.addEventListener("click", () => {
      send("PATCH", `/api/runs/${encodeURIComponent(run.id)}`, { description: field.value }).then((changed) => {
        run.description = changed.description;
        toast("Saved.");
        show();
      }, report);
    });
    cancel.addEventListener("click", show);
    replace(shown, field, h("div", { class: "row" }, save, cancel));
    field.focus();
  });
  show();
  return section;
}

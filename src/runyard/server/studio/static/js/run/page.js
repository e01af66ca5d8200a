/** The page of a run: its parts, and the stream that keeps them up to date. */

import { get, live, onBack, report } from "../core/api.js";
import { byId, embedded } from "../core/dom.js";
import { key } from "../core/keys.js";
import { tabs } from "../core/tabs.js";
import { isOver, showHead, tick } from "./account.js";
import { Curves } from "./curves.js";
import { showEnvironment } from "./environment.js";
import { Files } from "./files.js";
import { Logs } from "./logs.js";
import { Machine } from "./machine.js";
import { Media } from "./media.js";
import { showOverview } from "./overview.js";

const LOGS = ["user_logs/", "logs/", "azureml-logs/", "system_logs/"];
const EVERY = 300;
/** Milliseconds between two looks for metrics. */

let run = embedded();
const path = `/api/runs/${encodeURIComponent(run.id)}`;
const started = Date.parse(run.started_at ?? run.created_at) / 1000;
const curves = new Curves(byId("panel-charts"), run.id, { start: started, isOver: () => isOver(run) });
const media = new Media(byId("panel-media"), run.id);
const logs = new Logs(byId("panel-logs"), run.id, run.dropped_logs.length ? "They were dropped, as the retention of this workspace asks." : isOver(run) ? "Its script has printed nothing." : "What the script prints appears here as it is written.");
const files = new Files(byId("panel-files"), `${path}/files`, "files", { title: "No files yet", text: "What the script writes below ./outputs and ./logs appears here." });
const source = new Files(byId("panel-source"), `${path}/source`, "source", { title: "No source", text: "This run was started without a snapshot of a folder." }, run.launch?.script ?? "train.py");
const machine = new Machine(byId("panel-machine"), byId("panel-charts"), run.id);
let shown = "charts";

// -- what there is to show --------------------------------------------------------------------------------------------

let filesChanged = false;

/** @param {string[]} names */
function listLogs(names) {
  const rank = (/** @type {string} */ name) => LOGS.findIndex((folder) => name.startsWith(folder)) + (/attempt_\d+\//.test(name) ? 10 : 0);
  logs.list([...names].sort((one, other) => rank(one) - rank(other) || one.localeCompare(other, undefined, { numeric: true })));
}

async function refresh() {
  run = await get(path);
  showHead(run);
  listLogs(run.logs);
  if (shown === "overview") showOverview(byId("panel-overview"), run);
  if (shown === "environment") showEnvironment(byId("panel-environment"), run);
}

/** Let `/` lead to the search field of the part that is shown. @param {HTMLElement} panel */
function searchIn(panel) {
  for (const field of document.querySelectorAll("[data-search]")) field.removeAttribute("data-search");
  panel.querySelector('input[type="search"]')?.setAttribute("data-search", "");
}

let looking = false;
let wanted = false;

/** See which metrics have new points: at once, and then no more often than the answer is quick. */
async function look() {
  if (looking) {
    wanted = true;
    return;
  }
  looking = true;
  wanted = false;
  const began = performance.now();
  try {
    const { metrics } = await get(`${path}/metrics/names`);
    curves.show(metrics.filter((/** @type {any} */ each) => each.kind === "values"));
    media.list(metrics.filter((/** @type {any} */ each) => each.kind !== "values"));
  } catch (error) {
    report(error);
  }
  setTimeout(() => {
    looking = false;
    if (wanted) void look();
  }, Math.max(EVERY, (performance.now() - began) * 4));
}

// -- the parts --------------------------------------------------------------------------------------------------------

tabs(byId("tabs"), (name, asked) => {
  shown = name;
  searchIn(byId(`panel-${name}`));
  if (name === "media") media.show();
  else media.visible = false;
  if (name === "logs") logs.open(asked.get("file"), Number(asked.get("line")) || undefined);
  if (name === "files") void files.open(asked.get("file"));
  if (name === "source") void source.open(asked.get("file"));
  if (name === "environment") showEnvironment(byId("panel-environment"), run);
  machine.show(name, !isOver(run));
  if (name === "overview") showOverview(byId("panel-overview"), run);
});

const NAMES = ["charts", "media", "logs", "files", "source", "environment", "machine", "overview"];
NAMES.forEach((name, at) => key(String(at + 1), `Show ${byId(`tab-${name}`).textContent?.toLowerCase()}`, () => (location.hash = name)));
key("Escape", "", () => curves.zoom.zoom(null));

showHead(run);
listLogs(run.logs);
void look();
setInterval(tick, 1000);
onBack(() => {
  refresh().catch(report);
  void look();
});

if (!isOver(run)) {
  /** @type {Set<string>} */
  const known = new Set(run.logs);
  live(`${path}/events`, (name, value) => {
    if (name === "metrics") void look();
    else if (name === "state") {
      if (value.status !== run.status || value.reason !== run.reason) refresh().catch(report);
      void look();
    } else if (name === "file") {
      if (LOGS.some((folder) => value.name.startsWith(folder)) && !known.has(value.name)) {
        known.add(value.name);
        listLogs([...known]);
      }
      logs.grown(value.name);
      filesChanged = true;
    }
  });
  setInterval(() => {
    if (!filesChanged || shown !== "files") return;
    filesChanged = false;
    files.load().catch(report);
  }, 1500);
}

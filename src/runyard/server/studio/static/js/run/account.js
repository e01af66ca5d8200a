/** The head of a run's page: its name and state, what it does in words, and its way from state to state. */

import { report, send } from "../core/api.js";
import { byId, confirmed, duration, h, replace, time, toast, tone } from "../core/dom.js";
import { visible } from "./ansi.js";

const TERMINAL = ["Completed", "Failed", "Canceled"];

/** @param {any} run */
export function isOver(run) {
  return TERMINAL.includes(run.status);
}

/** @param {any} run */
export function showHead(run) {
  byId("run-title").textContent = visible(run.display_name || run.id);
  const status = byId("run-status");
  status.textContent = run.status;
  status.className = `badge ${tone(run.status)}`;
  showAccount(run);
  showTimeline(run);
  showActions(run);
}

/** @param {any} run */
function showAccount(run) {
  const { account } = run;
  const place = byId("account");
  place.className = `account ${account.tone}`;
  const frames = account.frames.map((/** @type {any} */ frame) => `${frame.file}:${frame.line} in ${frame.function}${frame.code ? `\n    ${frame.code}` : ""}`);
  const facts = [
    ["run", h("code", null, run.id)],
    ["on", run.nodes > 1 ? `${run.target}, ${run.nodes} nodes` : run.target],
    ["made", time(run.created_at)],
    run.started_at ? ["took", h("span", { class: "ticking", "data-from": run.started_at, "data-until": run.ended_at ?? "" }, took(run.started_at, run.ended_at))] : null,
    run.attempt > 1 ? ["attempt", String(run.attempt)] : null,
    run.parent_id ? ["part of", h("a", { href: runHref(run.workspace, run.parent_id) }, run.parent_id)] : null,
  ];
  replace(
    place,
    h("h2", { class: "account-line" }, visible(account.headline)),
    account.text ? h("p", { class: "account-text" }, visible(account.text).split("\n").flatMap((line, at) => [at ? h("br") : null, line])) : null,
    frames.length ? h("pre", { tabindex: "0" }, frames.map(visible).join("\n")) : null,
    account.help ? h("p", { class: "account-help" }, visible(account.help)) : null,
    account.warnings.map((/** @type {string} */ text) => h("p", { class: "account-warning" }, h("b", null, "Warning: "), visible(text))),
    account.next.length ? h("div", { class: "account-next" }, account.next.map(step)) : null,
    h("dl", { class: "account-facts" }, facts.filter(Boolean).map((fact) => fact && h("div", null, h("dt", null, fact[0]), h("dd", null, fact[1])))),
  );
}

/** @param {{ text: string, command: string | null }} next */
function step(next) {
  if (!next.command) return h("span", null, next.text);
  const copy = h("button", { type: "button", class: "quiet", title: "Copy the command" }, "Copy");
  const command = next.command;
  copy.addEventListener("click", () => navigator.clipboard.writeText(command).then(() => toast("Copied.")));
  return h("span", { class: "account-step" }, h("span", { class: "faint" }, next.text), h("span", null, h("code", null, command), copy));
}

/** @param {any} run */
function showTimeline(run) {
  const steps = run.account.timeline;
  const place = byId("timeline");
  const now = Date.now();
  const ends = steps.map((/** @type {any} */ each) => (each.until ? Date.parse(each.until) : TERMINAL.includes(each.status) ? Date.parse(each.at) : now));
  const spans = steps.map((/** @type {any} */ each, /** @type {number} */ at) => Math.max(0, ends[at] - Date.parse(each.at)));
  const whole = spans.reduce((/** @type {number} */ sum, /** @type {number} */ each) => sum + each, 0) || 1;
  const bars = steps.map((/** @type {any} */ each, /** @type {number} */ at) => {
    const bar = h("div", { class: `timeline-part ${tone(each.status)}`, title: `${each.status}, ${duration(spans[at] / 1000)}` });
    bar.style.flexGrow = String(Math.max(spans[at] / whole, 0.006));
    return bar;
  });
  const attempts = new Set(steps.map((/** @type {any} */ each) => each.attempt));
  const rows = steps.map((/** @type {any} */ each, /** @type {number} */ at) =>
    h("tr", null, attempts.size > 1 ? h("td", { class: "faint" }, `attempt ${each.attempt}`) : null, h("td", null, h("span", { class: `badge ${tone(each.status)}` }, each.status)), h("td", null, time(each.at, { relative: false })), h("td", { class: "number" }, TERMINAL.includes(each.status) ? "" : duration(spans[at] / 1000)), h("td", null, visible(each.reason ?? ""))),
  );
  const open = /** @type {HTMLDetailsElement | null} */ (place.querySelector("details"))?.open ?? false;
  replace(
    place,
    h("div", { class: "timeline-bar", "aria-hidden": "true" }, bars),
    h("details", { open }, h("summary", { class: "faint" }, `${steps.length} ${steps.length === 1 ? "state" : "states"}${attempts.size > 1 ? `, ${attempts.size} attempts` : ""}`), h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "States" }, h("table", { class: "table" }, h("thead", null, h("tr", null, attempts.size > 1 ? h("th", { scope: "col" }, "attempt") : null, ["state", "since", "for", "why"].map((head) => h("th", { scope: "col" }, head)))), h("tbody", null, rows)))),
  );
}

/** @param {any} run */
function showActions(run) {
  const compare = h("a", { class: "button", href: `/studio/${encodeURIComponent(run.workspace)}/compare?runs=${encodeURIComponent(run.id)}` }, "Compare");
  const stop = h("button", { type: "button", class: "danger" }, "Stop");
  stop.addEventListener("click", async () => {
    if (!(await confirmed("Stop this run?", "Its script is asked to end, and is ended if it does not. What it has logged stays.", "Stop"))) return;
    send("POST", `/api/runs/${encodeURIComponent(run.id)}/cancel`).then(() => toast("It is being stopped."), report);
  });
  replace(byId("run-actions"), isOver(run) ? null : stop, run.parent_id ? null : compare);
}

/** @param {string} from @param {string | null} until */
function took(from, until) {
  return `${duration(((until ? Date.parse(until) : Date.now()) - Date.parse(from)) / 1000)}${until ? "" : " so far"}`;
}

/** Keep the times right that go on. */
export function tick() {
  for (const each of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".ticking[data-until='']"))) each.textContent = took(each.dataset.from ?? "", null);
}

/** @param {string} workspace @param {string} id */
export function runHref(workspace, id) {
  return `/studio/${encodeURIComponent(workspace)}/runs/${encodeURIComponent(id)}`;
}

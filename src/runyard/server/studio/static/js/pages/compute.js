/** Compute while it works: what runs take of their nodes, what waits and why, and the nodes of each target. */

import { get, Problem } from "../core/api.js";
import { badge, byId, bytes, embedded, h, lasted, number, replace, time } from "../core/dom.js";
import { every } from "./poll.js";

const EVERY = 2500;
const NODES_EVERY = 6000;

const { workspace } = embedded();
const base = `/studio/${encodeURIComponent(workspace)}`;
const api = `/api/workspaces/${encodeURIComponent(workspace)}`;

/** @param {any} run */
function link(run) {
  return h("a", { href: `${base}/runs/${encodeURIComponent(run.id)}` }, run.display_name || run.id);
}

/**
 * A bar for how much of something is taken.
 * @param {number | undefined} used
 * @param {number | undefined} there
 * @param {string} text
 */
function meter(used, there, text) {
  if (used === undefined) return h("span", { class: "faint" }, "–");
  const part = there ? Math.min(1, used / there) : 0;
  const bar = h("span", { class: part > 0.95 ? "bad" : part > 0.85 ? "warn" : null, style: { width: `${Math.round(100 * part)}%` } });
  return h("div", null, text, there ? h("div", { class: "meter", role: "img", "aria-label": `${Math.round(100 * part)} %` }, bar) : null);
}

/** @param {any} run @param {any} node @param {boolean} first */
function row(run, node, first) {
  const values = node?.values ?? {};
  const gpus = Object.keys(values).filter((key) => /^gpu\d+\/busy$/.test(key)).sort();
  return h("tr", null,
    h("td", null, first ? link(run) : "", first ? h("span", { class: "sub" }, `${run.experiment} on ${run.target ?? "no target"}`) : null),
    h("td", null, first ? badge(run.status) : ""),
    h("td", { class: "number" }, node ? String(node.node) : "–"),
    h("td", null, meter(values["cpu/run"], values["cpu/cores"], `${number(values["cpu/run"])} of ${number(values["cpu/cores"])} cores`)),
    h("td", null, meter(values["memory/run"], values["memory/limit"], `${bytes(values["memory/run"])} of ${bytes(values["memory/limit"])}`)),
    h("td", { class: "number" }, gpus.length ? gpus.map((key) => `${Math.round(values[key])} %`).join(" ") : "–"),
    h("td", { class: "number narrow-hidden" }, first ? lasted(run.started_at) : ""));
}

every(EVERY, async () => {
  const { runs } = await get(`${api}/load`);
  const waits = (/** @type {any} */ run) => ["Queued", "Starting", "Provisioning", "NotStarted"].includes(run.status);
  const going = runs.filter((/** @type {any} */ run) => !waits(run));
  const waiting = runs.filter(waits).reverse();
  replace(byId("going"), going.length
    ? frame("Now running", ["Run", "State", "Node", "Processor", "Memory", "GPU", "For"], [2, 5, 6],
      going.flatMap((/** @type {any} */ run) => (run.load.length ? run.load : [null]).map((/** @type {any} */ node, /** @type {number} */ at) => row(run, node, at === 0))))
    : h("div", { class: "empty" }, h("h2", null, "Nothing runs"), h("p", null, "Every node is free. This starts something:"), h("pre", null, "runyard submit train.py")));
  replace(byId("waiting"), waiting.length
    ? frame("What waits", ["Place", "Run", "Waits for", "Since"], [0],
      waiting.map((/** @type {any} */ run, /** @type {number} */ at) => h("tr", null,
        h("td", { class: "number" }, String(at + 1)),
        h("td", null, link(run), h("span", { class: "sub" }, `${run.target ?? "no target"}, ${run.nodes} node${run.nodes === 1 ? "" : "s"}`)),
        h("td", { class: "wrap" }, run.reason ?? "its turn"),
        h("td", null, time(run.created_at)))))
    : h("p", { class: "faint" }, "Nothing waits."));
});

/** @param {string} label @param {string[]} head @param {number[]} numbers @param {HTMLElement[]} rows */
function frame(label, head, numbers, rows) {
  return h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: "table" },
    h("thead", null, h("tr", null, ...head.map((each, at) => h("th", { scope: "col", class: `${numbers.includes(at) ? "number" : ""}${each === "For" ? " narrow-hidden" : ""}` }, each)))),
    h("tbody", null, ...rows)));
}

every(NODES_EVERY, async () => {
  const { targets } = await get(`${api}/compute`);
  const nodes = await Promise.all(targets.map((/** @type {any} */ target) => get(`${api}/compute/${encodeURIComponent(target.name)}/nodes`).catch((error) => {
    if (error instanceof Problem) return { nodes: [], problem: error.message };
    throw error;
  })));
  replace(byId("targets"), targets.map((/** @type {any} */ target, /** @type {number} */ at) => card(target, nodes[at])));
});

/** @param {any} target @param {any} answer */
function card(target, answer) {
  const size = [target.type, target.vm_size, `on ${target.engine}`].filter(Boolean).join(", ");
  const most = target.max_nodes === null || target.max_nodes === undefined ? "no limit" : `${target.max_nodes} at most`;
  return h("div", { class: "card" },
    h("h3", null, target.name),
    h("p", { class: "faint" }, size),
    h("dl", { class: "facts" },
      h("dt", null, "Nodes"), h("dd", null, `${target.status.current_nodes} now, ${most}`),
      h("dt", null, "State"), h("dd", null, target.status.allocation_state)),
    answer.problem ? h("div", { class: "problem" }, h("p", null, answer.problem)) : null,
    answer.nodes.length ? h("ul", { class: "plain" }, ...answer.nodes.slice(0, 40).map((/** @type {any} */ node) => h("li", { class: "row" },
      h("span", { class: `badge ${node.run_id ? "busy" : "still"}` }, node.state),
      h("code", null, node.name),
      node.run_id ? h("a", { href: `${base}/runs/${encodeURIComponent(node.run_id)}` }, node.run_id) : h("span", { class: "faint" }, "free")))) : null);
}

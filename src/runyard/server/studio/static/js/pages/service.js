/** A service while it runs: its state, requests and latency, its log, and a form to try it. */

import { LineChart } from "../charts/line.js";
import { get, Problem, report, request } from "../core/api.js";
import { badge, byId, bytes, duration, embedded, h, number, replace } from "../core/dom.js";
import { exampleRequest } from "./examples.js";
import { every } from "./poll.js";

const EVERY = 2000;
const LOG_EVERY = 4000;
const LINES = 300;
const KEPT = 150;

const { workspace, name } = embedded();
const api = `/api/workspaces/${encodeURIComponent(workspace)}/services/${encodeURIComponent(name)}`;
const rates = new LineChart(byId("rate-chart"), { title: "Requests a second", series: [], xKind: "time", height: 180, yRange: [0, 1], legend: true });
const latency = new LineChart(byId("latency-chart"), { title: "Seconds until the answer", series: [], xKind: "time", height: 180, legend: true });

/** @typedef {{ at: number, numbers: Record<string, number> }} Look */

/** @type {Look | null} */
let before = null;
/** @type {{ at: number, rate: number, errors: number, median: number, slow: number }[]} */
const seen = [];
let described = false;
let touched = false;

/**
 * The time within which a part of the answers came, between two looks at a histogram.
 * @param {Record<string, number>} now
 * @param {Record<string, number>} then
 * @param {number} part
 */
function quantile(now, then, part) {
  const edges = Object.keys(now).filter((key) => key.startsWith("le ")).map((key) => /** @type {[number, string]} */ ([key === "le +Inf" ? Infinity : Number(key.slice(3)), key]));
  edges.sort((one, other) => one[0] - other[0]);
  const counts = edges.map(([, key]) => now[key] - (then[key] ?? 0));
  const total = counts[counts.length - 1] ?? 0;
  if (!total) return NaN;
  let low = 0;
  for (let at = 0; at < edges.length; at++) {
    if (counts[at] >= part * total) {
      const below = at ? counts[at - 1] : 0;
      const high = Number.isFinite(edges[at][0]) ? edges[at][0] : low;
      return low + (high - low) * ((part * total - below) / Math.max(1, counts[at] - below));
    }
    low = edges[at][0];
  }
  return low;
}

/** @param {Record<string, number>} numbers */
function note(numbers) {
  const at = Date.now() / 1000;
  byId("requests").textContent = `${number(numbers.requests)} in all`;
  byId("errors").textContent = number(numbers.errors);
  byId("running").textContent = number(numbers.calls_running ?? 0);
  byId("memory").textContent = `${number(numbers.calls_waiting ?? 0)} wait · ${bytes(numbers.memory_bytes)}`;
  const all = quantile(numbers, {}, 0.5);
  byId("median").textContent = Number.isFinite(all) ? duration2(all) : "–";
  const slow = quantile(numbers, {}, 0.99);
  byId("slow").textContent = Number.isFinite(slow) ? `99 % within ${duration2(slow)}` : "no request yet";
  if (before && numbers.requests >= before.numbers.requests) {
    const seconds = at - before.at;
    seen.push({
      at,
      rate: (numbers.requests - before.numbers.requests) / seconds,
      errors: (numbers.errors - before.numbers.errors) / seconds,
      median: quantile(numbers, before.numbers, 0.5),
      slow: quantile(numbers, before.numbers, 0.99),
    });
    if (seen.length > KEPT) seen.shift();
    byId("rate").textContent = number(Number(seen[seen.length - 1].rate.toFixed(1)));
    const x = seen.map((each) => each.at);
    rates.update([
      { name: "requests", x, y: seen.map((each) => each.rate) },
      { name: "errors", x, y: seen.map((each) => each.errors), colour: "#c0392b" },
    ]);
    latency.update([
      { name: "half within", x, y: seen.map((each) => each.median) },
      { name: "99 % within", x, y: seen.map((each) => each.slow) },
    ]);
  }
  before = { at, numbers };
}

/** @param {number} seconds */
function duration2(seconds) {
  return seconds < 1 ? `${number(Number((1000 * seconds).toPrecision(3)))} ms` : duration(seconds);
}

/** @param {any} service */
function show(service) {
  const state = byId("service-state");
  if (state.textContent !== service.state) state.replaceWith(Object.assign(badge(service.state), { id: "service-state" }));
  const error = byId("service-error");
  error.hidden = !service.error;
  if (service.error) replace(error, h("p", null, service.error.message), service.error.help ? h("p", { class: "faint" }, service.error.help) : null);
  replace(byId("replicas"), service.replicas.length
    ? service.replicas.map((/** @type {any} */ each) => h("li", null,
      badge(each.state), " ",
      h("a", { href: `/studio/${encodeURIComponent(workspace)}/runs/${encodeURIComponent(each.run_id)}` }, `revision ${each.revision}`),
      h("span", { class: "faint" }, ` ${each.memory ? bytes(each.memory) : ""}${each.restarts ? ` · restarted ${each.restarts} times` : ""}`),
      each.error || each.reason ? h("div", { class: "why" }, each.error?.message ?? each.reason) : null))
    : h("li", { class: "faint" }, "None is up."));
}

async function describe() {
  try {
    const answer = await get(`${api}/description`);
    const example = exampleRequest(answer.description);
    described = true;
    const field = /** @type {HTMLTextAreaElement} */ (byId("trial-body"));
    if (example !== null && !touched) field.value = JSON.stringify(example, null, 2);
    byId("trial-says").textContent = example === null
      ? "It does not say what it takes: write the request as its script expects it."
      : "An example of what it takes. Change it, and send it with the key of the service.";
  } catch (error) {
    if (!(error instanceof Problem)) throw error; // it is not up yet: asked again with the next look
  }
}

every(EVERY, async () => {
  show(await get(api));
  try {
    note((await get(`${api}/numbers`)).numbers);
    if (!described) await describe();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "service_away") throw error;
    byId("rate").textContent = "–";
    before = null;
  }
});

every(LOG_EVERY, async () => {
  const answer = await request("GET", `${api}/logs?tail=${LINES}`);
  const text = await answer.text();
  const log = byId("service-log");
  if (log.textContent === text) return;
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 20;
  log.textContent = text || "It has written nothing yet.";
  if (atEnd) log.scrollTop = log.scrollHeight;
});

byId("trial-body").addEventListener("input", () => {
  touched = true;
});
byId("trial").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = /** @type {HTMLTextAreaElement} */ (byId("trial-body"));
  const took = byId("trial-took");
  /** @type {any} */
  let body;
  try {
    body = JSON.parse(field.value);
    field.removeAttribute("aria-invalid");
  } catch (error) {
    field.setAttribute("aria-invalid", "true");
    took.textContent = `This is no JSON: ${/** @type {Error} */ (error).message}`;
    return;
  }
  took.textContent = "…";
  try {
    const answer = await (await request("POST", `${api}/trial`, body)).json();
    took.textContent = `${answer.status} after ${duration2(answer.seconds)}`;
    const place = byId("trial-answer");
    place.hidden = false;
    place.textContent = pretty(answer.body) + (answer.cut ? "\n… and more" : "");
  } catch (error) {
    took.textContent = error instanceof Problem ? error.message : "";
    report(error);
  }
});

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Talking to the server: requests, and streams that go on by themselves when the server has been away. */

import { toast } from "./dom.js";

/** The header that pages of other sites cannot set. */
const MARK = { "X-Runyard-Studio": "1" };

/** A request that the server has refused, in its own words. */
export class Problem extends Error {
  /** @param {{ code?: string, title?: string, help?: string, status?: number, detail?: any }} said */
  constructor(said) {
    super(said.title ?? "The server refused this request.");
    this.code = said.code ?? "unknown";
    this.help = said.help ?? "";
    this.status = said.status ?? 0;
    this.detail = said.detail ?? {};
  }
}

/** The server did not answer. */
export class Away extends Error {
  constructor() {
    super("The server does not answer.");
  }
}

/**
 * @param {string} path
 * @param {{ signal?: AbortSignal }} [options]
 * @returns {Promise<any>} what the JSON of the answer says
 */
export async function get(path, options = {}) {
  return (await request("GET", path, undefined, options.signal)).json();
}

/**
 * Change something. Throws `Problem` with the server's sentence.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @returns {Promise<any>}
 */
export async function send(method, path, body) {
  const answer = await request(method, path, body);
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
export async function request(method, path, body, signal) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", ...MARK };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: "same-origin" });
  } catch (error) {
    if (signal?.aborted) throw error;
    banner.away();
    throw new Away();
  }
  if (answer.ok) {
    banner.back();
    return answer;
  }
  throw await refusal(answer);
}

/**
 * @param {Response} answer
 * @returns {Promise<Problem>}
 */
async function refusal(answer) {
  /** @type {any} */
  let said = {};
  try {
    said = await answer.json();
  } catch {
    said = { title: `The server answered ${answer.status}.` };
  }
  const problem = new Problem({ status: answer.status, ...said });
  if (problem.code === "not_authenticated") banner.signedOut();
  return problem;
}

/**
 * Show an error to the reader, in the server's words.
 * @param {unknown} error
 */
export function report(error) {
  if (error instanceof Away) return; // the banner says so
  if (error instanceof Problem) {
    if (error.code !== "not_authenticated") toast(error.message, { help: error.help, bad: true });
    return;
  }
  if (error instanceof DOMException && error.name === "AbortError") return;
  throw error;
}

/**
 * Follow a stream of events. It is closed while the page is hidden, and begins anew after that and whenever the
 * connection is lost: a stream begins with the present state, so nothing is missed.
 * @param {string} path
 * @param {(name: string, value: any) => void} onEvent
 * @param {{ onEnd?: () => void }} [options] `onEnd`: the server has ended the stream, and nothing more will come
 * @returns {() => void} ends it
 */
export function live(path, onEvent, options = {}) {
  let ended = false;
  let stop = new AbortController();
  let wait = 250;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function follow() {
    timer = undefined;
    if (ended || document.visibilityState === "hidden") return;
    const mine = (stop = new AbortController());
    let last = "";
    try {
      const answer = await fetch(path, { headers: { Accept: "text/event-stream", ...MARK }, signal: mine.signal, credentials: "same-origin" });
      if (!answer.ok) {
        const problem = await refusal(answer);
        if (answer.status < 500) {
          ended = true;
          report(problem);
          return;
        }
        throw problem;
      }
      banner.back();
      wait = 250;
      for await (const [name, value] of events(answer)) {
        last = terminal(name, value) ? "over" : "";
        onEvent(name, value);
      }
      if (last === "over") {
        ended = true;
        options.onEnd?.();
        return;
      }
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof Problem) && !(error instanceof TypeError)) throw error;
      banner.away();
    }
    if (!ended) {
      timer = setTimeout(follow, wait);
      wait = Math.min(wait * 2, 4000);
    }
  }

  function seen() {
    if (document.visibilityState === "hidden") stop.abort();
    else if (timer === undefined && !ended) follow();
  }

  document.addEventListener("visibilitychange", seen);
  follow();
  return () => {
    ended = true;
    clearTimeout(timer);
    stop.abort();
    document.removeEventListener("visibilitychange", seen);
  };
}

/**
 * Whether an event is the last one of a run's stream.
 * @param {string} name
 * @param {any} value
 */
function terminal(name, value) {
  return name === "state" && ["Completed", "Failed", "Canceled"].includes(value.status);
}

/**
 * The events of a stream, one after the other.
 * @param {Response} answer
 * @returns {AsyncGenerator<[string, any]>}
 */
async function* events(answer) {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      let name = "message";
      let data = "";
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data) yield [name, JSON.parse(data)];
    }
  }
}

/** What the page says at its top while the server is away, and when the session has ended. */
export const banner = {
  gone: false,
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer: undefined,
  /** @type {Set<() => void>} */
  listeners: new Set(),

  /** @param {string} text @param {boolean} [bad] */
  show(text, bad = false) {
    const element = document.getElementById("live-banner");
    if (!element) return;
    element.textContent = text;
    element.classList.toggle("bad", bad);
    element.hidden = false;
  },

  away() {
    if (this.gone) return;
    this.gone = true;
    this.show("The server does not answer. The page goes on by itself when it is back; runs go on meanwhile.");
    this.watch();
  },

  /** Ask from time to time whether the server is back. */
  watch() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        const answer = await fetch("/health", { cache: "no-store" });
        if (answer.ok) return this.back();
      } catch {
        /* still away */
      }
      if (this.gone) this.watch();
    }, 1000);
  },

  back() {
    if (!this.gone) return;
    this.gone = false;
    clearTimeout(this.timer);
    const element = document.getElementById("live-banner");
    if (element) element.hidden = true;
    for (const listener of this.listeners) listener();
  },

  signedOut() {
    this.show("You are signed out. `runyard studio` prints a link that signs this browser in again.", true);
  },
};

/**
 * Have something done whenever the server is back after it was away.
 * @param {() => void} listener
 * @returns {() => void}
 */
export function onBack(listener) {
  banner.listeners.add(listener);
  return () => banner.listeners.delete(listener);
}

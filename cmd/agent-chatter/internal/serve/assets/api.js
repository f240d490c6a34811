// Requests to the server. Each one has the token in a header: an address with it could end up in a history or a log.
import { say } from "/dom.js";
import { showAge } from "/offline.js";

const name = "agent-chatter-token";
const paired = "agent-chatter-paired"; // that this browser has the cookie of a paired device
const tabs = new BroadcastChannel("agent-chatter"); // the tabs of this page
let refused = false; // the server does not take the token
const retries = 5; // of a change that comes too soon after others
const mostWait = 10; // seconds before each

// takeToken moves the token from the address to the storage of the tab.
export function takeToken() {
  const [, token, event] = /^#token=([^&]+)(?:&(seq-\d+))?/.exec(location.hash) ?? [];
  if (!token) return;
  sessionStorage.setItem(name, token);
  tabs.postMessage({ renewed: token });
  history.replaceState(null, "", location.pathname + location.search + (event ? `#${event}` : ""));
}

// pair pairs this browser with the server, by the code in the address. The cookie that it gets cannot be read here.
async function pair() {
  const [, code] = /^#pair=([^&]+)/.exec(location.hash) ?? [];
  if (!code) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await post("/api/pair", { code, name: browserName() });
    localStorage.setItem(paired, "yes");
    sessionStorage.removeItem(name);
  } catch (error) {
    complain(error);
  }
}

// browserName returns what the user recognizes in the list of devices.
function browserName() {
  const found = (names) => names.find((word) => navigator.userAgent.includes(word));
  const browser = found(["Firefox", "Edg", "Samsung", "Chrome", "Safari"])?.replace("Edg", "Edge") ?? "Browser";
  return `${browser} on ${found(["iPhone", "iPad", "Android", "Windows", "Mac", "Linux"]) ?? "a device"}`;
}

// askForToken returns the token, if need be from another tab of the page; null: no tab has it, and the browser is not
// paired.
export async function askForToken() {
  await pair();
  tabs.addEventListener("message", ({ data }) => {
    const token = sessionStorage.getItem(name);
    if (data.ask && token && !refused) tabs.postMessage({ token });
    if (!data.renewed) return;
    sessionStorage.setItem(name, data.renewed); // the server was started again
    restart?.();
  });
  if (sessionStorage.getItem(name)) return sessionStorage.getItem(name);
  if (localStorage.getItem(paired)) return paired;
  const answer = new Promise((resolve) => {
    tabs.addEventListener("message", ({ data }) => data.token && resolve(data.token));
    setTimeout(resolve, 500, null);
  });
  tabs.postMessage({ ask: true });
  const token = await answer;
  if (token) sessionStorage.setItem(name, token);
  return token;
}

// An AwayError says that the server does not answer. The stream reports it, so others need not.
export class AwayError extends Error {
  constructor() { super("The server does not answer. Does agent-chatter serve still run?"); }
}

// complain says what failed.
export function complain(error) {
  if (!(error instanceof AwayError)) say(error.message);
}

async function request(path, options = {}) {
  const headers = { ...options.headers, "Agent-Chatter": "1" }; // a form of another page cannot send it
  const token = sessionStorage.getItem(name);
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(path, { ...options, headers });
  } catch (error) {
    throw error instanceof TypeError ? new AwayError() : error;
  }
}

// get returns the answer of the server, or throws an Error with its text.
export async function get(path, options) {
  let response = await request(path, options);
  for (let i = 0; i < retries && response.status === 429 && response.headers.has("Retry-After"); i++) { // nothing was done
    await new Promise((resolve) => setTimeout(resolve, 1000 * Math.min(+response.headers.get("Retry-After") || 1, mostWait)));
    response = await request(path, options);
  }
  refused = response.status === 401;
  if (refused) localStorage.removeItem(paired); // the device was revoked
  showAge(response.headers.get("Agent-Chatter-Kept"));
  if (!response.ok) {
    const text = await response.text();
    let message = text;
    try { message = JSON.parse(text).error; } catch { /* it is plain text */ }
    throw new Error(message);
  }
  return response;
}

// getJSON is get for JSON.
export const getJSON = async (path, options) => (await get(path, options)).json();

// post sends an object and returns the answer.
export const post = (path, body = {}) =>
  getJSON(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

// lines yields the lines of an answer as they arrive.
export async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const found = (rest + value).split("\n");
    rest = found.pop();
    yield* found;
  }
  if (rest) yield rest;
}

// One tab of a browser holds the stream for all: a browser opens six connections to a host. A tab that ends hands the
// lock to the next one. Each tab has a lock of its own, too, which tells the others that it exists: a tab that crashes
// does not take leave.
const tab = crypto.randomUUID();
const lockOf = (id) => `agent-chatter-tab-${id}`;
navigator.locks.request(lockOf(tab), () => new Promise(() => {}));
const wanted = new Map(); // by tab: what it wants to hear of: keys of sessions, "live:" and such a key, and "list"
let mine = [];
let listener = () => {};
let restart = null; // of the stream, in the tab that holds it
let away = ""; // why there is no stream

const mostSessions = 32; // of a stream
const retryPause = 2000; // milliseconds
const silence = 45000; // milliseconds after which a stream is lost; the server writes more often

// subscribe calls heard with the changes of some sessions, and of the list if topics has "list". live(key) is the topic of
// what happens in a session before the journal has it: such a change has whole if it is the first one, which has all.
export const live = (key) => `live:${key}`;

export function subscribe(topics, heard) {
  mine = topics;
  listener = heard;
  tabs.postMessage({ tab, topics });
  wanted.set(tab, topics);
  restart?.();
}

tabs.addEventListener("message", ({ data }) => {
  if (data.change) listener(data.change);
  if (data.who) tabs.postMessage({ tab, topics: mine });
  if (data.away !== undefined) show(data.away);
  if (!data.tab) return;
  const before = JSON.stringify(wanted.get(data.tab) ?? []);
  if (data.topics.length) wanted.set(data.tab, data.topics);
  else wanted.delete(data.tab);
  if (before !== JSON.stringify(data.topics)) restart?.();
});
addEventListener("pagehide", () => tabs.postMessage({ tab, topics: [] }));
addEventListener("pageshow", (event) => event.persisted && subscribe(mine, listener));

navigator.locks.request("agent-chatter-stream", async () => {
  tabs.postMessage({ who: true });
  for (;;) await readStream();
});

// readStream reads a stream until it ends or the topics change.
async function readStream() {
  const abort = new AbortController();
  restart = () => abort.abort();
  const ended = new Promise((resolve) => abort.signal.addEventListener("abort", resolve));
  await forgetTabs();
  const all = [...new Set([...wanted.values()].flat())];
  if (!all.length) return ended;
  const query = new URLSearchParams(all.includes("list") ? { list: 1 } : {});
  for (const key of all.filter((topic) => topic !== "list" && !topic.startsWith("live:")).slice(-mostSessions)) {
    query.append("session", key);
    if (all.includes(live(key))) query.append("live", key);
  }
  let watch = 0;
  const begun = new Set(); // the sessions of which all was heard
  try {
    const answer = await get(`/api/stream?${query}`, { signal: abort.signal });
    for await (const line of lines(answer)) {
      clearTimeout(watch);
      watch = setTimeout(() => abort.abort(), silence);
      report("");
      if (!line.startsWith("data: ")) continue;
      const change = JSON.parse(line.slice(6));
      if (change.live) {
        change.whole = !begun.has(change.key);
        begun.add(change.key);
      }
      listener(change);
      tabs.postMessage({ change });
    }
    if (!abort.signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryPause));
  } catch (error) {
    if (abort.signal.aborted) return;
    report(error.message);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, retryPause))]);
  } finally {
    clearTimeout(watch);
  }
}

// forgetTabs forgets the tabs that exist no more.
async function forgetTabs() {
  const { held, pending } = await navigator.locks.query();
  const names = new Set([...held, ...pending].map((lock) => lock.name));
  for (const id of wanted.keys()) {
    if (!names.has(lockOf(id))) wanted.delete(id);
  }
}

// report says in all tabs why there is no stream; "": there is one.
function report(text) {
  if (text === away) return;
  show(text);
  tabs.postMessage({ away: text });
}

function show(text) {
  if ((text || away) && !document.querySelector(".offline")) say(text || "The server answers again.", text !== "");
  away = text;
}

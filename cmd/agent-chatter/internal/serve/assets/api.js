// Requests to the server. Each one has the token in a header: an address with it could end up in a history or a log.

const name = "agent-chatter-token";
const tabs = new BroadcastChannel("agent-chatter"); // the tabs of this page

// takeToken moves the token from the address to the storage of the tab.
export function takeToken() {
  const [, token, event] = /^#token=([^&]+)(?:&(seq-\d+))?/.exec(location.hash) ?? [];
  if (!token) return;
  sessionStorage.setItem(name, token);
  history.replaceState(null, "", location.pathname + (event ? `#${event}` : ""));
}

// askForToken returns the token, if need be from another tab of the page; null: no tab has it.
export async function askForToken() {
  tabs.addEventListener("message", ({ data }) => {
    const token = sessionStorage.getItem(name);
    if (data.ask && token) tabs.postMessage({ token });
  });
  if (sessionStorage.getItem(name)) return sessionStorage.getItem(name);
  const answer = new Promise((resolve) => {
    tabs.addEventListener("message", ({ data }) => data.token && resolve(data.token));
    setTimeout(resolve, 500, null);
  });
  tabs.postMessage({ ask: true });
  const token = await answer;
  if (token) sessionStorage.setItem(name, token);
  return token;
}

function request(path, options = {}) {
  return fetch(path, { ...options, headers: { ...options.headers, Authorization: `Bearer ${sessionStorage.getItem(name)}` } });
}

// get returns the answer of the server, or throws an Error with its text.
export async function get(path, options) {
  const response = await request(path, options);
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
// lock to the next one.
const tab = crypto.randomUUID();
const wanted = new Map(); // by tab: what it wants to hear of: keys of sessions, and "list"
let mine = [];
let listener = () => {};
let restart = null; // of the stream, in the tab that holds it

// subscribe calls heard with the changes of some sessions, and of the list if topics has "list".
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
  if (!data.tab) return;
  const before = JSON.stringify([...wanted.get(data.tab) ?? []]);
  if (data.topics.length) wanted.set(data.tab, data.topics);
  else wanted.delete(data.tab);
  if (before !== JSON.stringify(data.topics)) restart?.();
});
addEventListener("pagehide", () => tabs.postMessage({ tab, topics: [] }));

navigator.locks.request("agent-chatter-stream", async () => {
  tabs.postMessage({ who: true });
  for (;;) await readStream();
});

// readStream reads a stream until it ends or the topics change.
async function readStream() {
  const all = [...new Set([...wanted.values()].flat())];
  const abort = new AbortController();
  restart = () => abort.abort();
  if (!all.length) {
    await new Promise((resolve) => abort.signal.addEventListener("abort", resolve));
    return;
  }
  const query = new URLSearchParams();
  for (const topic of all) query.append(...(topic === "list" ? ["list", "1"] : ["session", topic]));
  try {
    for await (const line of lines(await get(`/api/stream?${query}`, { signal: abort.signal }))) {
      if (!line.startsWith("data: ")) continue;
      const change = JSON.parse(line.slice(6));
      listener(change);
      tabs.postMessage({ change });
    }
  } catch {
    if (!abort.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 2000)); // the server is away
  }
}

// The service worker of the page. The network is first: what is kept is for the time without it.
const pageFiles = "page-1"; // the files of the page
const seen = "seen-1"; // answers with what was shown last
const mostSeen = 120; // answers
const files = ["/", "/manifest.webmanifest", "/icon.svg", "/icon-192.png", "/theme.js", "/page.css", "/chart.css",
  "/app.css", "/timeline.css", "/files.css", "/session.css", "/list.css", "/chat.css", "/app.js", "/api.js", "/actions.js",
  "/attention.js", "/bar.js", "/begin.js", "/beside.js", "/chat.js", "/compare.js", "/complete.js", "/composer.js",
  "/conversation.js", "/devices.js", "/dom.js", "/files.js", "/find.js", "/host.js", "/hub.js", "/list.js", "/look.js", "/now.js",
  "/offline.js", "/outbox.js", "/questions.js", "/replies.js", "/results.js", "/rewind.js", "/rows.js", "/safe.js", "/session.js",
  "/timeline.js", "/usage.js"];

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(pageFiles).then((cache) => cache.addAll(files)));
});

addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (name !== pageFiles && name !== seen) await caches.delete(name);
  }
  await clients.claim();
})()));

addEventListener("fetch", (event) => {
  const { method, url, mode } = event.request, { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (mode === "navigate") {
    if (/^\/($|s\/|(compare|usage)$)/.test(pathname)) event.respondWith(fresh(event, pageFiles, "/"));
  } else if (files.includes(pathname)) event.respondWith(fresh(event, pageFiles, pathname));
  else if (/^\/api\/(host|usage|sessions(\/[^/]+\/[^/]+(\/(items|files|timeline))?)?)$/.test(pathname)) {
    event.respondWith(fresh(event, seen, url));
  }
});

// fresh returns the answer of the server, which is kept; without a server, the one that was kept.
async function fresh(event, name, key) {
  const cache = await caches.open(name);
  let answer;
  try {
    answer = await fetch(event.request);
  } catch (error) {
    const kept = await cache.match(key);
    if (kept) return kept;
    throw error;
  }
  if (answer.status === 401) await caches.delete(seen); // the device is not paired any more
  else if (answer.ok && answer.type === "basic") event.waitUntil(keep(cache, key, answer.clone(), name === seen));
  return answer;
}

// keep keeps an answer with the time.
async function keep(cache, key, answer, bounded) {
  const headers = new Headers(answer.headers);
  if (bounded) headers.set("Agent-Chatter-Kept", new Date().toISOString());
  const body = await answer.blob();
  await cache.delete(key); // so that the oldest is the first one
  await cache.put(key, new Response(body, { status: answer.status, headers }));
  if (!bounded) return;
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, Math.max(0, keys.length - mostSeen)).map((old) => cache.delete(old)));
}

addEventListener("notificationclick", (event) => event.waitUntil((async () => {
  event.notification.close();
  const { path } = event.notification.data;
  for (const client of await clients.matchAll({ type: "window" })) {
    if (new URL(client.url).pathname !== path) continue;
    return client.focus();
  }
  return clients.openWindow(path);
})()));

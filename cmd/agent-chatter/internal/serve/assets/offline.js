// The page without its server: a service worker keeps the files of the page and what was shown last.
import { element, say } from "/dom.js";

let banner = null;

// keep registers the service worker. It is for a device that comes back to the same address, not for every address that
// a server had once.
export async function keep() {
  try {
    await navigator.serviceWorker?.register("/worker.js");
  } catch { /* the certificate is not trusted, or the browser keeps nothing: the page works without it */ }
}

// showAge says that what is shown is kept, and since when; 0: it is not.
export function showAge(time) {
  if (!time) {
    banner?.remove();
    banner = null;
    return;
  }
  const when = new Date(time).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  const text = `Offline. This is what this device saw last, on ${when}.`;
  banner ??= element("p", { className: "offline", role: "status" });
  if (banner.textContent !== text) banner.textContent = text;
  if (banner.isConnected) return;
  say(""); // that the server does not answer
  document.getElementById("view").before(banner);
}

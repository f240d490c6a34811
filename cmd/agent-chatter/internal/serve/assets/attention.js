// Notifications while the page is hidden: a member asks, or a person is next.
import { iconButton } from "/look.js";
import { say } from "/dom.js";
import { keep } from "/offline.js";
import { safeLine } from "/safe.js";

const wanted = "agent-chatter-notify"; // the name of the choice in the storage of the browser
const known = new Map(); // by session: what was notified of

const possible = () => globalThis.Notification !== undefined;
const on = () => possible() && Notification.permission === "granted" && localStorage.getItem(wanted) === "on";

// attend takes the state of a session, and notifies of what needs a person if the page is hidden.
export function attend(key, title, state) {
  const before = known.get(key);
  const questions = (state.questions ?? []).map(({ id }) => id);
  const waits = Boolean(state.waiting?.length) && !state.speaking?.length;
  known.set(key, { questions, waits });
  if (!before || !document.hidden || !on()) return;
  const fresh = (state.questions ?? []).find(({ id }) => !before.questions.includes(id));
  if (fresh) notify(key, safeLine(fresh.title), title);
  else if (waits && !before.waits) notify(key, `${state.waiting.map(safeLine).join(", ")}: your turn`, title);
}

// notify shows a notification, which opens the session. A phone shows only those of a service worker.
async function notify(key, text, title) {
  const options = { body: title, tag: key, icon: "/icon-192.png", data: { path: `/s/${encodeURI(key)}` } };
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration) return registration.showNotification(text, options);
  const shown = new Notification(text, options);
  shown.onclick = () => {
    focus();
    shown.close();
  };
}

// notifyButton returns the button that turns notifications on and off; null: the browser has none.
export function notifyButton() {
  if (!possible()) return null;
  const button = iconButton("bell", "", "notify");
  const show = () => {
    button.setAttribute("aria-pressed", on());
    button.title = on() ? "Notifications: on" : "Notifications: off";
    button.setAttribute("aria-label", "Notifications");
  };
  button.addEventListener("click", async () => {
    const asked = on() ? "granted" : await Notification.requestPermission();
    localStorage.setItem(wanted, on() ? "off" : "on");
    if (asked !== "granted") say("The browser does not allow notifications of this page. Its settings can change that.");
    else say(on() ? "Notifications: on, while this page is open" : "Notifications: off");
    if (on()) keep();
    show();
  });
  show();
  return button;
}

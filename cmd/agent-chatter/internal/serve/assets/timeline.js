// The timeline of a session: its chart, which grows while the session runs.
import { getJSON, subscribe } from "/api.js";
import { element, parsed, say } from "/dom.js";
import { here } from "/hub.js";
import { icon, themeButton, typing } from "/look.js";

const pause = 2000; // milliseconds between two requests of the chart of a session that changes

// showTimeline shows the timeline of a session in an element and returns the function that ends it.
export function showTimeline(view, key) {
  const path = `/api/sessions/${encodeURI(key)}`;
  const home = `/s/${encodeURI(key)}`;
  const title = element("h1", {}, "Timeline");
  const notice = element("p", { className: "notice", hidden: true });
  const chart = element("div", { "aria-busy": "true" });
  const said = element("p", { className: "said", "aria-hidden": "true" }); // what the bar under the pointer is
  const back = element("a", { href: home, className: "back icon", title: "Conversation", "aria-label": "Conversation" },
    icon("back"));
  view.append(
    element("header", { className: "session-head" }, element("div", { className: "session-row" }, back, title, themeButton())),
    element("main", { className: "timeline" }, notice, chart, said));

  let closed = false, to = 0, last = 0, busy = false, timer = 0;

  async function load() {
    if (busy) return;
    busy = true;
    try {
      const answer = await getJSON(`${path}/timeline`);
      if (closed) return;
      to = answer.to;
      show(answer);
    } catch (error) {
      say(error.message);
    } finally {
      busy = false;
      chart.setAttribute("aria-busy", "false");
    }
    if (!closed && last > to) timer = setTimeout(load, pause);
  }

  // show replaces the chart. The bar that has the focus keeps it.
  function show(answer) {
    const focused = chart.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const left = chart.querySelector(".wide")?.scrollLeft;
    chart.replaceChildren(parsed(answer.html));
    for (const link of chart.querySelectorAll("a[href^='#seq-']")) link.setAttribute("href", home + link.getAttribute("href"));
    if (left) chart.querySelector(".wide").scrollLeft = left;
    if (focused) chart.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    notice.hidden = !answer.notice;
    notice.textContent = answer.notice ?? "";
  }

  const tell = (event) => said.textContent = event.target.closest?.("a[aria-label]")?.getAttribute("aria-label") ?? "";
  chart.addEventListener("pointerover", tell);
  chart.addEventListener("focusin", tell);

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event)) return;
    if (event.key !== "Escape" && event.key !== "t") return;
    event.preventDefault();
    back.click();
  }
  document.addEventListener("keydown", pressed);

  const fetching = (text) => {
    notice.hidden = closed;
    notice.textContent = text;
  };
  here(key, fetching).then((session) => {
    if (closed) return;
    title.textContent = `Timeline: ${session.title || "(no title)"}`;
    document.title = `${title.textContent} · agent-chatter`;
    subscribe([key], (change) => {
      if (change.key !== key || change.error) return;
      last = Math.max(last, change.seq);
      if (last > to && to) load();
    });
    return load(); // which hides the notice
  }).catch((error) => fetching(error.message));
  return () => {
    closed = true;
    clearTimeout(timer);
    document.removeEventListener("keydown", pressed);
    subscribe([], () => {});
  };
}

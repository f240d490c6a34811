// The list of sessions.
import { getJSON, subscribe } from "/api.js";
import { age, element, say, size } from "/dom.js";

// showList shows the list in an element and returns the function that ends it.
export function showList(view) {
  document.title = "Sessions · agent-chatter";
  const search = element("input", { type: "search", placeholder: "Search", "aria-label": "Search sessions", autofocus: true });
  const list = element("ol", { className: "sessions" });
  view.append(element("header", { className: "top" }, element("h1", {}, "Sessions"), search), element("main", {}, list));
  let asked = 0;
  async function load() {
    const request = ++asked;
    try {
      const answer = await getJSON(`/api/sessions?${new URLSearchParams({ text: search.value })}`);
      if (request !== asked) return;
      list.replaceChildren(...answer.sessions.map(row));
      say(`${answer.total} sessions`);
    } catch (error) {
      if (request === asked) say(error.message);
    }
  }
  search.addEventListener("input", load);
  subscribe(["list"], (change) => !change.key && load());
  load();
  return () => subscribe([], () => {});
}

function row(session) {
  const marks = ["live", "pinned", "archived", "damaged"].filter((mark) => session[mark]);
  return element("li", {},
    element("a", { href: `/s/${encodeURI(session.key)}` },
      element("span", { className: "title" }, session.title || "(no title)"),
      element("span", { className: "about" },
        `${session.team} · ${age(session.updatedAt)} · ${session.messages} messages · ${size(session.bytes)}`),
      ...marks.map((mark) => element("span", { className: `mark ${mark}` }, mark))));
}

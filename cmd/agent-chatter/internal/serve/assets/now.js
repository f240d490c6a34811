// The sessions that run now, above the list: who speaks in them, and whether they need a person.
import { live } from "/api.js";
import { element } from "/dom.js";
import { safeLine } from "/safe.js";

const most = 4; // sessions

// A Now is the list of them. attend is called with the state of each session that the server hosts.
export class Now {
  #sessions = [];
  #states = new Map(); // by key

  constructor() {
    this.list = element("ul", {});
    this.element = element("section", { className: "now-running", "aria-label": "Running now", hidden: true }, this.list);
  }

  get topics() { return this.#sessions.flatMap(({ key }) => [key, live(key)]); }

  // show shows the sessions of a list that are live, and reports whether others are shown now.
  show(sessions) {
    const keys = JSON.stringify(this.#sessions.map(({ key }) => key));
    this.#sessions = sessions.filter((session) => session.live && !session.claimedBy).slice(0, most);
    this.#draw();
    return keys !== JSON.stringify(this.#sessions.map(({ key }) => key));
  }

  // heard takes what is new in a session, and returns the session if its state has changed.
  heard({ key, live: news }) {
    if (!news?.state) return null;
    this.#states.set(key, news.state);
    this.#draw();
    return this.#sessions.find((session) => session.key === key);
  }

  #draw() {
    this.element.hidden = !this.#sessions.length;
    const focused = this.list.contains(document.activeElement) && document.activeElement.getAttribute("href");
    this.list.replaceChildren(...this.#sessions.map((session) => {
      const state = this.#states.get(session.key), href = `/s/${encodeURI(session.key)}`;
      return element("li", {}, element("a", { href, className: state?.questions?.length ? "asks" : "" },
        element("b", {}, session.title || "(no title)"), ...says(state)));
    }));
    if (focused) this.list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

// says returns what happens in a session.
function says(state) {
  const [question] = state?.questions ?? [], speaking = state?.speaking ?? [];
  if (question) return [element("span", { className: "need" }, `${safeLine(question.name)} asks`)];
  if (speaking.length) {
    return speaking.map(({ name, class: color, doing }) =>
      element("span", { className: `speaks ${color}` }, `${safeLine(name)} ${safeLine(doing || "speaks")}`));
  }
  if (state?.hosted && state.waiting?.length) return [element("span", { className: "need" }, "Your turn")];
  return [element("span", {}, "live")];
}

// The sessions that run now, above the list: who speaks in them, and whether they need a person.
import { live } from "/api.js";
import { element } from "/dom.js";
import { safeLine } from "/safe.js";

const most = 4; // sessions

// A Now is the list of them. It is shown if they are not the first ones of the list below it.
export class Now {
  #sessions = [];
  #states = new Map(); // by key
  #apart = false; // others are before them in the list

  constructor() {
    this.list = element("ul", {});
    this.element = element("section", { className: "now-running", "aria-label": "Running now", hidden: true }, this.list);
  }

  get topics() { return this.#sessions.flatMap(({ key }) => [key, live(key)]); }

  // show shows the sessions of a list that are live, and reports whether others are shown now.
  show(sessions) {
    const keys = JSON.stringify(this.#sessions.map(({ key }) => key));
    this.#sessions = sessions.filter((session) => session.live && !session.claimedBy).slice(0, most);
    this.#apart = this.#sessions.some((session, i) => session !== sessions[i]);
    this.#draw();
    return keys !== JSON.stringify(this.#sessions.map(({ key }) => key));
  }

  // heard takes what is new in a session, and returns the session if something else happens in it.
  heard({ key, live: news }) {
    const session = this.#sessions.find((known) => known.key === key);
    if (!news?.state || !session) return null;
    const before = this.says(session).text;
    this.#states.set(key, news.state);
    if (before === this.says(session).text) return null;
    this.#draw();
    return session;
  }

  // says returns what happens in a session, and whether it needs a person.
  says({ key }) {
    const state = this.#states.get(key), [question] = state?.questions ?? [], speaking = state?.speaking ?? [];
    if (question) return { text: `${safeLine(question.name)} asks`, need: true };
    if (speaking.length) return { text: `${speaking.map(({ name }) => safeLine(name)).join(", ")} ${speaking.length > 1 ? "speak" : "speaks"}` };
    if (state?.hosted && state.waiting?.length) return { text: "your turn", need: true };
    return { text: "live" };
  }

  #draw() {
    this.element.hidden = !this.#apart;
    const focused = this.list.contains(document.activeElement) && document.activeElement.getAttribute("href");
    this.list.replaceChildren(...this.#sessions.map((session) => {
      const { text, need } = this.says(session);
      return element("li", {}, element("a", { href: `/s/${encodeURI(session.key)}` }, element("b", {}, session.title || "(no title)"),
        element("span", { className: need ? "need" : "" }, text)));
    }));
    if (focused) this.list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

// What a search finds: sessions by their titles, and messages, which arrive while the server reads.
import { get, getJSON, lines } from "/api.js";
import { element } from "/dom.js";

const searchPause = 200; // milliseconds without typing before messages are searched

// highlighted returns a text with what is searched for marked. A text with a capital letter matches in its case.
export function highlighted(text, searched) {
  if (!searched) return [text];
  const escaped = searched.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const parts = text.split(new RegExp(`(${escaped})`, /\p{Lu}/u.test(searched) ? "u" : "iu"));
  return parts.map((part, i) => (i % 2 ? element("mark", {}, part) : part));
}

const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

// Results are what is found for a text. The links to sessions and messages can be selected.
export class Results {
  #abort = new AbortController();
  #timer = 0;
  #text = "";
  #wanted = ""; // the address of the link that is to be selected when it arrives
  #titles = element("ol", { className: "found" });
  #messages = element("ol", { className: "found" });
  #titlesHead = element("h2");
  #messagesHead = element("h2");
  #problems = element("ul", { className: "problems" });
  #none = element("div");

  // row(session) returns the content of a row, none(text) what is shown if nothing is found.
  constructor({ row, none, changed, failed }) {
    Object.assign(this, { row, none, changed, failed });
    this.element = element("div", { className: "results", hidden: true },
      element("section", {}, this.#titlesHead, this.#titles),
      element("section", {}, this.#messagesHead, this.#messages), this.#problems, this.#none);
    this.element.addEventListener("scroll", () => changed());
    this.element.addEventListener("focusin", ({ target }) => target.matches("a") && this.#mark(target));
  }

  close() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  // search searches for a text, in the sessions of a query, and selects the link with an address when it arrives.
  search(text, query, wanted = "") {
    this.close();
    this.#abort = new AbortController();
    Object.assign(this, { titles: 0, found: 0, total: 0, ended: false });
    this.#text = text;
    this.#wanted = wanted;
    this.element.hidden = false;
    this.element.setAttribute("aria-busy", "true");
    this.#messagesHead.textContent = "Searching messages …";
    this.#none.replaceChildren();
    this.#problems.replaceChildren();
    const asked = this.#abort.signal;
    this.#readTitles(query, asked);
    this.#timer = setTimeout(() => this.#readMessages(query, asked), searchPause);
  }

  // refresh reads the titles again.
  refresh(query) { return this.#readTitles(query, this.#abort.signal); }

  async #readTitles(query, signal) {
    try {
      const answer = await getJSON(`/api/sessions?${query({ text: this.#text })}`, { signal });
      const selected = this.#current?.getAttribute("href");
      const held = this.#titles.contains(document.activeElement);
      this.#titles.replaceChildren(...answer.sessions.map((session) => this.#group(session)));
      this.titles = answer.total;
      const more = answer.total > answer.sessions.length ? `, the first ${answer.sessions.length}` : "";
      this.#titlesHead.textContent = `Titles: ${count(answer.total, "session")}${more}`;
      this.#titles.parentElement.hidden = answer.total === 0;
      this.#take(this.#titles, this.#wanted || selected);
      if (held) this.#current?.focus({ preventScroll: true });
      this.#sayNone();
    } catch (error) {
      if (!signal.aborted) this.failed(error);
    }
  }

  async #readMessages(query, signal) {
    let fresh = true;
    const start = () => {
      if (fresh) this.#messages.replaceChildren();
      fresh = false;
    };
    try {
      for await (const line of lines(await get(`/api/search?${query({ text: this.#text })}`, { signal }))) {
        if (signal.aborted) return;
        const part = JSON.parse(line);
        start();
        if (part.session) this.#add(part);
        if (part.error) this.#problems.append(element("li", {}, part.error));
        if (part.end) this.#end(part);
      }
    } catch (error) {
      if (!signal.aborted) this.failed(error);
    }
  }

  #add({ session, count: n, hits }) {
    this.found++;
    this.total += n;
    const list = element("ol", { className: "hits" }, ...hits.map((hit) => this.#hit(session, hit)));
    const rest = n - hits.length;
    if (rest > 0) list.append(element("li", { className: "hit-rest" }, `and ${count(rest, "message")} more in this session`));
    const group = this.#group(session, n);
    group.append(list);
    this.#messages.append(group);
    this.#messagesHead.textContent = `Messages: ${count(this.found, "session")} so far`;
    this.#take(group, this.#wanted);
  }

  #group(session, n) {
    const group = element("li", { className: "group" }, element("div", { className: "row" }, ...this.row(session)));
    if (n) group.querySelector(".row-badges").prepend(element("span", { className: "badge hits" }, count(n, "hit")));
    group.session = session;
    return group;
  }

  #hit(session, hit) {
    const line = hit.line.map((part, i) => (i % 2 ? element("mark", {}, part) : part));
    return element("li", {}, element("a", { className: "hit", href: `/s/${encodeURI(session.key)}#seq-${hit.seq}`, tabIndex: -1 },
      element("span", { className: "hit-speaker" }, hit.speaker), element("span", { className: "hit-line" }, ...line)));
  }

  #end(part) {
    this.ended = true;
    this.element.setAttribute("aria-busy", "false");
    const hits = `${count(part.total ?? 0, "hit")} in ${count(this.found, "session")}`;
    this.#messagesHead.textContent =
      part.limited ? `Messages: the first ${hits}. There are more: search for a longer text.` : `Messages: ${hits}`;
    if (part.onHub) this.#problems.append(element("li", {}, `Not searched: ${count(part.onHub, "session")} on the hub.`));
    this.#messages.parentElement.hidden = !this.found;
    this.#sayNone();
    this.changed();
  }

  #sayNone() {
    if (this.ended && !this.titles && !this.found) this.#none.replaceChildren(this.none(this.#text));
    else this.#messages.parentElement.hidden = this.ended && !this.found;
  }

  // summary says how much was found so far.
  get summary() { return `${count(this.titles, "title")}, ${count(this.total, "message")}${this.ended ? "" : " …"}`; }

  get #current() { return this.element.querySelector("a.chosen"); }
  get top() { return this.element.scrollTop; }
  get session() { return this.#current?.closest(".group")?.session; }
  get address() { return this.#current?.getAttribute("href") ?? ""; }

  // #take selects the link with an address, or the first link if none is selected.
  #take(within, address) {
    const links = [...this.element.querySelectorAll("a")];
    const link = links.find((a) => a.getAttribute("href") === address && within.contains(a));
    if (link) {
      this.#mark(link);
      if (address === this.#wanted) { // the user returns
        link.scrollIntoView({ block: "center" });
        link.focus({ preventScroll: true });
      }
      this.#wanted = "";
    } else if (!this.#current && links.length) this.#mark(links[0]);
    this.changed();
  }

  #mark(link) {
    for (const other of this.element.querySelectorAll("a.chosen")) {
      other.classList.remove("chosen");
      other.tabIndex = -1;
      other.closest(".row")?.classList.remove("selected");
    }
    link.classList.add("chosen");
    link.tabIndex = 0;
    link.closest(".row")?.classList.add("selected");
    this.changed();
  }

  #step(selector, by) {
    const links = [...this.element.querySelectorAll(`${selector}, a.chosen`)];
    const at = links.indexOf(this.#current);
    let next = links[Math.max(0, Math.min(at + by, links.length - 1))];
    if (next && !next.matches(selector)) next = undefined;
    if (!next) return;
    this.#wanted = "";
    this.#mark(next);
    next.scrollIntoView({ block: "nearest" });
    if (!document.activeElement?.closest("input, select, dialog, [popover]")) next.focus({ preventScroll: true });
  }

  // move selects another session, hit another message.
  move(by) { this.#step(".row-link", by); }
  hit(by) { this.#step("a.hit", by); }
  select(place) { this.move(place === 0 ? -Infinity : Infinity); }
  get page() { return 5; }
  focus() { this.#current?.focus({ preventScroll: true }); }
  find(key) { return [...this.element.querySelectorAll(".group")].find((group) => group.session.key === key)?.session; }
}

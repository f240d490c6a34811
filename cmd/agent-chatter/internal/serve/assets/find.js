// The search in a conversation. The server finds the messages; what is in the page is highlighted.
import { get, lines } from "/api.js";
import { element } from "/dom.js";
import { iconButton } from "/look.js";

const pause = 150; // milliseconds after the last key
const marks = globalThis.Highlight ? { all: new Highlight(), now: new Highlight() } : null;
if (marks) {
  marks.now.priority = 1;
  CSS.highlights.set("found", marks.all);
  CSS.highlights.set("found-now", marks.now);
}

// A Find is the field of a search and what it found.
export class Find {
  #path;
  #conversation;
  #text = "";
  #hits = []; // the events of the messages: in order from where the search began, then those before
  #split = 0; // the number of hits from where the search began
  #ended = true;
  #more = false;
  #error = "";
  #at = -1; // the index of the current hit
  #range = 0; // the index of the current place in its message
  #abort = null;
  #timer = 0;

  constructor(path, conversation) {
    this.#path = path;
    this.#conversation = conversation;
    this.field = element("input", { type: "search", className: "find-field", id: "find", placeholder: "Find in session",
      "aria-label": "Find in session", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: false });
    this.count = element("output", { className: "find-count", id: "find-count", htmlFor: "find" });
    const button = (sign, name, by) => iconButton(sign, name, `find-${sign}`, () => this.step(by));
    this.element = element("div", { className: "find", role: "search", "aria-label": "This session" }, this.field, this.count,
      button("up", "Previous message with the text", -1), button("down", "Next message with the text", 1));
    this.field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#search(), this.field.value ? pause : 0);
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (this.field.value !== this.#text) this.#search();
      else this.step(event.shiftKey ? -1 : 1);
    });
    this.#show();
  }

  get active() { return this.field.value !== ""; }

  // close ends the search.
  close() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.field.value = this.#text = "";
    this.#hits = [];
    this.#at = -1;
    this.highlight();
    this.#show();
  }

  async #search() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    const abort = this.#abort = new AbortController();
    this.#text = this.field.value;
    this.#hits = [];
    this.#at = -1;
    this.#more = false;
    this.#error = "";
    this.#ended = !this.#text;
    this.highlight();
    this.#show();
    if (!this.#text) return;
    const from = +(this.#conversation.topItem?.dataset.seq ?? 1);
    let drawn = 0;
    this.#split = 0;
    try {
      const answer = await get(`${this.#path}/search?${new URLSearchParams({ text: this.#text, from })}`, { signal: abort.signal });
      for await (const line of lines(answer)) {
        if (abort.signal.aborted) return;
        const hit = JSON.parse(line);
        if (hit.seq) this.#hits.push(hit.seq);
        if (hit.seq >= from) this.#split++;
        if (hit.ended) [this.#more, this.#error] = [hit.more, hit.error ?? ""];
        if (this.#at < 0 && hit.seq) this.#jump(0, 0);
        if (performance.now() - drawn > 100) {
          this.#show();
          drawn = performance.now();
        }
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#error = error.message;
    }
    this.#ended = true;
    this.#show();
  }

  // step shows the next place with the text, or the previous one.
  async step(by) {
    if (!this.#hits.length) return;
    const places = this.#rangesOf(this.#conversation.itemOf(this.#hits[this.#at] ?? 0));
    const next = this.#range + by;
    if (this.#at >= 0 && next >= 0 && next < places.length) {
      this.#range = next;
      this.highlight();
      this.#reveal();
      return;
    }
    const n = this.#hits.length;
    await this.#jump(((this.#at < 0 && by < 0 ? 0 : this.#at) + by + n) % n, by < 0 ? Infinity : 0);
  }

  async #jump(at, range) {
    this.#at = at;
    this.#show();
    const item = await this.#conversation.show({ seq: this.#hits[at], quiet: true });
    if (!item || this.#at !== at) return;
    this.#range = Math.min(range, Math.max(0, this.#rangesOf(item).length - 1));
    this.highlight();
    this.#reveal();
  }

  // #reveal scrolls to the current place.
  #reveal() {
    const [range] = marks ? marks.now : [];
    const scroller = this.#conversation.scroller;
    if (!range) return;
    const of = range.getBoundingClientRect(), view = scroller.getBoundingClientRect();
    if (of.top < view.top + 40 || of.bottom > view.bottom - 40) scroller.scrollTop += of.top - view.top - view.height / 3;
  }

  // #number is the number of the current hit in the session, as far as it is known.
  get #number() {
    const before = this.#hits.length - this.#split;
    return this.#at < this.#split ? before + this.#at + 1 : this.#at - this.#split + 1;
  }

  #show() {
    const n = this.#hits.length, all = n.toLocaleString("en") + (this.#more ? "+" : this.#ended ? "" : "…");
    this.count.textContent = !this.#text ? "" : this.#error ? this.#error : !n && this.#ended ? "not found"
      : this.#at < 0 || this.#more ? all : `${this.#number.toLocaleString("en")} of ${all}`;
    this.element.classList.toggle("active", this.#text !== "");
  }

  // highlight marks the text in the items that are in the page.
  highlight() {
    if (!marks) return;
    marks.all.clear();
    marks.now.clear();
    if (!this.#text) return;
    const current = this.#hits[this.#at];
    for (const item of this.#conversation.items.children) {
      const ranges = this.#rangesOf(item);
      const now = current >= +item.dataset.seq && current <= +item.dataset.end ? ranges[this.#range] : undefined;
      for (const range of ranges) (range === now ? marks.now : marks.all).add(range);
    }
  }

  // #rangesOf returns the places of the text in the messages of an item.
  #rangesOf(item) {
    if (!item || !this.#text) return [];
    const escaped = this.#text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    const pattern = new RegExp(escaped, /\p{Lu}/u.test(this.#text) ? "gu" : "giu");
    const ranges = [];
    for (const part of item.querySelectorAll(".text")) {
      const nodes = [], starts = [];
      let text = "";
      const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        nodes.push(walker.currentNode);
        starts.push(text.length);
        text += walker.currentNode.data;
      }
      let i = 0;
      const place = (at) => {
        while (i + 1 < nodes.length && starts[i + 1] <= at) i++;
        return [nodes[i], at - starts[i]];
      };
      for (const match of text.matchAll(pattern)) {
        const range = new Range();
        range.setStart(...place(match.index));
        const [node, end] = place(match.index + match[0].length - 1);
        range.setEnd(node, end + 1);
        ranges.push(range);
      }
    }
    return ranges;
  }
}

// The conversation of a session as it is in the page. Only the items around what is visible are loaded: others are added
// and removed while the reader scrolls, without moving what is visible.
import { complain, getJSON } from "/api.js";
import { element, parsed, size } from "/dom.js";
import { copy, iconButton } from "/look.js";

const mostItems = 240; // in the page; more are removed at the far end
const margin = 2000; // pixels that are loaded before and after what is visible
const touch = 300; // milliseconds in which a wheel or a finger scrolls
const patience = 300; // milliseconds after which a request is cancelled while the reader drags on

// A Conversation is the element of a conversation. changed is called when other items are in it, or when it was
// scrolled.
export class Conversation {
  following = true; // the end is visible and stays so
  last = 0; // the last event of the session
  dress = null; // is called with each new item
  menu = null; // is called with an item and the button of its menu
  #path;
  #changed;
  #from = 0; // the event before the first item
  #to = 0; // the last event of the last item
  #started = false;
  #ended = false;
  #stale = false; // the last items have changed
  #seen = 0; // the last event when the end was visible
  #wish = null; // the place to show next
  #request = null; // the one under way: {abort, since, wish}
  #placed = -1; // where the end was scrolled to
  #height = 0; // of what can be scrolled then
  #room = 0; // of what is visible then
  #touched = -Infinity; // when a wheel or a finger scrolled last
  #busy = false;
  #closed = false;

  constructor(path, changed) {
    this.#path = path;
    this.#changed = changed;
    this.items = element("div", { className: "items", role: "feed", "aria-label": "Messages", "aria-busy": "true" });
    this.notice = element("p", { className: "end-notice", role: "note", hidden: true });
    this.scroller = element("div", { className: "scroller", id: "scroller", tabIndex: 0, role: "region", "aria-label": "Conversation" },
      this.items, this.notice);
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    for (const name of ["wheel", "touchmove"]) {
      this.scroller.addEventListener(name, () => (this.#touched = performance.now()), { passive: true });
    }
    this.items.addEventListener("click", (event) => this.#clicked(event));
    this.items.addEventListener("toggle", () => (this.following = this.#ended && this.#below() < 8), { capture: true });
    this.observer = new ResizeObserver(() => {
      if (this.following) this.#toEnd();
      this.#changed();
    });
    this.observer.observe(this.scroller);
    this.observer.observe(this.items);
  }

  close() {
    this.#closed = true;
    this.#request?.abort.abort();
    this.#wish?.done(null);
    this.observer.disconnect();
  }

  // show shows a place: {seq} an event, {at} a position between events, {} the end; drag says that others follow soon,
  // quiet that the focus stays. It returns the item, or null if
  // another place was shown instead.
  show(place) {
    this.#wish?.done(null);
    return new Promise((done) => {
      this.#wish = { ...place, done };
      const old = this.#request;
      if (old && (!place.drag || !old.wish || performance.now() - old.since > patience)) old.abort.abort();
      this.#work();
    });
  }

  // heard takes the number of the last event of the session.
  heard(seq) {
    this.#seen ||= seq; // what precedes the page is not new
    this.last = Math.max(this.last, seq);
    if (this.#ended && this.last > this.#to) {
      if (this.following || this.#below() < 2 * margin) this.#stale = true;
      else this.#ended = false;
      this.#work();
    }
    this.#changed();
  }

  // unseen reports whether there are items that the reader has not seen. Not all events are part of one.
  get unseen() {
    const newest = this.#ended ? +(this.items.lastElementChild?.dataset.end ?? 0) : this.last;
    return !this.following && newest > this.#seen;
  }

  // all reports whether the whole session is visible.
  get all() { return this.#started && this.#ended && this.scroller.scrollHeight <= this.scroller.clientHeight; }

  // visible returns the positions, in events, of the top and the bottom of what is visible.
  visible() {
    const { top, bottom } = this.scroller.getBoundingClientRect();
    return {
      top: this.#started && this.scroller.scrollTop <= 0 ? 1 : this.#positionAt(top),
      bottom: this.#ended && this.#below() < 2 ? Math.max(this.last, this.#to) + 1 : this.#positionAt(bottom),
    };
  }

  // itemAt returns the first item that ends below a place of the window.
  itemAt(y) {
    const items = this.items.children;
    let low = 0, high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (items[middle].getBoundingClientRect().bottom > y) high = middle;
      else low = middle + 1;
    }
    return items[low] ?? this.items.lastElementChild;
  }

  get topItem() { return this.itemAt(this.scroller.getBoundingClientRect().top + 1); }

  // itemOf returns the item of an event, if it is in the page.
  itemOf(seq) {
    if (seq <= this.#from || seq > Math.max(this.#to, +(this.items.lastElementChild?.dataset.end ?? 0))) return undefined;
    return [...this.items.children].find((item) => +item.dataset.end >= seq);
  }

  // step selects the next item, or the previous one.
  step(by) {
    const chosen = this.items.querySelector(".chosen"), of = chosen?.getBoundingClientRect();
    const { top, bottom } = this.scroller.getBoundingClientRect();
    const next = !chosen || of.bottom < top || of.top > bottom ? this.topItem : by > 0 ? chosen.nextElementSibling : chosen.previousElementSibling;
    if (next) this.choose(next);
    else this.scroller.scrollTop += by * this.scroller.clientHeight;
  }

  // choose selects an item and makes its beginning visible.
  choose(item) {
    this.#mark("chosen", item);
    item.focus({ preventScroll: true });
    const of = item.getBoundingClientRect(), { top, bottom } = this.scroller.getBoundingClientRect();
    if (of.top < top || of.bottom > bottom) this.scroller.scrollTop += of.top - top - 12;
  }

  #mark(name, item) {
    for (const marked of this.items.querySelectorAll(`.${name}`)) marked.classList.remove(name);
    item?.classList.add(name);
  }

  #below() { return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight; }

  #positionAt(y) {
    const item = this.itemAt(y);
    if (!item) return 1;
    const { top, height } = item.getBoundingClientRect(), first = +item.dataset.seq;
    return first + Math.min(1, Math.max(0, (y - top) / height)) * (item.dataset.end - first + 1);
  }

  #toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#placed = this.scroller.scrollTop;
    this.#height = this.scroller.scrollHeight;
    this.#room = this.scroller.clientHeight;
  }

  // #scrolled is called after a frame: meanwhile text may have been added below the end that was scrolled to.
  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const moved = scrollHeight !== this.#height || clientHeight !== this.#room; // by the browser: there was less to scroll
    if (this.following && moved && performance.now() - this.#touched > touch) this.#toEnd();
    else if (scrollTop !== this.#placed) this.following = this.#ended && this.#below() < 8;
    if (this.following) this.#seen = this.last;
    this.#work();
    this.#changed();
  }

  // #work does what there is to do, one request at a time.
  async #work() {
    if (this.#busy || this.#closed) return;
    this.#busy = true;
    this.items.setAttribute("aria-busy", "true");
    while (!this.#closed) {
      try {
        if (!await this.#next()) break;
      } catch (error) {
        if (error.name === "AbortError") continue;
        complain(error);
        break;
      }
    }
    this.#busy = false;
    this.items.setAttribute("aria-busy", "false");
    if (!this.#closed) this.#changed();
  }

  // #next does one thing; false: there is nothing to do.
  async #next() {
    const wish = this.#wish;
    if (wish) {
      this.#wish = null;
      let item = null;
      try {
        item = await this.#open(wish);
      } finally {
        wish.done(item);
      }
    } else if (this.#stale) {
      await this.#refresh();
    } else if (!this.#started && this.scroller.scrollTop < margin) {
      await this.#before();
    } else if (!this.#ended && this.#below() < margin) {
      await this.#after();
    } else {
      return false;
    }
    return true;
  }

  async #get(query, wish) {
    this.#request = { abort: new AbortController(), since: performance.now(), wish };
    try {
      const part = await getJSON(`${this.#path}/items${query}`, { signal: this.#request.abort.signal });
      if (this.#closed) throw new DOMException("closed", "AbortError");
      if (part.notice || part.ended) {
        this.notice.textContent = part.notice ?? "";
        this.notice.hidden = !part.notice;
      }
      return part;
    } finally {
      this.#request = null;
    }
  }

  // #open shows a place. It loads the items there if they are not in the page.
  async #open(wish) {
    const seq = Math.floor(wish.seq ?? wish.at ?? 0);
    if (!(seq ? this.itemOf(seq) : this.#ended && this.#to >= this.last)) {
      const part = await this.#get(seq ? `?around=${seq}` : "", wish);
      ({ from: this.#from, to: this.#to, started: this.#started, ended: this.#ended } = part);
      this.last = Math.max(this.last, part.to);
      this.#stale = this.#ended && this.last > this.#to;
      this.items.replaceChildren(...this.#nodes(part));
      this.#days();
    }
    if (!seq) {
      this.following = true;
      this.#seen = this.last;
      this.#toEnd();
      return this.items.lastElementChild;
    }
    this.following = false;
    const item = this.itemOf(seq) ?? this.items.lastElementChild;
    const bottom = () => this.items.getBoundingClientRect().bottom - item.getBoundingClientRect().top;
    while (item && !this.#ended && !this.#wish && bottom() < this.scroller.clientHeight) await this.#after();
    if (item) this.#place(item, wish);
    return item;
  }

  // #place scrolls to an item, or to a position in it. A quiet place does not take the focus.
  #place(item, { seq, at, quiet }) {
    const view = this.scroller.getBoundingClientRect(), of = item.getBoundingClientRect();
    if (at) {
      if (at <= 1) {
        this.scroller.scrollTop = 0;
        return;
      }
      const share = (at - item.dataset.seq) / (item.dataset.end - item.dataset.seq + 1);
      this.scroller.scrollTop += of.top - view.top + Math.max(0, share) * of.height;
      return;
    }
    this.#mark("chosen", item);
    if (quiet) {
      if (of.top < view.top || of.top > view.bottom - 40) this.scroller.scrollTop += of.top - view.top - 12;
      return;
    }
    const tool = item.querySelector(`#tool-${seq}`);
    tool?.setAttribute("open", "");
    this.#mark("target", tool ?? item);
    (tool?.querySelector("summary") ?? item).focus({ preventScroll: true });
    this.scroller.scrollTop += (tool ?? item).getBoundingClientRect().top - view.top - (tool ? view.height / 4 : 12);
  }

  // #keep changes the items and keeps what is visible where it is.
  #keep(change) {
    const item = this.topItem, top = item?.getBoundingClientRect().top;
    change();
    this.#days();
    if (item?.isConnected) this.scroller.scrollTop += item.getBoundingClientRect().top - top;
  }

  async #before() {
    const part = await this.#get(`?before=${this.#from + 1}`);
    this.#keep(() => {
      this.items.prepend(...this.#nodes(part));
      this.#started = part.started || part.from >= this.#from;
      this.#from = part.from;
    });
    if (this.#trim(() => this.items.lastElementChild, this.#below())) {
      this.#to = +this.items.lastElementChild.dataset.end;
      this.#ended = false;
    }
  }

  async #after() {
    const open = this.items.querySelector("[data-open=true]");
    const part = await this.#get(`?after=${open ? open.dataset.seq - 1 : this.#to}`);
    this.#keep(() => {
      const known = new Map([...this.items.children].map((item) => [item.dataset.seq, item]));
      for (const node of this.#nodes(part)) {
        const old = known.get(node.dataset.seq);
        if (old) renew(old, node);
        else this.items.append(node);
      }
      this.#ended = part.ended || part.to <= this.#to && !open;
      this.#to = Math.max(this.#to, part.to);
      this.last = Math.max(this.last, this.#to);
    });
    if (this.following && this.#ended) {
      this.#toEnd();
      this.#seen = this.last;
    }
    this.#keep(() => {
      if (!this.#trim(() => this.items.firstElementChild, this.scroller.scrollTop)) return;
      this.#from = this.items.firstElementChild.dataset.seq - 1;
      this.#started = false;
    });
  }

  // #trim removes items at an end that is far from what is visible, and reports whether it did.
  #trim(end, distance) {
    let removed = false;
    for (let n = this.items.childElementCount - mostItems, room = distance - 2 * margin; n > 0; n--) {
      const item = end();
      room -= item.getBoundingClientRect().height;
      if (room < 0) break;
      if (item.contains(document.activeElement)) this.scroller.focus({ preventScroll: true, focusVisible: false });
      item.remove();
      removed = true;
    }
    return removed;
  }

  // #refresh reads what was appended, for at most half of the time.
  async #refresh() {
    this.#stale = false;
    const began = performance.now();
    await this.#after();
    this.#stale = this.#ended && this.last > this.#to;
    const took = performance.now() - began;
    if (took > 50) await new Promise((resolve) => setTimeout(resolve, Math.min(took, 1000)));
  }

  // #nodes returns the elements of the items of a part.
  #nodes(part) {
    return part.items.flatMap((item) => [...parsed(item.html).children].map((node) => {
      node.dataset.open = item.open ?? false;
      node.tabIndex = -1;
      node.markdown = item.markdown;
      node.querySelector(":scope > header:has(h3)")?.append(element("span", { className: "tools" },
        iconButton("copy", "Copy as Markdown", "copy"), iconButton("more", "Actions on the message", "more-of")));
      for (const more of node.querySelectorAll(".more[data-of]")) {
        more.replaceChildren(element("button", { type: "button", className: "rest" },
          `Show all: ${size(more.dataset.to - more.dataset.from)} more`));
      }
      this.dress?.(node);
      return node;
    }));
  }

  // #days marks the first item of each day.
  #days() {
    let last = this.#started ? "" : null;
    for (const item of this.items.children) {
      const time = item.querySelector("time")?.dateTime;
      const day = time ? new Date(time).toDateString() : last;
      if (day !== last && last !== null) {
        item.dataset.day = new Date(time).toLocaleDateString("en", { dateStyle: "full" });
      } else {
        delete item.dataset.day;
      }
      last = day;
    }
  }

  #clicked(event) {
    const item = event.target.closest(".item");
    if (event.target.closest("summary")) this.following = false; // what was opened stays where it is
    else if (event.target.closest(".copy")) this.copy(item);
    else if (event.target.closest(".more-of")) {
      this.#mark("chosen", item);
      this.menu?.(item, event.target.closest(".more-of"));
    }
    else if (event.target.closest(".rest")) this.#showRest(event.target.closest(".more"));
  }

  // copy copies an item as Markdown.
  copy(item) {
    const name = item.querySelector("h3")?.textContent;
    if (!name) return;
    const seq = item.id.slice("seq-".length);
    copy(item.markdown ?? this.#text(`of=markdown&seq=${seq}`), `the message of ${name} as Markdown`);
  }

  // #text returns a whole text.
  async #text(query) {
    let text = "", from = 0;
    do {
      const part = await getJSON(`${this.#path}/text?${query}&from=${from}`);
      text += part.text;
      from = part.next;
    } while (from);
    return text;
  }

  // #showRest shows what follows a text that was cut, as it was written, a part of it at a time.
  async #showRest(more) {
    const { of, seq, from, to } = more.dataset;
    const button = more.querySelector("button");
    button.disabled = true;
    try {
      const part = await getJSON(`${this.#path}/text?${new URLSearchParams({ of, seq, from, to })}`);
      let place = more.previousElementSibling;
      if (!place?.matches("pre.whole, pre.input, pre.output")) {
        place = element("pre", { className: "whole", tabIndex: 0 });
        more.before(place);
      }
      place.append(part.text);
      if (!part.next) {
        more.remove();
        place.focus({ preventScroll: true });
        return;
      }
      more.dataset.from = part.next;
      button.textContent = `Show all: ${size(to - part.next)} more`;
    } catch (error) {
      complain(error);
    }
    button.disabled = false;
  }
}

// renew makes an item that may have changed equal to a new one. Elements that are equal stay, with the selection and
// the focus in them.
function renew(old, now) {
  const marks = ["chosen", "target"].filter((name) => old.classList.contains(name));
  for (const { name, value } of [...now.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (!now.dataset.turn) old.removeAttribute("data-turn"); // it has ended
  old.classList.add(...marks);
  old.markdown = now.markdown;
  const open = new Map([...old.querySelectorAll("details")].map((tool) => [tool.id, tool.open]));
  for (const tool of now.querySelectorAll("details")) tool.open = open.get(tool.id) ?? tool.open;
  const before = [...old.children], after = [...now.children];
  after.forEach((child, i) => {
    if (!before[i]) old.append(child);
    else if (!before[i].isEqualNode(child)) before[i].replaceWith(child);
  });
  for (const rest of before.slice(after.length)) rest.remove();
}

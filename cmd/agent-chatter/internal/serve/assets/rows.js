// The rows of a list of sessions. Only those around what is visible exist: there may be many thousand.
import { element } from "/dom.js";

const size = 100; // rows of a request
const spare = 8; // rows before and after what is visible

// Rows is a list whose rows have the same height. Its selected row stays on its session when the list changes.
export class Rows {
  #pages = new Map(); // sessions of each request, by its number
  #asked = new Set(); // numbers of the requests that are under way
  #nodes = new Map(); // the elements, by place
  #groups = []; // {directory, from, sessions}: the sessions of a directory that follow one another
  #heads = new Map(); // the elements of their headings, by place in #groups
  #generation = 0; // of the list; answers about an older one are ignored
  #frame = 0;
  #list = element("ol", { className: "rows", "aria-label": "Sessions" });
  #probe = element("div", { className: "row-probe", "aria-hidden": "true" });
  #headProbe = element("div", { className: "row-probe of-head", "aria-hidden": "true" });

  total = 0;
  selected = 0;
  key = ""; // of the selected session
  touched = false; // the user has chosen the selected row

  // load(from, limit, find) returns a part of the list, row(session) the content of a row, head(group) that of a heading.
  // changed is called when another row is selected or visible, failed with an error.
  constructor({ load, row, head, changed, failed }) {
    Object.assign(this, { load, row, head, changed, failed });
    this.element = element("div", { className: "rows-scroller", hidden: true }, this.#probe, this.#headProbe, this.#list);
    this.element.addEventListener("scroll", () => this.#later());
    this.#resized = new ResizeObserver(() => this.#later());
    this.#resized.observe(this.element);
  }
  #resized;

  close() {
    this.#generation++;
    this.#resized.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  get #height() { return this.#probe.offsetHeight || 64; }
  get #headHeight() { return this.#headProbe.offsetHeight || 36; }

  // #group returns which group a place is in, from 0; -1: the list has no groups.
  #group(place) {
    let low = 0, high = this.#groups.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#groups[middle].from <= place) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // #y returns where the row of a place begins, in pixels.
  #y(place) { return place * this.#height + (this.#group(place) + 1) * this.#headHeight; }

  // #placeAt returns the place of the row at a height, or of the one before it.
  #placeAt(y) {
    let place = Math.max(0, Math.floor(y / this.#height));
    if (!this.#groups.length) return place;
    let low = 0, high = this.#groups.length - 1;
    while (low < high) { // the last group that begins above
      const middle = (low + high + 1) >> 1;
      if (this.#y(this.#groups[middle].from) <= y) low = middle;
      else high = middle - 1;
    }
    const { from, sessions } = this.#groups[low];
    place = from + Math.floor((y - this.#y(from)) / this.#height);
    return Math.max(0, Math.min(place, from + sessions - 1));
  }
  get top() { return this.element.scrollTop; }
  get page() { return Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 1); }

  // session returns the selected session; undefined: it is not loaded, or there is none.
  get session() { return this.#at(this.selected); }

  #at(place) { return this.#pages.get(Math.floor(place / size))?.[place % size]; }

  // find returns a session that is loaded.
  find(key) { return [...this.#pages.values()].flat().find((session) => session.key === key); }

  // begin shows another list from its beginning, or as it was left.
  begin({ key = "", selected = 0, top = 0 } = {}) {
    Object.assign(this, { key, selected, touched: key !== "" });
    return this.#read(Math.floor(selected / size), top);
  }

  // hide hides the list, also if it is being read.
  hide() {
    this.#generation++;
    this.element.hidden = true;
  }

  // refresh reads the list again.
  refresh() { return this.#read(Math.floor(this.#placeAt(this.top) / size)); }

  // #read reads the list and puts a part of it in place of all others.
  async #read(page, top) {
    const generation = ++this.#generation;
    let answer;
    try {
      answer = await this.load(page * size, size, this.touched ? this.key : "");
    } catch (error) {
      if (generation === this.#generation) this.failed(error);
      return;
    }
    if (generation !== this.#generation) return;
    const visible = this.#visible(this.selected), before = this.#y(this.selected);
    this.#pages = new Map([[Math.floor(answer.from / size), answer.sessions]]);
    this.#groups = answer.groups ?? [];
    for (const node of this.#heads.values()) node.remove();
    this.#heads.clear();
    this.#asked.clear();
    this.total = answer.total;
    const left = this.selected;
    this.element.hidden = this.total === 0;
    this.#resize();
    if (answer.place !== undefined) this.selected = answer.place;
    this.selected = Math.max(0, Math.min(this.selected, this.total - 1));
    if (top !== undefined) this.element.scrollTop = top + this.#y(this.selected) - this.#y(left);
    else if (visible && this.touched && this.top > 0) this.element.scrollTop += this.#y(this.selected) - before;
    this.#draw();
    return answer;
  }

  #visible(place) {
    const top = this.#y(place) - this.top;
    return top > -this.#height && top < this.element.clientHeight;
  }

  // select selects a row, makes it visible and focuses it, unless a field has the focus.
  select(place) {
    if (this.total === 0) return;
    this.selected = Math.max(0, Math.min(place, this.total - 1));
    this.touched = true;
    this.key = this.session?.key ?? "";
    const top = this.#y(this.selected), bottom = top + this.#height - this.element.clientHeight;
    const head = this.#groups[this.#group(this.selected)]?.from === this.selected ? this.#headHeight : 0;
    if (top - head < this.top) this.element.scrollTop = top - head;
    else if (bottom > this.top) this.element.scrollTop = bottom;
    this.#draw();
    this.focus();
  }

  move(by) { this.select(this.selected + by); }

  // focus focuses the selected row, unless a field has the focus.
  focus() {
    this.#waiting = false;
    if (document.activeElement?.closest("input, select, dialog, [popover]")) return;
    const link = this.#nodes.get(this.selected)?.querySelector("a");
    link?.focus({ preventScroll: true });
    this.#waiting = !link || document.activeElement !== link; // until it is loaded and shown
  }
  #waiting = false;

  #resize() { this.#list.style.height = `${this.total * this.#height + this.#groups.length * this.#headHeight}px`; }

  #later() { this.#frame ||= requestAnimationFrame(() => { this.#frame = 0; this.#draw(); }); }

  // #draw makes the rows around what is visible, requests what they need, and removes the others.
  #draw() {
    this.#resize();
    const from = Math.max(0, this.#placeAt(this.top) - spare);
    const to = Math.min(this.total, this.#placeAt(this.top + this.element.clientHeight) + 1 + spare);
    const focused = document.activeElement, inside = this.#list.contains(focused);
    for (let place = from; place < to; place++) {
      const session = this.#at(place);
      if (!session) this.#request(Math.floor(place / size));
      const text = JSON.stringify(session ?? null);
      let node = this.#nodes.get(place);
      if (node?.text !== text) {
        const fresh = this.#make(session, place, text);
        if (node) node.replaceWith(fresh);
        else this.#list.insertBefore(fresh, this.#nodes.get(place + 1) ?? null);
        this.#nodes.set(place, node = fresh);
      }
      node.style.top = `${this.#y(place)}px`;
      node.setAttribute("aria-setsize", this.total);
      const chosen = place === this.selected;
      node.classList.toggle("selected", chosen);
      for (const control of node.querySelectorAll("a, .row-more")) control.tabIndex = chosen ? 0 : -1;
    }
    for (const [place, node] of this.#nodes) {
      if (place >= from && place < to) continue;
      node.remove();
      this.#nodes.delete(place);
    }
    this.#drawHeads(from, to);
    if (this.session) this.key = this.session.key;
    const lost = inside && (!this.#list.contains(focused) || focused.matches(".row-link"));
    if ((lost || this.#waiting) && this.session) this.focus();
    this.changed();
  }

  // #drawHeads makes the headings of the groups whose first row exists, and removes the others.
  #drawHeads(from, to) {
    for (let i = Math.max(0, this.#group(from)); i < this.#groups.length && this.#groups[i].from < to; i++) {
      const { from: place } = this.#groups[i];
      if (place < from) continue;
      if (!this.#heads.has(i)) {
        this.#heads.set(i, element("li", { className: "group-head" }, this.head(this.#groups[i])));
        this.#list.insertBefore(this.#heads.get(i), this.#nodes.get(place));
      }
      this.#heads.get(i).style.top = `${this.#y(place) - this.#headHeight}px`;
    }
    for (const [i, node] of this.#heads) {
      const { from: place } = this.#groups[i];
      if (place >= from && place < to) continue;
      node.remove();
      this.#heads.delete(i);
    }
  }

  #make(session, place, text) {
    const content = session ? this.row(session, place) : [element("span", { className: "row-title" }, "…")];
    const node = element("li", { className: session ? "row" : "row unread", "aria-posinset": place + 1 }, ...content);
    node.text = text;
    node.addEventListener("focusin", () => place !== this.selected && this.select(place));
    return node;
  }

  // again draws the rows anew, since what row returns has changed.
  again() {
    for (const node of this.#nodes.values()) node.text = "";
    this.#draw();
  }

  async #request(page) {
    if (this.#asked.has(page)) return;
    this.#asked.add(page);
    const generation = this.#generation;
    try {
      const answer = await this.load(page * size, size, "");
      if (generation !== this.#generation) return;
      this.#pages.set(page, answer.sessions);
      this.#later();
    } catch (error) {
      if (generation === this.#generation) this.failed(error);
    }
  }
}

// The rows of a list of sessions. Only those around what is visible exist: there may be many thousand.
import { element } from "/dom.js";

const size = 100; // rows of a request
const spare = 8; // rows before and after what is visible

// Rows is a list whose rows have the same height. Its selected row stays on its session when the list changes.
export class Rows {
  #pages = new Map(); // sessions of each request, by its number
  #asked = new Set(); // numbers of the requests that are under way
  #nodes = new Map(); // the elements, by place
  #generation = 0; // of the list; answers about an older one are ignored
  #frame = 0;
  #list = element("ol", { className: "rows", "aria-label": "Sessions" });
  #probe = element("div", { className: "row-probe", "aria-hidden": "true" });

  total = 0;
  selected = 0;
  key = ""; // of the selected session
  touched = false; // the user has chosen the selected row

  // load(from, limit, find) returns a part of the list, row(session) the content of a row. changed is called when
  // another row is selected or visible, failed with an error.
  constructor({ load, row, changed, failed }) {
    Object.assign(this, { load, row, changed, failed });
    this.element = element("div", { className: "rows-scroller", hidden: true }, this.#probe, this.#list);
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
  refresh() { return this.#read(Math.floor(this.top / this.#height / size)); }

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
    this.#pages = new Map([[Math.floor(answer.from / size), answer.sessions]]);
    this.#asked.clear();
    this.total = answer.total;
    this.element.hidden = this.total === 0;
    this.#list.style.height = `${this.total * this.#height}px`;
    const visible = this.#visible(this.selected), before = this.selected;
    if (answer.place !== undefined) this.selected = answer.place;
    this.selected = Math.max(0, Math.min(this.selected, this.total - 1));
    if (top !== undefined) this.element.scrollTop = top + (this.selected - before) * this.#height;
    else if (visible && this.touched && this.top > 0) this.element.scrollTop += (this.selected - before) * this.#height;
    this.#draw();
    return answer;
  }

  #visible(place) {
    const top = place * this.#height - this.top;
    return top > -this.#height && top < this.element.clientHeight;
  }

  // select selects a row, makes it visible and focuses it, unless a field has the focus.
  select(place) {
    if (this.total === 0) return;
    this.selected = Math.max(0, Math.min(place, this.total - 1));
    this.touched = true;
    this.key = this.session?.key ?? "";
    const top = this.selected * this.#height, bottom = top + this.#height - this.element.clientHeight;
    if (top < this.top) this.element.scrollTop = top;
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

  #later() { this.#frame ||= requestAnimationFrame(() => { this.#frame = 0; this.#draw(); }); }

  // #draw makes the rows around what is visible, requests what they need, and removes the others.
  #draw() {
    const height = this.#height;
    this.#list.style.height = `${this.total * height}px`;
    const from = Math.max(0, Math.floor(this.top / height) - spare);
    const to = Math.min(this.total, Math.ceil((this.top + this.element.clientHeight) / height) + spare);
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
      node.style.top = `${place * height}px`;
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
    if (this.session) this.key = this.session.key;
    const lost = inside && (!this.#list.contains(focused) || focused.matches(".row-link"));
    if ((lost || this.#waiting) && this.session) this.focus();
    this.changed();
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

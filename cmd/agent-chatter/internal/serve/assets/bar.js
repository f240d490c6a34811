// The scroll bar of a conversation. It stands for all events of the session, of which few are in the page.
import { element } from "/dom.js";

const leastThumb = 28; // pixels
const throttle = 60; // milliseconds between two places that are shown while the thumb is dragged
const share = 0.02; // of the session that a key moves by

// A Bar is the scroll bar of a Conversation.
export class Bar {
  #conversation;
  #dragged = null; // the distance of the pointer from the top of the thumb
  #timer = 0;
  #shown = 0; // when a place was shown last
  #at = 0; // the position of the thumb, from 0 to 1

  constructor(conversation) {
    this.#conversation = conversation;
    this.thumb = element("div", { className: "thumb" });
    this.label = element("div", { className: "bar-label", "aria-hidden": "true" });
    this.element = element("div", { className: "bar", role: "scrollbar", tabIndex: 0, "aria-orientation": "vertical",
      "aria-label": "Position in the session", "aria-controls": "scroller", "aria-valuemin": 1, "aria-valuenow": 1 },
    this.thumb, this.label);
    this.element.addEventListener("pointerdown", (event) => this.#grab(event));
    this.element.addEventListener("pointermove", (event) => this.#dragged !== null && this.#drag(event));
    for (const name of ["pointerup", "pointercancel"]) this.element.addEventListener(name, () => this.#release());
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
    this.element.addEventListener("wheel", (event) => (conversation.scroller.scrollTop += event.deltaY), { passive: true });
  }

  // update moves the thumb to what is visible.
  update() {
    const conversation = this.#conversation, { top, bottom } = conversation.visible();
    const last = Math.max(conversation.last, 1), item = conversation.topItem;
    this.span = Math.max(0, bottom - top);
    this.element.classList.toggle("all", conversation.all);
    const now = Math.min(last, Math.floor(conversation.following ? last : top));
    const time = item && new Date(item.querySelector("time").dateTime);
    const words = `event ${now.toLocaleString("en")} of ${last.toLocaleString("en")}`;
    this.element.setAttribute("aria-valuemax", last);
    this.element.setAttribute("aria-valuenow", now);
    this.element.setAttribute("aria-valuetext",
      time ? `${words}, ${time.toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })}` : words);
    const when = time ? time.toLocaleString("en", { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }) : "";
    this.label.textContent = when;
    if (this.#dragged === null) this.#move(conversation.following ? 1 : Math.min(1, Math.max(0, (top - 1) / (last - this.span))));
  }

  // #move draws the thumb at a position from 0 to 1.
  #move(at) {
    this.#at = at;
    const track = this.element.clientHeight;
    const length = Math.min(track, Math.max(leastThumb, track * this.span / Math.max(this.#conversation.last, 1)));
    const y = at * (track - length);
    this.thumb.style.height = `${length}px`;
    this.thumb.style.transform = `translateY(${y}px)`;
    this.label.style.transform = `translateY(${Math.min(Math.max(0, y + length / 2 - 12), track - 24)}px)`;
  }

  #grab(event) {
    if (event.button) return;
    event.preventDefault();
    this.element.focus({ preventScroll: true, focusVisible: false });
    this.element.setPointerCapture(event.pointerId);
    const { top, bottom, height } = this.thumb.getBoundingClientRect();
    this.#dragged = event.clientY >= top && event.clientY <= bottom ? event.clientY - top : height / 2;
    this.element.classList.add("dragged");
    this.#drag(event);
  }

  #drag(event) {
    const track = this.element.getBoundingClientRect(), length = this.thumb.offsetHeight;
    this.#move(Math.min(1, Math.max(0, (event.clientY - track.top - this.#dragged) / (track.height - length || 1))));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(true), Math.max(0, this.#shown + throttle - performance.now()));
  }

  #release() {
    if (this.#dragged === null) return;
    clearTimeout(this.#timer);
    this.#show(false);
    this.#dragged = null;
    this.element.classList.remove("dragged");
  }

  #show(drag) {
    this.#shown = performance.now();
    this.#jump(this.#at, drag);
  }

  // #jump shows the events at a position from 0 to 1.
  #jump(at, drag) {
    const last = this.#conversation.last;
    this.#conversation.show(at >= 1 ? { drag } : { at: at <= 0 ? 1 : 1 + at * Math.max(0, last - this.span), drag });
  }

  #pressed(event) {
    const scroller = this.#conversation.scroller, page = scroller.clientHeight * 0.9;
    const by = Math.max(share, this.span / Math.max(this.#conversation.last, 1));
    switch (event.key) {
      case "ArrowUp": scroller.scrollTop -= page; break;
      case "ArrowDown": scroller.scrollTop += page; break;
      case "PageUp": this.#jump(this.#at - by); break;
      case "PageDown": this.#jump(this.#at + by); break;
      case "Home": this.#jump(0); break;
      case "End": this.#jump(1); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

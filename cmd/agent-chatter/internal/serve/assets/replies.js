// The replies that are being written. The server sends their text as it is streamed; the journal, and with it the
// conversation, has it later: what the item of a turn lacks is added at its end.
import { element } from "/dom.js";
import { safe } from "/safe.js";

// Replies adds what is streamed to the items of a Conversation.
export class Replies {
  #conversation;
  #texts = new Map(); // by turn: its reply so far, and the length of that in bytes
  #turns = new Set(); // that run

  constructor(conversation) {
    this.#conversation = conversation;
    conversation.dress = (item) => this.#dress(item);
  }

  close() { this.#conversation.dress = null; }

  // begin forgets all replies: the server sends them again.
  begin() {
    this.#texts.clear();
    for (const item of this.#items()) this.#dress(item);
  }

  // run takes the turns that run.
  run(turns) {
    this.#turns = new Set(turns);
    for (const item of this.#items()) item.classList.toggle("speaking", this.#turns.has(item.dataset.turn));
    for (const turn of this.#texts.keys()) {
      if (!this.#turns.has(turn) && !this.#item(turn)) this.#texts.delete(turn);
    }
  }

  // add appends a part of a reply, which so many bytes precede. A part that is known already comes from another stream,
  // which begins again.
  add({ turn, at, text }) {
    const known = this.#texts.get(turn), continues = known?.bytes === at;
    const before = continues ? known.text : "";
    this.#texts.set(turn, { text: before + text, bytes: (continues ? at : 0) + new TextEncoder().encode(text).length });
    const item = this.#item(turn);
    if (!item) return; // the journal has its beginning soon
    const tail = item.querySelector(":scope > .tail");
    if (tail && continues) tail.lastChild.appendData(safe(text));
    else this.#dress(item);
  }

  // says reports whether a turn has said something.
  says(turn) { return this.#texts.has(turn); }

  #items() { return this.#conversation.items.querySelectorAll("[data-turn]"); }
  #item(turn) { return this.#conversation.items.querySelector(`[data-turn="${CSS.escape(turn)}"]`); }

  // #dress adds what an item lacks of its reply.
  #dress(item) {
    item.querySelector(":scope > .tail")?.remove();
    const { turn, recorded } = item.dataset;
    if (turn === undefined) return;
    item.classList.toggle("speaking", this.#turns.has(turn));
    const text = safe((this.#texts.get(turn)?.text ?? "").slice(recorded)).trimStart();
    if (!text) return;
    const tail = element("div", { className: "text tail" }, text);
    const state = item.querySelector(":scope > .state");
    if (state) state.before(tail);
    else item.append(tail);
  }
}

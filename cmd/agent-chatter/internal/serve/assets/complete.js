// The completion of commands, members and files in a message.
import { getJSON } from "/api.js";
import { element } from "/dom.js";
import { safeLine } from "/safe.js";

const pause = 80; // milliseconds after the last key
const lookAgain = 400; // milliseconds after which files are listed, which the server has begun to look for
const completed = /^\/[^\n]*$|(^|\s)@\S*$/; // what precedes the cursor

let lists = 0;

// A Completion is the list of choices for a text field.
export class Completion {
  #field;
  #path;
  #abort = new AbortController();
  #timer = 0;
  #from = 0; // where what is replaced begins
  #at = -1; // the choice that the arrow keys have selected

  constructor(field, path) {
    this.#field = field;
    this.#path = path;
    this.element = element("ul", { className: "completion", id: `completion-${++lists}`, role: "listbox", "aria-label": "Completions",
      hidden: true });
    field.setAttribute("aria-controls", this.element.id);
    field.setAttribute("aria-autocomplete", "list");
    field.addEventListener("blur", () => this.close());
    this.element.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.element.addEventListener("click", (event) => {
      const choice = event.target.closest("[role=option]");
      if (choice) this.#take(choice);
    });
  }

  get open() { return !this.element.hidden; }

  close() {
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.element.hidden = true;
    this.#field.removeAttribute("aria-activedescendant");
  }

  // changed looks for completions of what precedes the cursor.
  changed() {
    clearTimeout(this.#timer);
    const { selectionStart: cursor, selectionEnd, value } = this.#field;
    if (cursor !== selectionEnd || !completed.test(value.slice(0, cursor))) return this.close();
    this.#timer = setTimeout(() => this.#load(value.slice(0, cursor)), pause);
  }

  // #load asks for the completions of a text. Places in it are in bytes, as the server counts.
  async #load(text, again = true) {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort, bytes = new TextEncoder().encode(text);
    try {
      const { from, choices } = await getJSON(`${this.#path}/complete?${new URLSearchParams({ text })}`, { signal });
      if (signal.aborted) return;
      if (!choices?.length) {
        this.close();
        if (again && text.includes("@")) this.#timer = setTimeout(() => this.#load(text, false), lookAgain);
        return;
      }
      this.#from = new TextDecoder().decode(bytes.slice(0, from)).length;
      this.#show(choices);
    } catch {
      if (!signal.aborted) this.close(); // a message can be written without it
    }
  }

  #show(choices) {
    this.element.replaceChildren(...choices.map(({ insert, help }, i) => {
      const choice = element("li", { role: "option", id: `${this.element.id}-${i}`, "aria-selected": "false" },
        element("b", {}, safeLine(insert)), help && element("span", {}, safeLine(help)));
      choice.insert = insert;
      return choice;
    }));
    this.element.hidden = false;
    this.#select(-1);
  }

  #select(at) {
    this.#at = at;
    [...this.element.children].forEach((choice, i) => {
      choice.setAttribute("aria-selected", i === at);
      if (i !== at) return;
      choice.scrollIntoView({ block: "nearest" });
      this.#field.setAttribute("aria-activedescendant", choice.id);
    });
    if (at < 0) this.#field.removeAttribute("aria-activedescendant");
  }

  #take(choice) {
    const field = this.#field, cursor = field.selectionStart;
    field.setRangeText(choice.insert, this.#from, cursor, "end");
    this.close();
    field.focus();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // press handles a key; false: it is not one of the list. Enter takes what the arrow keys have selected.
  press(key) {
    if (!this.open) return false;
    const choices = this.element.children, n = choices.length;
    if (key === "ArrowDown") this.#select((this.#at + 1) % n);
    else if (key === "ArrowUp") this.#select((Math.max(this.#at, 0) + n - 1) % n);
    else if (key === "Tab") this.#take(choices[Math.max(this.#at, 0)]);
    else if (key === "Enter" && this.#at >= 0) this.#take(choices[this.#at]);
    else if (key === "Escape") this.close();
    else return false;
    return true;
  }
}

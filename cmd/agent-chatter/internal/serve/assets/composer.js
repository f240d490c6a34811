// The message that is being written, with its files.
import { Completion } from "/complete.js";
import { element, say, size } from "/dom.js";
import { icon, iconButton } from "/look.js";
import { Outbox } from "/outbox.js";
import { safeLine } from "/safe.js";

const mostRows = 8; // of the field
const mostBytes = 20e6; // of the files of a message
const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];

// A Composer is the form of a message. send(text, files, id) sends one and returns how the server names it, and "" if
// that fails; takeBack() takes back the last queued message, if there is one; runs(text) reports whether the page itself
// has run a command.
export class Composer {
  #draft; // the name of what is typed in the storage of the tab
  #files = [];
  #sent = Promise.resolve(); // when what was submitted before is sent

  constructor({ key, path, send, takeBack, runs }) {
    Object.assign(this, { send, takeBack, runs });
    this.#draft = draftOf(key);
    this.outbox = new Outbox(key);
    this.field = element("textarea", { className: "message-field", rows: 1, value: [...this.outbox.lost(), sessionStorage.getItem(this.#draft)].filter(Boolean).join("\n"),
      placeholder: matchMedia("(max-width: 44rem)").matches ? "Message" : "Message, / for commands, @ for members", "aria-label": "Message", enterKeyHint: "send", autocomplete: "off" });
    this.completion = new Completion(this.field, path);
    const picker = element("input", { type: "file", multiple: true, accept: pictures.join(), hidden: true, onchange: () => {
      this.attach(picker.files);
      picker.value = "";
    } });
    this.chosen = element("ul", { className: "attachments", "aria-label": "Pictures", hidden: true });
    this.button = element("button", { className: "send", title: "Send (Enter)", "aria-label": "Send" }, icon("send"));
    this.element = element("form", { className: "composer", "aria-label": "Message" }, this.completion.element, this.chosen, picker,
      element("div", { className: "composer-row" },
        iconButton("attach", "Attach pictures", "attach", () => picker.click()), this.field, this.button));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.field.addEventListener("input", () => this.#changed());
    this.field.addEventListener("keydown", (event) => this.#press(event));
    this.field.addEventListener("paste", (event) => {
      if (!event.clipboardData.files.length) return;
      event.preventDefault();
      this.attach(event.clipboardData.files);
    });
    this.observer = new ResizeObserver(() => this.#grow());
    this.observer.observe(this.element);
    this.#show();
  }

  close() {
    this.observer.disconnect();
    this.completion.close();
  }

  get empty() { return !this.field.value && !this.#files.length; }

  // write puts a text into the field, before what is there.
  write(text) {
    this.field.value = [text, this.field.value].filter(Boolean).join("\n");
    this.field.setSelectionRange(text.length, text.length);
    this.#changed();
  }

  // attach adds files.
  async attach(files) {
    for (const file of [...files]) { // the browser empties the list after the event
      if (!pictures.includes(file.type)) {
        say(`${safeLine(file.name)} is not attached: it is no picture. To name another file, type its path after an @.`);
        continue;
      }
      if (this.#files.reduce((sum, { bytes }) => sum + bytes, file.size) > mostBytes) {
        say(`${safeLine(file.name)} is not attached: the files of a message have at most ${size(mostBytes)}.`);
        continue;
      }
      try {
        this.#files.push({ name: file.name || "picture", bytes: file.size, data: await base64(file) });
      } catch (error) { // such as a directory
        say(`${safeLine(file.name)} is not attached: ${error.message}`);
      }
    }
    this.#show();
    this.field.focus();
  }

  #changed() {
    if (this.field.value) sessionStorage.setItem(this.#draft, this.field.value);
    else sessionStorage.removeItem(this.#draft);
    this.#show();
    this.completion.changed();
  }

  #show() {
    this.chosen.hidden = !this.#files.length;
    this.chosen.replaceChildren(...this.#files.map((file, i) => {
      const name = safeLine(file.name);
      return element("li", {}, icon("files"), element("b", {}, name), element("span", {}, size(file.bytes)),
        iconButton("close", `Remove ${name}`, "remove", () => {
          this.#files.splice(i, 1);
          this.#show();
          this.field.focus();
        }));
    }));
    this.button.disabled = this.empty;
    this.#grow();
  }

  // #grow makes the field as high as its text, within bounds.
  #grow() {
    const field = this.field, style = getComputedStyle(field);
    const border = field.offsetHeight - field.clientHeight;
    const most = mostRows * parseFloat(style.lineHeight) + parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    this.element.style.minHeight = `${this.element.offsetHeight}px`; // what is above does not move meanwhile
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, most) + border}px`;
    this.element.style.minHeight = "";
    field.style.overflowY = field.scrollHeight > most ? "auto" : "hidden";
  }

  #submit() {
    if (this.empty) return;
    const text = this.field.value, files = this.#files;
    this.field.value = "";
    this.#files = [];
    this.#changed();
    if (!files.length && this.runs(text)) return;
    const id = this.outbox.add(text);
    this.#sent = this.#sent.then(() => this.#deliver(text, files, id)); // in this order
  }

  async #deliver(text, files, id) {
    const name = await this.send(text, files.map(({ name, data }) => ({ name, data })), id);
    if (name) return this.outbox.take(id, name);
    this.outbox.fail(id);
    this.#files = [...files, ...this.#files];
    this.field.value = [text, this.field.value].filter(Boolean).join("\n");
    this.#changed();
  }

  #press(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.completion.press(event.key)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "ArrowUp" && this.empty) {
      event.preventDefault();
      this.takeBack();
    }
  }
}

const draftOf = (key) => `agent-chatter-draft-${key}`;

// draft puts a text into the field of the page of another session.
export function draft(key, text) { sessionStorage.setItem(draftOf(key), text); }

// base64 returns the content of a file.
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

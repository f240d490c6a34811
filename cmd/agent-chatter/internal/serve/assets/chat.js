// The part of the page of a session in which a person takes part: who speaks, what is asked, what waits to be sent, and
// the message.
import { post } from "/api.js";
import { fail, notify } from "/actions.js";
import { attend, notifyButton } from "/attention.js";
import { Composer, draft } from "/composer.js";
import { element, say } from "/dom.js";
import { icon, iconButton } from "/look.js";
import { settled } from "/outbox.js";
import { Questions } from "/questions.js";
import { Replies } from "/replies.js";
import { safe, safeLine } from "/safe.js";

const mostNotices = matchMedia("(max-width: 44rem)").matches ? 2 : 3;
const noticePause = 1000; // milliseconds between two notices of which the second one is not a part of the first
const noticeTime = (length) => 8000 + 60 * length; // milliseconds
const longNotice = 400; // characters; a longer notice stays until it is closed

export { notifyButton };

// A Chat is what is below a Conversation. session returns the head of the session, moved is called with the key of another
// session in which the conversation continues, changed when its members do something else.
export class Chat {
  #path;
  #key;
  #session;
  #state = null; // the last one of the server
  #sending = new Map(); // by id: texts on their way
  #stopping = ""; // what was said when turns were stopped that run still
  #answered = ""; // how the notice of an answer begins that was given here
  #undone = ""; // the text of a message to before which the conversation goes back: it is edited in the copy
  #timer = 0;

  constructor({ key, path, conversation, device, session, moved, changed }) {
    this.#key = key;
    this.#path = path;
    this.#session = session;
    Object.assign(this, { conversation, device, moved, changed });
    this.replies = new Replies(conversation);
    this.questions = new Questions({ answer: (question, body) => this.#answer(body), changed: () => this.#fit() });
    this.composer = new Composer({ key, path, send: (...message) => this.#send(...message), takeBack: () => this.#takeBackLast(),
      runs: (text) => this.#runs(text) });
    this.speakers = element("ul", { className: "speakers", "aria-label": "Who speaks", hidden: true });
    this.notices = element("div", { className: "notices-of-chat", role: "log", "aria-label": "Notices" });
    this.queue = element("ol", { className: "queue-of-chat", "aria-label": "Not sent yet", hidden: true });
    this.next = element("p", { className: "next", role: "status" });
    this.foot = element("div", { className: "foot" });
    this.element = element("section", { className: "dock", "aria-label": "Take part" },
      element("div", { className: "dock-inner" }, this.notices, this.speakers, this.queue, this.questions.spoken, this.questions.element,
        this.foot, this.next));
    this.observer = new ResizeObserver(() => this.#fit());
    this.observer.observe(this.element);
    this.resized = () => this.#fitKeyboard();
    visualViewport?.addEventListener("resize", this.resized);
    this.dropped = (event) => this.#drop(event);
    for (const name of ["dragover", "dragleave", "drop"]) document.addEventListener(name, this.dropped);
  }

  close() {
    clearTimeout(this.#timer);
    this.observer.disconnect();
    visualViewport?.removeEventListener("resize", this.resized);
    for (const name of ["dragover", "dragleave", "drop"]) document.removeEventListener(name, this.dropped);
    this.replies.close();
    this.questions.close();
    this.composer.close();
    document.documentElement.style.removeProperty("--dock");
  }

  // heard takes what is new in the session.
  heard({ live, whole }) {
    if (whole) this.replies.begin();
    for (const part of live.text ?? []) this.replies.add(part);
    if (live.state) this.#take(live.state);
    else if (live.text) this.#showSpeakers();
    for (const { text } of live.notices ?? []) {
      if (!this.#answered || !text.startsWith(this.#answered)) this.notice(text);
    }
    for (const { id, text } of live.returned ?? []) {
      if (this.composer.outbox.forget(id)) this.composer.write(text);
    }
  }

  // press handles a key outside of text fields; false: it is not for this.
  press(key) {
    if (this.questions.press(key)) return true;
    if (key === "m" && this.composer.element.isConnected) this.composer.field.focus();
    else if (key === "x" && this.#state?.speaking.length) this.#cancel("");
    else if (key === "Escape" && this.notices.lastElementChild) this.notices.lastElementChild.remove();
    else return false;
    return true;
  }

  // begin continues the session here.
  async begin(button = null) {
    if (button) button.disabled = true;
    if (await this.#post("continue", {})) this.composer.field.focus();
    if (button) button.disabled = false;
  }

  // mayRewind reports whether this client may go back in the session.
  get mayRewind() { return this.#state?.role === "all"; }

  // rewind asks what goes back to before the message of a person to which an item belongs; null: the last one.
  async rewind(item) {
    let of = item ?? this.conversation.items.lastElementChild;
    while (of && !of.matches(".message.human")) of = of.previousElementSibling;
    if (!of) return notify("There is no message of a person to go back to.");
    const { rewind } = await import("/rewind.js");
    rewind(this.#path, +of.dataset.seq, async (command, text) => {
      await post(`${this.#path}/continue`, {}); // it may not run
      this.#undone = text;
      await post(`${this.#path}/say`, { text: command, id: crypto.randomUUID() });
    });
  }

  // #runs runs a command for which the page asks more than it can be typed with, and reports whether it is one.
  #runs(text) {
    if (!this.mayRewind || !/^\s*\/rewind\s*$/i.test(text)) return false;
    this.rewind(this.conversation.items.querySelector(".chosen"));
    return true;
  }

  #take(given) {
    const state = { ...given };
    for (const list of ["speaking", "next", "waiting", "queue", "questions"]) state[list] ??= [];
    state.questions = state.questions.map((question) => ({ class: this.#colour(question.name), ...question }));
    this.#state = state;
    if (state.session && state.session !== this.#key) {
      if (this.#undone) draft(state.session, this.#undone);
      return this.moved(state.session);
    }
    for (const text of this.composer.outbox.settle(state)) {
      this.composer.write(text);
      this.notice("A message was not sent: the process of the conversation has ended. It is in the field again.");
    }
    const turns = state.speaking.map(({ turn }) => turn);
    this.replies.run(turns);
    this.conversation.items.classList.toggle("attended", state.hosted);
    this.#showSpeakers();
    this.#showQueue();
    this.#showFoot();
    for (const { name } of this.questions.show(state.questions, new Set(turns))) {
      this.notice(`The question of ${name} was answered elsewhere.`);
    }
    attend(this.#key, this.#session()?.title ?? "", state);
  }

  // #colour returns the class of the colour of a member.
  #colour(name) { return this.#session()?.members?.find((member) => member.name === name)?.class ?? ""; }

  // #doing says what a turn does.
  #doing({ turn, doing }) {
    if (doing) return safeLine(doing);
    if (this.#state.questions.some((question) => question.turn === turn)) return "waits for an answer";
    const tool = this.conversation.items.querySelector(`[data-turn="${CSS.escape(turn)}"] .tool.running:last-of-type b`);
    return tool ? `uses ${tool.textContent}` : this.replies.says(turn) ? "writes" : "thinks";
  }

  // #showFoot shows what one can do now.
  #showFoot() {
    const { hosted, role, where, unsaved } = this.#state;
    if (role === "read") {
      this.#foot("read", element("p", {}, "This device may read, and not take part."));
    } else if (!hosted) {
      this.#foot("idle", element("p", {}, "No process runs this session."),
        element("button", { type: "button", className: "primary continue", onclick: ({ target }) => this.begin(target) }, "Continue here"));
    } else if (!this.composer.element.isConnected) {
      this.#foot("", this.composer.element);
    }
    const { next, waiting, speaking } = this.#state;
    const names = (list) => list.map(safeLine).join(", ");
    const texts = [
      speaking.length && next.length && `then ${names(next)}`,
      !speaking.length && hosted && waiting.length && (waiting.length === 1 ? "Your turn" : `Next: ${names(waiting)}`),
      !speaking.length && !waiting.length && next.length && `Next: ${names(next)}`,
      where === "other" && "runs in another process",
    ];
    const text = texts.filter(Boolean).join(" · ");
    if (this.next.textContent !== text) this.next.textContent = text;
    this.next.hidden = !hosted || !text;
    this.element.classList.toggle("unsaved", unsaved === true);
    if (unsaved && !this.foot.querySelector(".unsaved")) {
      this.foot.prepend(element("p", { className: "unsaved", role: "alert" }, "Not saved: the journal cannot be written."));
    } else if (!unsaved) {
      this.foot.querySelector(".unsaved")?.remove();
    }
  }

  #foot(kind, ...content) {
    if (kind && this.foot.dataset.kind === kind) return;
    this.foot.dataset.kind = kind;
    this.foot.replaceChildren(...content);
  }

  #showSpeakers() {
    const { speaking } = this.#state;
    const shown = JSON.stringify([this.#state.next, speaking.map((of) => [of, this.#doing(of)])]);
    if (shown === this.speaking) return;
    this.speaking = shown;
    if (!speaking.length && this.#stopping) {
      if (document.getElementById("status").textContent === this.#stopping) say("");
      this.#stopping = "";
    }
    this.changed();
    const focused = this.speakers.contains(document.activeElement) && document.activeElement.dataset.member;
    this.speakers.hidden = !speaking.length;
    const stop = (member, label) => element("button", { type: "button", className: "stop", "data-member": member, title: label,
      "aria-label": label, onclick: () => this.#cancel(member) }, icon("stop"), element("span", {}, member ? "Stop" : "Stop all"));
    this.speakers.replaceChildren(...speaking.map((of) => {
      const name = safeLine(of.name);
      return element("li", { className: of.class ?? this.#colour(of.name) }, element("b", {}, name), element("span", { className: "doing" }, this.#doing(of)),
        element("time", { "data-since": of.since }), stop(of.member, `Stop ${name}`));
    }), ...(speaking.length > 1 ? [element("li", { className: "all" }, stop("", "Stop all"))] : []));
    if (focused) this.speakers.querySelector(`[data-member="${CSS.escape(focused)}"]`)?.focus();
    this.#tick();
  }

  // doings returns what each member does, by its name.
  get doings() {
    const { speaking = [], next = [] } = this.#state ?? {};
    return new Map([...next.map((name, i) => [name, i ? "queued" : "next"]), ...speaking.map((of) => [of.name, this.#doing(of)])]);
  }

  // #tick shows how long the turns have taken.
  #tick() {
    clearTimeout(this.#timer);
    for (const time of this.speakers.querySelectorAll("time")) {
      const seconds = Math.max(0, Math.floor((Date.now() - new Date(time.dataset.since)) / 1000));
      time.textContent = seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
    }
    if (!this.speakers.hidden) this.#timer = setTimeout(() => (this.#showSpeakers(), this.#tick()), 1000);
  }

  #showQueue() {
    const queue = this.#state?.queue ?? [];
    const sending = [...this.#sending].filter(([id]) => !queue.some((queued) => queued.id?.endsWith(id)));
    this.queue.hidden = !queue.length && !sending.length;
    this.queue.replaceChildren(...queue.map(({ id, text, from }) => element("li", {},
      element("span", { className: "queued" }, safeLine(text)), element("small", {}, this.#from(from)),
      id && element("button", { type: "button", className: "plain", onclick: () => this.#takeBack(id) }, "Take back"))),
    ...sending.map(([, text]) => element("li", {}, element("span", { className: "queued" }, safeLine(text)), element("small", {}, "is sent"))));
  }

  // #from says where a queued message was entered; "": here.
  #from(device = "") {
    if (device === this.device) return "";
    return device ? safeLine(device) : "terminal";
  }

  // notice shows a text of the program, for a while or until it is closed. What follows soon is a part of it.
  notice(text) {
    const last = this.notices.lastElementChild, lines = last?.querySelector(".lines");
    if (lines && performance.now() - last.since < noticePause) {
      lines.append(`\n${safe(text)}`);
      last.since = performance.now();
      return;
    }
    const notice = element("div", { className: "notice-of-chat" }, element("div", { className: "lines", tabIndex: 0, role: "group",
      "aria-label": "Notice" }, safe(text)), iconButton("close", "Close", "close", () => notice.remove()));
    notice.since = performance.now();
    this.notices.append(notice);
    while (this.notices.childElementCount > mostNotices) this.notices.firstElementChild.remove();
    const leave = () => {
      const { length } = notice.textContent;
      if (length > longNotice || !notice.isConnected) return;
      const rest = notice.since + noticeTime(length) - performance.now();
      if (rest > 0 || notice.matches(":hover, :focus-within")) setTimeout(leave, Math.max(rest, 1000));
      else notice.remove();
    };
    leave();
  }

  // #post sends something that changes the session, and reports a failure. It returns the answer, or null.
  async #post(name, body) {
    try {
      return await post(`${this.#path}/${name}`, body);
    } catch (error) {
      fail(error);
      return null;
    }
  }

  async #send(text, files, id) {
    this.#sending.set(id, text);
    this.#undone = "";
    this.#showQueue();
    const sent = await this.#post("say", { text, id, ...(files.length && { files }) });
    this.#sending.delete(id);
    this.#showQueue();
    if (sent) {
      this.conversation.show({});
      setTimeout(() => this.#state?.hosted && this.composer.outbox.settle(this.#state), settled + 100);
    }
    return sent?.id ?? "";
  }

  async #takeBack(id) {
    const taken = await this.#post("takeback", { id });
    if (!taken) return;
    this.composer.outbox.forget(id);
    this.composer.write(taken.text);
    this.composer.field.focus();
  }

  #takeBackLast() {
    const last = this.#state?.queue.findLast(({ id }) => id);
    if (last) this.#takeBack(last.id);
  }

  // #answer answers a question. It returns why that failed, and "" if it did not.
  async #answer(body) {
    const { name } = this.#state.questions.find(({ id }) => id === body.question) ?? {};
    this.#answered = `${name} was answered on ${this.device}:`;
    try {
      await post(`${this.#path}/answer`, body);
      if (document.activeElement === document.body) this.conversation.scroller.focus({ preventScroll: true, focusVisible: false });
      return "";
    } catch (error) {
      this.#answered = "";
      return error.message;
    }
  }

  async #cancel(member) {
    if (!await this.#post("cancel", { member }) || !this.#state.speaking.length) return;
    this.#stopping = member ? "Stopping …" : "Stopping all …";
    say(this.#stopping);
  }

  // #fit tells the rest of the page how high this is.
  #fit() {
    document.documentElement.style.setProperty("--dock", `${this.element.offsetHeight}px`);
    this.questions?.settle();
  }

  // #fitKeyboard keeps the message above the keyboard of a phone that covers the page.
  #fitKeyboard() {
    const { height, scale } = visualViewport;
    const covered = scale === 1 && innerHeight - height > 80;
    document.documentElement.style.setProperty("--height", covered ? `${height}px` : "");
    if (covered) scrollTo(0, 0);
  }

  #drop(event) {
    if (!event.dataTransfer?.types.includes("Files") || !this.composer.element.isConnected) return;
    event.preventDefault();
    this.element.classList.toggle("dropping", event.type === "dragover");
    if (event.type === "drop") this.composer.attach(event.dataTransfer.files);
  }
}

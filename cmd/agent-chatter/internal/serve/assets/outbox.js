// What was sent and may not be recorded yet. It is kept in the tab: the process that hosts a conversation, and with it the
// queue of what it was sent, may be killed. A message that is sent again has its id still: the server takes each id once.
export const settled = 3000; // milliseconds after which a message that is not queued is recorded
const ends = /^\s*\/(end|exit|quit)\s*$/i; // a command that has done what it is for when the process has ended

// An Outbox has the messages of a session. Each is {id, text}, and has
//   at       when the server took it; unset: it may not have,
//   name     the id as the server names it,
//   queued   whether it was seen in the queue,
//   returned whether it is in the message field again.
export class Outbox {
  #name;

  constructor(key) { this.#name = `agent-chatter-sent-${key}`; }

  get #messages() { return JSON.parse(sessionStorage.getItem(this.#name) ?? "[]"); }

  set #messages(messages) {
    if (messages.length) sessionStorage.setItem(this.#name, JSON.stringify(messages));
    else sessionStorage.removeItem(this.#name);
  }

  #change(id, changes) {
    this.#messages = this.#messages.map((message) => (message.id === id ? { ...message, ...changes } : message));
  }

  // add returns the id of a message that is about to be sent.
  add(text) {
    const messages = this.#messages, known = messages.find((message) => message.returned && message.text === text);
    const id = known?.id ?? crypto.randomUUID();
    this.#messages = [...messages.filter(({ returned }) => !returned), { id, text }];
    return id;
  }

  // take notes that the server took a message, and how it names it.
  take(id, name) { this.#change(id, { at: Date.now(), name }); }

  // fail notes that a message was not sent: it is in the field again.
  fail(id) { this.#change(id, { returned: true, at: undefined }); }

  // forget removes a message that was taken back, by the name that the server gave it, and reports whether it was here.
  forget(name) {
    const before = this.#messages;
    this.#messages = before.filter((message) => message.name !== name);
    return this.#messages.length < before.length;
  }

  // lost returns the texts of messages that were not sent when the page was left. They are in the field then.
  lost() { return this.#return(({ at, returned }) => !at && !returned); }

  // settle takes the state of the session, and returns the texts of messages that were lost with the process that hosted it.
  settle({ hosted, queue, sent = [] }) {
    if (!hosted) {
      this.#messages = this.#messages.filter(({ at, text }) => !at || !ends.test(text));
      return this.#return(({ at }) => at);
    }
    const names = new Set(queue.map(({ id }) => id)), now = Date.now(), before = this.#messages;
    const kept = before.filter(({ at, name, queued }) => !at || names.has(name) || !queued && !sent.includes(name) && now - at < settled)
      .map((message) => (names.has(message.name) ? { ...message, queued: true } : message));
    if (JSON.stringify(kept) !== JSON.stringify(before)) this.#messages = kept;
    return [];
  }

  #return(which) {
    const found = this.#messages.filter(which);
    for (const { id } of found) this.fail(id);
    return found.map(({ text }) => text);
  }
}

// What can be done with a session, in the list and on its page, by a menu and by keys.
import { get, post } from "/api.js";
import { element } from "/dom.js";
import { host } from "/host.js";
import { copy, icon, iconButton } from "/look.js";

const formats = [
  ["html", "Web page", "with the look of this page"], ["md", "Markdown", "the messages"],
  ["json", "JSON", "the messages and the session"], ["jsonl", "Journal", "all events; can be imported"],
  ["snapshot", "Snapshot", "for earlier versions"], ["bundle", "Bundle", "for another host; can be imported"],
  ["claude", "Claude Code", "a transcript"], ["codex", "Codex", "a transcript"], ["gemini", "Gemini CLI", "a transcript"],
];

const undos = []; // numbers of changes that can be taken back, the last one at the end

// Actions are what can be done with sessions. changed(name, done) is called after each change.
export class Actions {
  constructor(changed = () => {}) { this.changed = changed; }

  // of returns the actions on a session: key, label, effect. at.seq: up to which event it is forked; unset: all of it;
  // at.rewind: goes back in it; unset: it cannot.
  of(session, at = {}) {
    if (session.trashed) return [["u", "Restore", () => this.#change(session, "restore")]];
    return [
      ["r", "Rename …", () => this.#rename(session)],
      ["p", session.pinned ? "Unpin" : "Pin", () => this.#change(session, "pin", { pinned: !session.pinned })],
      ["f", at.seq ? `Fork at event ${at.seq}` : "Fork", () => this.#change(session, "fork", at.seq ? { seq: at.seq } : {})],
      ...(at.rewind ? [["b", "Rewind …", at.rewind]] : []),
      ["e", "Export …", () => this.#export(session)],
      ["y", "Copy id", () => copy(session.id, "the id")],
      ...(session.remote ? [] : [["d", "Move to trash …", () => this.#trash(session)]]),
    ];
  }

  // ofMessage returns the actions on a message, of which at has more: copy copies it.
  ofMessage(session, at) {
    const some = this.of(session, at).filter(([key]) => key === "f" || key === "b");
    return [["c", "Copy as Markdown", at.copy], ...some];
  }

  // press does what a key stands for. false: it stands for nothing.
  press(key, session, at) {
    const action = session && this.of(session, at).find(([name]) => name === key);
    if (key === "d" && session?.remote) notify(`The session is only on the hub. To remove it there, type: agent-chatter hub purge ${session.id}`);
    if (action) action[2]();
    else if (key === "u") this.undo();
    return Boolean(action) || key === "u";
  }

  // button returns a button that opens the menu of the session that a function returns. at returns a place in it.
  button(session, label = "Actions", at = () => ({})) {
    const button = iconButton("more", label, "row-more", () => {
      const of = session();
      if (of) this.menu(button, `Actions for ${nameOf(of)}`, this.of(of, at()));
    });
    button.setAttribute("aria-haspopup", "menu");
    return button;
  }

  // menu opens a menu of actions below a button.
  menu(button, label, actions) {
    const menu = element("div", { className: "menu", role: "menu", popover: "auto", "aria-label": label },
      ...actions.map(([key, label, act]) =>
        element("button", { type: "button", role: "menuitem", tabIndex: -1, onclick: () => { menu.hidePopover(); act(); } },
          element("span", {}, label), element("kbd", { "aria-hidden": "true" }, key))));
    menu.addEventListener("toggle", ({ newState }) => newState === "closed" && menu.remove());
    menu.addEventListener("keydown", (event) => {
      const items = [...menu.children], at = items.indexOf(document.activeElement);
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
      if (to !== undefined) items.at(to % items.length).focus();
      else if (event.key === "Tab") menu.hidePopover();
      else if (event.key === "Escape" || event.key === "Enter" || event.key === " ") return event.stopPropagation();
      else items.find((item) => item.querySelector("kbd").textContent === event.key)?.click();
      event.preventDefault();
      event.stopPropagation();
    });
    document.querySelector("main").append(menu); // what is around the button may be replaced meanwhile
    button.focus({ preventScroll: true }); // it has the focus again when the menu is closed
    menu.showPopover();
    const at = button.getBoundingClientRect();
    menu.style.left = `${Math.max(8, Math.min(at.right - menu.offsetWidth, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${at.bottom + menu.offsetHeight + 8 > innerHeight ? at.top - menu.offsetHeight - 4 : at.bottom + 4}px`;
    menu.firstChild.focus();
  }

  // undo takes the last change back.
  async undo() {
    const undo = undos.at(-1);
    if (!undo) return notify("There is nothing to undo.");
    try {
      const done = await post("/api/undo", { undo });
      undos.splice(undos.indexOf(undo), 1);
      notify(done.text);
      this.changed("undo", done);
    } catch (error) {
      if (!/is locked/.test(error.message)) undos.splice(undos.indexOf(undo), 1); // it may be unlocked later
      fail(error);
    }
  }

  // #change makes a change and reports it. It returns whether that succeeded.
  async #change(session, name, body = {}, failed = fail) {
    try {
      const done = await post(`/api/sessions/${encodeURI(session.key)}/${name}`, body);
      if (done.undo) undos.push(done.undo);
      notify([done.text, done.notices].filter(Boolean).join("\n"),
        done.undo ? ["Undo", () => this.undo()] : null,
        name === "fork" ? await forkLink(done.key) : null);
      this.changed(name, done);
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  }

  #rename(session) {
    const field = element("input", { name: "title", value: session.title, required: true, autocomplete: "off", "aria-label": "Title" });
    ask("Rename the session", "Rename", [field], (problem) => this.#change(session, "rename", { title: field.value }, problem));
    field.select();
  }

  #trash(session) {
    if (session.pinned) return notify("The session is pinned. p removes the pin.");
    const dialog = ask("Move to the trash?", "Move to trash",
      [element("p", { className: "about-name" }, nameOf(session)), element("p", {}, "It can be restored from the trash.")],
      (problem) => this.#change(session, "trash", {}, problem));
    dialog.addEventListener("keydown", ({ key }) => key === "y" && dialog.querySelector("form").requestSubmit());
    dialog.querySelector(".cancel").focus();
  }

  #export(session) {
    const choices = formats.map(([value, name, about], i) => element("label", { className: "format" },
      element("input", { type: "radio", name: "format", value, checked: i === 0 }), element("b", {}, name), element("span", {}, about)));
    ask("Export the session", "Download",
      [element("fieldset", {}, element("legend", {}, "Format"), ...choices), element("p", {}, "Secrets are replaced in the file.")],
      async (problem, form) => {
        try {
          await download(session, new FormData(form).get("format"));
          return true;
        } catch (error) {
          problem(error);
          return false;
        }
      });
  }
}

// forkLink returns a link to a fork. Where the server hosts conversations, it continues there.
async function forkLink(key) {
  const { chat, role } = await host(), continues = chat && role !== "read";
  return element("a", { href: `/s/${encodeURI(key)}${continues ? "#continue" : ""}` }, continues ? "Continue there" : "Open it");
}

const nameOf = (session) => session.title || session.id;

// download saves a session as a file.
async function download(session, format) {
  const response = await get(`/api/sessions/${encodeURI(session.key)}/export?format=${format}`);
  const name = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition"))?.[1] ?? session.id;
  const address = URL.createObjectURL(await response.blob());
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  const notice = decodeURIComponent(response.headers.get("Agent-Chatter-Notice") ?? "");
  notify([`Downloaded: ${name}`, notice].filter(Boolean).join("\n"));
}

let dialogs = 0;

// ask shows a dialog. done(problem, form) is called with a function that shows an error, and returns whether the dialog
// is to be closed. The focus returns where it was.
export function ask(title, button, content, done) {
  const id = `dialog-${++dialogs}`;
  const problem = element("p", { className: "problem", role: "alert", hidden: true });
  const submit = element("button", { className: "primary" }, button);
  const form = element("form", { method: "dialog" }, element("h2", { id }, title), ...content, problem,
    element("div", { className: "buttons" },
      element("button", { type: "button", className: "cancel", onclick: () => dialog.close() }, "Cancel"), submit));
  const dialog = element("dialog", { className: "ask", "aria-labelledby": id }, form);
  const before = document.activeElement;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const close = await done((error) => {
      problem.replaceChildren(...message(error.message));
      problem.hidden = false;
    }, form);
    submit.disabled = false;
    if (close) dialog.close();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// message returns a text of the server. Each line "To do this, type: command" has a button that copies the command.
export function message(text) {
  return text.split("\n").map((line) => {
    const [, before, command] = /^(.*\btype:? )(agent-chatter .*?)\.?$/i.exec(line) ?? [];
    if (!command) return element("span", { className: "line" }, line);
    return element("span", { className: "line" }, before, commandLine(command));
  });
}

// commandLine returns a command with a button that copies it.
export function commandLine(text) {
  return element("span", { className: "command" }, element("code", {}, text),
    iconButton("copy", `Copy: ${text}`, "copy-command", () => copy(text, "the command")));
}

let silence = 0;

// notify says what was done, for a while. It may have a button and a link.
export function notify(text, button = null, link = null) {
  show("status", text, 6000 + 40 * text.length,
    button && element("button", { type: "button", onclick: button[1] }, button[0]), link);
}

// fail says what failed, until the user closes it.
export function fail(error) { show("alert", error.message, 0); }

function show(role, text, time, ...more) {
  clearTimeout(silence);
  document.querySelector(".toast")?.remove();
  const toast = element("div", { className: `toast ${role}`, role }, element("div", { className: "lines" }, ...message(text)), ...more,
    iconButton("close", "Close", "close", () => toast.remove()));
  document.body.append(toast);
  if (time) silence = setTimeout(() => toast.remove(), time);
}

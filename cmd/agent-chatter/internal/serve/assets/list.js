// The list of sessions: search, filters, orders and keys as in "agent-chatter browse".
import { AwayError, complain, getJSON, subscribe } from "/api.js";
import { Actions, commandLine, message } from "/actions.js";
import { age, element, say, size } from "/dom.js";
import { icon, iconButton, showKeys, themeButton, typing } from "/look.js";
import { host, styled } from "/host.js";
import { where } from "/hub.js";
import { Now } from "/now.js";
import { highlighted, Results } from "/results.js";
import { Rows } from "/rows.js";

const keys = [
  ["j k ↓ ↑", "next, previous session"], ["g G", "first, last"], ["Enter", "open the session"], ["t", "its timeline"],
  ["v", "the files that its turns changed"],
  ["/", "search titles and messages"], ["n N", "next, previous message with the text"],
  ["1 2 3 4 5", "all, live, archived, damaged, trash"], ["s", "the next order"],
  ["o", "groups by directory, or none"], ["T", "only the team of the session, or all"], [".", "only its directory, or all"],
  ["Space", "mark a session"], ["D", "compare two marked, or one and the selected"],
  ["r p f", "rename, pin, fork"], ["e y", "export, copy the id"], ["d u", "move to trash; undo"],
  ["c", "a new conversation"], ["U P", "what the agents used; the devices"], ["Esc", "end the search, remove the filter"], ["?", "these keys"],
];
const kinds = [["", "All"], ["live", "Live"], ["archived", "Archived"], ["damaged", "Damaged"], ["trash", "Trash"]];
const orders = [["", "Updated"], ["created", "Created"], ["messages", "Messages"], ["title", "Title"]];
const saveTime = 150; // milliseconds before the place in the list is kept in the history

let left = null; // the list as it was left
let hubProblem = ""; // why the hub does not answer, as the user knows

// showList shows the list in an element and returns the function that ends it.
export function showList(view) {
  document.title = "Sessions · agent-chatter";
  const list = new List(view);
  return () => list.close();
}

class List {
  #marked = []; // keys of at most two sessions, to be compared
  #timer = 0;
  #saved = 0;

  constructor(view) {
    if (!history.state?.list && !location.search && left) history.replaceState(left.state, "", `/${left.query}`);
    this.filter = filterOf(new URLSearchParams(location.search));
    this.actions = new Actions((name, done) => this.#changed(name, done));
    this.view = view;
    const failed = (error) => this.#fail(error);
    const changed = () => this.#later();
    const row = (session) => this.#row(session);
    this.rows = new Rows({ load: (...part) => this.#load(...part), row, head: headOf, changed, failed });
    this.now = new Now();
    this.results = new Results({ row, none: (text) => this.#noResult(text), changed, failed });
    this.#build();
    this.pressed = (event) => this.#press(event);
    this.save = () => this.#save();
    document.addEventListener("keydown", this.pressed);
    view.addEventListener("click", this.save, true);
    this.ages = setInterval(() => this.#shown === this.rows && this.rows.again(), 60000);
    this.#follow();
    this.#show(history.state?.list).finally(() => this.#host().catch(complain));
  }

  close() {
    this.closed = true;
    subscribe([], () => {});
    clearTimeout(this.#timer);
    clearTimeout(this.#saved);
    clearInterval(this.ages);
    document.removeEventListener("keydown", this.pressed);
    this.view.removeEventListener("click", this.save, true);
    this.rows.close();
    this.results.close();
  }

  // #host offers a new conversation, if the server hosts them.
  async #host() {
    this.hosting = await host();
    const { chat, role } = this.hosting;
    if (!chat || this.closed) return;
    this.begin.hidden = this.devices.hidden = role !== "all";
    this.attention = await import("/attention.js");
    this.#follow();
  }

  // #follow hears of changes of the list, and of what happens in the sessions that run.
  #follow() {
    const topics = this.hosting?.chat ? this.now.topics : [];
    subscribe(["list", ...topics], (change) => {
      if (!change.key) return this.#heard();
      if (change.live?.state) this.attention?.attend(change.key, this.rows.find(change.key)?.title ?? "", change.live.state);
      if (this.now.heard(change) && !this.filter.text) this.rows.again();
    });
  }

  // #begin asks for a new conversation.
  async #begin() {
    if (this.begin.hidden) return;
    const [{ begin }] = await Promise.all([import("/begin.js"), styled("/chat.css")]);
    begin(this.hosting, (key) => this.#go(`/s/${encodeURI(key)}`));
  }

  // #devices shows the paired devices.
  async #devices() {
    if (this.devices.hidden) return;
    const [{ showDevices }] = await Promise.all([import("/devices.js"), styled("/chat.css")]);
    showDevices();
  }

  get #shown() { return this.filter.text ? this.results : this.rows; }

  #build() {
    this.field = element("input", {
      type: "search", className: "list-search", placeholder: "Search titles and messages", "aria-label": "Search titles and messages",
      value: this.filter.text, autocomplete: "off", spellcheck: false, oninput: () => this.#set({ text: this.field.value }),
    });
    this.kinds = kinds.map(([value, name], i) =>
      element("button", { type: "button", title: `${name} (${i + 1})`, onclick: () => this.#set({ show: value }) }, name));
    this.order = element("select", { "aria-label": "Order", title: "Order (s)", onchange: () => this.#set({ sort: this.order.value }) },
      ...orders.map(([value, name]) => element("option", { value }, name)));
    this.grouping = element("button", { type: "button", title: "Groups by directory (o)", onclick: () => this.#group() }, "Directories");
    this.begin = element("button", { type: "button", className: "begin", title: "New conversation (c)", hidden: true, onclick: () => this.#begin() },
      icon("plus"), element("span", {}, "New conversation"));
    this.devices = iconButton("device", "Devices (P)", "devices-button", () => this.#devices());
    this.devices.hidden = true;
    this.chips = element("div", { className: "chips" });
    this.count = element("span", { className: "list-count", role: "status" });
    this.empty = element("div", { className: "list-empty", hidden: true });
    this.compare = element("div", { className: "compare-bar", role: "status", hidden: true });
    this.view.append(
      element("header", { className: "list-head" },
        element("div", { className: "list-row" }, element("h1", {}, "Sessions"), this.count, this.field, this.begin,
          this.devices, element("a", { href: "/usage", className: "icon", title: "Usage (U)", "aria-label": "Usage" }, icon("usage")),
          iconButton("help", "Keys", "help", () => showKeys(keys)), themeButton()),
        element("div", { className: "list-row filters" },
          element("div", { className: "kinds", role: "group", "aria-label": "Show" }, ...this.kinds),
          this.chips, element("div", { className: "order" }, this.grouping, element("label", {}, "by ", this.order)))),
      element("main", { className: "list-main" }, element("h2", { className: "visually-hidden" }, "List of sessions"),
        this.rows.element, this.results.element, this.empty, this.compare));
  }

  // #set changes the filter and shows its sessions.
  #set(changes) {
    if (changes.show === "trash") changes = { show: "trash", text: "", team: "", cwd: "" };
    Object.assign(this.filter, changes);
    if (this.field.value !== this.filter.text) this.field.value = this.filter.text;
    history.replaceState(null, "", `/${this.#address()}`);
    this.#show();
  }

  #address() {
    const query = new URLSearchParams(Object.entries(this.filter).filter(([, value]) => value));
    return query.size ? `?${query}` : "";
  }

  // #query returns the query of a request to the server.
  #query(more) {
    const { show, team, cwd, sort, group } = this.filter;
    const query = { team, cwd, sort, group, ...(show && show !== "trash" ? { [show]: "only" } : {}), ...more };
    return new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined));
  }

  async #load(from, limit, find) {
    const path = this.filter.show === "trash" ? "/api/trash" : "/api/sessions";
    const answer = await getJSON(`${path}?${this.#query({ from, limit, find })}`);
    if (answer.hub && answer.hub !== hubProblem) say(answer.hub);
    hubProblem = answer.hub ?? "";
    if (from === 0 && this.now.follow(answer.sessions)) this.#follow();
    return answer;
  }

  // #group shows the list in groups by directory, or without them.
  #group() {
    if (this.grouping.disabled) return;
    this.#set({ group: this.filter.group ? "" : "directory" });
    this.rows.again(); // only without groups does each row name its directory
    say(this.filter.group ? "In groups by directory" : "Without groups");
  }

  // #show shows the sessions of the filter, from the beginning or as they were left.
  async #show(place) {
    const { text, show, team, cwd, sort } = this.filter;
    const trash = show === "trash";
    this.kinds.forEach((button, i) => button.setAttribute("aria-pressed", kinds[i][0] === show));
    this.order.value = sort;
    this.order.disabled = this.grouping.disabled = this.field.disabled = trash;
    this.grouping.setAttribute("aria-pressed", Boolean(this.filter.group));
    this.field.placeholder = trash ? "The trash is not searched" : "Search titles and messages";
    this.chips.replaceChildren(...[["team", team, `team ${team}`], ["cwd", cwd, `in ${cwd}`]].filter(([, value]) => value)
      .map(([name, , label]) => element("button", { type: "button", className: "chip", "aria-label": `Remove the filter: ${label}`,
        onclick: () => this.#set({ [name]: "" }) }, label, " ✕")));
    this.empty.hidden = true;
    this.results.element.hidden = !text;
    if (text) {
      this.rows.hide();
      this.count.textContent = "";
      this.results.search(text, (more) => this.#query(more), place?.address);
      return;
    }
    this.results.close();
    if (!(await this.rows.begin(place))) return;
    this.#counted();
    if (place?.key) this.rows.focus(); // the user returns
  }

  // #heard is called when the list has changed.
  async #heard() {
    if (this.filter.text) this.results.refresh((more) => this.#query(more));
    else if (await this.rows.refresh()) this.#counted();
  }

  #counted() {
    const n = this.rows.total;
    this.count.textContent = n ? `${n.toLocaleString("en")} ${n === 1 ? "session" : "sessions"}` : "";
    this.empty.hidden = n > 0;
    if (n === 0) this.empty.replaceChildren(this.#none());
  }

  #none() {
    const { show, team, cwd } = this.filter;
    const all = element("button", { type: "button", onclick: () => this.#set({ show: "", team: "", cwd: "" }) }, "Show all sessions");
    if (show === "trash") return notice("The trash is empty", "Sessions that you delete are kept here until you empty it.", all);
    if (show || team || cwd) return notice("No session matches the filter", "Esc removes it.", all);
    return notice("There are no sessions yet", "Start one in a terminal. It appears here while it runs.",
      commandLine("agent-chatter chat"));
  }

  #noResult(text) {
    const parts = ["Neither a title nor a message has it. A capital letter in the text matches only capital letters."];
    if (this.filter.show || this.filter.team || this.filter.cwd) {
      parts.push(element("button", { type: "button", onclick: () => this.#set({ show: "", team: "", cwd: "" }) }, "Search all sessions"));
    } else parts.push("To search by speaker, time or expression:", commandLine("agent-chatter sessions search --help"));
    return notice(`No session has “${text}”`, ...parts);
  }

  #fail(error) {
    const away = error instanceof AwayError;
    if (away && this.rows.total) return; // the list stays, and the stream says so
    this.rows.element.hidden = this.results.element.hidden = true;
    this.count.textContent = "";
    this.empty.hidden = false;
    const retry = element("button", { type: "button", onclick: () => this.#show() }, "Try again");
    this.empty.replaceChildren(away
      ? notice("The server does not answer", "Start it again, and open the address that it prints.", commandLine("agent-chatter serve"), retry)
      : notice("The sessions cannot be listed", ...message(error.message), commandLine("agent-chatter doctor"), retry));
  }

  // #row returns the content of the row of a session.
  #row(session) {
    const { text } = this.filter;
    const trash = Boolean(session.trashed);
    const title = highlighted(session.title || (session.damaged ? session.id : "(no messages)"), text);
    const now = this.now.says(session);
    const badges = [
      session.live && [`live-badge${now.need ? " need" : ""}`, where(session) || now.text], session.remote && ["badge", "on the hub", "It is fetched when you open it"],
      session.pinned && ["badge pinned", "pinned"],
      session.archived && ["badge", "archived"], session.damaged && ["badge damaged", "damaged", session.damaged],
      session.newer && ["badge damaged", "newer", `A newer version wrote it: ${session.newer}`],
      this.#marked.includes(session.key) && ["badge marked", "marked"],
    ].filter(Boolean).map(([className, name, hint]) => element("span", { className, title: hint ?? "" }, name));
    const at = session.trashed ?? session.updatedAt;
    const filterBy = (name, value, label) => value && element("button", { type: "button", className: "by", tabIndex: -1, title: label,
      onclick: () => this.#set({ [name]: this.filter[name] === value ? "" : value }) }, ...highlighted(value, text));
    const facts = trash ? [] : [
      `${session.messages.toLocaleString("en")} ${session.messages === 1 ? "message" : "messages"}`,
      session.lastSpeaker && `last: ${session.lastSpeaker}`,
    ];
    if (!session.remote) facts.push(size(session.bytes));
    return [
      element("div", { className: "row-head" },
        trash ? element("a", { className: "row-link", href: "#", onclick: (event) => {
          event.preventDefault();
          this.actions.menu(event.target.closest(".row").querySelector(".row-more"), session);
        } }, ...title) : element("a", { className: "row-link", href: `/s/${encodeURI(session.key)}`, tabIndex: -1 }, ...title),
        element("span", { className: "row-badges" }, ...badges),
        element("time", { className: "row-age", dateTime: at, title: new Date(at).toLocaleString() },
          trash ? `deleted ${age(at)}` : age(at))),
      element("div", { className: "row-about" },
        filterBy("team", session.team, "Only this team (T)"), !this.filter.group && filterBy("cwd", session.cwd, "Only this directory (.)"),
        ...facts.filter(Boolean).map((fact) => element("span", {}, fact)),
        session.retention && element("span", { className: "retention" }, session.retention)),
      this.actions.button(() => session, `Actions for ${session.title || session.id}`),
    ];
  }

  // #changed shows what an action has changed.
  async #changed(name, done) {
    const shows = name === "fork" || name === "undo";
    if (shows) Object.assign(this.rows, { key: done.key, touched: true });
    await this.#heard();
    if (shows && !this.filter.text) this.rows.select(this.rows.selected);
    else this.#shown.focus();
  }

  // #later keeps the place in the list in the history after a while, so that the user returns to it.
  #later() {
    if (this.filter.text) this.count.textContent = this.results.summary;
    clearTimeout(this.#saved);
    this.#saved = setTimeout(() => this.#save(), saveTime);
  }

  #save() {
    clearTimeout(this.#saved);
    if (location.pathname !== "/") return;
    const { key, selected, top, touched } = this.rows;
    const list = this.filter.text ? { address: this.results.address } : { key: touched ? key : "", selected, top };
    left = { state: { list }, query: this.#address() };
    history.replaceState(left.state, "", `/${left.query}`);
  }

  #mark(session) {
    if (!session || session.trashed) return;
    const at = this.#marked.indexOf(session.key);
    if (at >= 0) this.#marked.splice(at, 1);
    else this.#marked = [...this.#marked, session.key].slice(-2);
    this.#showMarked();
    if (this.filter.text) return;
    this.rows.again();
    this.rows.move(1);
  }

  #showMarked() {
    const n = this.#marked.length;
    this.compare.hidden = n === 0;
    this.compare.replaceChildren(n === 2 ? "Two sessions are marked." : "One session is marked. Mark another one with Space.",
      n === 2 ? element("a", { href: this.#comparison(this.#marked) }, "Compare (D)") : "",
      element("button", { type: "button", onclick: () => this.#unmark() }, "Clear"));
  }

  #unmark() {
    this.#marked = [];
    this.#showMarked();
    this.rows.again();
  }

  #comparison([a, b]) { return `/compare?${new URLSearchParams({ a, b })}`; }

  #compare(session) {
    const pair = [...this.#marked];
    if (pair.length === 1 && session && session.key !== pair[0]) pair.push(session.key);
    if (pair.length < 2) return say("Mark two sessions with Space to compare them.");
    this.#go(this.#comparison(pair));
  }

  // #go opens a page.
  #go(address) {
    const link = element("a", { href: address, hidden: true });
    this.view.append(link);
    link.click();
  }

  #leave() {
    if (this.filter.text) return this.#set({ text: "" });
    if (this.#marked.length) return this.#unmark();
    if (this.filter.show || this.filter.team || this.filter.cwd) this.#set({ show: "", team: "", cwd: "" });
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (event.target === this.field) {
      if (!this.#pressTyping(event.key)) return;
    } else if (typing(event) || event.target.closest?.("[popover]") || !this.#pressChoosing(event)) return;
    event.preventDefault();
  }

  #pressTyping(key) {
    switch (key) {
      case "Escape": this.#set({ text: "" }); // and the list gets the keys
      case "Enter": case "ArrowDown":
        this.field.blur();
        this.#shown.focus();
        return true;
    }
    return false;
  }

  #pressChoosing({ key, target }) {
    const shown = this.#shown, session = shown.session;
    const moves = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: shown.page, PageUp: -shown.page };
    if (key in moves) shown.move(moves[key]);
    else if (key === "g" || key === "Home") shown.select(0);
    else if (key === "G" || key === "End") shown.select(Infinity);
    else if (/^[1-5]$/.test(key)) this.#set({ show: kinds[key - 1][0] });
    else switch (key) {
      case "Enter":
        if (target.closest("a, button")) return false;
        this.#open();
        break;
      case " ":
        if (target.closest("button")) return false;
        this.#mark(session);
        break;
      case "/": if (!this.field.disabled) { this.field.focus(); this.field.select(); } break;
      case "Escape": this.#leave(); break;
      case "n": if (this.filter.text) this.results.hit(1); break;
      case "N": if (this.filter.text) this.results.hit(-1); break;
      case "s":
        this.#set({ sort: orders[(orders.findIndex(([value]) => value === this.filter.sort) + 1) % orders.length][0] });
        say(`Order: ${this.order.selectedOptions[0].textContent.toLowerCase()}`);
        break;
      case "o": this.#group(); break;
      case "T": this.#set({ team: this.filter.team ? "" : session?.team ?? "" }); break;
      case ".": this.#set({ cwd: this.filter.cwd ? "" : session?.cwd ?? "" }); break;
      case "t": if (session && !session.trashed) this.#go(`/s/${encodeURI(session.key)}/timeline`); break;
      case "v": if (session && !session.trashed) this.#go(`/s/${encodeURI(session.key)}/files`); break;
      case "U": this.#go("/usage"); break;
      case "P": this.#devices(); break;
      case "c": this.#begin(); break;
      case "D": this.#compare(session); break;
      case "?": showKeys(keys); break;
      default: return this.actions.press(key, session);
    }
    return true;
  }

  #open() {
    const link = this.filter.text ? this.results.element.querySelector("a.chosen") : this.rows.element.querySelector(".selected a");
    link?.click();
  }
}

// filterOf returns the filter that the query of an address has.
function filterOf(query) {
  const one = (name, of) => (of.some(([value]) => value === query.get(name)) ? query.get(name) : "");
  return {
    text: query.get("text") ?? "", show: one("show", kinds), team: query.get("team") ?? "", cwd: query.get("cwd") ?? "",
    sort: one("sort", orders), group: query.get("group") === "directory" ? "directory" : "",
  };
}

// headOf returns the heading of a group.
function headOf({ directory, sessions }) {
  return element("h3", {}, element("span", {}, directory || "(no directory)"), element("span", {}, sessions.toLocaleString("en")));
}

// notice returns a text in place of the list.
function notice(title, ...parts) {
  return element("div", { className: "notice" }, element("h2", {}, title),
    ...parts.map((part) => (typeof part === "string" ? element("p", {}, part) : part)));
}

// The page of a session: its head, its conversation, the search in it, and the keys.
import { complain, getJSON, live, subscribe } from "/api.js";
import { Actions, commandLine } from "/actions.js";
import { Bar } from "/bar.js";
import { Conversation } from "/conversation.js";
import { element, say } from "/dom.js";
import { Find } from "/find.js";
import { host, styled } from "/host.js";
import { here, where } from "/hub.js";
import { copy, icon, iconButton, showKeys, themeButton, typing } from "/look.js";

const keys = [
  ["j k", "next, previous message"], ["g G", "beginning, end of the session"], ["Home End", "the same"],
  ["PgUp PgDn Space", "scroll"], ["/", "find in the session"], ["n N", "next, previous place with the text"],
  ["Enter", "unfold or fold the tool calls of the message"], ["c", "copy the message as Markdown"], ["t", "the timeline of the session"], ["v", "the files that turns changed"],
  ["m", "write a message; Enter sends it, Shift+Enter begins a line"], ["↑", "in an empty message: take the last queued one back"],
  ["y s a n r", "to a question: allow, for the session, always, refuse, with a reason"], ["x", "stop all members"],
  ["r p f", "rename, pin, fork at the message"], ["b", "rewind to before the message: conversation, files, or both"], ["e y", "export, copy the id"], ["d u", "move to trash; undo"],
  ["Esc", "end the search, then return to the list"], ["?", "these keys"],
];

const headPause = 1000; // milliseconds between two looks at the head of a session that changes
const livePause = 4000; // between two looks at whether a session still runs

// showSession shows a session in an element and returns the function that ends it.
export function showSession(view, key) {
  const path = `/api/sessions/${encodeURI(key)}`;
  const conversation = new Conversation(path, () => changed());
  const bar = new Bar(conversation);
  const find = new Find(path, conversation);
  const head = new Head();
  const column = element("aside", { className: "beside", "aria-label": "Members and files" }); // on a wide page
  let session = null; // as it was read last
  let chat = null, beside = null; // are loaded when they are needed
  const early = []; // changes from before the chat was loaded
  const actions = new Actions((name) => name === "trash" && view.querySelector(".back").click());
  const unfold = iconButton("find", "Search and more", "unfold", () => head.unfold());
  // chosen is the place of the chosen item for Actions.
  const chosen = (item = conversation.items.querySelector(".chosen")) =>
    ({ seq: +(item?.dataset.end ?? 0), rewind: chat?.mayRewind ? () => chat.rewind(item) : null, copy: () => conversation.copy(item) });
  const news = element("button", { type: "button", className: "news", hidden: true, onclick: () => end() }, "New messages ↓");
  head.element.append(
      element("div", { className: "session-row" },
        element("a", { href: "/", className: "back icon", title: "All sessions", "aria-label": "All sessions" }, icon("back")),
        head.title, head.live, unfold, find.element,
        element("a", { href: `/s/${encodeURI(key)}/timeline`, className: "icon timeline-link", title: "Timeline (t)", "aria-label": "Timeline" },
          icon("timeline")),
        element("a", { href: `/s/${encodeURI(key)}/files`, className: "icon files-link", title: "Files (v)", "aria-label": "Files" },
          icon("files")),
        actions.button(() => session, "Actions", chosen), iconButton("help", "Keys", "help", () => showKeys(keys)), themeButton()),
      head.about, head.notices);
  conversation.menu = (item, button) => session && actions.menu(button, "Actions on the message", actions.ofMessage(session, chosen(item)));
  view.append(head.element,
    element("main", { className: "conversation" }, element("h2", { className: "visually-hidden" }, "Conversation"),
      bar.element, news, conversation.scroller), column); // in the order of the Tab key: the conversation has many stops

  let drawn = 0;
  // changed draws what depends on what is visible, once for each frame.
  function changed() {
    drawn ||= requestAnimationFrame(() => {
      drawn = 0;
      bar.update();
      if (find.active) find.highlight();
      news.hidden = !conversation.unseen;
    });
  }

  const end = () => conversation.show({});
  const start = () => conversation.show({ at: 1 });

  const seqOfAddress = () => +(/^#seq-(\d+)$/.exec(location.hash)?.[1] ?? 0);
  const jump = () => conversation.show(seqOfAddress() ? { seq: seqOfAddress() } : {});

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && event.target === find.field) {
      event.preventDefault();
      find.close();
      conversation.scroller.focus({ preventScroll: true });
      return;
    }
    if (typing(event)) {
      if (event.key === "Escape" && event.target.matches(".message-field")) conversation.scroller.focus({ preventScroll: true });
      return;
    }
    if (chat?.press(event.key)) return event.preventDefault();
    const item = event.target.closest?.(".item") ?? conversation.items.querySelector(".chosen");
    const scroller = conversation.scroller, page = scroller.clientHeight * 0.9;
    switch (event.key) {
      case "j": conversation.step(1); break;
      case "k": conversation.step(-1); break;
      case "g": case "Home": start(); break;
      case "G": case "End": end(); break;
      case " ":
        if (event.target.closest("button, a, summary, input")) return;
        scroller.scrollTop += event.shiftKey ? -page : page;
        break;
      case "PageUp": scroller.scrollTop -= page; break;
      case "PageDown": scroller.scrollTop += page; break;
      case "ArrowUp": scroller.scrollTop -= 60; break;
      case "ArrowDown": scroller.scrollTop += 60; break;
      case "/": head.unfold(true); find.field.select(); find.field.focus(); break;
      case "n": find.step(1); break;
      case "N": find.step(-1); break;
      case "c": if (item) conversation.copy(item); break;
      case "t": view.querySelector(".timeline-link").click(); break;
      case "v": view.querySelector(".files-link").click(); break;
      case "Enter": if (event.target !== item || !fold(item)) return; break;
      case "Escape":
        if (find.active) find.close();
        else view.querySelector(".back").click();
        break;
      case "?": showKeys(keys); break;
      default: if (!actions.press(event.key, session, chosen())) return;
    }
    event.preventDefault();
  }

  let timer = 0, looked = 0, closed = false;
  // look reads the head of the session, at most once in a while.
  async function look() {
    clearTimeout(timer);
    const wait = looked + headPause - performance.now();
    if (wait > 0) {
      timer = setTimeout(look, wait);
      return;
    }
    looked = performance.now();
    try {
      const now = await getJSON(path);
      if (!closed) take(now);
    } catch (error) {
      head.fail(error.message);
    }
  }

  // take shows the head of the session as it is now.
  function take(now) {
    session = now;
    head.show(session);
    conversation.items.classList.toggle("live", session.live ?? false);
    conversation.heard(session.lastSeq);
    fillColumn();
    clearTimeout(timer);
    if (session.live) timer = setTimeout(look, livePause);
  }

  const wide = matchMedia("(min-width: 80rem)");
  // fillColumn fills the column beside the conversation, if there is one.
  async function fillColumn() {
    if (!wide.matches || !session) return;
    const { Beside } = await import("/beside.js");
    if (closed) return;
    beside ??= new Beside(column, path, `/s/${encodeURI(key)}`);
    beside.show(session);
    if (chat) beside.attend(chat.doings);
  }
  wide.addEventListener("change", fillColumn);

  // moved opens another session in which the conversation continues, such as a fork.
  function moved(to) {
    const link = element("a", { href: `/s/${encodeURI(to)}`, hidden: true });
    view.append(link);
    link.click();
  }

  // join adds what is below the conversation: one takes part, if the server hosts conversations.
  async function join({ chat: hosts, device }) {
    if (closed) return;
    if (!hosts) {
      column.before(element("section", { className: "dock read-only", "aria-label": "Take part" }, element("p", {},
        "This page is read-only. To take part, start: ", commandLine("agent-chatter serve --chat"))));
      return;
    }
    const [{ Chat, notifyButton }] = await Promise.all([import("/chat.js"), styled("/chat.css")]);
    if (closed) return;
    chat = new Chat({ key, path, conversation, device, session: () => session, moved,
      changed: () => beside?.attend(chat.doings) });
    column.before(chat.element);
    const bell = notifyButton();
    if (bell) view.querySelector(".session-row .help").before(bell);
    for (const change of early.splice(0)) chat.heard(change);
    if (location.hash !== "#continue") return;
    history.replaceState(history.state, "", location.pathname);
    chat.begin();
  }

  // begin shows the session, which is fetched before if it is only on the hub.
  async function begin() {
    let fetched = false;
    const first = jump(); // there is nothing to show yet if it is fetched
    try {
      const found = await here(key, (text, there) => {
        fetched = true;
        if (!closed) head.wait(text, there);
      });
      if (closed) return;
      take(found);
    } catch (error) {
      if (!closed) head.fail(error.message);
      return;
    }
    if (fetched) jump();
    await first; // a reader comes first
    const hosting = await host();
    if (closed) return;
    join(hosting).catch(complain);
    subscribe([key, ...(hosting.chat ? [live(key)] : [])], (change) => {
      if (change.key !== key) return;
      if (change.error) return say(change.error);
      if (change.live) return chat ? chat.heard(change) : early.push(change);
      if (conversation.last && change.seq > conversation.last) conversation.items.classList.add("live"); // it is being written
      conversation.heard(change.seq);
      look();
    });
  }

  addEventListener("hashchange", jump);
  document.addEventListener("keydown", pressed);
  begin();
  return () => {
    closed = true;
    clearTimeout(timer);
    cancelAnimationFrame(drawn);
    removeEventListener("hashchange", jump);
    document.removeEventListener("keydown", pressed);
    wide.removeEventListener("change", fillColumn);
    subscribe([], () => {});
    chat?.close();
    beside?.close();
    find.close();
    conversation.close();
  };
}

// fold unfolds the tool calls of an item, or folds them if all are unfolded; false: it has none.
function fold(item) {
  const tools = [...item.querySelectorAll("details.tool")];
  const open = !tools.every((tool) => tool.open);
  for (const tool of tools) tool.open = open;
  return tools.length > 0;
}

// A Head is what is above the conversation.
class Head {
  element = element("header", { className: "session-head" });
  title = element("h1", { id: "title" }, "…");
  live = element("span", { className: "live-badge", hidden: true }, "live");
  about = element("div", { className: "about" });
  notices = element("div", { className: "notices", role: "note", "aria-label": "About this session", hidden: true });
  #last = "";

  // unfold shows all of the head on a narrow page, or folds it.
  unfold(on) {
    const open = this.element.classList.toggle("open", on);
    this.element.querySelector(".unfold").setAttribute("aria-expanded", open);
  }

  // fail says why the session is not shown, unless it is shown already.
  fail(text) {
    if (this.#last) return;
    this.title.textContent = "No session";
    this.#say(text);
  }

  // wait shows a session that is being fetched.
  wait(text, session) {
    this.title.textContent = session.title || "(no title)";
    this.#say(text);
  }

  #say(text) {
    this.notices.replaceChildren(element("p", {}, text));
    this.notices.hidden = false;
  }

  show(session) {
    const now = JSON.stringify([session.title, session.team, session.members, session.figures, session.live, session.claimedBy,
      session.notices, session.resume]);
    if (now === this.#last) return;
    this.#last = now;
    this.title.textContent = this.title.title = session.title || "(no title)";
    document.title = `${this.title.textContent} · agent-chatter`;
    this.live.hidden = !session.live;
    this.live.textContent = where(session) || "live";
    this.about.replaceChildren(...[
      element("span", { className: "team" }, session.team),
      element("ul", { className: "members", "aria-label": "Members" },
        ...(session.members ?? []).map((member) => element("li", { className: member.class }, member.name,
          member.figures && element("small", {}, member.figures.join(" · "))))),
      session.figures && element("span", { className: "spent" }, session.figures.join(" · ")),
      element("span", { className: "resume" }, element("code", { id: "resume" }, session.resume),
        iconButton("copy", "Copy the command that resumes the session", "copy-resume", () => copy(session.resume, "the command")))].filter(Boolean));
    this.notices.replaceChildren(...(session.notices ?? []).map((text) => element("p", {}, text)));
    this.notices.hidden = !session.notices;
  }
}

// What turns of a session changed in files: a list of the turns with their files, and what differs in one of them.
import { getJSON, subscribe } from "/api.js";
import { element, parsed, say } from "/dom.js";
import { here } from "/hub.js";
import { copy, icon, iconButton, showKeys, themeButton, typing } from "/look.js";

const pause = 2000; // milliseconds between two requests of the list of a session that changes
const keys = [["j k", "next, previous file"], ["n p", "next, previous hunk"], ["Esc v", "return to the conversation"], ["?", "these keys"]];
const states = { added: "new", deleted: "deleted", mode: "mode", type: "type" };

// showFiles shows the files of a session in an element and returns the function that ends it.
export function showFiles(view, key) {
  const path = `/api/sessions/${encodeURI(key)}`;
  const title = element("h1", {}, "Files");
  const notice = element("p", { className: "notice", hidden: true });
  const list = element("nav", { className: "file-list", "aria-label": "Turns and their files", "aria-busy": "true" });
  const diff = element("section", { className: "file-diff", tabIndex: 0, "aria-label": "Changes of the file" });
  const back = element("a", { href: `/s/${encodeURI(key)}`, className: "back icon", title: "Conversation", "aria-label": "Conversation" },
    icon("back"));
  view.append(
    element("header", { className: "session-head" },
      element("div", { className: "session-row" }, back, title, iconButton("help", "Keys", "help", () => showKeys(keys)), themeButton())),
    element("main", { className: "files" }, notice, list, diff));

  const wide = matchMedia("(min-width: 75rem)"); // then what was before is beside what is after
  let closed = false, last = 0, seen = 0, busy = false, timer = 0;
  let chosen = null; // the button of the file that is shown

  const buttons = () => [...list.querySelectorAll("button")];
  const fail = (text) => {
    notice.hidden = closed || !text;
    notice.textContent = text ?? "";
  };

  async function load() {
    if (busy) return;
    busy = true;
    seen = last;
    try {
      const answer = await getJSON(`${path}/files`);
      if (closed) return;
      fail(answer.notice);
      fill(answer);
    } catch (error) {
      say(error.message);
    } finally {
      busy = false;
      list.setAttribute("aria-busy", "false");
    }
    if (!closed && last > seen) timer = setTimeout(load, pause);
  }

  // fill lists the steps. The file that is shown stays so; at first it is that of the address, or the first of the last step.
  function fill({ steps, skipped }) {
    const focused = list.contains(document.activeElement);
    const place = chosen?.dataset.place ?? /^#file-(\d+-\d+)$/.exec(location.hash)?.[1];
    list.replaceChildren(
      ...steps.map((step) => element("section", {}, heading(step, steps),
        step.notice && element("p", {}, step.notice),
        element("ul", {}, ...step.files.map((file, i) => element("li", {}, entry(step, file, i)))),
        step.more && element("p", {}, `and ${step.more} more: see agent-chatter files`))),
      ...(skipped ?? []).map((text) => element("p", { className: "skipped" }, text)));
    const all = buttons();
    const found = all.find((button) => button.dataset.place === place);
    if (found && chosen) mark(found, focused);
    else if (all.length) show(found ?? all.findLast((button) => button.dataset.place.endsWith("-0")));
  }

  // heading names a step, and its directory if there are several.
  function heading(step, steps) {
    const several = new Set(steps.map((other) => other.dir)).size > 1;
    const name = step.turn ? `Turn ${step.turn}` : step.byTurn ? "A turn" : "";
    return element("h2", {}, name && element("b", {}, name), element("span", { className: step.byTurn ? "who" : "who other" }, step.who),
      several && element("small", {}, step.dir));
  }

  // entry is the button of a file.
  function entry(step, file, i) {
    const counts = file.plus !== undefined && !(file.kind in { mode: 1, type: 1 });
    return element("button", { type: "button", "data-place": `${step.seq}-${i}`, title: file.path, onclick: (event) => show(event.currentTarget) },
      element("span", { className: "path" }, file.path),
      states[file.kind] && element("span", { className: `state ${file.kind}` }, states[file.kind]),
      counts && element("span", { className: "plus" }, `+${file.plus}`), counts && element("span", { className: "minus" }, `−${file.minus}`));
  }

  function mark(button, focus) {
    for (const other of buttons()) other.setAttribute("aria-current", other === button);
    chosen = button;
    if (focus) button.focus({ preventScroll: true });
    button.scrollIntoView({ block: "nearest" });
  }

  let request = 0;
  // show shows what differs in a file.
  async function show(button) {
    mark(button, list.contains(document.activeElement));
    history.replaceState(history.state, "", `#file-${button.dataset.place}`);
    const [seq, file] = button.dataset.place.split("-"), mine = ++request;
    try {
      const answer = await getJSON(`${path}/files/diff?${new URLSearchParams({ seq, file, ...(wide.matches && { beside: 1 }) })}`);
      if (closed || mine !== request) return;
      diff.replaceChildren(
        element("header", {}, element("h2", {}, button.title)),
        ...(answer.notes ?? []).map((text) => element("p", { className: "note" }, text)),
        parsed(answer.html), restore(answer.restore));
      diff.scrollTop = 0;
    } catch (error) {
      say(error.message);
    }
  }

  // restore shows the commands that set the file back, which the page cannot do.
  function restore(text) {
    if (!text) return "";
    return element("footer", {}, ...text.split("\n").map((line) => {
      const [, purpose, command] = /^(.*? type: )(.*)$/.exec(line) ?? [null, "", line];
      return element("p", {}, purpose, element("code", {}, command), iconButton("copy", "Copy the command", "copy-command", () => copy(command, "the command")));
    }));
  }

  // step shows the next file in a direction.
  function step(by) {
    const all = buttons(), next = all[all.indexOf(chosen) + by];
    if (next) show(next);
  }

  // hunk scrolls to the next hunk in a direction, or shows the next file.
  function hunk(by) {
    const top = diff.getBoundingClientRect().top;
    const hunks = [...diff.querySelectorAll(".hunk")].map((table) => table.getBoundingClientRect().top - top);
    const next = by > 0 ? hunks.find((y) => y > 60) : hunks.findLast((y) => y < -4);
    const end = diff.scrollTop + diff.clientHeight >= diff.scrollHeight - 1;
    if (next === undefined || by > 0 && end) step(by);
    else diff.scrollTop += next - 8;
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event)) return;
    switch (event.key) {
      case "j": step(1); break;
      case "k": step(-1); break;
      case "n": hunk(1); break;
      case "p": hunk(-1); break;
      case "?": showKeys(keys); break;
      case "Escape": case "v": back.click(); break;
      default: return;
    }
    event.preventDefault();
  }
  const resized = () => chosen && show(chosen);
  wide.addEventListener("change", resized);
  document.addEventListener("keydown", pressed);

  here(key, fail).then((session) => {
    if (closed) return;
    title.textContent = `Files: ${session.title || "(no title)"}`;
    document.title = `${title.textContent} · agent-chatter`;
    subscribe([key], (change) => {
      if (change.key !== key || change.error) return;
      last = Math.max(last, change.seq);
      if (last > seen) {
        clearTimeout(timer);
        timer = setTimeout(load, pause);
      }
    });
    return load(); // which hides the notice
  }).catch((error) => fail(error.message));
  return () => {
    closed = true;
    clearTimeout(timer);
    wide.removeEventListener("change", resized);
    document.removeEventListener("keydown", pressed);
    subscribe([], () => {});
  };
}

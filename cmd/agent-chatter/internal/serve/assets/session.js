// The conversation of a session. Only the part around what is visible is loaded: the elements before and after it are
// added and removed while the user scrolls, and the scroll bar stands for the numbers of the events.
import { getJSON, subscribe } from "/api.js";
import { element, parsed, say } from "/dom.js";

const mostItems = 300; // in the page; more are removed at the far end
const margin = 1500; // pixels that are loaded before and after what is visible

// showSession shows a session in an element and returns the function that ends it.
export function showSession(view, key) {
  const items = element("div", { className: "items", role: "feed", "aria-busy": "false" });
  const scroller = element("main", { className: "scroller", tabIndex: 0 }, items);
  const title = element("h1");
  const resume = element("code", { className: "resume" });
  const bar = element("input", { type: "range", className: "bar", min: 1, "aria-label": "Position in the session" });
  view.append(element("header", { className: "top" }, element("a", { href: "/", className: "back" }, "Sessions"), title, resume),
    element("div", { className: "conversation" }, scroller, bar));

  const path = `/api/sessions/${encodeURI(key)}`;
  let from = 0, to = 0, started = false, ended = false; // the events that are in the page
  let last = 0; // of the session
  let busy = false, closed = false, following = true;

  const nodes = (part) => part.items.flatMap((item) => {
    const content = [...parsed(item.html).children];
    for (const node of content) {
      node.dataset.open = item.open ?? false;
      node.markdown = item.markdown;
    }
    return content;
  });

  // open replaces what is in the page by the part at an event, or by the end.
  async function open(seq) {
    const part = await getJSON(`${path}/items${seq ? `?around=${seq}` : ""}`);
    if (closed) return;
    ({ from, to, started, ended } = part);
    items.replaceChildren(...nodes(part));
    if (part.notice) say(part.notice);
    following = !seq;
    if (seq) show(seq);
    else scroller.scrollTop = scroller.scrollHeight;
    await fill();
  }

  // show scrolls to the item of an event.
  function show(seq) {
    const found = [...items.children].find((item) => +item.dataset.end >= seq);
    for (const marked of items.querySelectorAll(".target")) marked.classList.remove("target");
    found?.classList.add("target");
    found?.scrollIntoView({ block: "start" });
  }

  // fill loads what is missing around what is visible.
  async function fill() {
    if (busy || closed) return;
    busy = true;
    items.setAttribute("aria-busy", "true");
    try {
      for (let i = 0; i < 8; i++) {
        if (!started && scroller.scrollTop < margin) await before();
        else if (!ended && below() < margin) await after();
        else break;
      }
    } catch (error) {
      say(error.message);
    } finally {
      busy = false;
      items.setAttribute("aria-busy", "false");
    }
    place();
  }

  const below = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;

  async function before() {
    const part = await getJSON(`${path}/items?before=${from + 1}`);
    const height = scroller.scrollHeight, top = scroller.scrollTop;
    items.prepend(...nodes(part));
    scroller.scrollTop = top + scroller.scrollHeight - height;
    ({ from, started } = part);
    while (items.childElementCount > mostItems && below() > 2 * margin) {
      items.lastElementChild.remove();
      ended = false;
      to = +items.lastElementChild.dataset.end;
    }
  }

  async function after() {
    // Items that may change are read again.
    const first = items.querySelector("[data-open=true]");
    const part = await getJSON(`${path}/items?after=${first ? first.dataset.seq - 1 : to}`);
    while (first && items.lastElementChild !== first) items.lastElementChild.remove();
    const opened = new Set([...items.querySelectorAll("[data-open=true] details[open]")].map((tool) => tool.id));
    first?.remove();
    items.append(...nodes(part));
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    to = Math.max(to, part.to);
    ended = part.ended;
    if (following) scroller.scrollTop = scroller.scrollHeight;
    else while (items.childElementCount > mostItems && scroller.scrollTop > 2 * margin) {
      const height = scroller.scrollHeight, top = scroller.scrollTop;
      items.firstElementChild.remove();
      scroller.scrollTop = top - (height - scroller.scrollHeight);
      from = +items.firstElementChild.dataset.seq - 1;
      started = false;
    }
  }

  // place moves the scroll bar to what is visible.
  function place() {
    const top = scroller.getBoundingClientRect().top;
    const visible = [...items.children].find((item) => item.getBoundingClientRect().bottom > top);
    bar.max = Math.max(last, to);
    bar.value = following ? bar.max : visible?.dataset.seq ?? 1;
  }

  scroller.addEventListener("scroll", () => {
    following = ended && below() < 8;
    fill();
  });
  bar.addEventListener("input", () => open(+bar.value >= +bar.max ? 0 : +bar.value));
  const jump = () => {
    const seq = +/^#seq-(\d+)$/.exec(location.hash)?.[1];
    if (seq) open(seq).catch((error) => say(error.message));
  };
  addEventListener("hashchange", jump);

  subscribe([key], (change) => {
    if (change.key !== key) return;
    if (change.error) return say(change.error);
    last = Math.max(last, change.seq);
    if (ended && last > to) {
      ended = false;
      fill();
    }
  });

  getJSON(path).then((session) => {
    title.textContent = session.title || "(no title)";
    document.title = `${title.textContent} · agent-chatter`;
    resume.textContent = session.resume;
    last = Math.max(last, session.lastSeq);
    place();
  }).catch((error) => say(error.message));
  const seq = +/^#seq-(\d+)$/.exec(location.hash)?.[1];
  open(seq).catch((error) => say(error.message));
  return () => {
    closed = true;
    removeEventListener("hashchange", jump);
    subscribe([], () => {});
  };
}

// Two sessions side by side, from where they diverge.
import { getJSON } from "/api.js";
import { element, parsed, say } from "/dom.js";
import { here } from "/hub.js";
import { icon, themeButton, typing } from "/look.js";

// showComparison shows the sessions that the query of the address names and returns the function that ends it.
export function showComparison(view) {
  document.title = "Comparison · agent-chatter";
  const keys = ["a", "b"].map((name) => new URLSearchParams(location.search).get(name) ?? "");
  const common = element("p", { className: "common", role: "status" }, "Comparing …");
  const sides = keys.map((key) => new Side(key));
  const back = element("a", { href: "/", className: "back icon", title: "All sessions", "aria-label": "All sessions" }, icon("back"));
  view.append(
    element("header", { className: "session-head" },
      element("div", { className: "session-row" }, back, element("h1", {}, "Comparison"), themeButton())),
    element("main", { className: "comparison" }, common, element("div", { className: "sides" }, ...sides.map((side) => side.element))));

  const abort = new AbortController();
  const query = new URLSearchParams({ a: keys[0], b: keys[1] });
  Promise.all(sides.map((side) => side.read((text) => (common.textContent = text)))).then(() =>
    getJSON(`/api/compare?${query}`, { signal: abort.signal })).then((found) => {
    common.textContent = found.messages === 0 ? "The sessions have no message in common."
      : found.messages === 1 ? "The first message is the same." : `The first ${found.messages} messages are the same.`;
    sides[0].begin(found.a);
    sides[1].begin(found.b);
  }).catch((error) => abort.signal.aborted || (common.textContent = error.message));

  function pressed(event) {
    if (event.key !== "Escape" || event.defaultPrevented || typing(event)) return;
    event.preventDefault();
    back.click();
  }
  document.addEventListener("keydown", pressed);
  return () => {
    abort.abort();
    document.removeEventListener("keydown", pressed);
  };
}

// A Side shows one of the sessions.
class Side {
  constructor(key) {
    this.key = key;
    this.path = `/api/sessions/${encodeURI(key)}`;
    this.title = element("h2");
    this.items = element("div", { className: "items" });
    this.more = element("button", { type: "button", hidden: true, onclick: () => this.load() }, "More");
    this.element = element("section", { "aria-label": key }, this.title, this.items, this.more);
  }

  // read shows what the session is, after fetching it if it is only on the hub.
  async read(progress) {
    const session = await here(this.key, progress);
    this.title.append(element("a", { href: `/s/${encodeURI(this.key)}` }, session.title || "(no title)"), " ",
      element("small", {}, session.id.slice(-4)));
  }

  begin(seq) {
    this.to = seq;
    this.load();
  }

  // load adds what follows.
  async load() {
    this.more.disabled = true;
    try {
      const part = await getJSON(`${this.path}/items?after=${this.to}`);
      for (const item of part.items) this.items.append(parsed(item.html));
      for (const link of this.items.querySelectorAll("a[href^='#seq-']")) {
        link.setAttribute("href", `/s/${encodeURI(this.key)}${link.getAttribute("href")}`);
      }
      for (const item of this.items.querySelectorAll("[id]")) item.removeAttribute("id"); // both sides may have it
      this.to = part.to;
      this.more.hidden = part.ended;
      if (part.ended && !this.items.childElementCount) this.items.append(element("p", { className: "nothing" }, "Nothing follows."));
    } catch (error) {
      say(error.message);
    }
    this.more.disabled = false;
  }
}

"use strict";
// The script of an exported document: search, colours, folding and links to events. Everything can be read without it.
// It runs before the conversation is there, which may be long.

const field = (id) => document.getElementById(id);
const query = field("query"), count = field("count"), previous = field("previous"), next = field("next");
const fold = field("fold"), colors = field("colors"), root = document.documentElement;

// unfold opens the parts that an element is in.
function unfold(element) {
  for (let part = element.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
}

// Links: #seq-N leads to the item of event N, which may have begun before.
function follow() {
  const seq = +/^#seq-(\d+)$/.exec(location.hash)?.[1];
  for (const marked of document.querySelectorAll(".target")) marked.classList.remove("target");
  const item = field(location.hash.slice(1)) ??
    (seq && [...document.querySelectorAll(".item")].find((item) => +item.dataset.end >= seq));
  if (!item) return;
  unfold(item);
  item.classList.add("target");
  item.scrollIntoView();
}

// Search. Matches are ranges of text, in the order of the document. They are highlighted without changing elements.
const mostMatches = 20000;
const found = "Highlight" in window ? new Highlight() : new Set();
const current = "Highlight" in window ? new Highlight() : new Set();
if (window.CSS?.highlights) {
  CSS.highlights.set("found", found);
  CSS.highlights.set("current", current);
  current.priority = 1;
}
let matches = [], at = -1, searches = 0, searching = false;

const blocks = "p, li, td, th, h3, h4, h5, h6, pre, summary, .diff > span";
// Not searched: times and figures, and the start of an input that is shown as a whole below it.
const skipped = ".at, .figures, .visually-hidden, .state > .now, summary:has(~ .input) > code";
const searched = (node) => node.parentElement.closest(skipped) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;

// matchesIn adds the matches in an item. A match may extend over several elements, but not over several paragraphs.
function matchesIn(item, pattern) {
  const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT, searched);
  const nodes = [], starts = [];
  let text = "", block = null;
  while (walker.nextNode()) {
    const node = walker.currentNode, of = node.parentElement.closest(blocks);
    if (of !== block) text += "\u0000";
    block = of;
    nodes.push(node);
    starts.push(text.length);
    text += node.data;
  }
  let i = 0;
  const place = (offset) => {
    while (i + 1 < nodes.length && starts[i + 1] <= offset) i++;
    return [nodes[i], Math.min(offset - starts[i], nodes[i].length)];
  };
  for (const match of text.matchAll(pattern)) {
    const [startContainer, startOffset] = place(match.index);
    const [last, end] = place(match.index + match[0].length - 1);
    const range = new StaticRange({ startContainer, startOffset, endContainer: last, endOffset: end + 1 });
    matches.push(range);
    found.add(range);
    if (matches.length === mostMatches) return;
  }
}

async function search(text) {
  const number = ++searches;
  matches = [];
  found.clear();
  select(-1);
  if (!text.trim()) return;
  const pattern = new RegExp(text.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
  searching = true;
  let began = performance.now();
  for (const item of document.querySelectorAll(".item")) {
    matchesIn(item, pattern);
    if (matches.length === mostMatches) break;
    if (performance.now() - began < 40) continue;
    report();
    await new Promise((resume) => setTimeout(resume));
    if (number !== searches) return;
    began = performance.now();
  }
  searching = false;
  if (at < 0 && matches.length) select(Math.max(0, matches.findIndex(isBelow)));
  report();
}

// isBelow reports whether a match is not above what is visible.
const isBelow = (match) => match.startContainer.parentElement.closest(".item").getBoundingClientRect().bottom > 0;

// select shows a match.
function select(i) {
  document.querySelector(".current")?.classList.remove("current");
  current.clear();
  at = i;
  const match = matches[i];
  if (match) {
    const element = match.startContainer.parentElement;
    unfold(element);
    if (!window.CSS?.highlights) element.closest(".item").classList.add("current");
    current.add(match);
    element.scrollIntoView({ block: "center" });
  }
  report();
}

function step(by) {
  if (matches.length) select((at + by + matches.length) % matches.length);
}

function report() {
  const more = searching || matches.length === mostMatches ? "+" : "";
  if (!query.value.trim()) count.textContent = "";
  else if (matches.length) count.textContent = `${at + 1} of ${matches.length}${more}`;
  else count.textContent = searching ? "…" : "no match";
  previous.disabled = next.disabled = !matches.length;
}

// Folding.
function foldTools() {
  const open = fold.getAttribute("aria-pressed") !== "true";
  fold.setAttribute("aria-pressed", open);
  for (const tool of document.querySelectorAll("details.tool")) tool.open = open;
}

let folded = []; // before printing
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
});

// Colours.
function switchColors() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

let delay = 0;
query.addEventListener("input", () => {
  clearTimeout(delay);
  delay = setTimeout(search, 120, query.value);
});
query.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    step(event.shiftKey ? -1 : 1);
  } else if (event.key === "Escape") {
    query.value = "";
    search("");
    query.blur();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === query) return;
  const action = {
    "/": () => { query.focus(); query.select(); }, "n": () => step(1), "N": () => step(-1), "t": foldTools, "d": switchColors,
  }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
previous.addEventListener("click", () => step(-1));
next.addEventListener("click", () => step(1));
fold.addEventListener("click", foldTools);
colors.addEventListener("click", switchColors);
addEventListener("hashchange", follow);
document.querySelector(".tools").hidden = false;
addEventListener("DOMContentLoaded", () => {
  if (location.hash) follow();
  if (query.value) search(query.value);
});

// The entry of the page: it takes the token out of the address and shows the list or a session.
import { takeToken, askForToken } from "/api.js";
import { showList } from "/list.js";
import { showSession } from "/session.js";
import { element } from "/dom.js";

// The pages that are loaded when they are opened.
const others = {
  timeline: async () => (await import("/timeline.js")).showTimeline,
  files: async () => (await import("/files.js")).showFiles,
  compare: async () => (await import("/compare.js")).showComparison,
  usage: async () => (await import("/usage.js")).showUsage,
};
let close = () => {};
let shown = ""; // the path that is shown
let routes = 0;

// route shows what the path of the address names.
async function route() {
  close();
  close = () => {};
  shown = location.pathname;
  const view = document.getElementById("view"), mine = ++routes;
  view.replaceChildren();
  const [, kind, team, id, part] = location.pathname.split("/");
  const key = kind === "s" && id ? `${decodeURIComponent(team)}/${id}` : "";
  const other = kind === "compare" || kind === "usage" ? others[kind] : key && others[part];
  const show = other ? await other() : key ? showSession : showList;
  if (mine === routes) close = show(view, key);
}

// navigate opens a path of the page without loading it again.
function navigate(event) {
  const link = event.target.closest("a[href^='/']");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.getAttribute("href")); // that of a link in a picture is no text
  route();
}

takeToken();
if (await askForToken()) {
  document.addEventListener("click", navigate);
  addEventListener("popstate", () => location.pathname !== shown && route()); // not for another part of the same page
  route();
} else {
  document.getElementById("view").append(element("main", { className: "closed" },
    element("h1", {}, "No token"),
    element("p", {}, "Open the address that ", element("code", {}, "agent-chatter serve"), " prints.")));
}

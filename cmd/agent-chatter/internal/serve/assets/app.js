// The entry of the page: it takes the token out of the address and shows the list or a session.
import { takeToken, askForToken } from "/api.js";
import { showList } from "/list.js";
import { showSession } from "/session.js";
import { showTimeline } from "/timeline.js";
import { showFiles } from "/files.js";
import { showComparison } from "/compare.js";
import { element } from "/dom.js";

const parts = { timeline: showTimeline, files: showFiles }; // of the page of a session
let close = () => {};
let shown = ""; // the path that is shown

// route shows what the path of the address names.
function route() {
  close();
  shown = location.pathname;
  const view = document.getElementById("view");
  view.replaceChildren();
  const [, kind, team, id, part] = location.pathname.split("/");
  const key = id && `${decodeURIComponent(team)}/${id}`;
  if (kind === "compare") close = showComparison(view);
  else if (kind !== "s" || !key) close = showList(view);
  else close = (parts[part] ?? showSession)(view, key);
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

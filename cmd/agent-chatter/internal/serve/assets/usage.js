// What the turns of all sessions used: by day, by agent and by model, as "agent-chatter usage" prints it.
import { getJSON } from "/api.js";
import { commandLine, message } from "/actions.js";
import { element } from "/dom.js";
import { icon, themeButton, typing } from "/look.js";

const spans = [["7d", "7 days"], ["30d", "30 days"], ["", "All"]];
const usual = "30d";
const names = { day: ["By day", "Day"], member: ["By agent", "Agent"], model: ["By model", "Model"] };
const numbers = [["turns", "Turns"], ["in", "Input"], ["cached", "Cached"], ["out", "Output"], ["cost", "Cost"]];

// showUsage shows the usage in an element and returns the function that ends it.
export function showUsage(view) {
  document.title = "Usage · agent-chatter";
  const chosen = new URLSearchParams(location.search).get("since");
  let since = spans.some(([value]) => value === chosen) ? chosen : usual;
  let abort = new AbortController();
  const back = element("a", { href: "/", className: "back icon", title: "All sessions", "aria-label": "All sessions" }, icon("back"));
  const buttons = spans.map(([value, name]) => element("button", { type: "button", onclick: () => choose(value) }, name));
  const tables = element("div", { "aria-busy": "true" });
  view.append(
    element("header", { className: "session-head" }, element("div", { className: "session-row" }, back, element("h1", {}, "Usage"),
      element("div", { className: "kinds spans", role: "group", "aria-label": "Time" }, ...buttons), themeButton())),
    element("main", { className: "usage" }, tables));

  function choose(value) {
    since = value;
    history.replaceState(null, "", `/usage?since=${since}`);
    load();
  }

  async function load() {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", spans[i][0] === since));
    tables.ariaBusy = "true";
    try {
      const found = await getJSON(`/api/usage?${new URLSearchParams({ since })}`, { signal });
      const notes = found.notes.map((note) => element("p", { className: "note" }, ...message(note)));
      const some = found.tables[0].lines.length > 0;
      tables.replaceChildren(...(some ? [...found.tables.map(tableOf), ...notes] : [nothing(), ...notes]));
    } catch (error) {
      if (signal.aborted) return;
      tables.replaceChildren(element("p", { className: "note" }, ...message(error.message)));
    }
    tables.ariaBusy = "false";
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event)) return;
    if (/^[1-3]$/.test(event.key)) choose(spans[event.key - 1][0]);
    else if (event.key === "Escape" || event.key === "U") back.click();
    else return;
    event.preventDefault();
  }
  document.addEventListener("keydown", pressed);
  load();
  return () => {
    abort.abort();
    document.removeEventListener("keydown", pressed);
  };
}

// tableOf returns a table, with a bar in each line. The longest one fills its cell.
function tableOf({ by, lines, total, bars }) {
  const [title, head] = names[by];
  const measure = bars.trim() === "COST" ? "Cost, as a bar" : "Tokens, as a bar";
  const row = (line, bar) => element("tr", {}, element("th", { scope: "row" }, line.name),
    ...numbers.map(([key]) => element("td", { className: key }, key === "turns" ? line.turns.toLocaleString("en") : grouped(line[key]))),
    element("td", { className: "bar-cell" }, bar));
  const body = lines.map((line) => {
    const bar = element("span", { className: "amount", "aria-hidden": "true" });
    bar.style.width = `${100 * line.bar}%`;
    return row(line, bar);
  });
  return element("section", {}, element("h2", { id: `usage-${by}` }, title),
    element("div", { className: "wide", tabIndex: 0, role: "region", "aria-labelledby": `usage-${by}` },
      element("table", { className: "sums" },
        element("thead", {}, element("tr", {}, ...[head, ...numbers.map(([, name]) => name), measure].map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...body),
        lines.length > 1 && element("tfoot", {}, row({ ...total, name: "Total" }, "")))));
}

// grouped returns a number, which may be a lower bound, with separators. Other texts stay.
const grouped = (text) => text.replace(/^(≥?)(\d+)$/, (_, bound, digits) => bound + Number(digits).toLocaleString("en"));

function nothing() {
  return element("div", { className: "notice" }, element("h2", {}, "No turn of an agent is recorded"),
    element("p", {}, "What agents report of their turns is summed here. To choose another time in a terminal:"),
    commandLine("agent-chatter usage --since 90d"));
}

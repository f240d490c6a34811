// A new conversation: its team, its directory and the first message.
import { post } from "/api.js";
import { ask, commandLine } from "/actions.js";
import { element } from "/dom.js";
import { safeLine } from "/safe.js";

const last = "agent-chatter-last"; // the name of the last choices in the storage of the browser

// begin asks for a new conversation. open is called with the key of its session.
export function begin({ teams = [], directories = [] }, open) {
  const before = JSON.parse(localStorage.getItem(last) ?? "{}");
  const ready = teams.filter(({ trusted }) => trusted);
  const chosen = ready.find(({ name }) => name === before.team) ?? ready[0];
  const id = crypto.randomUUID(); // of the first message: it is sent once
  const team = element("select", { name: "team", required: true }, ...teams.map(({ name, title, trusted }) =>
    element("option", { value: name, disabled: !trusted, selected: name === chosen?.name },
      safeLine(title || name) + (trusted ? "" : " (not trusted)"))));
  const directory = element("select", { name: "directory", required: true }, ...directories.map((path) =>
    element("option", { value: path, selected: path === before.directory }, safeLine(path))));
  const message = element("textarea", { name: "text", rows: 4, required: true, placeholder: "Message" });
  const members = element("ul", { className: "members", "aria-label": "Members" });
  const show = () => members.replaceChildren(...(teams.find(({ name }) => name === team.value)?.members ?? []).map((member) =>
    element("li", { className: member.class }, safeLine(member.name))));
  team.addEventListener("change", show);
  show();
  const distrusted = teams.find(({ trusted }) => !trusted);
  const dialog = ask("New conversation", "Begin", [
    field("Team", team), members,
    distrusted && element("p", {}, "A team that is not trusted can be started from a terminal: ",
      commandLine(`agent-chatter team trust ${distrusted.name}`)),
    directories.length > 1 ? field("Directory", directory) : element("p", { className: "directory" }, "In ", element("code", {}, safeLine(directories[0] ?? "")), directory),
    field("First message", message),
  ].filter(Boolean), async (problem) => {
    try {
      const wanted = { team: team.value, directory: directory.value };
      const { key } = await post("/api/conversations", { ...wanted, text: message.value, id });
      localStorage.setItem(last, JSON.stringify(wanted));
      setTimeout(open, 0, key); // after the dialog is closed
      return true;
    } catch (error) {
      problem(error);
      return false;
    }
  });
  dialog.classList.add("begin");
  directory.hidden = directories.length < 2;
  message.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    dialog.querySelector("form").requestSubmit();
  });
  (ready.length > 1 ? team : message).focus();
}

function field(label, control) {
  return element("label", { className: "field" }, element("span", {}, label), control);
}

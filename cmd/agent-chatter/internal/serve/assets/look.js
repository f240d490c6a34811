// What every page has: the choice of colours, the keys, and buttons that copy.
import { element, say } from "/dom.js";

// icons are the paths of icons in a square of 16 units.
const icons = {
  back: "M9.5 3 4.5 8l5 5M4.5 8h9",
  copy: "M6 5.5h7v8H6zM10 5.5v-3H3v8h3",
  timeline: "M2.5 4h6M5.5 8h8M3.5 12h5",
  files: "M4 2.5h5l3.5 3.5v7.5H4zM9 2.5V6h3.5M6.5 9h3M8 7.5v3M6.5 12h3",
  up: "M3.5 10 8 5.5l4.5 4.5",
  down: "M3.5 6 8 10.5 12.5 6",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
  find: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.4 10.4 13.5 13.5",
  plus: "M8 3v10M3 8h10",
  attach: "M11.8 7 7.2 11.6a2.5 2.5 0 0 1-3.6-3.6l5-5a1.7 1.7 0 0 1 2.4 2.4L6.2 10",
  send: "M8 13V3.5M3.8 7.5 8 3.3l4.2 4.2",
  stop: "M4.5 4.5h7v7h-7z",
  bell: "M8 2.2a3.8 3.8 0 0 1 3.8 3.8c0 3.6 1.4 4.7 1.4 5.2H2.8c0-.5 1.4-1.6 1.4-5.2A3.8 3.8 0 0 1 8 2.2M6.7 13.6h2.6",
  device: "M5 2.5h6v11H5zM7.4 11.5h1.2",
  usage: "M3 13.5v-4M8 13.5v-11M13 13.5v-7",
  help: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.6M8 12.2v.4",
  system: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  light: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13",
  dark: "M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z",
};

// icon returns an icon.
export function icon(name) {
  const make = (kind, attributes) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
  };
  const svg = make("svg", { viewBox: "0 0 16 16", width: 16, height: 16, fill: "none", stroke: "currentColor", "stroke-width": 1.5,
    "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true" });
  svg.append(make("path", { d: icons[name] }));
  return svg;
}

// iconButton returns a button that is an icon.
export function iconButton(name, label, className, onclick = null) {
  return element("button", { type: "button", className: `icon ${className}`, title: label, "aria-label": label, onclick }, icon(name));
}

const themes = { "": "as the system", light: "light", dark: "dark" };

// themeButton returns a button that changes the colours: as the system, light, dark.
export function themeButton() {
  const root = document.documentElement;
  const button = element("button", { type: "button", className: "icon theme" });
  const show = () => {
    const theme = root.dataset.theme ?? "";
    button.replaceChildren(icon(theme || "system"));
    button.title = `Colours: ${themes[theme]}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    const names = Object.keys(themes);
    const next = names[(names.indexOf(root.dataset.theme ?? "") + 1) % names.length];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    localStorage.setItem("agent-chatter-theme", next);
    show();
    say(button.title);
  });
  show();
  return button;
}

// copy copies a text, or what a promise yields, and says so.
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(await text);
    say(`Copied ${what}.`);
  } catch (error) {
    say(`Not copied: ${error.message}`);
  }
}

// showKeys shows the keys of a page. Each row is the keys and their effect.
export function showKeys(rows) {
  const dialog = element("dialog", { className: "keys", "aria-labelledby": "keys-title" },
    element("h2", { id: "keys-title" }, "Keys"),
    element("dl", {}, ...rows.map(([keys, effect]) => element("div", {},
      element("dt", {}, ...keys.split(" ").map((key) => element("kbd", {}, key))), element("dd", {}, effect)))),
    element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

// typing reports whether an event is for a field, or for a dialog.
export function typing(event) {
  return event.isComposing || event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog") !== null;
}

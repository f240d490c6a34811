// Elements of the page. Text is never parsed as HTML here.

// element returns an element with properties and children.
export function element(name, properties = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in e) e[key] = value;
    else e.setAttribute(key, value);
  }
  e.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return e;
}

// parsed returns the elements of HTML that the server made.
export function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

let silence = 0;

// say tells what happened: for a while, or until something else happens.
export function say(text, stays = false) {
  const status = document.getElementById("status");
  status.textContent = text;
  clearTimeout(silence);
  if (!stays) silence = setTimeout(() => (status.textContent = ""), 4000 + 40 * text.length);
}

const units = [["year", 31536e3], ["month", 2592e3], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

// age returns how long ago a time is.
export function age(time, now = Date.now()) {
  const seconds = Math.max(0, (now - new Date(time)) / 1000);
  for (const [unit, length] of units) {
    const n = Math.floor(seconds / length);
    if (n >= 1) return n === 1 ? `1 ${unit} ago` : `${n} ${unit}s ago`;
  }
  return "just now";
}

// size returns a number of bytes in words.
export function size(bytes) {
  const names = ["B", "KB", "MB", "GB"];
  let i = 0;
  for (; bytes >= 1000 && i < names.length - 1; i++) bytes /= 1000;
  return `${i && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${names[i]}`;
}

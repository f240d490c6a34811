// Texts of agents that stand beside buttons of the page.

// safe replaces control characters, and those that change the direction of a text, by visible ones: a text must not
// hide a part of itself, or look like another one.
export function safe(text) {
  return text.replaceAll("\r\n", "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replaceAll("\u007f", "\u2421")
    .replace(/[\u0080-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
}

// safeLine is safe for one line.
export const safeLine = (text) => safe(text).replace(/[\n\t]+/g, " ");

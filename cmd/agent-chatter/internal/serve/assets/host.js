// Whether conversations are continued from this page, and what this client may do.
import { AwayError, getJSON } from "/api.js";

const readOnly = { chat: false, role: "read", device: "" };
const byToken = "page"; // the device of a browser that is not paired: its address is for the time of one server
let asked = null;

// host returns what the server hosts. It is asked once, unless it does not answer.
export function host() {
  asked ??= ask();
  return asked;
}

async function ask() {
  try {
    const found = await getJSON("/api/host");
    if (found.device && found.device !== byToken) import("/offline.js").then(({ keep }) => keep());
    return found;
  } catch (error) {
    if (error instanceof AwayError) asked = null;
    return readOnly;
  }
}

// styled adds a style sheet of a part of the page that is loaded when it is needed.
export function styled(path) {
  if (document.querySelector(`link[href="${path}"]`)) return Promise.resolve();
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: path });
  const loaded = new Promise((resolve) => (link.onload = link.onerror = resolve));
  document.head.append(link);
  return loaded;
}

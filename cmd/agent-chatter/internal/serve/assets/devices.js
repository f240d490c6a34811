// The paired devices: their list, how one is revoked, and the code that pairs another one.
import { getJSON, post } from "/api.js";
import { message } from "/actions.js";
import { age, element, parsed, say } from "/dom.js";
import { copy, iconButton } from "/look.js";

const roles = [["read", "reads"], ["answer", "also writes and answers"], ["all", "everything"]];
const usual = "answer";
const pause = 2000; // milliseconds between two looks whether the device is paired

// showDevices opens the dialog.
export function showDevices() {
  const list = element("ul", { className: "device-list", "aria-label": "Paired devices" });
  const problem = element("p", { className: "problem", role: "alert", hidden: true });
  const role = element("select", { "aria-label": "Role of the new device" },
    ...roles.map(([value, does]) => element("option", { value, selected: value === usual }, `${value}: ${does}`)));
  const pair = element("button", { type: "button", className: "primary", onclick: () => offer() }, "Pair a device");
  const code = element("div", { className: "pairing", hidden: true });
  const dialog = element("dialog", { className: "ask devices", "aria-labelledby": "devices-title" },
    element("h2", { id: "devices-title" }, "Devices"), list, problem,
    element("div", { className: "pair-row" }, role, pair), code,
    element("div", { className: "buttons" }, element("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  let known = null; // ids of the devices that are shown
  let timer = 0, until = 0, looked = 0;

  const fail = (error) => {
    problem.replaceChildren(...message(error.message));
    problem.hidden = false;
  };

  async function load() {
    const { devices } = await getJSON("/api/devices");
    const ids = devices.map(({ id }) => id), fresh = known && devices.find(({ id }) => !known.includes(id));
    if (!known || fresh || ids.length !== known.length) {
      list.replaceChildren(...(devices.length ? devices.map(row) : [element("li", {}, "No device is paired.")]));
    }
    known = ids;
    return fresh;
  }

  function row(device) {
    const button = element("button", { type: "button", "aria-label": `Revoke ${device.name}`, onclick: () => ask() }, "Revoke");
    const ask = () => {
      if (button.matches(".sure")) return revoke();
      button.className = "sure";
      button.textContent = "Revoke now";
      button.setAttribute("aria-label", `Revoke ${device.name} now`);
    };
    async function revoke() {
      button.disabled = true;
      try {
        await post(`/api/devices/${device.id}/revoke`);
        if (device.own) return location.assign("/");
        await load();
        say(`Revoked ${device.name}.`);
        dialog.querySelector(".device-list button, .pair-row button").focus();
      } catch (error) {
        button.disabled = false;
        fail(error);
      }
    }
    button.addEventListener("blur", () => {
      button.className = "";
      button.textContent = "Revoke";
      button.setAttribute("aria-label", `Revoke ${device.name}`);
    });
    return element("li", {}, element("div", {}, element("b", {}, element("bdi", {}, device.name)), device.own && element("span", {}, "this device"),
      element("small", {}, `${device.role} · used on ${device.seen} · paired ${age(device.paired)}`)), button);
  }

  // offer shows the address that pairs a device, until one is paired or the code is too old.
  async function offer() {
    pair.disabled = true;
    problem.hidden = true;
    try {
      const found = await post("/api/devices/code", { role: role.value });
      until = Date.now() + 1000 * found.seconds;
      code.replaceChildren(parsed(found.qr),
        element("div", {}, element("p", {}, "Scan the code, or open this address, on the device:"),
          element("p", { className: "address" }, element("code", {}, found.address),
            iconButton("copy", "Copy the address", "copy-command", () => copy(found.address, "the address"))),
          element("p", { className: "left", role: "timer" })),
        element("div", { className: "reach" }, ...(found.note ? message(found.note) : [])));
      code.hidden = false;
      pair.textContent = "Another code";
      tick();
    } catch (error) {
      fail(error);
    }
    pair.disabled = false;
  }

  async function tick() {
    clearTimeout(timer);
    const left = Math.ceil((until - Date.now()) / 1000);
    if (!dialog.open) return;
    if (left <= 0) return end("The code is too old. Pair a device again.");
    code.querySelector(".left").textContent = `Good for ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}, and for one device.`;
    timer = setTimeout(tick, 1000);
    if (Date.now() < looked + pause) return;
    looked = Date.now();
    const fresh = await load().catch(() => null); // the code is shown nevertheless
    if (fresh) end(`Paired ${fresh.name}.`);
  }

  function end(text) {
    clearTimeout(timer);
    until = 0;
    code.replaceChildren(element("p", { role: "status" }, text));
    pair.textContent = "Pair a device";
  }

  const before = document.activeElement;
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    dialog.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  pair.focus();
  load().catch(fail);
}

// The column beside a conversation on a wide page: its members, its figures, and what its turns changed in files.
import { getJSON } from "/api.js";
import { element, parsed } from "/dom.js";

const pause = 3000; // milliseconds between two requests of the files of a session that changes
const mostFiles = 12;

// A Beside fills the column.
export class Beside {
  #path;
  #home;
  #timer = 0;
  #seen = 0; // the last event of the files that are shown
  #last = 0;
  #busy = false;
  #closed = false;
  #chosen = ""; // the place of the file that the reader has chosen
  #shown = ""; // the file whose changes are shown

  constructor(element, path, home) {
    this.element = element;
    this.#path = path;
    this.#home = home;
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  // show takes the head of a session.
  show({ members = [], figures = [], lastSeq }) {
    this.figures ??= element("ul", { className: "figures-of-session", "aria-label": "Usage" });
    this.files ??= element("div", {});
    this.members ??= element("ul", { className: "members", "aria-label": "Members" });
    if (!this.members.isConnected) {
      this.element.replaceChildren(element("h2", {}, "Members"), this.members, this.figures, this.files);
    }
    const names = JSON.stringify([members, figures]);
    if (names !== this.names) {
      this.names = names;
      this.members.replaceChildren(...members.map((member) => element("li", { className: member.class }, element("bdi", {}, member.name),
        element("small", { className: "doing" }), element("small", { className: "member-figures" }, (member.figures ?? []).join(" · ")))));
      this.figures.replaceChildren(...figures.map((text) => element("li", {}, text)));
    }
    this.#last = lastSeq;
    if (this.#last > this.#seen && !this.#busy) this.#load();
  }

  // attend takes what members do, by their names.
  attend(doings) {
    for (const member of this.members?.children ?? []) {
      member.querySelector(".doing").textContent = doings.get(member.querySelector("bdi").textContent) ?? "";
    }
  }

  async #load() {
    clearTimeout(this.#timer);
    this.#busy = true;
    const seen = this.#last;
    try {
      const answer = await getJSON(`${this.#path}/files`);
      if (this.#closed) return;
      await this.#fill(answer.steps.filter((step) => step.files.length));
      this.#seen = seen;
    } catch { /* the page of the files says why */ }
    this.#timer = setTimeout(() => {
      this.#busy = false;
      if (this.#last > this.#seen && !this.#closed) this.#load();
    }, pause);
  }

  // #fill lists the files that were changed, the last one first, with the changes of one of them.
  async #fill(steps) {
    const places = new Map(); // by path: the last change
    for (const step of steps) {
      step.files.forEach((file, i) => {
        places.delete(file.path);
        places.set(file.path, { ...file, place: `${step.seq}-${i}`, who: step.who });
      });
    }
    const all = [...places.values()].reverse();
    if (!all.length) return;
    const chosen = all.find(({ place }) => place === this.#chosen) ?? all[0];
    const focused = this.files.contains(document.activeElement) && document.activeElement.dataset.place;
    const more = all.length - mostFiles;
    this.list = element("ul", { className: "changed-files" }, ...all.slice(0, mostFiles).map((file) => element("li", {},
      element("button", { type: "button", "data-place": file.place, "aria-current": file === chosen, title: file.path, onclick: () => this.#choose(file) },
        element("span", { className: "path" }, element("bdi", {}, file.path)),
        file.plus !== undefined && element("span", { className: "plus" }, `+${file.plus}`),
        file.minus !== undefined && element("span", { className: "minus" }, `−${file.minus}`)))));
    this.diff ??= element("div", { className: "file-diff", tabIndex: 0, role: "group", "aria-label": "The newest change" });
    this.files.replaceChildren(element("h2", {}, `${all.length} ${all.length === 1 ? "file" : "files"} changed`), this.list,
      more > 0 ? element("p", {}, `and ${more} more`) : "",
      element("a", { href: `${this.#home}/files` }, "All changes"), this.diff);
    if (focused) this.list.querySelector(`[data-place="${focused}"]`)?.focus();
    await this.#show(chosen);
  }

  #choose(file) {
    this.#chosen = file.place;
    for (const button of this.list.querySelectorAll("button")) button.setAttribute("aria-current", button.dataset.place === file.place);
    this.#show(file);
  }

  async #show({ place, path, who }) {
    if (this.#shown === place) return;
    this.#shown = place;
    const [seq, file] = place.split("-");
    const answer = await getJSON(`${this.#path}/files/diff?${new URLSearchParams({ seq, file })}`).catch(() => null);
    if (!answer || this.#shown !== place) return;
    this.diff.replaceChildren(element("header", {}, element("h3", {}, element("bdi", {}, path)), element("small", {}, who)),
      ...(answer.notes ?? []).map((text) => element("p", { className: "note" }, text)), parsed(answer.html));
    this.diff.scrollTop = 0;
  }
}

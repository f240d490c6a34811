// What members ask: permissions and questions. The text of a member is in a frame that the page titles; the answers are
// outside of it, and take no tap in the first moment after they have appeared or moved.
import { element, parsed } from "/dom.js";
import { safe, safeLine } from "/safe.js";

const guard = 500; // milliseconds without an answer
const moved = 4; // pixels by which the answers may move without that
const longTitle = 120; // characters; a longer title is in the frame, too, since its end may not be visible

const decisions = [
  ["refuse", "n", "Refuse"], ["allow", "y", "Allow"],
  ["session", "s", "Allow for this session"], ["always", "a", "Always allow"],
];

// Questions shows one question at a time. answer(question, body) sends an answer and returns whether it was taken,
// changed is called when another question is shown.
export class Questions {
  #cards = new Map(); // by id
  #shown = ""; // the id of the question that is shown

  constructor({ answer, changed }) {
    Object.assign(this, { answer, changed });
    this.element = element("div", { className: "questions", hidden: true });
    this.spoken = element("p", { className: "visually-hidden", "aria-live": "assertive" });
    this.observer = new ResizeObserver(() => this.#card?.settle());
    this.observer.observe(document.documentElement);
  }

  close() {
    this.observer.disconnect();
    for (const card of this.#cards.values()) card.close();
  }

  get #card() { return this.#cards.get(this.#shown); }

  // show takes the questions that are open, and returns those that were answered elsewhere.
  show(list, turns) {
    const gone = [];
    for (const [id, card] of this.#cards) {
      if (list.some((question) => question.id === id)) continue;
      if (!card.answered && turns.has(card.question.turn)) gone.push(card.question);
      card.close();
      this.#cards.delete(id);
    }
    for (const question of list) {
      if (this.#cards.has(question.id)) continue;
      this.#cards.set(question.id, new Card(question, (body) => this.answer(question, body)));
    }
    if (!this.#card) this.#choose(list[0]?.id ?? "");
    this.#count();
    return gone;
  }

  #choose(id) {
    this.#shown = id;
    const card = this.#card;
    this.element.replaceChildren(...(card ? [card.element] : []));
    this.element.hidden = !card;
    if (card) {
      this.observer.disconnect();
      for (const watched of [document.documentElement, card.element]) this.observer.observe(watched);
      card.arm();
      this.spoken.textContent = `${safeLine(card.question.title)}. ${card.keys}`;
    } else {
      this.spoken.textContent = "";
    }
    this.changed();
  }

  // #count says in the card how many questions are open.
  #count() {
    const ids = [...this.#cards.keys()];
    for (const [id, card] of this.#cards) {
      card.place.textContent = ids.length > 1 ? `${ids.indexOf(id) + 1} of ${ids.length}` : "";
      card.next.hidden = ids.length < 2;
      card.next.onclick = () => {
        this.#choose(ids[(ids.indexOf(id) + 1) % ids.length]);
        this.#card.next.focus();
      };
    }
  }

  // settle is called when something may have moved the answers.
  settle() { this.#card?.settle(); }

  // press handles a key outside of text fields; false: it is not for a question.
  press(key) { return this.#card?.press(key) ?? false; }
}

let cards = 0;

// A Card is a question with its answers.
class Card {
  answered = false;
  #armed = false;
  #down = false; // the pointer was pressed while the answers took taps
  #timer = 0;
  #top = NaN; // of the answers

  constructor(question, send) {
    Object.assign(this, { question, send });
    const title = `question-${++cards}`;
    this.place = element("span", { className: "question-place" });
    this.next = element("button", { type: "button", className: "plain", hidden: true }, "Next question");
    this.problem = element("p", { className: "problem", role: "alert", hidden: true });
    this.answers = element("div", { className: "answers", role: "group", "aria-label": "Your answer" });
    this.form = question.questions?.length ? new Form(question) : null;
    this.element = element("section", { className: `question ${question.class ?? ""}`, "aria-labelledby": title },
      element("header", {}, element("h2", { id: title }, element("bdi", {}, safeLine(question.title))), this.place, this.next),
      this.#asked(), this.form?.element, this.problem, this.answers);
    this.answers.addEventListener("pointerdown", () => (this.#down = this.#armed), true);
    this.#showAnswers();
  }

  close() { clearTimeout(this.#timer); }

  // #asked returns the frame with what the member wants, as it sent it.
  #asked() {
    const { name, title, hunksHTML, omitted } = this.question;
    const lines = [...(title.length > longTitle ? [title] : []), ...(this.question.lines ?? [])];
    if (!lines.length && !hunksHTML && !omitted) return null;
    const n = lines.length;
    return element("div", { className: "asked" },
      element("p", { className: "asked-title" }, `What ${safeLine(name)} asks for`, n > 12 && element("span", {}, ` · ${n} lines`)),
      element("div", { className: "asked-text", tabIndex: 0, role: "group", "aria-label": `What ${safeLine(name)} asks for` },
        n > 0 && element("pre", {}, safe(lines.join("\n"))), hunksHTML && parsed(hunksHTML),
        omitted && element("p", { className: "omitted" }, safe(omitted))));
  }

  get keys() {
    if (this.form) return "";
    return this.#choices().map(([, key, label]) => `${key}: ${label}`).join(", ");
  }

  #choices() { return decisions.filter(([decision]) => this.question.choices.includes(decision)); }

  // #button returns an answer. It works only if the pointer went down after it had begun to work.
  #button(className, key, label, act) {
    return element("button", { type: "button", className, ...(key && { "aria-keyshortcuts": key }), onclick: (event) => {
      if (this.#armed && !this.answered && (event.detail === 0 || this.#down)) act();
    } }, element("span", {}, label), key && element("kbd", { "aria-hidden": "true" }, key));
  }

  #showAnswers() {
    const refuses = this.question.choices.includes("refuse");
    const reason = refuses && this.#button("reason", "r", "Refuse with a reason …", () => this.#askReason());
    if (this.form) {
      this.answers.replaceChildren(...[
        refuses && this.#button("refuse", "n", "Refuse", () => this.#decide("refuse")),
        this.question.choices.includes("allow") && this.#button("allow", "", "Answer", () => this.#answer()), reason,
      ].filter(Boolean));
    } else {
      this.answers.replaceChildren(...this.#choices().map(([decision, key, label]) =>
        this.#button(decision, key, label, () => this.#decide(decision))), ...[reason].filter(Boolean));
    }
    this.answers.classList.remove("reasoning");
    if (!this.answers.children.length) {
      this.answers.append(element("p", { className: "omitted" }, "This device may not answer it."));
    }
    this.arm();
  }

  // #askReason asks for the reason of a refusal, in place of the answers.
  #askReason() {
    const field = element("input", { className: "reason-field", placeholder: "Reason", "aria-label": "Reason", autocomplete: "off" });
    const send = this.#button("refuse", "", "Refuse", () => field.value.trim() && this.#decide("refuse", field.value.trim()));
    field.addEventListener("keydown", (event) => {
      if (event.isComposing || event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Escape") this.#back();
      else send.click();
    });
    this.answers.replaceChildren(field, this.#button("plain", "", "Back", () => this.#back()), send);
    this.answers.classList.add("reasoning");
    this.arm();
    field.focus();
  }

  #back() {
    this.#showAnswers();
    this.element.querySelector(".asked-text")?.focus();
  }

  #answer() {
    const { answers, problem } = this.form.read();
    if (problem) this.#fail(problem);
    else this.#decide("allow", "", answers);
  }

  async #decide(decision, reason = "", answers) {
    this.answered = true;
    this.#enable(false);
    const failure = await this.send({ question: this.question.id, decision, ...(reason && { reason }), ...(answers && { answers }) });
    if (!failure) return;
    this.answered = false;
    this.#fail(failure);
    this.arm();
  }

  #fail(text) {
    this.problem.textContent = text;
    this.problem.hidden = false;
  }

  // arm lets the answers work after a moment.
  arm() {
    this.#armed = false;
    this.#enable(false);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#armed = true;
      this.#top = this.answers.getBoundingClientRect().top;
      this.#enable(!this.answered);
    }, guard);
  }

  // settle arms the answers again if they have moved.
  settle() {
    if (this.#armed && Math.abs(this.answers.getBoundingClientRect().top - this.#top) > moved) this.arm();
  }

  #enable(on) {
    this.answers.classList.toggle("armed", on);
    for (const button of this.answers.querySelectorAll("button")) button.disabled = !on && button !== document.activeElement;
  }

  // press handles a key of an answer.
  press(key) {
    const name = { y: "allow", s: "session", a: "always", n: "refuse", r: "reason" }[key];
    const button = name && this.answers.querySelector(`button.${name}`);
    if (!button || this.answers.matches(".reasoning") || this.form && name === "allow") return false;
    button.click();
    return true;
  }
}

// A Form has the questions of a member with fields for the answers.
class Form {
  #fields = [];

  constructor({ name, questions }) {
    this.element = element("div", { className: "asked form" },
      element("p", { className: "asked-title" }, `What ${safeLine(name)} wants to know`),
      element("div", { className: "asked-text" }, ...questions.map((question, i) => this.#question(question, i))));
  }

  #question(question, i) {
    const { text, header, options = [], several, free, optional, secret } = question;
    const group = `${cards}-${i}`, kind = several ? "checkbox" : "radio";
    const choice = (value, label, help) => element("label", { className: "option" },
      element("input", { type: kind, name: group, value }), element("span", {}, element("bdi", {}, safeLine(label)),
        help && element("small", {}, safeLine(help))));
    const typed = (free || !options.length) && element("input", { type: secret ? "password" : "text", className: "answer-field",
      autocomplete: "off", "aria-label": options.length ? "Another answer" : safeLine(text), placeholder: options.length ? "Another answer" : "Answer" });
    const field = element("fieldset", {},
      element("legend", {}, header && element("b", {}, safeLine(header)), element("bdi", {}, safe(text)),
        (several || optional) && element("small", {}, [several && "several answers", optional && "optional"].filter(Boolean).join(", "))),
      ...options.map(({ label, shown, help }, n) => choice(n, shown ?? label, help)), typed);
    if (typed && options.length) {
      typed.addEventListener("input", () => {
        if (!several) for (const other of field.querySelectorAll("input[type=radio]")) other.checked = false;
      });
      field.addEventListener("change", ({ target }) => target.type === "radio" && (typed.value = ""));
    }
    this.#fields.push({ question, field, typed });
    return field;
  }

  // read returns the answers, or the problem of the first one that is missing.
  read() {
    const answers = [];
    for (const { question, field, typed } of this.#fields) {
      const answer = [...field.querySelectorAll(":checked")].map(({ value }) => question.options[value].label);
      const text = typed && (question.secret ? typed.value : typed.value.trim());
      if (text) answer.push(text);
      if (!answer.length && !question.optional) {
        field.querySelector("input")?.focus();
        return { problem: `An answer is missing: ${safeLine(question.header || question.text)}` };
      }
      answers.push(answer);
    }
    return { answers };
  }
}

// What happens in the sessions that run now: who speaks in them, and whether they need a person.
import { live } from "/api.js";
import { safeLine } from "/safe.js";

const most = 8; // sessions

// A Now knows it of the first ones of a list, in which those that run are first.
export class Now {
  #sessions = [];
  #states = new Map(); // by key

  get topics() { return this.#sessions.flatMap(({ key }) => [key, live(key)]); }

  // follow takes the first sessions of a list, and reports whether others run than before.
  follow(sessions) {
    const keys = JSON.stringify(this.#sessions.map(({ key }) => key));
    this.#sessions = sessions.filter((session) => session.live && !session.claimedBy).slice(0, most);
    return keys !== JSON.stringify(this.#sessions.map(({ key }) => key));
  }

  // heard takes what is new in a session, and reports whether something else happens in it.
  heard({ key, live: news }) {
    const session = this.#sessions.find((known) => known.key === key);
    if (!news?.state || !session) return false;
    const before = this.says(session).text;
    this.#states.set(key, news.state);
    return before !== this.says(session).text;
  }

  // says returns what happens in a session, and whether it needs a person.
  says({ key }) {
    const state = this.#states.get(key), [question] = state?.questions ?? [], speaking = state?.speaking ?? [];
    if (question) return { text: `${safeLine(question.name)} asks`, need: true };
    if (speaking.length) return { text: `${speaking.map(({ name }) => safeLine(name)).join(", ")} ${speaking.length > 1 ? "speak" : "speaks"}` };
    if (state?.hosted && state.waiting?.length) return { text: "your turn", need: true };
    return { text: "live" };
  }
}

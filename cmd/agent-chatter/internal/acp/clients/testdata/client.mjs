// A client of the Agent Client Protocol, built on the TypeScript SDK. It runs one scenario against `agent-chatter acp`:
//
//   node client.mjs SDK SCENARIO SETTINGS
//
// SDK is the directory of @agentclientprotocol/sdk. SETTINGS is JSON: program, home, dir (the working directory), team
// and record, a directory that gets a file for each connection, with each line of it as {"from", "line"}. The exit code
// is 0 if all assertions hold.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [sdk, scenario, encoded] = process.argv.slice(2);
const acp = await import(pathToFileURL(sdk + "/dist/v1/unstable/acp.js"));
const settings = JSON.parse(encoded);
const agent = acp.methods.agent;

let connections = 0;

// recorder returns a function that makes streams, which record the lines that pass through.
function recorder() {
  const path = `${settings.record}/${++connections}.jsonl`;
  return (from) => {
    const decoder = new TextDecoder();
    let rest = "";
    return new TransformStream({
      transform(chunk, controller) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop();
        for (const line of lines) appendFileSync(path, JSON.stringify({ from, line }) + "\n");
        controller.enqueue(chunk);
      },
    });
  };
}

// An Editor is a running agent and what it has sent: the updates of each session, in order, and the requests for
// permission. answer decides about a request for permission; default: allow.
class Editor {
  updates = new Map();
  requests = [];
  waiting = [];

  constructor(answer = allow, args = []) {
    this.answer = answer;
    this.child = spawn(settings.program, ["--home", settings.home, "acp", ...args], {
      cwd: settings.dir,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.exited = new Promise((resolve) => this.child.on("exit", (code, signal) => resolve(code ?? signal)));
    this.child.stdin.on("error", () => {});
    const record = recorder();
    const input = record("client");
    input.readable.pipeTo(Writable.toWeb(this.child.stdin)).catch(() => {});
    const output = Readable.toWeb(this.child.stdout).pipeThrough(record("agent"));
    this.connection = acp
      .client({ name: "test" })
      .onNotification(acp.methods.client.session.update, ({ params }) => this.#receive(params))
      .onRequest(acp.methods.client.session.requestPermission, ({ params, signal }) => {
        this.requests.push(params);
        this.#notify();
        return this.answer(params, signal);
      })
      .connect(acp.ndJsonStream(input.writable, output));
    this.agent = this.connection.agent;
  }

  #receive({ sessionId, update }) {
    if (!this.updates.has(sessionId)) this.updates.set(sessionId, []);
    this.updates.get(sessionId).push(update);
    this.#notify();
  }

  #notify() {
    for (const check of this.waiting.splice(0)) check();
  }

  // until waits until the condition holds.
  async until(condition) {
    while (!condition()) await new Promise((resolve) => this.waiting.push(resolve));
  }

  request(method, params) {
    return this.agent.request(method, params);
  }

  async initialize() {
    return this.request(agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "test", version: "1" },
    });
  }

  open() {
    return this.request(agent.session.new, { cwd: settings.dir, mcpServers: [] });
  }

  prompt(sessionId, text) {
    return this.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  }

  of(sessionId, kind) {
    return (this.updates.get(sessionId) ?? []).filter((u) => u.sessionUpdate === kind);
  }

  async close() {
    this.child.stdin.end();
    assert.equal(await this.exited, 0);
  }
}

const choose = (kind) => ({ options }) => {
  const option = options.find((o) => o.kind === kind);
  assert.ok(option, `no option ${kind}: ${JSON.stringify(options)}`);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
};
const allow = choose("allow_once");

// fails asserts that a request fails, and returns the error.
async function fails(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail("the request did not fail");
}

// transcript is what a client shows: the texts of each kind, joined as long as kind and member stay the same, and the
// final state of each tool call.
function transcript(updates) {
  const parts = [];
  const tools = new Map();
  for (const u of updates) {
    if (/^(user|agent)_(message|thought)_chunk$/.test(u.sessionUpdate)) {
      if (u._meta?.["agent-chatter"]?.notice) continue; // of the program, not of the session
      const member = u._meta?.["agent-chatter"]?.member ?? "";
      const turn = u._meta?.["agent-chatter"]?.turnId ?? "";
      const last = parts.at(-1);
      if (last?.kind === u.sessionUpdate && last.member === member && last.turn === turn) last.text += u.content.text;
      else parts.push({ kind: u.sessionUpdate, member, turn, text: u.content.text });
    } else if (/^tool_call/.test(u.sessionUpdate)) {
      const { sessionUpdate, _meta, ...fields } = u;
      tools.set(u.toolCallId, { ...tools.get(u.toolCallId), ...fields });
    }
  }
  return { parts, tools: Object.fromEntries(tools) };
}

const texts = (updates) => transcript(updates).parts.filter((p) => p.kind === "agent_message_chunk").map((p) => p.text);

const scenarios = {
  // A team of three works: plan, tools, a permission. Its texts say who speaks, and loading gives the same.
  async team() {
    const editor = new Editor(allow, ["-t", settings.team]);
    const { agentInfo, agentCapabilities, protocolVersion } = await editor.initialize();
    assert.equal(protocolVersion, 1);
    assert.equal(agentInfo.name, "agent-chatter");
    assert.equal(agentCapabilities.loadSession, true);
    const { sessionId } = await editor.open();
    const { stopReason } = await editor.prompt(sessionId, "Please raise the limit.");
    assert.equal(stopReason, "end_turn");

    const shown = transcript(editor.updates.get(sessionId));
    const messages = texts(editor.updates.get(sessionId));
    assert.equal(messages.length, 3, JSON.stringify(shown.parts, null, 1));
    assert.match(messages[0], /^\*\*Planner\*\*\n\nFirst the limit/);
    assert.match(messages[1], /^\n\n\*\*Coder\*\*\n\nThe limit is \*\*4\*\* now/);
    assert.match(messages[2], /^\n\n\*\*Critic\*\*\n\nHello\./);
    for (const m of messages) assert.doesNotMatch(m, /\[NEXT/);
    for (const u of editor.updates.get(sessionId))
      if (/^(agent_|tool_call|plan)/.test(u.sessionUpdate)) assert.ok(u._meta?.["agent-chatter"]?.member, JSON.stringify(u));
    assert.ok(editor.of(sessionId, "plan").some((u) => u.entries[0].content === "Change the limit"));
    assert.equal(editor.requests.length, 1);
    assert.match(editor.requests[0].toolCall.title, /Coder/);
    const kinds = editor.requests[0].options.map((o) => o.kind);
    assert.deepEqual(kinds, ["allow_once", "allow_always", "reject_once"]); // a client may show one of each kind
    const tools = Object.values(shown.tools);
    assert.ok(tools.some((t) => /main\.go/.test(t.title) && t.status === "completed"), JSON.stringify(tools));
    assert.ok(editor.of(sessionId, "session_info_update").some((u) => u.title));
    await editor.close();

    const later = new Editor();
    await later.initialize();
    const loading = later.request(agent.session.load, { sessionId, cwd: settings.dir, mcpServers: [] });
    await loading;
    const loaded = transcript(later.updates.get(sessionId));
    const [user, ...rest] = loaded.parts.filter((p) => p.kind !== "agent_thought_chunk");
    assert.equal(user.kind, "user_message_chunk");
    assert.equal(user.text, "Please raise the limit.");
    assert.deepEqual(rest, shown.parts.filter((p) => p.kind === "agent_message_chunk"));
    assert.deepEqual(Object.keys(loaded.tools), Object.keys(shown.tools));
    await later.close();
    return { sessionId };
  },

  // A denied permission reaches the member.
  async deny() {
    const editor = new Editor(choose("reject_once"), ["-t", settings.team]);
    await editor.initialize();
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "@critic\nask rm -r /");
    assert.match(texts(editor.updates.get(sessionId)).join(), /selected never/);
    await editor.close();
  },

  // Cancelling while a tool runs ends the prompt as cancelled, and the session takes another prompt.
  async cancel() {
    const editor = new Editor(allow, ["-t", settings.team]);
    await editor.initialize();
    const { sessionId } = await editor.open();
    const prompt = editor.prompt(sessionId, "@critic\ntool");
    await editor.until(() => editor.of(sessionId, "tool_call").length > 0);
    const busy = await fails(editor.prompt(sessionId, "@critic\nsay two"));
    assert.match(busy.message, /prompt/);
    await editor.agent.notify(agent.session.cancel, { sessionId });
    assert.equal((await prompt).stopReason, "cancelled");
    const { tools } = transcript(editor.updates.get(sessionId));
    assert.equal(Object.values(tools)[0].status, "failed");
    const pid = Object.values(tools)[0].rawInput.pid;
    assert.throws(() => process.kill(pid, 0), /ESRCH/);
    assert.equal((await editor.prompt(sessionId, "@critic\nsay again")).stopReason, "end_turn");
    assert.match(texts(editor.updates.get(sessionId)).at(-1), /again/);
    await editor.close();
  },

  // A cancelled request for permission ends the turn.
  async cancelAsk() {
    const editor = new Editor((_, signal) => new Promise((resolve) => {
      signal?.addEventListener("abort", () => resolve({ outcome: { outcome: "cancelled" } }));
      editor.cancelled = () => resolve({ outcome: { outcome: "cancelled" } });
    }), ["-t", settings.team]);
    await editor.initialize();
    const { sessionId } = await editor.open();
    const prompt = editor.prompt(sessionId, "@critic\nask rm -r /");
    await editor.until(() => editor.requests.length > 0);
    await editor.agent.notify(agent.session.cancel, { sessionId });
    editor.cancelled();
    assert.equal((await prompt).stopReason, "cancelled");
    await editor.close();
  },

  // After kill -9 in a turn, the session loads with all that was shown as complete, and continues.
  async kill() {
    const editor = new Editor(allow, ["-t", settings.team]);
    await editor.initialize();
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "@critic\nsay ÄÖÜ 漢字 👩‍🚀 end");
    const before = texts(editor.updates.get(sessionId));
    void editor.prompt(sessionId, "@critic\ntool").catch(() => {});
    await editor.until(() => editor.of(sessionId, "tool_call").length > 0);
    editor.child.kill("SIGKILL");
    await editor.exited;

    const later = new Editor(allow, ["-t", settings.team]);
    await later.initialize();
    await later.request(agent.session.load, { sessionId, cwd: settings.dir, mcpServers: [] });
    const after = texts(later.updates.get(sessionId));
    assert.equal(after[0], before[0]);
    assert.equal(Buffer.compare(Buffer.from(after[0]), Buffer.from(before[0])), 0);
    assert.ok(later.of(sessionId, "user_message_chunk").some((u) => /tool/.test(u.content.text)));
    assert.equal((await later.prompt(sessionId, "@critic\nsay on")).stopReason, "end_turn");
    await later.close();
  },

  // All sessions of the directory are listed once, over pages; those of other directories are not.
  async list() {
    const editor = new Editor();
    const { agentCapabilities } = await editor.initialize();
    assert.ok(agentCapabilities.sessionCapabilities.list);
    const seen = [];
    let cursor, pages = 0;
    do {
      const page = await editor.request(agent.session.list, { cwd: settings.listed, ...(cursor && { cursor }) });
      for (const s of page.sessions) {
        assert.equal(s.cwd, settings.listed);
        assert.ok(s.updatedAt && s.title);
        seen.push(s.sessionId);
      }
      cursor = page.nextCursor;
      pages++;
    } while (cursor);
    assert.equal(new Set(seen).size, seen.length);
    assert.equal(seen.length, settings.sessions);
    assert.ok(pages > 1);
    const error = await fails(editor.request(agent.session.list, { cursor: "nonsense" }));
    assert.equal(error.code, -32602);
    await editor.close();
  },

  // A fork has the history; a deleted session is gone from the list, and cannot be loaded.
  async fork() {
    const editor = new Editor(allow, ["-t", settings.team]);
    await editor.initialize();
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "@critic\nsay one");
    const fork = await editor.request(agent.session.fork, { sessionId, cwd: settings.dir, mcpServers: [] });
    assert.notEqual(fork.sessionId, sessionId);
    await editor.prompt(fork.sessionId, "@critic\nsay two");
    await editor.request(agent.session.close, { sessionId: fork.sessionId });

    const later = new Editor();
    await later.initialize();
    await later.request(agent.session.load, { sessionId: fork.sessionId, cwd: settings.dir, mcpServers: [] });
    assert.deepEqual(texts(later.updates.get(fork.sessionId)), ["**Critic**\n\none", "**Critic**\n\ntwo"]);
    await later.request(agent.session.close, { sessionId: fork.sessionId });
    await later.request(agent.session.delete, { sessionId: fork.sessionId });
    const { sessions } = await later.request(agent.session.list, { cwd: settings.dir });
    assert.deepEqual(sessions.map((s) => s.sessionId), [sessionId]);
    const error = await fails(
      later.request(agent.session.load, { sessionId: fork.sessionId, cwd: settings.dir, mcpServers: [] }),
    );
    assert.match(error.message + JSON.stringify(error.data ?? ""), /No session is named/);
    await later.close();
    await editor.close();
  },

  // The session of one process cannot be loaded in another.
  async held() {
    const editor = new Editor(allow, ["-t", settings.team]);
    await editor.initialize();
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "@critic\nsay one");
    const other = new Editor();
    await other.initialize();
    const error = await fails(other.request(agent.session.load, { sessionId, cwd: settings.dir, mcpServers: [] }));
    assert.match(error.message + JSON.stringify(error.data ?? ""), new RegExp(`${editor.child.pid}`));
    await editor.close();
    await other.request(agent.session.load, { sessionId, cwd: settings.dir, mcpServers: [] });
    await other.close();
  },

  // Each option can be set to each of its values, and the answer has the new value.
  async configuration() {
    const editor = new Editor(allow, ["-t", settings.team]);
    await editor.initialize();
    const { sessionId, configOptions } = await editor.open();
    const ids = configOptions.map((o) => o.id);
    assert.ok(ids.includes("team") && ids.includes("rounds") && ids.some((id) => /^model/.test(id)), ids.join());
    const changed = ids.filter((id) => id !== "team"); // another team has other options
    for (const id of changed) {
      const option = configOptions.find((o) => o.id === id);
      const values = option.type === "boolean" ? [true, false] : option.options.flatMap((o) => o.options ?? [o]).map((o) => o.value);
      for (const value of values) {
        const set = { sessionId, configId: id, ...(option.type === "boolean" && { type: "boolean" }), value };
        const { configOptions: now } = await editor.request(agent.session.setConfigOption, set);
        assert.equal(now.find((o) => o.id === id).currentValue, value);
      }
    }
    const { configOptions: other } = await editor.request(agent.session.setConfigOption, {
      sessionId, configId: "team", value: "demo",
    });
    assert.equal(other.find((o) => o.id === "team").currentValue, "demo");
    const error = await fails(
      editor.request(agent.session.setConfigOption, { sessionId, configId: configOptions[0].id, value: "nonsense" }),
    );
    assert.equal(error.code, -32602);
    await editor.close();
  },

  // A file that is embedded in the prompt reaches the member, as its text.
  async resource() {
    const editor = new Editor(allow, ["-t", settings.team]);
    await editor.initialize();
    const { sessionId } = await editor.open();
    await editor.request(agent.session.prompt, {
      sessionId,
      prompt: [
        { type: "text", text: "@critic\nlook at" },
        { type: "resource", resource: { uri: "file:///project/a.txt", mimeType: "text/plain", text: "x\nsay 4711\n" } },
      ],
    });
    assert.match(texts(editor.updates.get(sessionId)).join(), /4711/);
    await editor.close();
  },

  // A team that is not trusted is refused with the command that trusts it.
  async untrusted() {
    const editor = new Editor(allow, ["-t", settings.untrusted]);
    await editor.initialize();
    const error = await fails(editor.open());
    assert.match(error.message + JSON.stringify(error.data ?? ""), / team trust /);
    await editor.close();
  },
};

const result = await scenarios[scenario]();
console.log(JSON.stringify(result ?? {}));
process.exit(0);

package agenttest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// wordPace is the time between two words of a slow reply.
const wordPace = 20 * time.Millisecond

// An acpAgent is an agent that speaks the Agent Client Protocol. It follows the last line of the
// prompt that is an instruction:
//
//	say TEXT      reply with TEXT
//	slow N        reply with N words, one every 20 ms
//	long N        reply with N bytes, in pieces
//	line N        reply with N bytes in one message
//	count         reply with the length of the prompt in bytes
//	where         reply with the session, its directory, the process id and the model
//	servers       reply with the MCP servers of the session
//	tool          run a tool that sleeps, detached, until cancelled
//	plan          reply, report a tool call that fails, and complete the first of two things to do
//	serve         start the tool of "tool", reply with its process id, and finish
//	ask           request permission for a tool, and reply with the answer
//	await FILE    like ask, when there is the file
//	urge          like ask, sending thoughts meanwhile
//	repeat N      like ask, N times, and reply with the last answer
//	late          like ask, for another session
//	abandon       request permission for a tool, and finish without the answer
//	whole TEXT    send TEXT and the result at once
//	edit PATH     request permission to change a line of a file, and reply with the answer
//	use JSON      make requests of the client, [[METHOD, PARAMS], …], and reply with a line for each result or
//	              error; the method edit is the request of "edit", with a path as its params
//	think         send thoughts until cancelled
//	flood KIND N  send messages of a kind, N MiB in total, and receive no response meanwhile
//	retry TEXT    report that a request failed for that reason and is repeated, and do not finish
//	hang          reply, and do not finish
//	crash         reply, and exit with code 3
//	leave         reply, finish, and exit
//	blurt         print lines that are not part of the protocol, and reply
//	stop REASON   reply, and finish with that stop reason
//	mute REASON   finish with that stop reason without a reply
//	usage JSON    reply, and finish with that usage
//	fail TEXT     respond with that error message
//	error JSON    respond with that error object
//	unread        respond that the request could not be parsed
//
// The reply to any other prompt is "Hello.".
type acpAgent struct {
	habits habits

	mu       sync.Mutex
	out      *bufio.Writer
	requests int
	waiting  map[string]chan json.RawMessage // for responses, by request id
	cancel   map[string]context.CancelFunc   // of prompts, by session
	dirs     map[string]string               // by session
	servers  map[string]string               // JSON, by session
	model    string
	scene    []byte // nil: the agent follows the instructions of prompts
	acted    int    // turns of the scene
}

type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

type object = map[string]any

// playACP is the agent's main function.
func playACP(in io.Reader, out io.Writer, h habits) int {
	if h[Stubborn] {
		ignoreSignals()
	}
	if h[Rubbish] {
		fmt.Fprintln(out, "Welcome, my friend!")
		return 0
	}
	a := &acpAgent{
		habits: h, out: bufio.NewWriter(out), waiting: map[string]chan json.RawMessage{},
		cancel: map[string]context.CancelFunc{}, dirs: map[string]string{}, servers: map[string]string{},
		scene: sceneOf(os.Getenv(sceneVariable)),
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var m struct {
			rpcMessage
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if json.Unmarshal(line, &m) == nil && !h[Mute] {
			if m.Method == "" {
				if m.Result == nil {
					m.Result = m.Error
				}
				a.receive(string(m.ID), m.Result)
			} else {
				a.handle(m.rpcMessage)
			}
		}
		switch {
		case err != nil && h[Stubborn]:
			time.Sleep(sleepTime)
		case err != nil:
			return 0
		}
	}
}

func (a *acpAgent) send(m rpcMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write(m)
}

func (a *acpAgent) write(m rpcMessage) {
	m.JSONRPC = "2.0"
	_ = json.NewEncoder(a.out).Encode(m)
	_ = a.out.Flush()
}

// handle handles a request or a notification.
func (a *acpAgent) handle(m rpcMessage) {
	var params struct {
		Cwd, SessionID, ModelID, Value string
		Prompt                         []struct{ Text string }
		MCPServers                     json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &params)
	switch m.Method {
	case "initialize":
		a.send(rpcMessage{ID: m.ID, Result: a.capabilities()})
	case "session/new":
		a.newSession(m.ID, params.Cwd, string(params.MCPServers))
	case "session/set_model", "session/set_config_option":
		a.model = params.ModelID + params.Value
		a.send(rpcMessage{ID: m.ID, Result: object{}})
	case "session/prompt":
		ctx, cancel := context.WithCancel(context.Background())
		a.cancel[params.SessionID] = cancel
		go a.run(&acpTurn{ctx: ctx, id: m.ID, session: params.SessionID, prompt: params.Prompt[0].Text})
	case "session/cancel":
		if cancel := a.cancel[params.SessionID]; cancel != nil && !a.habits[Stubborn] {
			cancel()
		}
	case "session/close":
		delete(a.dirs, params.SessionID)
		a.send(rpcMessage{ID: m.ID, Result: object{}})
	default:
		a.send(rpcMessage{ID: m.ID, Error: object{"code": -32601, "message": "Method not found"}})
	}
}

func (a *acpAgent) capabilities() object {
	version, session := 1, object{"close": object{}}
	if a.habits[Older] {
		version = 0
	}
	if a.habits[Unclosing] {
		session = object{}
	}
	able := object{"sessionCapabilities": session, "mcpCapabilities": object{"http": a.habits[HTTPServers]}}
	return object{"protocolVersion": version, "agentCapabilities": able, "authMethods": []any{}}
}

func (a *acpAgent) newSession(id json.RawMessage, dir, servers string) {
	if a.habits[LoggedOut] {
		a.send(rpcMessage{ID: id, Error: object{"code": -32000, "message": "Authentication required"}})
		return
	}
	session := fmt.Sprintf("session-%d", len(a.dirs)+1)
	a.servers[session] = servers
	a.dirs[session] = dir
	result := object{"sessionId": session}
	if a.habits[Models] {
		result["models"] = object{"availableModels": []object{{"modelId": "m1"}}, "currentModelId": "m1"}
	}
	if a.habits[ModelOption] {
		result["configOptions"] = []object{{"id": "mode"}, {"id": "llm", "category": "model"}}
	}
	if a.habits[ThoughtOption] {
		result["configOptions"] = []object{{
			"id": "effort", "category": "thought_level", "currentValue": "none",
			"options": []object{{"value": "none"}, {"value": "low"}, {"value": "high"}},
		}}
	}
	a.send(rpcMessage{ID: id, Result: result})
	// Real agents send updates outside of turns.
	a.update(session, object{"sessionUpdate": "available_commands_update", "availableCommands": []any{}})
}

func (a *acpAgent) update(session string, update object) {
	params, _ := json.Marshal(object{"sessionId": session, "update": update})
	a.send(rpcMessage{Method: "session/update", Params: params})
}

func (a *acpAgent) say(session, text string) {
	content := object{"type": "text", "text": text}
	a.update(session, object{"sessionUpdate": "agent_message_chunk", "content": content})
}

// receive passes a result to the request that waits for it.
func (a *acpAgent) receive(id string, result json.RawMessage) {
	a.mu.Lock()
	waiting := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if waiting != nil {
		waiting <- result
	}
}

// request sends a request and waits for its result. Request ids start at 0.
func (a *acpAgent) request(method string, params any) json.RawMessage {
	encoded, _ := json.Marshal(params)
	result := make(chan json.RawMessage, 1)
	a.mu.Lock()
	id := strconv.Itoa(a.requests)
	a.requests++
	a.waiting[id] = result
	a.mu.Unlock()
	a.send(rpcMessage{ID: json.RawMessage(id), Method: method, Params: encoded})
	return <-result
}

// An acpTurn is a prompt that is being answered.
type acpTurn struct {
	ctx             context.Context // done when the turn is cancelled
	id              json.RawMessage // of the request
	session, prompt string
	arg             string // of the instruction
	n               int    // arg as a number
	reason          string // why the turn stops
	usage           any    // tokens, by name
	failure         any    // the error to respond with instead
}

// run follows the instruction of a prompt and responds to it.
func (a *acpAgent) run(t *acpTurn) {
	t.reason = "end_turn"
	t.usage = object{"inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 2, "totalTokens": 17}
	instruction := func(a *acpAgent, t *acpTurn) { a.say(t.session, "Hello.") }
	for line := range strings.SplitSeq(strings.TrimRight(t.prompt, "\n"), "\n") {
		verb, arg, _ := strings.Cut(line, " ")
		if found := instructions[verb]; found != nil {
			instruction, t.arg = found, arg
		}
	}
	if a.scene != nil {
		instruction = (*acpAgent).act
	}
	t.n, _ = strconv.Atoi(t.arg)
	instruction(a, t)
	if t.failure != nil {
		a.send(rpcMessage{ID: t.id, Error: t.failure})
		return
	}
	if t.ctx.Err() != nil {
		t.reason = "cancelled"
	}
	a.send(rpcMessage{ID: t.id, Result: object{"stopReason": t.reason, "usage": t.usage}})
}

// instructions are documented at acpAgent.
var instructions = map[string]func(a *acpAgent, t *acpTurn){
	"say":  func(a *acpAgent, t *acpTurn) { a.say(t.session, t.arg) },
	"slow": (*acpAgent).slow,
	"long": func(a *acpAgent, t *acpTurn) {
		for piece := strings.Repeat("x", 64<<10); t.n > 0; t.n -= len(piece) {
			a.say(t.session, piece[:min(t.n, len(piece))])
		}
	},
	"line":  func(a *acpAgent, t *acpTurn) { a.say(t.session, strings.Repeat("x", t.n)) },
	"count": func(a *acpAgent, t *acpTurn) { a.say(t.session, strconv.Itoa(len(t.prompt))) },
	"where": func(a *acpAgent, t *acpTurn) {
		a.say(t.session, fmt.Sprintf("%s %s %d %s", t.session, a.dirs[t.session], os.Getpid(), a.model))
	},
	"servers": func(a *acpAgent, t *acpTurn) { a.say(t.session, a.servers[t.session]) },
	"tool":    (*acpAgent).tool,
	"plan":    (*acpAgent).plan,
	"serve":   func(a *acpAgent, t *acpTurn) { a.say(t.session, strconv.Itoa(startSleeper().Process.Pid)) },
	"ask":     func(a *acpAgent, t *acpTurn) { a.say(t.session, a.requestPermission(t.session, t.arg)) },
	"await": func(a *acpAgent, t *acpTurn) {
		for _, err := os.Stat(t.arg); err != nil && t.ctx.Err() == nil; _, err = os.Stat(t.arg) {
			time.Sleep(wordPace)
		}
		a.say(t.session, a.requestPermission(t.session, t.arg))
	},
	"use":  (*acpAgent).use,
	"edit": func(a *acpAgent, t *acpTurn) { a.say(t.session, a.requestEdit(t.session, t.arg)) },
	"urge": func(a *acpAgent, t *acpTurn) {
		asking, answered := context.WithCancel(t.ctx)
		go a.think(asking, t.session)
		a.say(t.session, a.requestPermission(t.session, t.arg))
		answered()
	},
	"repeat": func(a *acpAgent, t *acpTurn) {
		answer := ""
		for range t.n {
			answer = a.requestPermission(t.session, "ls")
		}
		a.say(t.session, answer)
	},
	"abandon": func(a *acpAgent, t *acpTurn) {
		a.send(floods["questions"](t.session, "t1"))
		a.say(t.session, "Hello.")
	},
	"whole": func(a *acpAgent, t *acpTurn) {
		update := object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": t.arg}}
		a.mu.Lock()
		defer a.mu.Unlock()
		_ = json.NewEncoder(a.out).Encode(updateOf(t.session, update))
	},
	"late":  func(a *acpAgent, t *acpTurn) { a.say(t.session, a.requestPermission("another", t.arg)) },
	"think": func(a *acpAgent, t *acpTurn) { a.think(t.ctx, t.session) },
	"flood": (*acpAgent).flood,
	"retry": func(a *acpAgent, t *acpTurn) {
		failed := object{"message": "Reconnecting... 1/5", "additionalDetails": t.arg, "willRetry": true}
		a.update(t.session, object{
			"sessionUpdate": "session_info_update", "_meta": object{"codex": object{"error": failed}},
		})
		<-t.ctx.Done()
	},
	"hang": func(a *acpAgent, t *acpTurn) {
		a.say(t.session, "Let me see.")
		<-t.ctx.Done()
	},
	"crash": func(a *acpAgent, t *acpTurn) {
		a.say(t.session, "Let me see.")
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	},
	"leave": func(a *acpAgent, t *acpTurn) {
		a.say(t.session, "Goodbye.")
		a.mu.Lock() // never unlocked: no other response follows
		a.write(rpcMessage{ID: t.id, Result: object{"stopReason": t.reason}})
		os.Exit(0)
	},
	"blurt": func(a *acpAgent, t *acpTurn) {
		a.mu.Lock()
		fmt.Fprint(a.out, "npm warn\n\n[1]\n{\"jsonrpc\":\n")
		a.mu.Unlock()
		a.update(t.session, object{"sessionUpdate": "news", "content": 7})
		a.request("fs/read_text_file", object{"path": "/etc/hostname"})
		a.say(t.session, "Well.")
	},
	"stop": func(a *acpAgent, t *acpTurn) {
		a.say(t.session, "Let me see.")
		t.reason = t.arg
	},
	"usage": func(a *acpAgent, t *acpTurn) {
		a.say(t.session, "Hello.")
		t.usage = json.RawMessage(t.arg)
	},
	"mute":  func(_ *acpAgent, t *acpTurn) { t.reason = t.arg },
	"fail":  func(_ *acpAgent, t *acpTurn) { t.failure = object{"code": -32603, "message": t.arg} },
	"error": func(_ *acpAgent, t *acpTurn) { t.failure = json.RawMessage(t.arg) },
	"unread": func(_ *acpAgent, t *acpTurn) {
		t.id, t.failure = json.RawMessage("null"), object{"code": -32700, "message": "Parse error"}
	},
}

func (a *acpAgent) use(t *acpTurn) {
	var requests [][2]json.RawMessage
	if err := json.Unmarshal([]byte(t.arg), &requests); err != nil {
		a.say(t.session, err.Error())
	}
	for _, r := range requests {
		var method, path string
		_ = json.Unmarshal(r[0], &method)
		if json.Unmarshal(r[1], &path) == nil {
			a.say(t.session, a.requestEdit(t.session, path)+"\n")
			continue
		}
		params := object{}
		_ = json.Unmarshal(r[1], &params)
		params["sessionId"] = t.session
		a.say(t.session, string(a.request(method, params))+"\n")
	}
}

func (a *acpAgent) slow(t *acpTurn) {
	for i := range t.n {
		a.say(t.session, fmt.Sprintf("w%d ", i))
		select {
		case <-time.After(wordPace):
		case <-t.ctx.Done():
			return
		}
	}
}

func (a *acpAgent) think(ctx context.Context, session string) {
	for ctx.Err() == nil {
		content := object{"type": "text", "text": "hm"}
		a.update(session, object{"sessionUpdate": "agent_thought_chunk", "content": content})
		time.Sleep(wordPace)
	}
}

// startSleeper starts a program that sleeps, detached.
func startSleeper() *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), roleVariable+"="+roleSleep)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

func (a *acpAgent) tool(t *acpTurn) {
	tool := startSleeper()
	a.say(t.session, "I run it.")
	a.update(t.session, object{
		"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "sleep", "kind": "execute",
		"status": "in_progress", "rawInput": object{"pid": tool.Process.Pid},
	})
	<-t.ctx.Done()
	if !a.habits[Careless] {
		_ = tool.Process.Kill()
		_ = tool.Wait()
	}
	a.update(t.session, object{
		"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed", "rawOutput": "it was killed",
	})
}

func (a *acpAgent) plan(t *acpTurn) {
	update := func(first string) {
		a.update(t.session, object{"sessionUpdate": "plan", "entries": []object{
			{"content": "look at the plug", "status": first, "priority": "high"},
			{"content": "boil \x1b[31mwater", "status": "pending", "priority": "low"},
		}})
	}
	a.say(t.session, "I look.")
	update("in_progress")
	a.update(t.session, object{
		"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "cat plug.txt", "kind": "execute",
		"status": "in_progress", "rawInput": object{"command": "cat plug.txt"},
	})
	a.update(t.session, object{
		"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed", "rawOutput": "no such file",
	})
	update("completed")
	a.say(t.session, "It is plugged in.")
}

// requestPermission requests permission to run a command, and returns the outcome.
func (a *acpAgent) requestPermission(session, title string) string {
	return a.requestFor(session, object{
		"toolCallId": "t1", "title": title, "kind": "execute", "status": "pending",
	})
}

// requestEdit requests permission to change a line of a file, and returns the outcome.
func (a *acpAgent) requestEdit(session, path string) string {
	return a.requestFor(session, object{
		"toolCallId": "t1", "title": "Edit " + path, "kind": "edit", "status": "pending",
		"content": []object{{
			"type": "diff", "path": path, "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n",
		}},
	})
}

// requestFor requests permission for a tool call, and returns the outcome.
func (a *acpAgent) requestFor(session string, call object) string {
	result := a.request("session/request_permission", object{
		"sessionId": session,
		"toolCall":  call,
		"options": []object{
			{"optionId": "for-good", "kind": "allow_always", "name": "Always"},
			{"optionId": "this-time", "kind": "allow_once", "name": "Yes"},
			{"optionId": "never", "kind": "reject_once", "name": "No"},
		},
	})
	var answer struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(result, &answer)
	status := "completed"
	if answer.Outcome.OptionID != "this-time" && answer.Outcome.OptionID != "for-good" {
		status = "failed"
	}
	a.update(session, object{
		"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "status": status, "rawOutput": "done",
	})
	return answer.Outcome.Outcome + " " + answer.Outcome.OptionID
}

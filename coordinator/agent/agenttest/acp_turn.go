package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

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
	if t.id == nil {
		return
	}
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
	"withdraw": func(a *acpAgent, t *acpTurn) {
		a.send(floods["questions"](t.session, "t1"))
		a.send(rpcMessage{Method: "$/cancel_request", Params: json.RawMessage(`{"requestId":"t1"}`)})
		<-t.ctx.Done()
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
	"touch":    (*acpAgent).touch,
	"sneak":    func(a *acpAgent, t *acpTurn) { a.touchUnasked(t, "execute") },
	"disguise": func(a *acpAgent, t *acpTurn) { a.touchUnasked(t, "other") },
	"defy":     (*acpAgent).defy,
	"hurry":    (*acpAgent).hurry,
	"mode":     (*acpAgent).changeMode,
	"updates":  (*acpAgent).updates,
	"env":      func(a *acpAgent, t *acpTurn) { a.say(t.session, os.Getenv(t.arg)) },
	"after": func(a *acpAgent, t *acpTurn) {
		a.send(rpcMessage{ID: t.id, Result: object{"stopReason": t.reason}})
		a.updates(t)
		t.id = nil
	},
	"raw": func(a *acpAgent, t *acpTurn) {
		text := strings.NewReplacer("$BREAK", "\n", "$ID", string(t.id), "$SESSION", t.session).Replace(t.arg)
		a.mu.Lock()
		fmt.Fprintln(a.out, text)
		_ = a.out.Flush()
		a.mu.Unlock()
		t.id = nil
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

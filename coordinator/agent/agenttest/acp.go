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

// An acpAgent is an agent that speaks the protocol, and does what the last line of a prompt
// that it understands tells it:
//
//	say TEXT      says it
//	slow N        says N words, one in 20 ms
//	long N        says N bytes, in pieces
//	line N        says N bytes at once, in one line of the protocol
//	count         says how many bytes the prompt has
//	where         says in which session, directory and process it works, and its model
//	tool          runs a tool that sleeps, in a session of its own, until it is cancelled
//	serve         starts the same, says its process id, and is done
//	ask           asks leave to use a tool, and says what was answered
//	urge          asks the same, and thinks aloud meanwhile
//	late          asks the same, as if in another session
//	think         thinks aloud, to itself, until it is cancelled
//	hang          says something and nothing more
//	crash         says something and ends with exit code 3
//	leave         answers and ends
//	blurt         prints lines that are not of the protocol, and says something
//	stop REASON   stops for that reason
//	mute REASON   stops for that reason without a word
//	fail TEXT     answers with that error
//	error JSON    answers with that error, whatever it is
//	unread        answers that it could not read what it was asked
//
// To anything else it says "Hello.".
type acpAgent struct {
	habits habits

	mu      sync.Mutex
	out     *bufio.Writer
	asked   int
	waiting map[string]chan json.RawMessage // for answers, by the ids of requests
	cancel  map[string]context.CancelFunc   // of prompts, by session
	dirs    map[string]string               // by session
	model   string
}

type letter struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

type object = map[string]any

// playACP is the agent's program.
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
		cancel: map[string]context.CancelFunc{}, dirs: map[string]string{},
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var l struct {
			letter
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(line, &l) == nil && !h[Mute] {
			if l.Method == "" {
				a.answered(string(l.ID), l.Result)
			} else {
				a.obey(l.letter)
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

func (a *acpAgent) send(l letter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write(l)
}

func (a *acpAgent) write(l letter) {
	l.JSONRPC = "2.0"
	_ = json.NewEncoder(a.out).Encode(l)
	_ = a.out.Flush()
}

func (a *acpAgent) obey(l letter) {
	var p struct {
		Cwd, SessionID, ModelID, Value string
		Prompt                         []struct{ Text string }
	}
	_ = json.Unmarshal(l.Params, &p)
	switch l.Method {
	case "initialize":
		a.send(letter{ID: l.ID, Result: a.abilities()})
	case "session/new":
		a.open(l.ID, p.Cwd)
	case "session/set_model", "session/set_config_option":
		a.model = p.ModelID + p.Value
		a.send(letter{ID: l.ID, Result: object{}})
	case "session/prompt":
		ctx, cancel := context.WithCancel(context.Background())
		a.cancel[p.SessionID] = cancel
		go a.work(ctx, l.ID, p.SessionID, p.Prompt[0].Text)
	case "session/cancel":
		if cancel := a.cancel[p.SessionID]; cancel != nil && !a.habits[Stubborn] {
			cancel()
		}
	case "session/close":
		delete(a.dirs, p.SessionID)
		a.send(letter{ID: l.ID, Result: object{}})
	default:
		a.send(letter{ID: l.ID, Error: object{"code": -32601, "message": "Method not found"}})
	}
}

func (a *acpAgent) abilities() object {
	version, session := 1, object{"close": object{}}
	if a.habits[Older] {
		version = 0
	}
	if a.habits[Unclosing] {
		session = object{}
	}
	return object{"protocolVersion": version, "agentCapabilities": object{"sessionCapabilities": session}, "authMethods": []any{}}
}

func (a *acpAgent) open(id json.RawMessage, dir string) {
	if a.habits[LoggedOut] {
		a.send(letter{ID: id, Error: object{"code": -32000, "message": "Authentication required"}})
		return
	}
	session := fmt.Sprintf("session-%d", len(a.dirs)+1)
	a.dirs[session] = dir
	opened := object{"sessionId": session}
	if a.habits[Modelled] {
		opened["models"] = object{"availableModels": []object{{"modelId": "m1"}}, "currentModelId": "m1"}
	}
	if a.habits[Optioned] {
		opened["configOptions"] = []object{{"id": "mode"}, {"id": "llm", "category": "model"}}
	}
	a.send(letter{ID: id, Result: opened})
	// Agents tell things that nobody has asked for.
	a.update(session, object{"sessionUpdate": "available_commands_update", "availableCommands": []any{}})
}

func (a *acpAgent) update(session string, update object) {
	params, _ := json.Marshal(object{"sessionId": session, "update": update})
	a.send(letter{Method: "session/update", Params: params})
}

func (a *acpAgent) say(session, text string) {
	a.update(session, object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": text}})
}

// answered hands an answer to whoever waits for it.
func (a *acpAgent) answered(id string, result json.RawMessage) {
	a.mu.Lock()
	waiting := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if waiting != nil {
		waiting <- result
	}
}

// ask asks for something and waits for the answer. Its requests are numbered from 0.
func (a *acpAgent) ask(method string, params any) json.RawMessage {
	encoded, _ := json.Marshal(params)
	answer := make(chan json.RawMessage, 1)
	a.mu.Lock()
	id := strconv.Itoa(a.asked)
	a.asked++
	a.waiting[id] = answer
	a.mu.Unlock()
	a.send(letter{ID: json.RawMessage(id), Method: method, Params: encoded})
	return <-answer
}

// command is the last line that says what is to be done.
func command(prompt string) (verb, rest string) {
	lines := strings.Split(strings.TrimRight(prompt, "\n"), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		verb, rest, _ := strings.Cut(lines[i], " ")
		if verbs[verb] {
			return verb, rest
		}
	}
	return "", ""
}

var verbs = map[string]bool{
	"say": true, "slow": true, "long": true, "line": true, "count": true, "where": true, "tool": true, "serve": true, "ask": true, "urge": true, "late": true,
	"think": true, "hang": true, "crash": true, "leave": true, "blurt": true, "stop": true, "mute": true, "fail": true, "error": true, "unread": true,
}

// work does what a prompt says, and answers to it.
func (a *acpAgent) work(ctx context.Context, id json.RawMessage, session, prompt string) {
	verb, rest := command(prompt)
	n, _ := strconv.Atoi(rest)
	reason := "end_turn"
	switch verb {
	case "say":
		a.say(session, rest)
	case "slow":
		a.slowly(ctx, session, n)
	case "long":
		for piece := strings.Repeat("x", 64<<10); n > 0; n -= len(piece) {
			a.say(session, piece[:min(n, len(piece))])
		}
	case "line":
		a.say(session, strings.Repeat("x", n))
	case "count":
		a.say(session, strconv.Itoa(len(prompt)))
	case "where":
		a.say(session, fmt.Sprintf("%s %s %d %s", session, a.dirs[session], os.Getpid(), a.model))
	case "tool":
		a.tool(ctx, session)
	case "serve":
		a.say(session, strconv.Itoa(sleeper().Process.Pid))
	case "ask":
		a.say(session, a.askLeave(session, rest))
	case "urge":
		asking, answered := context.WithCancel(ctx)
		go a.think(asking, session)
		a.say(session, a.askLeave(session, rest))
		answered()
	case "late":
		a.say(session, a.askLeave("another", rest))
	case "think":
		a.think(ctx, session)
	case "hang":
		a.say(session, "Let me see.")
		<-ctx.Done()
	case "crash":
		a.say(session, "Let me see.")
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	case "leave":
		a.say(session, "Goodbye.")
		a.mu.Lock() // for good: nobody else is answered
		a.write(letter{ID: id, Result: object{"stopReason": reason}})
		os.Exit(0)
	case "blurt":
		a.mu.Lock()
		fmt.Fprint(a.out, "npm warn\n\n[1]\n{\"jsonrpc\":\n")
		a.mu.Unlock()
		a.update(session, object{"sessionUpdate": "news", "content": 7})
		a.ask("fs/read_text_file", object{"path": "/etc/hostname"})
		a.say(session, "Well.")
	case "stop":
		a.say(session, "Let me see.")
		reason = rest
	case "mute":
		reason = rest
	case "fail":
		a.send(letter{ID: id, Error: object{"code": -32603, "message": rest}})
		return
	case "error":
		a.send(letter{ID: id, Error: json.RawMessage(rest)})
		return
	case "unread":
		a.send(letter{ID: json.RawMessage("null"), Error: object{"code": -32700, "message": "Parse error"}})
		return
	default:
		a.say(session, "Hello.")
	}
	if ctx.Err() != nil {
		reason = "cancelled"
	}
	a.send(letter{ID: id, Result: object{"stopReason": reason, "usage": object{"inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 2, "totalTokens": 17}}})
}

func (a *acpAgent) slowly(ctx context.Context, session string, words int) {
	for i := range words {
		a.say(session, fmt.Sprintf("w%d ", i))
		select {
		case <-time.After(wordPace):
		case <-ctx.Done():
			return
		}
	}
}

func (a *acpAgent) think(ctx context.Context, session string) {
	for ctx.Err() == nil {
		a.update(session, object{"sessionUpdate": "agent_thought_chunk", "content": object{"type": "text", "text": "hm"}})
		time.Sleep(wordPace)
	}
}

// sleeper is a program in a session of its own.
func sleeper() *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), roleVariable+"="+roleSleep)
	apart(cmd)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

func (a *acpAgent) tool(ctx context.Context, session string) {
	tool := sleeper()
	a.say(session, "I run it.")
	a.update(session, object{"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "sleep", "kind": "execute", "status": "in_progress", "rawInput": object{"pid": tool.Process.Pid}})
	<-ctx.Done()
	if !a.habits[Careless] {
		_ = tool.Process.Kill()
		_ = tool.Wait()
	}
	a.update(session, object{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed", "rawOutput": "it was killed"})
}

// askLeave asks leave to run a command, and is what was answered.
func (a *acpAgent) askLeave(session, title string) string {
	answer := a.ask("session/request_permission", object{
		"sessionId": session,
		"toolCall":  object{"toolCallId": "t1", "title": title, "kind": "execute", "status": "pending"},
		"options": []object{
			{"optionId": "for-good", "kind": "allow_always", "name": "Always"},
			{"optionId": "this-time", "kind": "allow_once", "name": "Yes"},
			{"optionId": "never", "kind": "reject_once", "name": "No"},
		},
	})
	var said struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(answer, &said)
	done := "completed"
	if said.Outcome.OptionID != "this-time" {
		done = "failed"
	}
	a.update(session, object{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": done, "rawOutput": "done"})
	return said.Outcome.Outcome + " " + said.Outcome.OptionID
}

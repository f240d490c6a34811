package agenttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A claudeAgent speaks as Claude Code does. Its sessions are in the directory that ClaudeSessions returns. It follows
// a prompt that is an instruction, or the first line of one that is:
//
//	say TEXT      reply with TEXT
//	recall        reply with the prompts of the session
//	where         reply with the process id, the session, the arguments and the mode
//	ask TOOL JSON request permission for a tool, and reply with the answer
//	form JSON     request what a server asks the user, with these fields, and reply with the answer
//	both          request permission for two tools at once, and reply with the answers
//	many N        likewise for N tools, and reply with the number of those that are allowed
//	withdraw      request permission, withdraw the request, and reply
//	touch PATH    create a file, with the permission that the mode and the rules need
//	sneak PATH    create a file without a request, and then wait to be stopped
//	defy PATH     create a file, request permission for that, and do not care for the answer
//	mode NAME     change to the mode, and reply
//	wake          reply, and begin another turn without a prompt, which requests permission
//	compact       compact the session, and reply
//	tool          run a tool that sleeps, detached, until interrupted
//	hang          reply, and do not finish
//	crash         reply, and exit with code 3
//	raw JSON      print the line, and reply
//
// The reply to any other prompt is "Hello.".
type claudeAgent struct {
	habits   habits
	args     []string
	mu       sync.Mutex
	out      *bufio.Writer
	waiting  map[string]chan json.RawMessage // for responses, by request id
	requests int
	mode     string
	ask      []string // rules

	id      string // of the session
	history []claudeMessage
	cancel  context.CancelFunc // of the turn
}

// A claudeMessage is a line of a session's file.
type claudeMessage struct {
	Type string `json:"type"`
	UUID string `json:"uuid"`
	Text string `json:"text"`
}

// Habits of Claude Code.
const (
	AllowsTouch Habit = "allowsTouch" // has a rule that allows to create files
	Unaware     Habit = "unaware"     // does not know what newer versions can be asked for
)

// ClaudeMember returns a member whose agent is this program, as Claude Code with that home.
func ClaudeMember(home string, habits ...Habit) agent.Member {
	m := Member(habits...)
	m.Env[roleVariable], m.Env["HOME"] = roleClaude, home
	return m
}

// ClaudeSessions returns the directory of the sessions in a home.
func ClaudeSessions(home string) string { return filepath.Join(home, ".claude", "projects", "work") }

// playClaude is the agent's main function.
func playClaude(in io.Reader, out io.Writer, args []string, h habits) int {
	if h[Stubborn] {
		ignoreSignals()
	}
	a := &claudeAgent{
		habits: h, args: args, out: bufio.NewWriter(out), waiting: map[string]chan json.RawMessage{},
		mode: modeAsks,
	}
	if complaint := a.openSession(); complaint != "" {
		a.send(object{
			"type": "result", "subtype": "error_during_execution", "is_error": true, "errors": []string{complaint},
		})
		fmt.Fprintln(os.Stderr, complaint)
		return 1
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if h[Stubborn] {
				time.Sleep(sleepTime)
			}
			return 0
		}
		a.handle(line)
	}
}

// option returns the value of an argument.
func (a *claudeAgent) option(name string) (value string, ok bool) {
	for i, arg := range a.args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value, true
		}
		if arg == name {
			return slices.Concat(a.args[i+1:], []string{""})[0], true
		}
	}
	return "", false
}

// openSession opens the session that the arguments name, and returns what it complains about.
func (a *claudeAgent) openSession() string {
	if mode, ok := a.option("--permission-mode"); ok {
		a.mode = mode
	}
	if a.habits[Auto] {
		a.mode = modeAuto
	}
	a.id, _ = a.option("--session-id")
	resumed, ok := a.option("--resume")
	if !ok {
		return ""
	}
	content, err := os.ReadFile(a.file(resumed))
	if err != nil {
		return "No conversation found with session ID: " + resumed
	}
	for line := range bytes.Lines(content) {
		var m claudeMessage
		_ = json.Unmarshal(line, &m)
		a.history = append(a.history, m)
	}
	if _, fork := a.option("--fork-session"); !fork {
		a.id = resumed
		return ""
	}
	if point, ok := a.option("--resume-session-at"); ok {
		at := slices.IndexFunc(a.history, func(m claudeMessage) bool { return m.UUID == point })
		if at < 0 {
			return "No message found with message.uuid of: " + point
		}
		a.history = a.history[:at+1]
	}
	a.save(a.history...)
	return ""
}

func (a *claudeAgent) file(id string) string {
	return filepath.Join(ClaudeSessions(os.Getenv("HOME")), id+".jsonl")
}

// save appends messages to the file of the session.
func (a *claudeAgent) save(messages ...claudeMessage) {
	if _, ephemeral := a.option("--no-session-persistence"); ephemeral {
		return
	}
	_ = os.MkdirAll(filepath.Dir(a.file(a.id)), 0o700)
	f, err := os.OpenFile(a.file(a.id), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, m := range messages {
		fmt.Fprintln(f, encode(m))
	}
}

// add adds a message to the session, and returns its id.
func (a *claudeAgent) add(kind, text string) string {
	m := claudeMessage{kind, fmt.Sprintf("%08x-0000-4000-8000-%012x", len(a.history)+1, os.Getpid()), text}
	a.history = append(a.history, m)
	a.save(m)
	return m.UUID
}

func (a *claudeAgent) send(message object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write(message)
}

// write sends a message. a.mu is locked.
func (a *claudeAgent) write(message object) {
	fmt.Fprintln(a.out, encode(message))
	_ = a.out.Flush()
}

func (a *claudeAgent) handle(line []byte) {
	var m struct {
		Type      string
		RequestID string `json:"request_id"`
		Request   struct {
			Subtype, Mode string
			Settings      struct{ Permissions struct{ Ask []string } }
		}
		Response struct {
			RequestID string `json:"request_id"`
			Response  json.RawMessage
		}
		Message struct{ Content string }
	}
	_ = json.Unmarshal(line, &m)
	switch {
	case a.habits[Mute]:
	case m.Type == "user":
		ctx, cancel := context.WithCancel(context.Background())
		a.mu.Lock()
		a.cancel = cancel
		a.mu.Unlock()
		a.begin(ctx, true)
		go a.run(ctx, m.Message.Content)
	case m.Type == "control_response":
		a.mu.Lock()
		waiting := a.waiting[m.Response.RequestID]
		delete(a.waiting, m.Response.RequestID)
		a.mu.Unlock()
		if waiting != nil {
			waiting <- m.Response.Response
		}
	case m.Request.Subtype == "interrupt" && a.habits[Stubborn]:
	case m.Type != "control_request":
	case a.habits[Unaware] && (m.Request.Subtype == "apply_flag_settings" ||
		m.Request.Subtype == "list_permission_rules"):
		a.respond(m.RequestID, object{"subtype": "error", "error": "Unsupported control request"})
	default:
		a.respond(m.RequestID, object{"subtype": "success", "response": a.control(m.Request.Subtype, m.Request.Mode,
			m.Request.Settings.Permissions.Ask)})
	}
}

func (a *claudeAgent) respond(id string, response object) {
	response["request_id"] = id
	a.send(object{"type": "control_response", "response": response})
}

// control serves a request, and returns its result.
func (a *claudeAgent) control(subtype, mode string, ask []string) object {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch subtype {
	case "initialize":
		return object{"current_permission_mode": a.mode}
	case "set_permission_mode":
		if !a.habits[Staying] {
			a.mode = mode
		}
		return object{"mode": a.mode}
	case "list_permission_rules":
		rules := []object{{"behavior": "allow", "rule": "Read(/etc/*)"}, {"behavior": "deny", "rule": "Bash(rm *)"}}
		if a.habits[AllowsTouch] {
			rules = append(rules, object{"behavior": "allow", "rule": "Bash(touch *)"})
		}
		return object{"state": object{"rules": rules}}
	case "apply_flag_settings":
		a.ask = ask
	case "interrupt":
		if a.cancel != nil {
			a.cancel()
		}
	}
	return object{}
}

package agenttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// An agyAgent speaks as the Antigravity CLI is said to. Its conversations are in the directory that AgyConversations
// returns. It follows each line of the prompt that is an instruction:
//
//	say TEXT           reply with TEXT, in two pieces
//	recall             reply with the prompts of the conversation
//	args               reply with the arguments
//	tool NAME JSON     use a tool that succeeds
//	fail NAME REASON   use a tool that fails
//	deny NAME          use a tool that is denied
//	subagent TEXT      let a subagent say TEXT
//	raw TEXT           print TEXT
//	hang               do not finish
//	timeout            finish at a time limit of its own
//	exit CODE TEXT     print TEXT to standard error, and exit
//	end STATUS REASON  finish with the status
type agyAgent struct {
	habits       habits
	out          io.Writer
	args         []string
	conversation string
	prompts      []string
	step         int
	text         string
	denied       []string
}

// The habits of the Antigravity CLI.
const (
	Early  Habit = "early"  // starts the conversation before it has the prompt
	Skips  Habit = "skips"  // skips all checks of permissions, whatever the arguments are
	Swaps  Habit = "swaps"  // begins another conversation instead of one that does not exist
	Lasts  Habit = "lasts"  // does not exit after its turn
	Silent Habit = "silent" // sends no pieces of its reply
)

// AgyMember returns a member whose agent is this program, as the Antigravity CLI with that home.
func AgyMember(home string, habits ...Habit) agent.Member {
	m := Member(habits...)
	m.Env[roleVariable], m.Env["HOME"] = roleAgy, home
	return m
}

// AgyConversations returns the directory of the conversations in a home.
func AgyConversations(home string) string {
	return filepath.Join(home, ".gemini", "antigravity-cli", "conversations")
}

// playAgy is the agent's main function. It serves one turn.
func playAgy(in io.Reader, out io.Writer, args []string, h habits) int {
	id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", os.Getpid())
	a := &agyAgent{habits: h, out: out, args: args, conversation: id}
	if complaint := a.open(); complaint != "" {
		a.send("result", object{"status": "ERROR", "error": complaint})
		return 1
	}
	mode := "request-review"
	if h[Skips] || slices.Contains(args, "--dangerously-skip-permissions") {
		mode = "always-proceed"
	}
	init := object{"cwd": ".", "tools": []string{"run_command"}, "permission_mode": mode}
	if h[Early] {
		a.send("init", init)
	}
	var line struct {
		Event   string
		Message struct{ Role, Content string }
	}
	raw, _ := bufio.NewReader(in).ReadBytes('\n')
	if json.Unmarshal(raw, &line) != nil || line.Event != "user" || line.Message.Role != "user" {
		fmt.Fprintln(os.Stderr, "invalid input")
		return 1
	}
	if !h[Early] {
		a.send("init", init)
	}
	a.save(line.Message.Content)
	a.run(line.Message.Content)
	for h[Lasts] {
		time.Sleep(sleepTime)
	}
	return 0
}

// open opens the conversation that the arguments name, and returns what it complains about.
func (a *agyAgent) open() string {
	for _, arg := range a.args {
		id, ok := strings.CutPrefix(arg, "--conversation=")
		if !ok {
			continue
		}
		content, err := os.ReadFile(a.file(id))
		if err == nil {
			a.conversation = id
			_ = json.Unmarshal(content, &a.prompts)
		} else if !a.habits[Swaps] {
			return "conversation " + id + " not found"
		}
	}
	return ""
}

func (a *agyAgent) file(id string) string {
	return filepath.Join(AgyConversations(os.Getenv("HOME")), id)
}

// save adds a prompt to the conversation.
func (a *agyAgent) save(prompt string) {
	a.prompts = append(a.prompts, prompt)
	path := a.file(a.conversation)
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	if err := os.WriteFile(path, []byte(encode(a.prompts)), 0o600); err != nil {
		panic(err)
	}
}

func (a *agyAgent) send(event string, content object) {
	fmt.Fprintln(a.out, encode(object{"event": event, "conversation_id": a.conversation, event: content}))
}

// update reports a step.
func (a *agyAgent) update(kind, state string, more object) {
	more["step_index"], more["step_type"], more["state"] = a.step, kind, state
	a.send("step_update", more)
}

// say sends a text in two pieces, each with what the step has used so far.
func (a *agyAgent) say(text string) {
	a.step++
	a.text += text
	if a.habits[Silent] {
		return
	}
	half := len(text) / 2
	a.update("agent_response", "ACTIVE", object{"text_delta": text[:half], "usage": object{"input_tokens": 10}})
	a.update("agent_response", "DONE", object{"text_delta": text[half:], "usage": object{
		"input_tokens": 10, "cache_read_tokens": 5, "output_tokens": 7, "thinking_tokens": 3, "total_tokens": 22,
	}})
}

// use reports the use of a tool.
func (a *agyAgent) use(name, state string, input json.RawMessage, more object) {
	a.step++
	info := object{"name": name, "parameters": input}
	a.update("tool", "ACTIVE", object{"tool_name": name, "tool_info": info})
	for key, value := range more {
		info[key] = value
	}
	a.update("tool", state, object{"tool_name": name, "tool_info": info})
}

// run follows the instructions of a prompt, and reports the end of the turn unless they do.
func (a *agyAgent) run(prompt string) {
	a.update("user_input", "DONE", object{})
	for line := range strings.SplitSeq(prompt, "\n") {
		verb, arg, _ := strings.Cut(line, " ")
		if do := agyInstructions[verb]; do != nil {
			do(a, arg)
		}
	}
	a.send("result", object{
		"status": "SUCCESS", "response": a.text, "num_turns": 1, "usage": object{"input_tokens": 1000},
		"denied_actions": a.denied,
	})
}

// agyInstructions are documented at agyAgent.
var agyInstructions = map[string]func(a *agyAgent, arg string){
	"say":    (*agyAgent).say,
	"recall": func(a *agyAgent, _ string) { a.say(strings.Join(a.prompts, "; ")) },
	"args":   func(a *agyAgent, _ string) { a.say(strings.Join(a.args, " ")) },
	"tool": func(a *agyAgent, arg string) {
		name, input, _ := strings.Cut(arg, " ")
		a.use(name, "DONE", json.RawMessage(input), object{"output": "done"})
	},
	"fail": func(a *agyAgent, arg string) {
		name, reason, _ := strings.Cut(arg, " ")
		a.use(name, "DONE", json.RawMessage("{}"), object{"error": object{"message": reason}})
	},
	"deny": func(a *agyAgent, arg string) {
		a.use(arg, "ERROR", json.RawMessage("{}"), object{"error": "denied"})
		a.denied = append(a.denied, arg)
	},
	"subagent": func(a *agyAgent, arg string) {
		own := a.conversation
		a.conversation = "ffffffff-0000-4000-8000-000000000000"
		a.update("agent_response", "DONE", object{"text_delta": arg})
		a.conversation = own
	},
	"raw":  func(a *agyAgent, arg string) { fmt.Fprintln(a.out, arg) },
	"hang": func(*agyAgent, string) { time.Sleep(sleepTime) },
	"timeout": func(*agyAgent, string) {
		fmt.Fprintln(os.Stderr, "[agy] print timeout after 5s with turn in progress; returning partial output")
	},
	"exit": func(_ *agyAgent, arg string) {
		code, text, _ := strings.Cut(arg, " ")
		fmt.Fprintln(os.Stderr, text)
		n, _ := strconv.Atoi(code)
		os.Exit(n)
	},
	"end": func(a *agyAgent, arg string) {
		status, reason, _ := strings.Cut(arg, " ")
		a.send("result", object{"status": status, "error": reason})
		os.Exit(1)
	},
}

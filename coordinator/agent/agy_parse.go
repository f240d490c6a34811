package agent

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An agyParser parses the output of the Antigravity CLI. A step has several lines, the last one DONE or ERROR.
type agyParser struct {
	reply
	conversation string
	tools        toolNames
	step         int   // of the text so far
	usedStep     int   // of current
	earlier      Usage // of the steps before usedStep
	current      Usage
}

type agyLine struct {
	Event        string    `json:"event"`
	Conversation string    `json:"conversation_id"`
	Init         agyInit   `json:"init"`
	Step         agyStep   `json:"step_update"`
	Result       agyResult `json:"result"`
}

type agyInit struct {
	Mode string `json:"permission_mode"`
}

type agyStep struct {
	Conversation string   `json:"conversation_id"`
	Index        int      `json:"step_index"`
	State        string   `json:"state"` // ACTIVE, DONE or ERROR
	Type         string   `json:"step_type"`
	Text         string   `json:"text_delta"`
	Tool         string   `json:"tool_name"`
	Info         agyTool  `json:"tool_info"`
	Usage        agyUsage `json:"usage"`
}

type agyTool struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
	Output     json.RawMessage `json:"output"`
	Error      json.RawMessage `json:"error"`
}

type agyResult struct {
	Status   string            `json:"status"`
	Response string            `json:"response"`
	Error    json.RawMessage   `json:"error"`
	Denied   []json.RawMessage `json:"denied_actions"`
}

// An agyUsage is the tokens of a step. Those from a cache are no input, and the thought is a part of the output.
type agyUsage struct {
	Input   int64 `json:"input_tokens"`
	Cached  int64 `json:"cache_read_tokens"`
	Output  int64 `json:"output_tokens"`
	Thought int64 `json:"thinking_tokens"`
}

// agySkips is the permission mode of an agent that asks for nothing.
const agySkips = "always-proceed"

// take returns the events of a line: those for the consumer, and a verdict.
func (p *agyParser) take(line agyLine) []Event {
	id := cmp.Or(line.Conversation, line.Step.Conversation)
	if p.conversation == "" && isUUID(id) {
		p.conversation = id
		return append([]Event{SessionStarted{id}}, p.take(line)...)
	}
	switch line.Event {
	case "step_update":
		if id != "" && p.conversation != "" && id != p.conversation {
			return nil // of a subagent, whose text is for the agent
		}
		return p.takeStep(line.Step)
	case "result":
		return p.result(line.Result)
	}
	return nil
}

func (p *agyParser) takeStep(s agyStep) (events []Event) {
	if s.Text != "" && s.Type == "agent_response" {
		if s.Index != p.step {
			p.endMessage()
		}
		p.step = s.Index
		events = append(events, p.text(s.Text)...)
	}
	if name := cmp.Or(s.Info.Name, s.Tool); name != "" {
		events = append(events, p.tool(s, name)...)
	}
	if s.Usage != (agyUsage{}) {
		events = append(events, p.use(s))
	}
	return events
}

// tool returns the events of a step in which a tool is used.
func (p *agyParser) tool(s agyStep, name string) (events []Event) {
	id := strconv.Itoa(s.Index)
	if _, known := p.tools[id]; !known {
		_, name = p.tools.add(id, name)
		p.endMessage()
		events = append(events, ToolStarted{ID: id, Name: name, Input: s.Info.Parameters})
	}
	if s.State != "DONE" && s.State != "ERROR" {
		return events
	}
	_, known := p.tools.remove(id)
	name = cmp.Or(known, label(name))
	reason, output := agyText(s.Info.Error), agyText(s.Info.Output)
	failed := s.State == "ERROR" || reason != ""
	if !failed && s.Info.changes() {
		events = append(events, Bypassed{ToolID: id, Tool: name, Title: abbreviate(s.Info.title(), maxReason)})
	}
	if failed {
		output = cmp.Or(reason, output)
	}
	return append(events, completed(id, name, output, failed))
}

// use returns the tokens of the turn, with those of the step.
func (p *agyParser) use(s agyStep) Usage {
	if s.Index != p.usedStep {
		p.earlier.add(p.current)
	}
	u := s.Usage
	p.usedStep = s.Index
	p.current = Usage{Input: u.Input, CachedRead: u.Cached, Output: u.Output, Thought: u.Thought}.separate(0)
	all := p.earlier
	all.add(p.current)
	all.Context = u.Input + u.Cached + u.Output
	return all
}

// result returns the events of the last line of the turn. A turn in which everything was denied is a success for the
// agent, without a reply.
func (p *agyParser) result(r agyResult) (events []Event) {
	if !p.started {
		events = p.text(r.Response)
	}
	denied := r.denied()
	switch {
	case !strings.EqualFold(r.Status, "SUCCESS"):
		message := cmp.Or(agyText(r.Error), "it ended with the status "+excerpt(r.Status))
		return append(events, verdict{failed: true, message: message})
	case denied != "" && !p.started:
		return append(events, verdict{failed: true, message: textAgyDenied + denied})
	case denied != "":
		events = append(events, Notice{abbreviate(textAgyDenied+denied, maxReason)})
	}
	return append(events, verdict{})
}

const textAgyDenied = "it was not permitted: "

// denied returns what the agent was not allowed to do; "" is nothing.
func (r agyResult) denied() string {
	var names []string
	for _, raw := range r.Denied {
		var action struct {
			Display string `json:"display_name"`
			Action  string `json:"action"`
		}
		name := agyText(raw)
		if json.Unmarshal(raw, &action) == nil {
			name = cmp.Or(action.Display, action.Action)
		}
		if name = cmp.Or(excerpt(name), "a tool"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// agyText returns a text, or the message of an object. Anything else is returned as it is.
func agyText(raw json.RawMessage) string {
	var text string
	var object struct {
		Message string `json:"message"`
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &object) == nil && object.Message != "":
		return object.Message
	}
	return string(raw)
}

// parameters are those that say what a tool changes.
func (t agyTool) parameters() (p struct{ CommandLine, TargetFile string }) {
	_ = json.Unmarshal(t.Parameters, &p) // of other tools, they are empty
	return p
}

// title returns what the tool does.
func (t agyTool) title() string { return cmp.Or(t.parameters().CommandLine, t.parameters().TargetFile) }

// changes reports whether the tool runs a command or changes a file. The plans that the agent writes for itself are no
// changes.
func (t agyTool) changes() bool {
	switch t.Name {
	case "run_command", "send_command_input":
		return true
	case "write_to_file", "replace_file_content", "multi_replace_file_content":
		own := filepath.Join(programDir(Member{}, "", "", ".gemini"), "antigravity-cli")
		path, err := filepath.Rel(own, filepath.Clean(t.parameters().TargetFile))
		return err != nil || !filepath.IsLocal(path)
	}
	return false
}

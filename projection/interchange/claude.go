package interchange

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// claudeLine is a line of a transcript of Claude Code. The lines are a tree: a
// conversation that was taken back and begun again leaves branches.
type claudeLine struct {
	Type              string
	UUID              string
	ParentUUID        string
	LogicalParentUUID string // across a compaction
	SessionID         string
	Timestamp         instant
	CWD               string
	IsSidechain       bool
	IsMeta            bool
	IsCompactSummary  bool // it says again what was said
	CustomTitle       string
	AITitle           string
	Summary           string
	Message           *claudeMessage
}

type claudeMessage struct {
	ID      string
	Model   string
	Content claudeContent
	Usage   struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Read   int64 `json:"cache_read_input_tokens"`
		Wrote  int64 `json:"cache_creation_input_tokens"`
	}
}

// claudeContent is a text, or blocks.
type claudeContent []claudeBlock

type claudeBlock struct {
	Type      string
	Text      string
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   json.RawMessage
	IsError   bool `json:"is_error"`
}

// UnmarshalJSON never fails: what is neither is nothing.
func (c *claudeContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = claudeContent{{Type: "text", Text: text}}
		return nil
	}
	var blocks []claudeBlock
	if json.Unmarshal(data, &blocks) == nil {
		*c = blocks
	}
	return nil
}

// Claude reads a transcript of Claude Code. Its one response is in several lines,
// which become one message.
func Claude(data []byte, path string, app projection.App) (*Session, error) {
	t := newTranscript(claudeTeam, "Claude Code")
	all := decodeLines[claudeLine](data, &t.skipped)
	var response []claudeLine // the lines of one
	counted := map[string]bool{}
	for _, line := range claudeBranch(all) {
		t.note(line)
		if len(response) > 0 && (line.Type != "assistant" || line.Message.ID != response[0].Message.ID) {
			t.response(response, counted)
			response = nil
		}
		switch {
		case line.Type == "assistant":
			response = append(response, line)
		case line.Type == "user":
			t.claudeUser(line)
		}
	}
	if len(response) > 0 {
		t.response(response, counted)
	}
	for _, line := range all {
		switch {
		case line.CustomTitle != "":
			t.title = line.CustomTitle
		case line.Type != "user" && line.Type != "assistant":
			t.skipped++
		}
	}
	return t.session(claudeTeam, path, app)
}

// note keeps what every line tells.
func (t *transcript) note(line claudeLine) {
	if t.id == "" {
		t.id = line.SessionID
	}
	if t.cwd == "" {
		t.cwd = line.CWD
	}
	t.touch(line.Timestamp.Time)
}

// response adds what stands together of a response. Its end may come behind the
// results of its tools: then its tokens are counted already.
func (t *transcript) response(lines []claudeLine, counted map[string]bool) {
	first := lines[0]
	var texts []string
	for _, line := range lines {
		texts = append(texts, line.Message.Content.texts()...)
	}
	if first.Message.Model != "<synthetic>" { // a message of the program itself
		t.next.Model = first.Message.Model
	}
	if id := first.Message.ID; id == "" || !counted[id] {
		counted[id] = true
		u := lines[len(lines)-1].Message.Usage // every line repeats it
		t.spent(u.Input+u.Read+u.Wrote, u.Output)
	}
	t.answered(first.UUID, strings.Join(texts, "\n\n"), first.Timestamp.Time)
	for _, line := range lines {
		t.uses(line.Message.Content, line.Timestamp.Time)
	}
}

func (c claudeContent) texts() (texts []string) {
	for _, block := range c {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return texts
}

// uses adds the tools of a message, which are used when it was said: what they give
// back comes behind it.
func (t *transcript) uses(content claudeContent, at time.Time) {
	for _, block := range content {
		if block.Type == "tool_use" {
			t.used(block.ID, block.Name, block.Input, at)
		}
	}
}

// results adds what tools gave back.
func (t *transcript) results(content claudeContent, at time.Time) {
	for _, block := range content {
		if block.Type != "tool_result" {
			continue
		}
		output, failure := claudeText(block.Content), ""
		if block.IsError {
			output, failure = "", output
		}
		t.gave(block.ToolUseID, output, failure, at)
	}
}

func (t *transcript) claudeUser(line claudeLine) {
	t.results(line.Message.Content, line.Timestamp.Time)
	texts := line.Message.Content.texts()
	switch {
	case line.IsMeta, line.IsCompactSummary:
		t.skipped++
	case len(texts) > 0:
		t.said(line.UUID, strings.Join(texts, "\n\n"), line.Timestamp.Time)
	}
}

// claudeText is the text of a text or of blocks.
func claudeText(data json.RawMessage) string {
	var content claudeContent
	if len(data) == 0 || json.Unmarshal(data, &content) != nil {
		return ""
	}
	return strings.Join(content.texts(), "\n")
}

// claudeBranch are the messages of the branch that the conversation ended on. A
// tree with a hole in it is read in the order of the file.
func claudeBranch(all []claudeLine) []claudeLine {
	at := map[string]int{}
	leaf := -1
	for i, line := range all {
		if line.UUID != "" {
			at[line.UUID] = i
		}
		if line.spoken() {
			leaf = i
		}
	}
	on := map[int]bool{}
	for i := leaf; i >= 0; {
		if on[i] {
			break // it bites its tail
		}
		on[i] = true
		parent := all[i].ParentUUID
		if parent == "" {
			parent = all[i].LogicalParentUUID
		}
		if parent == "" {
			break
		}
		above, known := at[parent]
		if !known {
			on = nil
			break
		}
		i = above
	}
	var branch []claudeLine
	for i, line := range all {
		if line.spoken() && (on == nil || on[i]) {
			branch = append(branch, line)
		}
	}
	return slices.Clip(branch)
}

// spoken reports whether a line is a message of the conversation itself.
func (l claudeLine) spoken() bool {
	return (l.Type == "user" || l.Type == "assistant") && !l.IsSidechain && l.Message != nil
}

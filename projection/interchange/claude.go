package interchange

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// claudeLine is a line of a transcript of Claude Code. The lines are a tree: it
// branches where the conversation was rewound.
type claudeLine struct {
	Type              string
	UUID              string
	ParentUUID        string
	LogicalParentUUID string // across a compaction
	SessionID         string
	Timestamp         timestamp
	CWD               string
	IsSidechain       bool
	IsMeta            bool
	IsCompactSummary  bool // repeats earlier messages
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

// claudeContent is a text or a list of blocks. Anything else is empty.
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

// UnmarshalJSON returns no error.
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

// readClaude reads a transcript of Claude Code. The lines of one response become
// one message.
func (t *transcript) readClaude(data []byte) {
	t.agent = agent(claudeFormat, "Claude Code")
	all := decodeLines[claudeLine](data, &t.skipped)
	var response []claudeLine
	counted := map[string]bool{} // responses whose tokens were counted
	for _, line := range activeBranch(all) {
		t.id, t.cwd = cmp.Or(t.id, line.SessionID), cmp.Or(t.cwd, line.CWD)
		t.addTime(line.Timestamp.Time)
		if len(response) > 0 && (line.Type != "assistant" || line.Message.ID != response[0].Message.ID) {
			t.addClaudeResponse(response, counted)
			response = nil
		}
		switch {
		case line.Type == "assistant":
			response = append(response, line)
		case line.Type == "user":
			t.addClaudeUser(line)
		}
	}
	if len(response) > 0 {
		t.addClaudeResponse(response, counted)
	}
	for _, line := range all {
		switch {
		case line.CustomTitle != "":
			t.title = line.CustomTitle
		case line.Type != "user" && line.Type != "assistant":
			t.skipped++
		}
	}
}

// addClaudeResponse adds adjacent lines of a response. More lines of it may
// follow the results of its tools; its tokens are counted once.
func (t *transcript) addClaudeResponse(lines []claudeLine, counted map[string]bool) {
	first := lines[0]
	var texts []string
	for _, line := range lines {
		texts = append(texts, line.Message.Content.texts()...)
	}
	if first.Message.Model != "<synthetic>" { // a message of the program itself
		t.model = first.Message.Model
	}
	t.addReply(first.UUID, strings.Join(texts, "\n\n"), first.Timestamp.Time)
	count := func() {
		if id := first.Message.ID; id == "" || !counted[id] {
			counted[id] = true
			u := lines[len(lines)-1].Message.Usage // every line repeats it
			t.addUsage(projection.Usage{Input: u.Input, CachedRead: u.Read, CachedWrite: u.Wrote, Output: u.Output})
		}
	}
	if len(texts) > 0 {
		count()
	}
	for _, line := range lines {
		t.startTools(line.Message.Content, line.Timestamp.Time)
	}
	if len(texts) == 0 {
		count()
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

// startTools adds the tool calls of a message. They follow it, as do their
// results.
func (t *transcript) startTools(content claudeContent, at time.Time) {
	for _, block := range content {
		if block.Type == "tool_use" {
			t.startTool(block.ID, block.Name, block.Input, at)
		}
	}
}

// completeTools adds the tool results of a message.
func (t *transcript) completeTools(message claudeContent, at time.Time) {
	for _, block := range message {
		if block.Type != "tool_result" {
			continue
		}
		var content claudeContent
		_ = json.Unmarshal(block.Content, &content) // without content, the result is empty
		output, failure := strings.Join(content.texts(), "\n"), ""
		if block.IsError {
			output, failure = "", output
		}
		t.completeTool(block.ToolUseID, output, failure, at)
	}
}

func (t *transcript) addClaudeUser(line claudeLine) {
	t.completeTools(line.Message.Content, line.Timestamp.Time)
	texts := line.Message.Content.texts()
	switch {
	case line.IsMeta, line.IsCompactSummary:
		t.skipped++
	case len(texts) > 0:
		t.addHuman(line.UUID, strings.Join(texts, "\n\n"), line.Timestamp.Time)
	}
}

// activeBranch returns the messages of the branch that has the last one. If a
// parent is missing, it returns all messages in the order of the file.
func activeBranch(all []claudeLine) []claudeLine {
	at := map[string]int{}
	leaf := -1
	for i, line := range all {
		if line.UUID != "" {
			at[line.UUID] = i
		}
		if line.isMessage() {
			leaf = i
		}
	}
	on := map[int]bool{}
	for i := leaf; i >= 0; {
		if on[i] {
			break // a cycle
		}
		on[i] = true
		parent := cmp.Or(all[i].ParentUUID, all[i].LogicalParentUUID)
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
		if line.isMessage() && (on == nil || on[i]) {
			branch = append(branch, line)
		}
	}
	return slices.Clip(branch)
}

// isMessage reports whether a line is a message of the main conversation.
func (l claudeLine) isMessage() bool {
	return (l.Type == "user" || l.Type == "assistant") && !l.IsSidechain && l.Message != nil
}

package agent

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// todoPlan returns the todo list that a use of a tool sets; none for most tools.
func todoPlan(tool string, input json.RawMessage) []Event {
	if tool != "TodoWrite" && tool != "write_todos" { // of Claude Code and of Gemini CLI
		return nil
	}
	var list struct {
		Todos []struct {
			PlanEntry
			Description string // Gemini CLI's name of Content
		}
	}
	if !jsonlines.Decode(input, &list) || list.Todos == nil {
		return nil
	}
	entries := make([]PlanEntry, len(list.Todos))
	for i, todo := range list.Todos {
		entries[i] = todo.PlanEntry
		entries[i].Content = cmp.Or(todo.Content, todo.Description)
	}
	return []Event{Plan{entries}}
}

// textOf returns the text of a content that is a string, or blocks.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var texts []string
	for _, b := range blocksOf(content) {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// maxToolError is the length of the longest ToolCompleted.Error in bytes.
const maxToolError = 1 << 10

// completed returns the end of a tool's use. The output of a failed tool becomes its error, and
// stays its output only if it is longer than an error may be.
func completed(id, name, output string, failed bool) ToolCompleted {
	switch {
	case !failed:
		return ToolCompleted{ID: id, Name: name, Output: output}
	case len(output) <= maxToolError:
		return ToolCompleted{ID: id, Name: name, Error: cmp.Or(strings.TrimSpace(output), "it failed")}
	}
	return ToolCompleted{ID: id, Name: name, Output: output, Error: abbreviate(output, maxToolError)}
}

package view

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

// maxInput is the length at which ToolText cuts the input of a tool, in code points.
const maxInput = 200

// ToolText describes a tool call in one line: the tool, and the part of its input that
// says most.
func ToolText(t projection.ToolStarted) string {
	input := []rune(tty.SafeLine(MainInput(t.Input)))
	if len(input) == 0 {
		return tty.SafeLine(t.Name)
	}
	if len(input) > maxInput {
		input = append(input[:maxInput-1], '…')
	}
	return tty.SafeLine(t.Name) + ": " + string(input)
}

// mainFields are the fields of tool inputs that say what a call does, the most specific
// first. They are those of all supported agents.
var mainFields = []string{
	"command", "cmd", "file_path", "filePath", "pattern", "query", "url", "path", "prompt", "description", "title",
}

// MainInput returns the first of the mainFields that is not empty, or the names of the files that are changed, or all
// of the input if it has neither.
func MainInput(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return cmp.Or(changedFiles(input), string(input))
	}
	for _, name := range mainFields {
		value, ok := fields[name]
		if !ok {
			continue
		}
		var text string
		var words []string
		switch {
		case json.Unmarshal(value, &text) == nil && text != "":
			return text
		case json.Unmarshal(value, &words) == nil && len(words) > 0:
			return strings.Join(words, " ")
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return cmp.Or(changedFiles(input), string(input))
}

// changedFiles returns the names of the files that Codex changes; "" if the input of a call has no such changes.
func changedFiles(input json.RawMessage) string {
	edit, _ := parseEdit(input)
	var paths []string
	for _, c := range edit.Changes {
		if c.Path == "" {
			return ""
		}
		paths = append(paths, c.Path)
	}
	return strings.Join(paths, ", ")
}

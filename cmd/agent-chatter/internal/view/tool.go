package view

import (
	"encoding/json"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

// toolLength is how much is shown of what a tool was given, in characters.
const toolLength = 200

// toolText says in a line what an agent does with a tool.
func ToolText(t projection.ToolStarted) string {
	given := []rune(tty.SafeLine(given(t.Input)))
	if len(given) == 0 {
		return tty.SafeLine(t.Name)
	}
	if len(given) > toolLength {
		given = append(given[:toolLength-1], '…')
	}
	return tty.SafeLine(t.Name) + ": " + string(given)
}

// tellingFields are those that tell what a tool does, whichever agent it belongs to: the first
// one that there is.
var tellingFields = []string{"command", "cmd", "file_path", "filePath", "pattern", "query", "url", "path", "prompt", "description"}

// given is what tells most of what a tool was given; all of it, when no field is known to.
func given(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return string(input)
	}
	for _, name := range tellingFields {
		var text string
		var words []string
		switch {
		case json.Unmarshal(fields[name], &text) == nil && text != "":
			return text
		case json.Unmarshal(fields[name], &words) == nil && len(words) > 0:
			return strings.Join(words, " ")
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return string(input)
}

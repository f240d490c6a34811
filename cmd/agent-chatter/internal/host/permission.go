package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// shownInput is how many bytes of a field of a tool's input PermissionText shows.
const shownInput = 8000

// PermissionText asks the user to allow an action of an agent. It shows what would change in files, and everything
// else that the input of the tool has.
func PermissionText(member string, p agent.Permission) string {
	lines := []string{fmt.Sprintf("%s requests permission for: %s",
		tty.SafeLine(member), tty.SafeLine(cmp.Or(p.Title, p.Tool)))}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(p.Input, &fields) != nil && p.Input != nil {
		fields["input"] = p.Input
	}
	var changes []string
	for _, e := range p.Edits {
		replaced, _ := json.Marshal(map[string]string{"oldText": e.Old, "newText": e.New})
		changes = append(append(changes, "  "+tty.SafeLine(e.Path)), changeLines(replaced)...)
	}
	if len(p.Edits) == 0 && !hasPatch(fields) {
		changes = changeLines(p.Input)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fieldText(fields[name])
		isTitle := value == tty.Safe(p.Title) && !strings.Contains(value, "\n")
		if !isTitle && (len(changes) == 0 || !inChanges(p, name, fields[name])) {
			lines = append(lines, "  "+tty.SafeLine(name)+": "+strings.ReplaceAll(value, "\n", "\n    "))
		}
	}
	lines = append(lines, changes...)
	if p.Omitted > 0 {
		lines = append(lines, omittedText(p.Omitted))
	}
	return strings.Join(lines, "\n")
}

// omittedText ends a question that does not show everything.
func omittedText(bytes int) string {
	return fmt.Sprintf("  Not shown, since too long: %s of the request.", app.Count(bytes, "byte"))
}

// inChanges reports whether the changes that are shown have all of a field of a tool's input.
func inChanges(p agent.Permission, name string, value json.RawMessage) bool {
	switch {
	case !slices.Contains(changedFields, name):
		return false
	case len(p.Edits) == 0:
		return view.EditsCover(p.Input, name)
	}
	var text string
	return json.Unmarshal(value, &text) == nil && slices.ContainsFunc(p.Edits, func(e agent.FileEdit) bool {
		return text == e.Old || text == e.New
	})
}

// changedFields are the fields of a tool's input that changes can come from.
var changedFields = []string{
	"old_string", "new_string", "oldString", "newString", "oldText", "newText", "old_str", "new_str", "edits",
	"content", "file_text",
}

// hasPatch reports whether the input of a tool has a patch, whose headers name the files: it is shown as it is.
func hasPatch(fields map[string]json.RawMessage) bool {
	return fields["patch"] != nil || fields["input"] != nil || fields["changes"] != nil
}

// changeLines shows the lines that the input of a tool changes; none if it is no edit.
func changeLines(input json.RawMessage) (lines []string) {
	for _, c := range view.ChangesIn(input) {
		lines = append(lines, fmt.Sprintf("  %c %s", c.Kind, tty.SafeLine(c.Text)))
	}
	return lines
}

// fieldText is a value of a tool's input: a text as it is, everything else as JSON.
func fieldText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	if len(text) > shownInput {
		begin, end := runecut.Prefix(text, shownInput/2), runecut.Suffix(text, shownInput/2)
		text = fmt.Sprintf("%s\n… %s not shown …\n%s", begin, app.Count(len(text)-len(begin)-len(end), "byte"), end)
	}
	return tty.Safe(text)
}

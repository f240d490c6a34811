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
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// shownInput is how many bytes of a field of a tool's input PermissionText shows.
const shownInput = 8000

// A Request is what a question for permission shows.
type Request struct {
	Lines   []string // the first is the question; the others are what the input of the tool has besides the changes
	Hunks   []view.Hunk
	Named   bool   // the lines of a hunk follow the name of its file, which no line has
	Omitted string // what the question does not show; "": nothing
}

// NewRequest returns what asks the user to allow an action of an agent: what would change in files, and everything else
// that the input of the tool has.
func NewRequest(member string, p agent.Permission) (r Request) {
	r.Lines = []string{fmt.Sprintf("%s requests permission for: %s",
		tty.SafeLine(member), tty.SafeLine(cmp.Or(p.Title, p.Tool)))}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(p.Input, &fields) != nil && p.Input != nil {
		fields["input"] = p.Input
	}
	for _, e := range p.Edits {
		replaced, _ := json.Marshal(map[string]string{"path": e.Path, "oldText": e.Old, "newText": e.New})
		r.Hunks, r.Named = append(r.Hunks, view.HunksIn(replaced)...), true
	}
	if len(p.Edits) == 0 && !hasPatch(fields) {
		r.Hunks = view.HunksIn(p.Input)
	}
	shown := r.Named || slices.ContainsFunc(r.Hunks, func(h view.Hunk) bool { return len(h.Changes) > 0 })
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fieldText(fields[name])
		isTitle := value == tty.Safe(p.Title) && !strings.Contains(value, "\n")
		if !isTitle && (!shown || !inChanges(p, name, fields[name])) {
			field := "  " + tty.SafeLine(name) + ": " + strings.ReplaceAll(value, "\n", "\n    ")
			r.Lines = append(r.Lines, strings.Split(field, "\n")...)
		}
	}
	if p.Omitted > 0 {
		r.Omitted = omittedText(p.Omitted)
	}
	return r
}

// PermissionText returns a Request as a text.
func PermissionText(member string, p agent.Permission) string {
	r := NewRequest(member, p)
	lines := r.Lines
	for _, h := range r.Hunks {
		if r.Named {
			lines = append(lines, "  "+tty.SafeLine(h.Path))
		}
		for _, c := range h.Changes {
			lines = append(lines, fmt.Sprintf("  %c %s", c.Kind, tty.SafeLine(c.Text)))
		}
	}
	if r.Omitted != "" {
		lines = append(lines, r.Omitted)
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

// AnsweredText says how a question was answered.
func AnsweredText(d coordinator.Decision) string {
	switch d {
	case coordinator.Allowed:
		return "Allowed."
	case coordinator.AllowedForSession:
		return "Allowed for this session."
	case coordinator.AllowedAlways:
		return "Always allowed."
	}
	return "Refused."
}

// AnsweredOnText says on which device a question of a member was answered.
func AnsweredOnText(member, device string, d coordinator.Decision) string {
	return fmt.Sprintf("%s was answered on %s: %s", tty.SafeLine(member), tty.SafeLine(device), AnsweredText(d))
}

// RefusalText is the message that tells an agent why its request was refused.
func RefusalText(member string, p agent.Permission, reason string) string {
	title := strings.Join(strings.Fields(marker.Strip(cmp.Or(p.Title, p.Tool))), " ")
	return fmt.Sprintf("[NEXT: %s] I refused %q: %s", member, runecut.Prefix(title, maxRefused), reason)
}

// maxRefused is how much of the title of a refused request is repeated, in bytes.
const maxRefused = 200

package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/edit"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/part"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Style is the style sheet of the HTML that this package writes.
//
//go:embed style.css
var Style string

//go:embed item.tmpl
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"clock": func(t time.Time) string { return t.Local().Format("15:04:05") },
	"date":  func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -07:00") },
	"safe":  tty.SafeLine,
}).ParseFS(files, "*.tmpl"))

// HTML writes the HTML of an item. limit is the length in bytes at which a text is cut; 0: none is.
func (f *Fold) HTML(w io.Writer, i *Item, limit int) error {
	return templates.ExecuteTemplate(w, "item.tmpl", shownItem{Item: i, fold: f, limit: limit})
}

// A shownItem is what the template of an item shows.
type shownItem struct {
	*Item
	fold  *Fold
	limit int
}

// Name returns the name of the speaker, and "" for a change of the session.
func (s shownItem) Name() string {
	if s.Note() != "" {
		return ""
	}
	return s.Member.DisplayName
}

// Class returns the classes of the item.
func (s shownItem) Class() string {
	classes := []string{"item", string(s.Kind)}
	if s.Name() != "" {
		classes = append(classes, colorClass(s.fold.Members.Color(s.Member.ID)))
	}
	if s.Open() {
		classes = append(classes, "open")
	}
	if s.Problem() != "" {
		classes = append(classes, "unfinished")
	}
	return strings.Join(classes, " ")
}

// Anchor returns the event that a link to the message names.
func (s shownItem) Anchor() uint64 {
	if s.Message > 0 {
		return s.Message
	}
	return s.Seq
}

// Note returns what changed in the session; "" for a turn or a message.
func (s shownItem) Note() string {
	switch s.Kind {
	case projection.RowTask:
		if s.Text == "" {
			return "The task was removed."
		}
		return "Task: " + s.Text
	case projection.RowTitle:
		return "Renamed to: " + s.Text
	case projection.RowImport:
		return fmt.Sprintf("Imported from %s.", s.Import.Source)
	case projection.RowFork:
		return fmt.Sprintf("Copied from %s, up to event %d.", s.Parent.SessionID, s.Parent.Seq)
	}
	return ""
}

// Next returns the names of the members in the queue, if it was changed.
func (s shownItem) Next() string {
	var names []string
	for _, id := range s.Queue {
		names = append(names, tty.SafeLine(s.fold.Name(id)))
	}
	return strings.Join(names, ", ")
}

// Name returns the displayed name of a member.
func (f *Fold) Name(id string) string { return f.state.Speaker(id).DisplayName }

// Segments returns the parts of the message in their order.
func (s shownItem) Segments() []segment {
	if s.Entry.Seq == 0 {
		return nil
	}
	var shown []segment
	for _, of := range view.Segments(s.Entry) {
		switch {
		case of.Step == nil:
			text, more := s.cut(of.Text)
			var m markup
			m.message(text)
			shown = append(shown, segment{Text: template.HTML(m.String()), More: more})
		case of.Step.Plan != nil:
			shown = append(shown, segment{Plan: of.Step})
		default:
			call := part.StepCall(*of.Step, s.Calls[of.Step.Seq])
			if !call.Todo() {
				shown = append(shown, segment{Call: &shownCall{call, of.Step.Seq, s}})
			}
		}
	}
	return shown
}

// cut returns the start of a text within the limit, and says how much is missing.
func (s shownItem) cut(text string) (start, more string) {
	if s.limit == 0 || len(text) <= s.limit {
		return text, ""
	}
	start = runecut.Prefix(text, s.limit)
	return start, fmt.Sprintf("%d more bytes", len(text)-len(start))
}

// A segment is a text, a todo list or a tool call.
type segment struct {
	Text template.HTML
	More string // how much of the text is not shown
	Plan *projection.Step
	Call *shownCall
}

// A shownCall is a tool call.
type shownCall struct {
	part.Call
	Seq  uint64
	item shownItem
}

// State returns how the call ended: ok, failed, running or none.
func (c *shownCall) State() string {
	switch {
	case c.Completed == nil && c.item.Open():
		return "running"
	case c.Completed == nil:
		return "none"
	case c.Completed.Error != "":
		return "failed"
	}
	return "ok"
}

// Result says how the call ended, and how long it took.
func (c *shownCall) Result() string {
	state := c.State()
	if state == "none" {
		return "no result"
	}
	if !c.At.IsZero() && c.Completed != nil {
		state += " " + part.DurationText(c.Took)
	}
	return state
}

// Input returns the part of the input that says most, on one line.
func (c *shownCall) Input() string {
	return runecut.Prefix(tty.SafeLine(part.MainInput(c.Started.Input)), maxSummary)
}

// maxSummary is the length in bytes at which the input of a folded tool call is cut.
const maxSummary = 300

// Whole returns the input as it is, if Input does not have all of it.
func (c *shownCall) Whole() string {
	whole := part.MainInput(c.Started.Input)
	if len(c.Changes()) > 0 || whole == c.Input() {
		return ""
	}
	return c.shortened(whole)
}

// Output returns what the tool returned, or its error.
func (c *shownCall) Output() string {
	switch {
	case c.Completed == nil:
		return ""
	case c.Completed.Error != "":
		return c.shortened(c.Completed.Error)
	}
	return c.shortened(c.Completed.Output)
}

func (c *shownCall) shortened(text string) string {
	text, more := c.item.cut(text)
	text = strings.Trim(tty.Safe(text), "\n")
	if more != "" {
		text += "\n… " + more
	}
	return text
}

// Changes returns the lines that an edit changes.
func (c *shownCall) Changes() []change {
	var changes []change
	for _, of := range edit.Changes(c.Started.Input) {
		class := map[edit.Kind]string{edit.Added: "added", edit.Removed: "removed", edit.Kept: "kept"}[of.Kind]
		changes = append(changes, change{class, string(of.Kind) + " " + tty.SafeLine(of.Text)})
		if c.item.limit > 0 && len(changes) == maxChanges {
			changes = append(changes, change{"kept", "…"})
			break
		}
	}
	return slices.Clip(changes)
}

// maxChanges is the number of lines at which an edit is cut.
const maxChanges = 2000

// A change is a line of an edit.
type change struct{ Class, Text string }

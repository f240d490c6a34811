package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Style is the style sheet of the HTML that this package writes.
//
//go:embed style.css
var Style string

//go:embed item.tmpl
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"clock": func(t time.Time) string { return t.Local().Format("15:04:05") },
		"date":  func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -07:00") },
		"safe":  tty.SafeLine,
	}).ParseFS(files, "*.tmpl"))
})

// HTML writes the HTML of an item. limit is the length in bytes at which a text is cut; 0: none is.
func (f *Fold) HTML(w io.Writer, i *Item, limit int) error {
	return templates().ExecuteTemplate(w, "item.tmpl", shownItem{Item: i, fold: f, limit: limit})
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
		classes = append(classes, s.fold.ColorClass(s.Member.ID))
		if s.Member.Type == projection.TypeHuman {
			classes = append(classes, "human")
		}
	}
	if s.Open() {
		classes = append(classes, "open")
	}
	if s.Problem() != "" {
		classes = append(classes, "unfinished")
	}
	return strings.Join(classes, " ")
}

// Anchor returns the event that a link to the message names. It is the id of the element, too.
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

// ColorClass returns the class of a member's colour.
func (f *Fold) ColorClass(id string) string { return colorClass(f.Members.Color(id)) }

// Segments returns the parts of the message in their order.
func (s shownItem) Segments() []segment {
	if s.Entry.Seq == 0 {
		return nil
	}
	var shown []segment
	at := 0 // in the message, in bytes
	for _, of := range view.Segments(s.Entry) {
		switch {
		case of.Step == nil:
			at += max(0, strings.Index(s.Entry.Content[at:], of.Text))
			text, more := s.cut(of.Text, ofMessage, s.Entry.Seq, at, s.limit)
			at += len(of.Text)
			var m markup
			m.message(text)
			shown = append(shown, segment{Text: template.HTML(m.String()), More: more})
		case of.Step.Plan != nil:
			shown = append(shown, segment{Plan: of.Step})
		default:
			call := view.StepCall(*of.Step, s.Calls[of.Step.Seq])
			if !call.Todo() {
				shown = append(shown, segment{Call: &shownCall{call, of.Step.Seq, s}})
			}
		}
	}
	return shown
}

// The texts of an item, as more.Of has them and Whole takes them.
const (
	ofMessage = "message"
	ofInput   = "input"
	ofOutput  = "output"
)

// A more is the part of a text that is not shown.
type more struct {
	Of       string
	Seq      uint64 // of the message or of the start of the tool call
	From, To int    // in bytes
}

// Text says how much is missing.
func (m more) Text() string { return fmt.Sprintf("%d more bytes", m.To-m.From) }

// cut returns the start of a text within a limit, and the rest; 0: there is no limit. at is the place of the text.
func (s shownItem) cut(text, of string, seq uint64, at, limit int) (start string, rest *more) {
	if limit == 0 || len(text) <= limit {
		return text, nil
	}
	start = runecut.Prefix(text, limit)
	return start, &more{of, seq, at + len(start), at + len(text)}
}

// A segment is a text, a todo list or a tool call.
type segment struct {
	Text template.HTML
	More *more // of the text; nil: it is whole
	Plan *projection.Step
	Call *shownCall
}

// A shownCall is a tool call.
type shownCall struct {
	view.Call
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

// Result says how the call ended, and how long it took. It is not called while it runs.
func (c *shownCall) Result() string {
	state := c.State()
	if state == "none" {
		return "no result"
	}
	if !c.At.IsZero() {
		state += " " + view.DurationText(c.Took)
	}
	return state
}

// Input returns the part of the input that says most, on one line.
func (c *shownCall) Input() string {
	return runecut.Prefix(tty.SafeLine(view.MainInput(c.Started.Input)), maxSummary)
}

// maxSummary is the length in bytes at which the input of a folded tool call is cut.
const maxSummary = 300

// A quote is the input or the output of a tool call.
type quote struct {
	Text string
	More *more // nil: it is whole
}

// callShare is the part of the limit that an input or an output has, since a turn may have many.
const callShare = 8

func (c *shownCall) quote(text, of string) *quote {
	text, more := c.item.cut(text, of, c.Seq, 0, c.item.limit/callShare)
	if text = tty.Safe(text); more == nil {
		text = strings.TrimRight(text, "\n")
	}
	if text == "" {
		return nil
	}
	return &quote{"\n" + text, more} // HTML drops the first line break of a pre
}

// Whole returns the input as it is, if Input does not have all of it.
func (c *shownCall) Whole() *quote {
	whole := view.MainInput(c.Started.Input)
	if len(c.Changes()) > 0 || whole == c.Input() {
		return nil
	}
	return c.quote(whole, ofInput)
}

// Output returns what the tool returned, or its error.
func (c *shownCall) Output() *quote { return c.quote(outputOf(c.Call), ofOutput) }

func outputOf(c view.Call) string {
	switch {
	case c.Completed == nil:
		return ""
	case c.Completed.Error != "":
		return c.Completed.Error
	}
	return c.Completed.Output
}

// Permission says who allowed or refused the call; "" if nobody was asked.
func (c *shownCall) Permission() string {
	p, ok := c.item.permissions[[2]string{c.Started.TurnID, c.Started.ToolID}]
	if !ok {
		return ""
	}
	verb := "refused"
	if p.Allowed {
		verb = "allowed"
	}
	by, ok := map[projection.Decider]string{
		projection.ByPerson: "by a person", projection.ByPolicy: "by the policy", projection.ByDefault: "by default",
	}[p.By]
	if !ok {
		return verb
	}
	return verb + " " + by
}

// Changes returns the lines that an edit changes.
func (c *shownCall) Changes() []change {
	var changes []change
	for _, of := range view.ChangesIn(c.Started.Input) {
		class := map[view.ChangeKind]string{view.Added: "added", view.Removed: "removed", view.Kept: "kept"}[of.Kind]
		changes = append(changes, change{class, string(of.Kind) + " " + tty.Safe(of.Text)})
		if c.item.limit > 0 && len(changes) == maxChanges {
			changes = append(changes, change{"kept", "  …"})
			break
		}
	}
	return slices.Clip(changes)
}

// maxChanges is the number of lines at which an edit is cut.
const maxChanges = 2000

// A change is a line of an edit.
type change struct{ Class, Text string }

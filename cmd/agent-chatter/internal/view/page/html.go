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
	"unicode/utf16"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/oklog/ulid/v2"
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
func (m *Members) HTML(w io.Writer, i *conversation.Item, limit int) error {
	return templates().ExecuteTemplate(w, "item.tmpl", shownItem{Item: i, members: m, limit: limit})
}

// A shownItem is what the template of an item shows.
type shownItem struct {
	*conversation.Item
	members *Members
	limit   int
}

// Name returns the name of the speaker, and "" for a change of the session.
func (s shownItem) Name() string {
	if s.Note() != "" {
		return ""
	}
	return s.Speaker.DisplayName
}

// Panel says which of the turns it is that were started at the same time; "": it was started alone.
func (s shownItem) Panel() string {
	if s.Turn == nil || s.Turn.Panel == nil {
		return ""
	}
	return fmt.Sprintf("at the same time, %d of %d", s.Turn.Panel.Index, s.Turn.Panel.Of)
}

// Recorded returns how much of the reply of an open turn is in the item, in units of UTF-16, as a page counts: it shows
// what was streamed after that.
func (s shownItem) Recorded() (units int) {
	for _, r := range s.Text {
		units += utf16.RuneLen(r)
	}
	return units
}

// end returns the end of the turn; zero: it may continue, or it is no turn.
func (s shownItem) end() view.TurnEnd {
	if s.Kind != projection.RowTurn || s.Open {
		return view.TurnEnd{}
	}
	end, _ := view.EndOf(s.End, s.Message != nil)
	return end
}

// Problem says why the turn is unfinished, and "" if it is not, or may still be running.
func (s shownItem) Problem() string { return s.end().Problem }

// Figures returns the duration, the tokens and the cost of the turn, as far as they are known.
func (s shownItem) Figures() []string { return s.end().Figures }

// Class returns the classes of the item.
func (s shownItem) Class() string {
	classes := []string{"item", string(s.Kind)}
	if s.Name() != "" {
		classes = append(classes, s.members.ColorClass(s.Speaker.ID))
		if s.Speaker.Type == projection.TypeHuman {
			classes = append(classes, "human")
		}
	}
	if s.Open {
		classes = append(classes, "open")
	}
	if s.Problem() != "" {
		classes = append(classes, "unfinished")
	}
	return strings.Join(classes, " ")
}

// Anchor returns the event that a link to the message names. It is the id of the element, too.
func (s shownItem) Anchor() uint64 {
	if s.Message != nil {
		return s.Said
	}
	return s.First
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
	case projection.RowMember, projection.RowBudget, projection.RowFiles:
		return s.Text
	case projection.RowImport:
		return fmt.Sprintf("Imported from %s.", s.Change.(projection.SessionImported).Source)
	case projection.RowFork:
		parent := s.Change.(projection.SessionCreated).Parent
		text := fmt.Sprintf("Copied from %s, up to event %d", parent.SessionID, parent.Seq)
		if at := s.At(); !at.Equal(s.Time) {
			text += ", on " + at.Local().Format(time.DateOnly)
		}
		return text + "."
	}
	return ""
}

// At returns when the item happened. The first event of a copy has the time of the original: the copy was made at the
// time in its id. An id that was derived from the original has no later time.
func (s shownItem) At() time.Time {
	if s.Kind == projection.RowFork {
		id, err := ulid.ParseStrict(s.Change.(projection.SessionCreated).SessionID)
		if made := id.Timestamp(); err == nil && made.Sub(s.Time) >= time.Second {
			return made
		}
	}
	return s.Time
}

// Next returns the names of the members in the queue, if it was changed.
func (s shownItem) Next() string {
	var names []string
	for _, id := range s.Queue {
		names = append(names, tty.SafeLine(s.members.Name(id)))
	}
	return strings.Join(names, ", ")
}

// Segments returns the parts of the message in their order.
func (s shownItem) Segments() []segment {
	if s.Message == nil && s.Text == "" && len(s.Steps) == 0 {
		return nil
	}
	seq := s.Said
	if seq == 0 {
		seq = s.Last
	}
	var shown []segment
	for _, of := range s.Parts() {
		switch {
		case of.Step == nil:
			text, more := s.cut(of.Text, ofMessage, seq, of.At, s.limit)
			var m markup
			m.message(text)
			shown = append(shown, segment{Text: template.HTML(m.String()), More: more})
		case of.Step.Plan != nil:
			plan := of.Step.Plan.Short()
			shown = append(shown, segment{Plan: &plan})
		default:
			call := view.Call{Call: *of.Step.Call}
			if !call.Todo() {
				shown = append(shown, segment{Call: &shownCall{of.Step.Call, s}})
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
	Plan *projection.PlanUpdated
	Call *shownCall
}

// A shownCall is a tool call.
type shownCall struct {
	*conversation.Call
	item shownItem
}

// Class returns the class of its state.
func (c *shownCall) Class() string {
	if state := c.State(); state != conversation.NoResult {
		return string(state)
	}
	return "none"
}

// Result says who allowed or refused the call, how it ended, and how long it took.
func (c *shownCall) Result() string {
	texts := c.permission()
	switch state := c.State(); state {
	case conversation.Running, conversation.Refused:
	case conversation.Bypassed:
		texts = append(texts, view.WithoutPermission)
	case conversation.NoResult:
		texts = append(texts, string(state))
	default:
		text := string(state)
		if !c.Time.IsZero() {
			text += " " + view.DurationText(c.Took)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " · ")
}

// Running reports whether the call may still get a result.
func (c *shownCall) Running() bool { return c.State() == conversation.Running }

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

// permission says who allowed or refused the call; nil if there was no request.
func (c *shownCall) permission() []string {
	if c.Answer == nil {
		return nil
	}
	text := "refused"
	switch {
	case len(c.Answer.Answers) > 0:
		text = "answered"
	case c.Answer.Allowed:
		text = "allowed"
	}
	switch c.Answer.By {
	case projection.ByPerson:
		text += " by a person"
	case projection.ByPolicy:
		text += " by the policy"
	case projection.ByDefault:
		text += " by default"
	}
	if answers := view.AnswersText(*c.Answer); answers != "" {
		text += ": " + strings.ReplaceAll(answers, "\n", "; ")
	}
	return []string{text}
}

// Changes returns the lines that an edit changes.
func (c *shownCall) Changes() []change {
	var changes []change
	for _, of := range view.ChangesIn(c.Started.Input) {
		changes = append(changes, change{changeClasses[of.Kind], string(of.Kind) + " " + tty.Safe(of.Text)})
		if c.item.limit > 0 && len(changes) == maxChanges {
			changes = append(changes, change{"kept", "  …"})
			break
		}
	}
	return slices.Clip(changes)
}

// Unfolded reports whether the call is an edit that a reader sees without a click. A long one is folded, as are all
// other calls.
func (c *shownCall) Unfolded() bool {
	n := len(c.Changes())
	return 0 < n && n <= maxUnfolded
}

// maxUnfolded is the number of lines above which an edit is folded.
const maxUnfolded = 40

// maxChanges is the number of lines at which an edit is cut.
const maxChanges = 2000

// A change is a line of an edit.
type change struct{ Class, Text string }

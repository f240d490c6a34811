package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/clipperhouse/displaywidth"
)

// statusColumns is the width of the status row on a terminal of so many columns: one that becomes narrower by less than
// a quarter does not break it.
func statusColumns(columns int) int { return min(columns, max(38, columns*3/4)) }

// shortNext is how many columns of who is next are more important than the length of the hint about Escape.
const shortNext = 15

// spinnerFrames take a column each.
var spinnerFrames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

const spinnerInterval = 120 * time.Millisecond

// Status is what the status row shows.
type Status struct {
	Doing   string    // of the agent whose turn runs, such as "Ada thinks"; "": none
	Since   time.Time // when it began
	Others  []Doing   // of the agents whose turns run at the same time
	Escape  bool      // Escape interrupts
	Next    string    // the members that are next, such as "Bea +1"; "": none
	Facts   []string  // about the conversation, such as "Calculator" and "3 messages", the most important first
	Unsaved string    // why the conversation is not saved, such as "not saved"; "": it is

	turn string // the ID of the turn that is shown
}

// Doing is what an agent does.
type Doing struct {
	Text  string
	Since time.Time // when its turn began
	turn  string    // the id of the turn
}

// Follow shows what the members do whose turns are open: that of the oldest in the status row, the others above it.
// name returns the displayed name of a member.
func (s *Status) Follow(open []*conversation.Turn, name func(memberID string) string, now time.Time) {
	before := append(s.Others, Doing{Since: s.Since, turn: s.turn})
	s.Doing, s.turn, s.Others = "", "", nil
	for i, turn := range open {
		speaker := name(turn.Speaker.ID)
		d := Doing{Text: thinkingText(speaker), Since: now, turn: turn.ID}
		if call, ok := turn.Running(); ok {
			d.Text = usingText(speaker, call.Started.Name)
		}
		isSame := func(other Doing) bool { return other.turn == turn.ID }
		if at := slices.IndexFunc(before, isSame); at >= 0 {
			d.Since = before[at].Since
		}
		if i == 0 {
			s.Doing, s.Since, s.turn = d.Text, d.Since, d.turn
		} else {
			s.Others = append(s.Others, d)
		}
	}
}

// otherRows shows what the agents do whose turns run at the same time as the one in the status row.
func (s Status) otherRows(columns int, styled func(ansi.Style, string) string, now time.Time) (rows []string) {
	for _, d := range s.Others {
		rows = append(rows, styled(dim, d.row(columns, now)))
	}
	return rows
}

// row returns what the agent does, and for how long.
func (d Doing) row(columns int, now time.Time) string {
	elapsed := max(now.Sub(d.Since), 0) // Since may be of another clock
	spinner := spinnerFrames[int(elapsed/spinnerInterval)%len(spinnerFrames)]
	seconds := fmt.Sprintf(" %ds", int(elapsed.Seconds()))
	return fmt.Sprintf("%c %s%s", spinner, cut(d.Text, max(columns-len(seconds)-len("s "), 4)), seconds)
}

// spins reports whether the row changes with time.
func (s Status) spins() bool { return s.Doing != "" }

// row returns at most columns columns. What matters most is kept longest.
func (s Status) row(columns int, styled func(ansi.Style, string) string, now time.Time) string {
	var parts []string
	left := columns
	add := func(text string) {
		if n := displaywidth.String(text); text != "" && n+3*min(len(parts), 1) <= left {
			left -= n + 3*min(len(parts), 1)
			parts = append(parts, text)
		}
	}
	add(s.Unsaved)
	if s.Doing != "" {
		room := left
		if len(parts) > 0 {
			room -= 3
		}
		add(Doing{Text: s.Doing, Since: s.Since}.row(room, now))
	}
	if s.Doing != "" && s.Escape {
		need := 3 // of the separator, and of who is next
		if s.Next != "" {
			need += 3 + min(displaywidth.String(nextText(s.Next)), shortNext)
		}
		for i, hint := range textsEscape {
			if len(hint)+need <= left || i == len(textsEscape)-1 {
				add(hint)
				break
			}
		}
	}
	if s.Next != "" {
		add(cut(nextText(s.Next), max(left-3, 6)))
	}
	facts, help := s.Facts, ""
	if s.Doing == "" && s.Next == "" {
		help = "/help"
		left -= len(" · /help")
		if len(facts) > 0 {
			add(cut(facts[0], max(left-3*min(len(parts), 1), 1)))
			facts = facts[1:]
		}
	}
	for _, fact := range facts {
		add(fact)
	}
	left += len(" · /help")
	add(help)
	if s.Unsaved == "" || len(parts) == 0 || parts[0] != s.Unsaved {
		return styled(dim, strings.Join(parts, " · "))
	}
	unsaved := styled(red, parts[0])
	parts[0] = ""
	return unsaved + styled(dim, strings.Join(parts, " · "))
}

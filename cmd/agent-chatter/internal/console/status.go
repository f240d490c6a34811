package console

import (
	"fmt"
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
	Escape  bool      // Escape interrupts
	Next    string    // the members that are next, such as "Bea +1"; "": none
	Facts   []string  // about the conversation, such as "Calculator" and "3 messages", the most important first
	Unsaved string    // why the conversation is not saved, such as "not saved"; "": it is

	turn string // the ID of the turn that is shown
}

// Follow shows what the member does whose turn is the oldest of the open ones. name returns the displayed name of a
// member.
func (s *Status) Follow(open []*conversation.Turn, name func(memberID string) string, now time.Time) {
	if len(open) == 0 {
		s.Doing, s.turn = "", ""
		return
	}
	turn := open[0]
	if s.turn != turn.ID {
		s.turn, s.Since = turn.ID, now
	}
	speaker := name(turn.Speaker.ID)
	s.Doing = thinkingText(speaker)
	if call, ok := turn.Running(); ok {
		s.Doing = usingText(speaker, call.Started.Name)
	}
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
		elapsed := max(now.Sub(s.Since), 0) // Since may be of another clock
		spinner := spinnerFrames[int(elapsed/spinnerInterval)%len(spinnerFrames)]
		seconds := fmt.Sprintf(" %ds", int(elapsed.Seconds()))
		room := left - len(seconds) - len("s ")
		if len(parts) > 0 {
			room -= 3
		}
		add(fmt.Sprintf("%c %s%s", spinner, cut(s.Doing, max(room, 4)), seconds))
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

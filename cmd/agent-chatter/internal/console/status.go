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

	turn  string   // the ID of the turn that is shown
	hints []string // what keys do while a panel runs, the longest first
}

// Follow shows what the member of the oldest open turn does. name returns the displayed name of a member.
func (s *Status) Follow(open []*conversation.Turn, name func(memberID string) string, now time.Time) {
	if len(open) == 0 {
		s.Doing, s.turn = "", ""
		return
	}
	turn := open[0]
	speaker := name(turn.Speaker.ID)
	if s.Doing = thinkingText(speaker); s.turn != turn.ID {
		s.turn, s.Since = turn.ID, now
	}
	if call, ok := turn.Running(); ok {
		s.Doing = usingText(speaker, call.Started.Name)
	}
}

// doing returns what the agent does, and for how long.
func (s Status) doing(columns int, now time.Time) string {
	elapsed := max(now.Sub(s.Since), 0) // Since may be of another clock
	seconds := fmt.Sprintf(" %ds", int(elapsed.Seconds()))
	return fmt.Sprintf("%c %s%s", spinner(elapsed), cut(s.Doing, max(columns-len(seconds)-len("s "), 4)), seconds)
}

// spinner returns the frame that is shown after so long a time.
func spinner(elapsed time.Duration) rune {
	return spinnerFrames[int(max(elapsed, 0)/spinnerInterval)%len(spinnerFrames)]
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
		add(s.doing(room, now))
	}
	hints := s.hints
	if s.Doing != "" && s.Escape {
		hints = textsEscape
	}
	if len(hints) > 0 {
		need := 3 // of the separator, and of who is next
		if s.Next != "" {
			need += 3 + min(displaywidth.String(nextText(s.Next)), shortNext)
		}
		for i, hint := range hints {
			if displaywidth.String(hint)+need <= left || i == len(hints)-1 {
				add(hint)
				break
			}
		}
	}
	if s.Next != "" {
		add(cut(nextText(s.Next), max(left-3, 6)))
	}
	facts, help := s.Facts, ""
	if s.Doing == "" && s.Next == "" && len(hints) == 0 {
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

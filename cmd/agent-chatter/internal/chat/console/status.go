package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// statusColumns is the width of the status row. A terminal that becomes narrower breaks a longer one.
const statusColumns = 38

// spinnerFrames take a column each.
var spinnerFrames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

const spinnerInterval = 120 * time.Millisecond

// Status is what the status row shows.
type Status struct {
	Doing   string    // of the agent whose turn runs, such as "Ada is thinking"; "": none
	Since   time.Time // when it began
	Escape  bool      // Escape interrupts
	Next    string    // the members that are next, such as "Bea"; "": none
	Unsaved string    // why the conversation is not saved, such as "not saved"; "": it is
}

// spins reports whether the row changes with time.
func (s Status) spins() bool { return s.Doing != "" }

// row returns at most columns columns. What matters most is kept longest.
func (s Status) row(columns int, color bool, now time.Time) string {
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
		elapsed := now.Sub(s.Since)
		spinner := spinnerFrames[int(elapsed/spinnerInterval)%len(spinnerFrames)]
		seconds := fmt.Sprintf(" %ds", int(elapsed.Seconds()))
		room := left - len(seconds) - len("s ")
		if len(parts) > 0 {
			room -= 3
		}
		add(fmt.Sprintf("%c %s%s", spinner, cut(s.Doing, max(room, 4)), seconds))
	}
	if s.Doing != "" && s.Escape {
		if len(textEscape)+3 <= left {
			add(textEscape)
		} else {
			add("esc")
		}
	}
	if s.Next != "" {
		add(cut("next: "+s.Next, max(left-3, 6)))
	} else if s.Doing == "" {
		add("/help")
	}
	if s.Unsaved != "" && color && len(parts) > 0 {
		parts[0] = off + red + parts[0] + off + dim
	}
	return strings.Join(parts, " · ")
}

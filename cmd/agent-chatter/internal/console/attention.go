package console

import (
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

const (
	// longTurn is how long a turn takes whose end is reported.
	longTurn = 10 * time.Second
	// awayTime is how long after the last key a person is taken to be elsewhere, on a terminal that does not report its
	// focus.
	awayTime = 10 * time.Second
)

// attention is what the title says, and what is reported to a person who looks elsewhere.
type attention struct {
	focus   bool // the terminal has reported it
	away    bool // the last report: it has no focus
	pressed time.Time
	began   time.Time // the turns that run
	worked  bool      // turns have ended
	title   string    // that the terminal has
	text    string    // to be reported; "": nothing
}

// ask reports a text with the next frame.
func (a *attention) ask(text string) { a.text = text }

// see notes what an event says of where the person looks.
func (a *attention) see(e tty.Event, now time.Time) {
	switch e := e.(type) {
	case tty.Focus:
		a.focus, a.away = true, !e.In
	case tty.Resize:
		a.title = "" // another program may have changed it
	default:
		a.pressed = now
	}
}

// isAway reports whether the person looks elsewhere.
func (a *attention) isAway(now time.Time) bool {
	if a.focus {
		return a.away
	}
	return now.Sub(a.pressed) > awayTime
}

// titleText returns what the title of the terminal says. The lock is held.
func (c *Console) titleText() string {
	name := ""
	if len(c.model.Status.Facts) > 0 {
		name = c.model.Status.Facts[0]
	}
	switch q := c.model.Question; {
	case q != nil && q.Asks != "":
		return "? " + q.Asks
	case c.escape != nil:
		return "● " + name
	case c.attention.worked:
		return "✓ " + name
	}
	return name
}

// report returns a function that sets the title, and reports what there is to report; nil: nothing. The lock is held.
func (c *Console) report(now time.Time) func() {
	if c.terminal == nil {
		return nil
	}
	uses := func(way home.NotifyWay) bool { return slices.Contains(c.o.Notify, way) }
	title, text := c.titleText(), c.attention.text
	c.attention.text = ""
	if !c.attention.isAway(now) {
		text = ""
	}
	if !uses(home.NotifyTitle) {
		title = c.attention.title
	}
	changed := title != c.attention.title
	if c.attention.title = title; !changed && text == "" {
		return nil
	}
	return func() {
		if changed {
			_ = c.screen.SetTitle(title) // an error is one of the next read, too
		}
		if text != "" && uses(home.NotifyBell) {
			_ = c.screen.Ring()
		}
		if text != "" && uses(home.NotifyTerminal) {
			_ = c.screen.Notify(text)
		}
		if text != "" && uses(home.NotifyDesktop) {
			c.o.Desktop(text)
		}
	}
}

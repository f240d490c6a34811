package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// The bounds of a callList.
const (
	maxListed      = 10_000
	maxListedBytes = 32 << 20
)

// A callList shows the tool calls of a conversation on the whole terminal, the newest one last. Enter opens one, and
// text that is typed after / filters them.
type callList struct {
	calls    []view.Call
	shown    []int // the indices of calls that contain query
	selected int   // in shown
	query    editor.Editor
	typing   bool // keys edit the query
	height   int  // rows of the list in the last frame
	bytes    int  // of calls
	reading  bool // earlier calls
	failure  error
}

func newCallList(calls []view.Call) *callList {
	l := &callList{calls: calls}
	for _, c := range calls {
		l.bytes += size(c)
	}
	l.filter()
	l.selected = max(len(l.shown)-1, 0)
	return l
}

// size returns the bytes of what a call says.
func size(c view.Call) int { return len(c.Started.Input) + len(c.Result.Output) + len(c.Result.Error) }

// filter shows the calls whose input, output or error contains the query, in any case.
func (l *callList) filter() {
	l.shown = l.matching(l.calls)
	l.selected = max(0, min(l.selected, len(l.shown)-1))
}

// matching returns the indices of the calls that contain the query.
func (l *callList) matching(calls []view.Call) (found []int) {
	query := strings.ToLower(l.query.Text())
	for i, c := range calls {
		if query == "" || strings.Contains(strings.ToLower(c.Text()), query) {
			found = append(found, i)
		}
	}
	return found
}

// addEarlier adds calls before the others, as far as the bounds allow, and reports whether they allow more. What is
// selected stays so.
func (l *callList) addEarlier(calls []view.Call) (more bool) {
	from := len(calls)
	for from > 0 && len(l.calls)+len(calls)-from < maxListed && l.bytes < maxListedBytes {
		from--
		l.bytes += size(calls[from])
	}
	calls = calls[from:]
	shown := l.matching(calls)
	if len(l.shown) == 0 {
		l.selected = len(shown) - 1
	} else {
		l.selected += len(shown)
	}
	for _, i := range l.shown {
		shown = append(shown, i+len(calls))
	}
	l.calls, l.shown, l.selected = slices.Concat(calls, l.calls), shown, max(l.selected, 0)
	if from > 0 {
		l.failure = errNewestOnly
	}
	return from == 0
}

var errNewestOnly = errors.New("only the newest are listed")

// oldest returns the number of the event that began the oldest call; 0: unknown, or there is none.
func (l *callList) oldest() (seq uint64) {
	for _, c := range l.calls {
		if c.Seq > 0 && (seq == 0 || c.Seq < seq) {
			seq = c.Seq
		}
	}
	return seq
}

// pressCalls handles a key while the list is open.
func (m *Model) pressCalls(k tty.Key) {
	l := m.calls
	step := max(l.height-1, 1)
	switch k {
	case key(tty.Enter, 0):
		if l.typing = false; len(l.shown) > 0 {
			m.page = m.callPage(l.calls[l.shown[l.selected]])
		}
	case key('c', tty.Ctrl), key('o', tty.Ctrl):
		m.calls = nil
	case key(tty.Escape, 0):
		switch {
		case l.typing, !l.query.Empty():
			l.typing = false
			l.query.Clear()
			l.filter()
		default:
			m.calls = nil
		}
	case key(tty.Up, 0):
		l.selected--
	case key(tty.Down, 0):
		l.selected++
	case key(tty.PageUp, 0):
		l.selected -= step
	case key(tty.PageDown, 0):
		l.selected += step
	default:
		l.pressText(m, k)
	}
	l.selected = max(0, min(l.selected, len(l.shown)-1))
}

// pressText handles a key that is text while the query is typed.
func (l *callList) pressText(m *Model, k tty.Key) {
	switch {
	case l.typing && k.IsText():
		l.query.Type(string(rune(k.Code)))
		l.filter()
	case l.typing:
		l.query.Press(k)
		l.filter()
	case k == key('q', 0):
		m.calls = nil
	case k == key('/', 0):
		l.typing = true
	case k == key('k', 0):
		l.selected--
	case k == key('j', 0):
		l.selected++
	case k == key('g', 0), k == key(tty.Home, 0):
		l.selected = 0
	case k == key('G', 0), k == key(tty.End, 0):
		l.selected = len(l.shown) - 1
	}
}

// callPage shows a call whole.
func (m *Model) callPage(c view.Call) *page {
	return &page{render: func(columns int) []string {
		style := m.style(columns)
		style.Whole = true
		return view.Render(view.BlockOf(c), style)
	}}
}

// callRows returns the rows of the list for a screen of so many columns and rows. The last one says what keys do.
func (m *Model) callRows(columns, height int) []string {
	l := m.calls
	l.height = max(height-1, 1)
	first := max(0, min(l.selected-l.height/2, len(l.shown)-l.height))
	var rows []string
	for i, at := range l.shown[first:min(len(l.shown), first+l.height)] {
		mark := "  "
		if first+i == l.selected {
			mark = m.styled(selected, "▸ ")
		}
		style := m.style(columns - 2)
		if lines := view.Render(view.BlockOf(l.calls[at]), style); len(lines) > 0 {
			rows = append(rows, mark+lines[0])
		} else {
			rows = append(rows, mark+tty.SafeLine(l.calls[at].Started.Name))
		}
	}
	for len(rows) < l.height {
		rows = append(rows, "")
	}
	if len(l.calls) == 0 && !l.reading {
		rows[0] = cut(textNoOutput, columns-1)
	}
	state := callsText(l.selected+min(1, len(l.shown)), len(l.shown), l.reading)
	if l.typing || !l.query.Empty() {
		state = "/" + tty.SafeLine(l.query.Text()) + " · " + state
	}
	if l.failure != nil {
		state = callsFailedText(l.failure) + " · " + state
	}
	return append(rows, m.styled(dim, cut(state, columns-1)))
}

// wholeRows returns the rows of what is shown on the whole terminal.
func (m *Model) wholeRows(columns, height int) []string {
	if m.page != nil {
		return m.page.rows(columns, height)
	}
	return m.callRows(columns, height)
}

// callsText is the last row of the list of calls.
func callsText(selected, calls int, reading bool) string {
	more := ""
	if reading {
		more = "…"
	}
	return fmt.Sprintf("%d of %d%s · Enter opens · / filters · q closes", selected, calls, more)
}

// callsFailedText says why the list lacks earlier calls.
func callsFailedText(err error) string { return "Not all: " + tty.SafeLine(err.Error()) }

// showCalls opens the list of tool calls, and reads those that the transcript does not have. The lock is held.
func (c *Console) showCalls() {
	var calls []view.Call
	if c.model.Transcript != nil {
		calls = c.model.Transcript.Calls()
	}
	l := newCallList(calls)
	c.model.calls = l
	if c.o.Calls == nil {
		return
	}
	l.reading = true
	ctx, stop := context.WithCancel(context.Background())
	before := l.oldest()
	go func() {
		defer stop()
		for earlier, err := range c.o.Calls(ctx, before) {
			if !c.addEarlier(l, earlier, err) {
				break
			}
		}
		c.Change(func(*Model) { l.reading = false })
	}()
}

// addEarlier adds earlier calls to the list, and reports whether it is open and takes more.
func (c *Console) addEarlier(l *callList, calls []view.Call, err error) (more bool) {
	c.Change(func(m *Model) {
		l.failure = err
		more = l.addEarlier(calls) && m.calls == l && !c.ended
	})
	return more
}

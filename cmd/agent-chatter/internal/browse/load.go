package browse

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const (
	refreshTime = time.Second // between two looks at the rows on the screen
	idleFactor  = 20          // the whole list is read for at most 1/idleFactor of the time
)

// listedMsg has the sessions of a query.
type listedMsg struct {
	request int
	entries []*catalog.Entry
	took    time.Duration
	err     error
}

// A loader reads the list of sessions.
type loader struct {
	request int
	cancel  context.CancelFunc
	running bool
	took    time.Duration // the last time
	ended   time.Time
}

// load ends the last request and begins one.
func (l *loader) load(ctx context.Context, c *catalog.Catalog, q catalog.Query) tea.Cmd {
	l.stop()
	l.request++
	l.running = true
	ctx, l.cancel = context.WithCancel(ctx)
	request := l.request
	return func() tea.Msg {
		began := time.Now()
		q.Limit = 1 // the rows on the screen are decoded when they are drawn
		result, err := c.List(ctx, q)
		if err != nil {
			return listedMsg{request: request, err: err}
		}
		return listedMsg{request, result.Matches, time.Since(began), nil}
	}
}

// take notes the end of a request. It reports whether the message is of the last one.
func (l *loader) take(m listedMsg, now time.Time) bool {
	if m.request != l.request {
		return false
	}
	l.running, l.took, l.ended = false, m.took, now
	return true
}

// due reports whether the list should be read again.
func (l *loader) due(now time.Time) bool {
	return !l.running && now.Sub(l.ended) >= idleFactor*l.took
}

func (l *loader) stop() {
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// rowsMsg has the state of the rows on the screen.
type rowsMsg struct {
	live map[catalog.Key]journal.Holder
	rows map[catalog.Key]catalog.Session
}

// readRows is a command that reads the rows of entries, and who writes to them.
func readRows(ctx context.Context, c *catalog.Catalog, entries []*catalog.Entry) tea.Cmd {
	return func() tea.Msg {
		m := rowsMsg{map[catalog.Key]journal.Holder{}, map[catalog.Key]catalog.Session{}}
		for _, e := range entries {
			key := e.Key()
			dir := c.At(key.Dir)
			if holder := dir.Journals().Writer(key.ID); holder != (journal.Holder{}) {
				m.live[key] = holder
				if s, err := dir.Session(ctx, key.ID); err == nil {
					m.rows[key] = s
				}
			}
		}
		return m
	}
}

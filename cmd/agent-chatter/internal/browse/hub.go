package browse

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// restTime is how long a session on the hub is selected before it is fetched: moving over it fetches nothing.
const restTime = 500 * time.Millisecond

// elsewhereMsg has what the hub says of the sessions that are not here, or why it does not answer.
type elsewhereMsg struct {
	sessions *catalog.Elsewhere
	err      error
}

// restedMsg is the key of a session that was selected some time ago.
type restedMsg catalog.Key

// fetchedMsg is the end of fetching a session.
type fetchedMsg struct {
	key     catalog.Key
	session catalog.Session
	err     error
}

// A fetcher fetches sessions that are only on the hub.
type fetcher struct {
	ctx     context.Context
	cancel  context.CancelFunc
	ends    sync.WaitGroup
	running map[catalog.Key]func() tea.Cmd // what to do then, if the session is still selected; nil: nothing

	elsewhere *catalog.Elsewhere        // as of the last answer of the hub
	failed    bool                      // the user knows that the hub does not answer
	selected  catalog.Key               // the session that was seen last in Update
	rest      func(catalog.Key) tea.Cmd // returns a restedMsg after a while
}

func newFetcher(ctx context.Context) *fetcher {
	f := &fetcher{running: map[catalog.Key]func() tea.Cmd{}}
	f.ctx, f.cancel = context.WithCancel(ctx)
	f.rest = func(key catalog.Key) tea.Cmd {
		return tea.Tick(restTime, func(time.Time) tea.Msg { return restedMsg(key) })
	}
	return f
}

// close cancels what is being fetched, and waits for the end: no session stays locked.
func (f *fetcher) close() {
	f.cancel()
	f.ends.Wait()
}

// takeElsewhere lists what the hub has. If it does not answer, the list stays as it is.
func (m *model) takeElsewhere(msg elsewhereMsg) tea.Cmd {
	f := m.fetcher
	switch {
	case msg.err == nil:
		f.elsewhere, f.failed = msg.sessions, false
		if m.listed {
			return m.reload()
		}
	case !f.failed && m.notice == "":
		f.failed = true
		m.notice = m.app.Render(app.Explain(msg.err))
	}
	return nil
}

// away reports whether the whole session is not here yet.
func (m *model) away(s catalog.Session) bool {
	_, fetching := m.fetcher.running[s.Key()]
	return s.Remote || fetching
}

// rest starts to wait when another session is selected, if it is only on the hub.
func (m *model) rest() tea.Cmd {
	s, ok := m.list.session()
	if !ok || s.Key() == m.fetcher.selected {
		return nil
	}
	if m.fetcher.selected = s.Key(); !s.Remote {
		return nil
	}
	return m.fetcher.rest(s.Key())
}

// rested fetches a session if it is still selected.
func (m *model) rested(key catalog.Key) tea.Cmd {
	if s, ok := m.list.session(); ok && s.Key() == key && s.Remote {
		return m.fetch(s, nil)
	}
	return nil
}

// fetch fetches a session, unless that is being done. then is called if the session is still selected when it is here;
// it may be nil.
func (m *model) fetch(s catalog.Session, then func() tea.Cmd) tea.Cmd {
	f, key := m.fetcher, s.Key()
	_, running := f.running[key]
	if !running || then != nil {
		f.running[key] = then
		m.say("Fetching from the hub: %s", titleOf(s))
	}
	if running {
		return nil
	}
	done := make(chan fetchedMsg, 1)
	f.ends.Go(func() {
		session, err := m.app.Remote.Session(f.ctx, m.catalog.At(key.Dir), key.ID)
		done <- fetchedMsg{key, session, err}
	})
	return func() tea.Msg { return <-done }
}

// fetched shows the session that was fetched, and does what the user wanted with it.
func (m *model) fetched(msg fetchedMsg) tea.Cmd {
	then := m.fetcher.running[msg.key]
	delete(m.fetcher.running, msg.key)
	switch {
	case errors.Is(msg.err, context.Canceled):
		return nil
	case msg.err != nil:
		m.notice = m.app.Render(app.Explain(msg.err))
		return m.reload()
	}
	m.say("Fetched from the hub: %s", titleOf(msg.session))
	m.list.rows[msg.key] = msg.session
	if key, _ := m.list.key(); key != msg.key || then == nil {
		return m.reload()
	}
	return tea.Batch(m.reload(), then())
}

// actWhenHere does what a key stands for when the selected session is here. It returns false if that does not need
// the session.
func (m *model) actWhenHere(key string, s catalog.Session) (cmd tea.Cmd, waits bool) {
	if !m.away(s) || !slices.Contains([]string{"r", "p", "f", "e"}, key) {
		return nil, false
	}
	return m.fetch(s, func() tea.Cmd {
		s, ok := m.list.session()
		return m.act(key, s, ok)
	}), true
}

// whereLine says where a session is, or who writes it, if that is not here.
func (m *model) whereLine(s catalog.Session) ansi.Line {
	host := tty.SafeLine(s.ClaimedBy)
	switch _, fetching := m.fetcher.running[s.Key()]; {
	case fetching:
		return ansi.Line{accent("fetching …")}
	case host != "":
		return ansi.Line{colored("live on "+host, ansi.Green)}
	case s.Remote:
		return ansi.Line{dim("on the hub")}
	}
	return nil
}

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// The times of a stream.
const (
	keepAlive   = 15 * time.Second // between two lines, so that a connection that was lost is noticed
	listPause   = time.Second      // between two looks at the list
	listFactor  = 20               // the list is read for at most 1/listFactor of the time
	maxFollowed = 32               // sessions of a stream
)

// A change is what a stream says: a session has a new last event, or the list has changed.
type change struct {
	Key   string `json:"key,omitempty"` // TEAM/ID; "": the list
	Seq   uint64 `json:"seq,omitempty"` // the last event
	Error string `json:"error,omitempty"`

	Live *liveJSON `json:"live,omitempty"` // what is new beside the journal
}

// stream sends the changes of sessions, and of the list, as server-sent events, until the client closes it.
func (d *Server) stream(w http.ResponseWriter, r *http.Request) {
	names := r.URL.Query()["session"]
	if len(names) > maxFollowed {
		d.refuse(w, &requestError{fmt.Sprintf("A stream follows at most %d sessions.", maxFollowed)})
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	news := newMailbox()
	for _, name := range names {
		team, id, _ := strings.Cut(name, "/")
		key, err := d.named(team, id)
		if err != nil { // the tabs of a browser share a stream: the others go on
			news.put(change{Key: name, Error: d.text(err)})
			continue
		}
		readers.Go(func() { d.follow(ctx, key, name, news) })
	}
	_, role := caller(r)
	for _, name := range r.URL.Query()["live"][:min(len(r.URL.Query()["live"]), maxFollowed)] {
		team, id, _ := strings.Cut(name, "/")
		if key, err := d.named(team, id); err == nil { // session says it otherwise
			readers.Go(func() { d.followLive(ctx, key, name, role, news) })
		}
	}
	if r.URL.Query().Has("list") {
		first, _ := d.signature(ctx) // before the answer begins: the client hears of every change after that
		readers.Go(func() { d.watchList(ctx, first, news) })
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	text := ": hello\n\n"
	for {
		_ = out.SetWriteDeadline(time.Now().Add(2 * keepAlive))
		if _, err := fmt.Fprint(w, text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-d.done:
			return
		case <-ticker.C:
			text = ": still here\n\n"
		case <-news.wake:
			text = news.take()
		}
	}
}

// A mailbox has the newest change of each session that was not sent yet.
type mailbox struct {
	mu      sync.Mutex
	pending map[string]change
	lives   []change      // what conversations say, at most one of each
	taken   chan struct{} // is closed, and replaced, when these are taken
	wake    chan struct{} // has an element if something is pending
}

func newMailbox() *mailbox {
	return &mailbox{pending: map[string]change{}, taken: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// hand waits until what a conversation has said before is taken, and adds what it says now. It returns false if ctx is
// done.
func (m *mailbox) hand(ctx context.Context, name string, live liveJSON) bool {
	for {
		m.mu.Lock()
		waits := slices.ContainsFunc(m.lives, func(c change) bool { return c.Key == name })
		if !waits {
			m.lives = append(m.lives, change{Key: name, Live: &live})
		}
		taken := m.taken
		m.mu.Unlock()
		if !waits {
			break
		}
		select {
		case <-taken:
		case <-ctx.Done():
			return false
		}
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
	return ctx.Err() == nil
}

func (m *mailbox) put(c change) {
	m.mu.Lock()
	m.pending[c.Key] = c
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take returns what is pending as events.
func (m *mailbox) take() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, c := range slices.AppendSeq(m.lives, maps.Values(m.pending)) {
		data, _ := json.Marshal(c)
		fmt.Fprintf(&b, "data: %s\n\n", data)
	}
	clear(m.pending)
	m.lives = nil
	close(m.taken)
	m.taken = make(chan struct{})
	return b.String()
}

// follow reports what is appended to a session.
func (d *Server) follow(ctx context.Context, key catalog.Key, name string, news *mailbox) {
	dir := d.app.Catalog.At(key.Dir)
	fail := func(err error) { news.put(change{Key: name, Error: d.text(err)}) }
	s, err := dir.Session(ctx, key.ID)
	if err != nil {
		fail(err)
		return
	}
	end := s.End
	if reader, err := dir.Journals().Reader(key.ID, journal.Position{}); err == nil {
		end, _, _ = conversation.End(reader, s.End)
		reader.Close()
	}
	news.put(change{Key: name, Seq: end.Seq})
	for e, err := range dir.Journals().Follow(ctx, key.ID, end) {
		if err != nil {
			fail(err)
			return
		}
		news.put(change{Key: name, Seq: e.Seq})
	}
}

// watchList reports that the list of sessions has changed since it had a signature; "": it could not be read.
func (d *Server) watchList(ctx context.Context, last string, news *mailbox) {
	pause := listPause
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		if now, err := d.signature(ctx); err == nil && now != last {
			last = now
			news.put(change{})
		}
		pause = max(listPause, listFactor*time.Since(began))
	}
}

// signature returns a text that differs if the list does.
func (d *Server) signature(ctx context.Context) (string, error) {
	result, err := d.listed(ctx, catalog.Query{Limit: 1, Elsewhere: d.hub.sessions()})
	if err != nil {
		return "", err
	}
	var newest time.Time
	for _, e := range result.Matches {
		if e.UpdatedAt().After(newest) {
			newest = e.UpdatedAt()
		}
	}
	live := running(result.Matches)
	return fmt.Sprint(len(result.Matches), newest.UnixNano(), live, d.hub.version()), nil
}

package home

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

const id = "01KAHV6T3R8Q4Y2M0N7C5B0001"

// A world has a hub, another machine, and the connection of this one.
type world struct {
	t      *testing.T
	there  replica.Replica
	here   *catalog.Catalog
	dir    *catalog.Dir
	remote *Connection
}

func newWorld(t *testing.T) *world {
	engine := &hubtest.Memory{}
	mill := hub.New(engine, hub.Options{Home: "/home/mia", Host: "mill"})
	there := replica.Replica{Hub: mill, Dir: catalog.New(t.TempDir(), journal.Options{}).Team("kitchen"), ID: id}
	here := catalog.New(t.TempDir(), journal.Options{})
	settings := Config{Hub: HubSettings{URLs: []string{"nats://hub"}, Teams: []string{AllTeams}}}
	return &world{t, there, here, here.Team("kitchen"), &Connection{
		Home: t.TempDir(), Config: func() (Config, error) { return settings, nil },
		Open: func(context.Context, jetstream.Options) (hub.Engine, error) { return engine, nil },
	}}
}

// write writes an event to the session, which it creates, and ships it.
func (w *world) write() {
	w.t.Helper()
	dir := w.there.Dir
	log, err := dir.Journals().Open(w.t.Context(), id)
	p := projection.Payload(projection.SessionRenamed{Title: "Soup"})
	if errors.Is(err, journal.ErrNotFound) {
		log, err = dir.Journals().Create(id)
		p = projection.SessionCreated{
			Format: projection.Format, SessionID: id, Team: projection.Team{ID: "kitchen", Name: "kitchen"},
		}
	}
	if err == nil {
		_, err = log.Append(projection.Record(time.Now(), p))
	}
	if err == nil {
		err = log.Close()
	}
	if err == nil {
		_, err = w.there.Push(w.t.Context(), false)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// end returns how many events of the session are here.
func (w *world) end() uint64 {
	s, _ := w.dir.Session(w.t.Context(), id)
	return s.End.Seq
}

func TestWatchReportsAndFetches(t *testing.T) {
	w := newWorld(t)
	w.write()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reports := make(chan int)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.remote.Watch(ctx, w.here, func(e *catalog.Elsewhere, err error) {
			if err != nil {
				t.Error(err)
			}
			reports <- len(e.Entries())
		})
	}()
	if n := <-reports; n != 1 || w.end() != 0 {
		t.Errorf("%d sessions are elsewhere, %d events were fetched", n, w.end())
	}
	if err := w.remote.Fetch(t.Context(), w.dir, id); err != nil || w.end() != 1 {
		t.Errorf("fetched %d events: %v", w.end(), err)
	}
	w.write()
	if n := <-reports; n != 0 {
		t.Errorf("%d sessions are elsewhere", n)
	}
	seen := 0
	s, _ := w.dir.Session(t.Context(), id)
	for range w.dir.Journals().Follow(t.Context(), id, journal.Position{}) {
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("%d events are here: %+v", seen, s)
	}
	stop()
	<-ended
}

func TestWatchReportsThatTheHubDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	down := &hub.UnavailableError{Err: context.DeadlineExceeded}
	w.remote.Open = func(context.Context, jetstream.Options) (hub.Engine, error) { return nil, down }
	ctx, stop := context.WithCancel(t.Context())
	w.remote.Watch(ctx, w.here, func(e *catalog.Elsewhere, err error) {
		if e != nil || !errors.Is(err, down) {
			t.Errorf("got %v, %v", e, err)
		}
		stop()
	})
	if ctx.Err() == nil {
		t.Error("nothing was reported")
	}
}

// A hub that takes connections and does not answer holds up no question for longer than AskTimeout.
func TestStalledConnectionHoldsUpNobody(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	connecting := make(chan struct{}, 1)
	w.remote.Open = func(context.Context, jetstream.Options) (hub.Engine, error) {
		connecting <- struct{}{}
		<-release
		return nil, &hub.UnavailableError{Err: errors.New("no answer")}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.remote.Hub(t.Context())
	}()
	<-connecting
	if _, err := w.remote.Elsewhere(t.Context(), w.here); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(release)
	<-ended
}

func TestFetchErrors(t *testing.T) {
	w := newWorld(t)
	if err := w.remote.Fetch(t.Context(), w.dir, id); !errors.As(err, new(*catalog.NotFoundError)) {
		t.Errorf("a session that is nowhere: %v", err)
	}
	w.write()
	if s, err := w.remote.Session(t.Context(), w.dir, id); err != nil || s.End.Seq != 1 {
		t.Errorf("fetched %+v: %v", s, err)
	}
	w.write()
	lock, err := w.dir.Journals().Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.remote.Fetch(t.Context(), w.dir, id); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("another process fetches it: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.there.Hub.Purge(t.Context(), w.there.Session()); err != nil {
		t.Fatal(err)
	}
	if err := w.remote.Fetch(t.Context(), w.dir, id); !errors.Is(err, hub.ErrPurged) {
		t.Errorf("a purged session: %v", err)
	}
	var none *Connection
	if err := none.Fetch(t.Context(), w.dir, id); !errors.Is(err, ErrNoHub) {
		t.Errorf("without a hub: %v", err)
	}
	if _, err := none.Session(t.Context(), w.here.Team("garden"), id); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("without a hub: %v", err)
	}
}

// A server that takes connections and says nothing is asked once, for Patience.
func TestSilentServerIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	w.write()
	if err := w.remote.Fetch(t.Context(), w.dir, id); err != nil {
		t.Fatal(err)
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var taken atomic.Int32
	go func() {
		for {
			if _, err := server.Accept(); err != nil { // stays open until the test ends
				return
			}
			taken.Add(1)
		}
	}()
	timeout := Days(time.Hour)
	silent := &Connection{Home: t.TempDir(), Config: func() (Config, error) {
		return Config{Hub: HubSettings{
			URLs: []string{"nats://" + server.Addr().String()}, Teams: []string{AllTeams}, Timeout: &timeout,
		}}, nil
	}}
	for range 3 {
		if err := silent.Refresh(t.Context(), w.here, id); !errors.As(err, new(*hub.UnavailableError)) {
			t.Errorf("got %v", err)
		}
	}
	if n := taken.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	if w.end() != 1 {
		t.Errorf("%d events are here", w.end())
	}
}

// A session that another process has open is read as it is.
func TestRefreshLeavesOpenSessions(t *testing.T) {
	w := newWorld(t)
	w.write()
	if err := w.remote.Refresh(t.Context(), w.here, id); err != nil || w.end() != 1 {
		t.Fatalf("%d events are here: %v", w.end(), err)
	}
	w.write()
	open, err := w.dir.Journals().Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.remote.Refresh(t.Context(), w.here, id); err != nil || w.end() != 1 {
		t.Errorf("it is open, and %d events are here: %v", w.end(), err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.remote.Refresh(t.Context(), w.here, id); err != nil || w.end() != 2 {
		t.Errorf("%d events are here: %v", w.end(), err)
	}
}

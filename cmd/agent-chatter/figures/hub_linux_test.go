package figures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// hubSession is the session of these figures.
var hubSession = hub.Session{Team: "demo", ID: "01KAHV6T3R8Q4Y2M0N7C5B0001"}

// shared measures a hub on a server that syncs each message: saving with it, fetching, listing and following.
func (f *figures) shared(t *testing.T) {
	url, stop, err := natstest.Start(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	e, _, err := jetstream.Init(t.Context(), jetstream.Options{URLs: []string{url}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	t.Setenv("AGENT_CHATTER_HUB", url)
	h := hub.New(e, hub.Options{Home: "figures", Host: "figures"})
	f.hubSave(t, h, url)
	f.hubFollow(t, h)
	f.hubRows(t, h)
	f.hubFetch(t, h)
}

// hubHome creates a home whose sessions are shared.
func (f *figures) hubHome(t *testing.T) version {
	t.Helper()
	v := version{f.program, f.home(t)}
	if err := os.WriteFile(filepath.Join(v.home, "config.json"), []byte(`{"hub":{"teams":["*"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return v
}

// hubWriter is a journal that is shipped.
type hubWriter struct {
	log    *journal.Log
	dir    *journal.Dir
	writer *hub.Writer
}

// newHubWriter begins a session in a directory and claims it.
func newHubWriter(t *testing.T, h *hub.Hub, s hub.Session, dir string) *hubWriter {
	t.Helper()
	d := journal.NewDir(dir, journal.Options{})
	log, err := d.Create(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Append(projection.Record(time.Now(), projection.SessionCreated{
		Format: projection.Format, SessionID: s.ID, Team: projection.Team{ID: s.Team, Name: s.Team},
	}))
	if err == nil {
		err = log.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := h.Claim(t.Context(), s, nil, hub.Mark{}, false)
	if err != nil {
		t.Fatal(err)
	}
	w.SetRow(replica.Row{TeamID: s.Team, Title: "a title of a session", CreatedAt: time.Now(), UpdatedAt: time.Now()})
	return &hubWriter{log, d, w}
}

// append appends a text of some bytes and syncs it.
func (w *hubWriter) append(t *testing.T, size int) {
	t.Helper()
	text := string(bytes.Repeat([]byte("word "), size/5))
	if _, err := w.log.Append(projection.Record(time.Now(), projection.TurnText{TurnID: "turn-1", Text: text})); err != nil {
		t.Fatal(err)
	}
	if err := w.log.Sync(); err != nil {
		t.Fatal(err)
	}
}

// ship ships what was synced.
func (w *hubWriter) ship(t *testing.T) {
	t.Helper()
	r, err := w.dir.Reader(w.log.ID(), journal.Position{})
	if err == nil {
		err = errors.Join(w.writer.Ship(t.Context(), r, w.log.Synced()), r.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// hubSave measures saving 2 KB when the hub has to acknowledge it, next to a sync of the journal and a message to the
// server alone.
func (f *figures) hubSave(t *testing.T, h *hub.Hub, url string) {
	s := hub.Session{Team: hubSession.Team, ID: "01KAHV6T3R8Q4Y2M0N7C5B0002"}
	shipped := newHubWriter(t, h, s, f.home(t))
	defer shipped.log.Close()
	local := newHubWriter(t, h, hub.Session{Team: s.Team, ID: "01KAHV6T3R8Q4Y2M0N7C5B0003"}, f.home(t))
	defer local.log.Close()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	last, body := uint64(0), make([]byte, 2000)
	publish := func() {
		ack, err := js.Publish(t.Context(), "agent-chatter.demo.alone", body, natsjs.WithExpectLastSequencePerSubject(last))
		if err != nil {
			t.Fatal(err)
		}
		last = ack.Sequence
	}
	var both, sync, message []time.Duration
	for range max(30, f.followed/4) {
		both = append(both, timed(func() { shipped.append(t, 2000); shipped.ship(t) }))
		sync = append(sync, timed(func() { local.append(t, 2000) }))
		message = append(message, timed(publish))
	}
	rows := [][]string{
		{"saved here and on the hub", usOf(both)}, {"synced here", usOf(sync)}, {"a message to the server", usOf(message)},
	}
	printTable([]string{"2 KB", "median µs"}, rows)
	alone := middleOf(sync) + middleOf(message)
	f.atMost("a save on the hub, relative to a sync and a message", middleOf(both).Seconds()/alone.Seconds(), 1.5, "×")
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func middleOf(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

func usOf(all []time.Duration) string { return fmt.Sprintf("%.0f", middleOf(all).Seconds()*1e6) }

// hubFollow measures the delay between a sync on one machine and tail -f on another one.
func (f *figures) hubFollow(t *testing.T, h *hub.Hub) {
	s := hub.Session{Team: hubSession.Team, ID: "01KAHV6T3R8Q4Y2M0N7C5B0004"}
	w := newHubWriter(t, h, s, f.home(t))
	defer w.log.Close()
	w.append(t, 100)
	w.ship(t)
	v := f.hubHome(t)
	follower := startFollower(t, "tail -f on another machine", v.command("tail", "-f", "-n", "1", "--output", "json", s.ID))
	follower.next(t)
	w.append(t, 100)
	w.ship(t)
	follower.next(t) // now it watches
	var synced []time.Time
	pace := time.NewTicker(10 * followPace)
	defer pace.Stop()
	for range f.followed / 10 {
		<-pace.C
		w.append(t, 100)
		synced = append(synced, time.Now())
		w.ship(t)
	}
	middle, p99 := follower.delays(t, synced)
	printTable([]string{"", "median ms", "99th percentile ms"}, [][]string{
		{follower.name, fmt.Sprintf("%.2f", milliseconds(middle)), fmt.Sprintf("%.2f", milliseconds(p99))},
	})
	f.atMost(follower.name+", median delay", milliseconds(middle), 50, "ms")
}

// hubRows measures a list of sessions that are only on the hub.
func (f *figures) hubRows(t *testing.T, h *hub.Hub) {
	n := f.listed[0]
	dir := f.home(t)
	for i := range n {
		s := hub.Session{Team: hubSession.Team, ID: fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C6%05d", i)}
		w := newHubWriter(t, h, s, dir)
		w.ship(t)
		if err := w.log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	v := f.hubHome(t)
	results := f.race(t, contestant{
		name: fmt.Sprintf("sessions, %d of them only on the hub", n), home: v.home,
		args: []string{f.program, "sessions", "--all"},
	})
	printCosts(results)
	f.takesAtMost(results[0], time.Second)
}

// hubFetch measures fetching a large session, and the memory of that.
func (f *figures) hubFetch(t *testing.T, h *hub.Hub) {
	size := min(100*f.archived/100, 100_000_000)
	w := newHubWriter(t, h, hubSession, f.home(t))
	for w.log.Position().Offset < int64(size) {
		w.append(t, 20_000)
		if w.log.Position().Offset%(8<<20) < 20_000 {
			w.ship(t)
		}
	}
	w.ship(t)
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	bytes := w.log.Position().Offset
	took := timed(func() {
		d := journal.NewDir(f.home(t), journal.Options{})
		if _, err := h.Fetch(context.Background(), hubSession, d, hub.Mark{}); err != nil {
			t.Fatal(err)
		}
	})
	speed := float64(bytes) / took.Seconds() / 1e9
	printTable([]string{"", "MB", "MB/s"}, [][]string{
		{"fetched and verified", fmt.Sprint(bytes / 1e6), fmt.Sprintf("%.0f", speed*1000)},
	})
	f.atLeast("fetching and verifying a session", speed, 0.1, "GB/s")
	v := f.hubHome(t)
	results := f.race(t, contestant{
		name: "hub pull of the session", home: v.home, args: []string{f.program, "hub", "pull", hubSession.ID},
	})
	printCosts(results)
	f.atMost("hub pull: memory", megabytes(results[0].peak()), 100, "MB")
}

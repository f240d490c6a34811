package figures

import (
	"bytes"
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

// hubTitle is the title of the sessions of these figures in lists.
const hubTitle = "a title of a session"

// shared measures a hub on a server that syncs each message: saving with it, following, listing and fetching.
func (f *figures) shared(t *testing.T) {
	h, url := f.startHub(t)
	f.hubSave(t, h, url)
	f.hubFollow(t, h)
	f.hubList(t, h, url)
	f.hubFetch(t, h, url)
}

// startHub starts a server that syncs each message and creates a hub on it, which the program uses from now on.
func (f *figures) startHub(t *testing.T) (h *hub.Hub, url string) {
	t.Helper()
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
	return hub.New(e, hub.Options{Home: "figures", Host: "figures"}), url
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

// journals returns the directory of the journals of a session's team.
func (v version) journals(s hub.Session) string { return filepath.Join(v.home, "sessions", s.Team) }

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
	log := createSession(t, d, s)
	w, err := h.Claim(t.Context(), s, nil, hub.Mark{}, false, func(hub.Mark) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	w.SetRow(replica.Row{TeamID: s.Team, Title: hubTitle, CreatedAt: time.Now(), UpdatedAt: time.Now()})
	return &hubWriter{log, d, w}
}

// createSession begins a session.
func createSession(t *testing.T, dir *journal.Dir, s hub.Session) *journal.Log {
	t.Helper()
	log, err := dir.Create(s.ID)
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
	return log
}

// append appends a text of some bytes and syncs it.
func (w *hubWriter) append(t *testing.T, size int) {
	t.Helper()
	appendText(t, w.log, size)
}

// appendText appends a text of some bytes to a session and syncs it.
func appendText(t *testing.T, log *journal.Log, size int) {
	t.Helper()
	text := string(bytes.Repeat([]byte("word "), size/5))
	_, err := log.Append(projection.Record(time.Now(), projection.TurnText{TurnID: "turn-1", Text: text}))
	if err == nil {
		err = log.Sync()
	}
	if err != nil {
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

// fill appends events until the journal has a size in bytes, and ships them.
func (w *hubWriter) fill(t *testing.T, size int64) {
	t.Helper()
	for w.log.Position().Offset < size {
		w.append(t, 100_000)
		if w.log.Position().Offset%(8<<20) < 100_000 {
			w.ship(t)
		}
	}
	w.ship(t)
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
	subject, last, body := "agent-chatter."+s.Team+".alone", uint64(0), make([]byte, 2000)
	publish := func() {
		ack, err := js.Publish(t.Context(), subject, body, natsjs.WithExpectLastSequencePerSubject(last))
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
		{"saved here and on the hub", usOf(both)}, {"synced here", usOf(sync)},
		{"a message to the server", usOf(message)},
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

// hubFollow measures the delay between a sync on one machine and tail -f on another one, next to tail -f on the first
// machine and the time until the hub has acknowledged the event.
func (f *figures) hubFollow(t *testing.T, h *hub.Hub) {
	s := hub.Session{Team: hubSession.Team, ID: "01KAHV6T3R8Q4Y2M0N7C5B0004"}
	here, there := f.hubHome(t), f.hubHome(t)
	w := newHubWriter(t, h, s, here.journals(s))
	defer w.log.Close()
	w.append(t, 100)
	w.ship(t)
	tail := []string{"tail", "-f", "-n", "1", "--output", "json", s.ID}
	followers := []*follower{
		startFollower(t, "tail -f on another machine", there.command(tail...)),
		startFollower(t, "tail -f on this machine", here.command(append(tail, "--offline")...)),
	}
	for _, follower := range followers {
		follower.next(t)
	}
	w.append(t, 100)
	w.ship(t)
	for _, follower := range followers {
		follower.next(t) // now it watches
	}
	var appended, synced []time.Time
	var shipping []time.Duration
	pace := time.NewTicker(10 * followPace)
	defer pace.Stop()
	for range f.followed / 10 {
		<-pace.C
		appended = append(appended, time.Now()) // tail -f on this machine does not wait for the sync
		w.append(t, 100)
		synced = append(synced, time.Now())
		shipping = append(shipping, timed(func() { w.ship(t) }))
	}
	var rows [][]string
	var middles []time.Duration
	for i, follower := range followers {
		middle, p99 := follower.delays(t, [][]time.Time{synced, appended}[i])
		middles = append(middles, middle)
		rows = append(rows, []string{
			follower.name, fmt.Sprintf("%.2f", milliseconds(middle)), fmt.Sprintf("%.2f", milliseconds(p99)),
		})
	}
	acknowledged := middleOf(shipping)
	rows = append(rows, []string{"the event is on the hub", fmt.Sprintf("%.2f", milliseconds(acknowledged)), ""})
	printTable([]string{"", "median ms", "99th percentile ms"}, rows)
	f.atMost(followers[0].name+", median delay", milliseconds(middles[0]), 50, "ms")
	alone := acknowledged + middles[1]
	f.atMost(followers[0].name+", relative to the hub and tail -f on this machine",
		middles[0].Seconds()/alone.Seconds(), 15, "×")
}

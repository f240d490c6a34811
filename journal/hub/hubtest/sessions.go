package hubtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Machine has a directory of journals and a connection to a hub.
type Machine struct {
	*hub.Hub
	Dir     *journal.Dir
	Session hub.Session

	engine  hub.Engine
	readers []*journal.Reader // that are open, the newest last
}

// NewMachine returns a machine without journals. change changes the options of its hub.
func NewMachine(
	t testing.TB, e hub.Engine, s hub.Session, name string, change ...func(*hub.Options),
) *Machine {
	o := hub.Options{Home: "/home/" + name, Host: name}
	for _, c := range change {
		c(&o)
	}
	m := &Machine{Hub: hub.New(e, o), Dir: journal.NewDir(t.TempDir(), journal.Options{}), Session: s, engine: e}
	t.Cleanup(m.Close)
	return m
}

// Mark returns the mark of the session.
func (m *Machine) Mark() hub.Mark { return hub.ReadMark(vfs.OS, m.Dir, m.Session.ID) }

// WriteMark writes the mark of the session.
func (m *Machine) WriteMark(mark hub.Mark) error {
	return hub.WriteMark(vfs.OS, m.Dir, m.Session.ID, mark)
}

// Keep is WriteMark.
func (m *Machine) Keep(t testing.TB, mark hub.Mark) {
	t.Helper()
	if err := m.WriteMark(mark); err != nil {
		t.Fatal(err)
	}
}

// Write appends events with the given texts to the journal, and syncs it.
func (m *Machine) Write(t testing.TB, texts ...string) {
	t.Helper()
	log, err := m.Dir.Open(t.Context(), m.Session.ID)
	if errors.Is(err, journal.ErrNotFound) {
		log, err = m.Dir.Create(m.Session.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		data, err := json.Marshal(map[string]string{"text": text})
		if err == nil {
			_, err = log.Append(journal.Record{Type: "text.added", Data: data})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// Close closes the readers that Reader has returned.
func (m *Machine) Close() { m.closeReaders(0) }

// closeReaders closes the oldest readers.
func (m *Machine) closeReaders(keep int) {
	for len(m.readers) > keep {
		m.readers[0].Close()
		m.readers = m.readers[1:]
	}
}

// Reader returns a reader of the journal, nil if there is none. It is closed when a few others have been opened.
func (m *Machine) Reader(t testing.TB) hub.LineReader {
	t.Helper()
	r, err := m.Dir.Reader(m.Session.ID, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	m.closeReaders(4)
	m.readers = append(m.readers, r)
	return r
}

// Compare compares the journal with the hub.
func (m *Machine) Compare(t testing.TB) hub.Comparison {
	t.Helper()
	c, err := m.Hub.Compare(t.Context(), m.Session, m.Reader(t), m.Mark())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Claim claims the session.
func (m *Machine) Claim(t testing.TB, takeOver bool) *hub.Writer {
	t.Helper()
	w, err := m.Hub.Claim(t.Context(), m.Session, m.Reader(t), m.Mark(), takeOver, m.WriteMark)
	if err != nil {
		t.Fatal(err)
	}
	m.Keep(t, w.Mark())
	return w
}

// End returns the end of the journal.
func (m *Machine) End(t testing.TB) journal.Position {
	t.Helper()
	c := m.Compare(t)
	return c.Local
}

// Ship ships the whole journal.
func (m *Machine) Ship(t testing.TB, w *hub.Writer) error {
	t.Helper()
	err := w.Ship(t.Context(), m.Reader(t), m.End(t))
	m.Keep(t, w.Mark())
	return err
}

// Push claims, ships and releases the session.
func (m *Machine) Push(t testing.TB) {
	t.Helper()
	w := m.Claim(t, false)
	if err := m.Ship(t, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Release(t.Context(), m.Reader(t)); err != nil {
		t.Fatal(err)
	}
	m.Keep(t, w.Mark())
}

// Pull fetches the session.
func (m *Machine) Pull(t testing.TB) hub.Fetched {
	t.Helper()
	f, err := m.Fetch(t.Context(), m.Session, m.Dir, m.Mark())
	if err != nil {
		t.Fatal(err)
	}
	m.Keep(t, f.Mark)
	return f
}

// Bytes returns the content of the journal.
func (m *Machine) Bytes(t testing.TB) string {
	t.Helper()
	info, err := m.Dir.Stat(m.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(info.Path())
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func testSessions(t *testing.T, open func(*testing.T) hub.Engine) {
	s := newSession()
	testTurns(t, NewMachine(t, open(t), s, "ann"), NewMachine(t, open(t), s, "ben"))
}

// testSealedSessions is testSessions with sealed messages, and with a machine that seals what another one has begun in
// plain text.
func testSealedSessions(t *testing.T, open func(*testing.T) hub.Engine) {
	a, b, s := NewIdentity(t), NewIdentity(t), newSession()
	sealed := Seal(a, b)
	testTurns(t, NewMachine(t, open(t), s, "ann", sealed, Open(a)), NewMachine(t, open(t), s, "ben", sealed, Open(b)))
	s = newSession()
	testTurns(t, NewMachine(t, open(t), s, "ann", Open(a), Plain), NewMachine(t, open(t), s, "ben", sealed, Open(b)))
}

// testTurns writes a session on two machines in turns, and then on both.
func testTurns(t *testing.T, ann, ben *Machine) {
	s := ann.Session
	long := strings.Repeat("long ", (2*ann.engine.MaxBody()+ann.engine.MaxBody()/2)/5)
	ann.Write(t, "one", "two", long, "four")
	ann.Push(t)
	if f := ben.Pull(t); f.Bytes == 0 || ben.Bytes(t) != ann.Bytes(t) {
		t.Errorf("ben fetched %d bytes", f.Bytes)
	}
	ben.Write(t, "five", "six")
	ben.Push(t)
	ann.Pull(t)
	if ben.Bytes(t) != ann.Bytes(t) {
		t.Error("the journals differ after ben's turn")
	}
	if f := ann.Pull(t); f.Bytes != 0 || f.Behind() || f.Ahead() || f.Damage != nil {
		t.Errorf("a second fetch: %+v", f)
	}

	// Ann has the session open; ben takes it over.
	ann.Write(t, "seven")
	w := ann.Claim(t, false)
	if err := ann.Ship(t, w); err != nil {
		t.Fatal(err)
	}
	ben.Pull(t)
	_, err := ben.Hub.Claim(t.Context(), s, ben.Reader(t), ben.Mark(), false, ben.WriteMark)
	if held := (*hub.ClaimedError)(nil); !errors.As(err, &held) || held.Claim.Host != "ann" || held.Claim.Released {
		t.Fatalf("claim of a claimed session: %v", err)
	}
	over := ben.Claim(t, true)
	ben.Write(t, "eight, by ben")
	ann.Write(t, "eight, by ann")
	if err := ben.Ship(t, over); err != nil {
		t.Fatal(err)
	}
	err = ann.Ship(t, w)
	if fenced := (*hub.FencedError)(nil); !errors.As(err, &fenced) || fenced.Claim.Host != "ben" {
		t.Errorf("ann ships after ben took over: %v", err)
	}
	c := ann.Compare(t)
	if !c.Diverged() || c.Common.Seq != 7 || c.Local.Seq != 8 || c.Hub.Seq != 8 || !c.Held() {
		t.Errorf("after the divergence: %+v", c)
	}
	before := ann.Bytes(t)
	if f := ann.Pull(t); f.Bytes != 0 || ann.Bytes(t) != before {
		t.Error("a fetch changed a journal that diverged")
	}
	if row := rowOf(t, ben.Hub, s); row.Head.Seq != 8 || row.Claim == nil || row.Claim.Host != "ben" || row.Err != nil {
		t.Errorf("the row is %+v", row)
	}
	testPurged(t, ann, ben, over)
}

// testPurged purges the session, which ben has claimed.
func testPurged(t *testing.T, ann, ben *Machine, over *hub.Writer) {
	t.Helper()
	s := ann.Session
	if err := ben.Hub.Purge(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Fetch(t.Context(), s, ann.Dir, ann.Mark()); !errors.Is(err, hub.ErrPurged) {
		t.Errorf("fetch of a purged session: %v", err)
	}
	if err := ben.Ship(t, over); !errors.Is(err, hub.ErrPurged) && ben.End(t) != over.At() {
		t.Errorf("ship of a purged session: %v", err)
	}
	if !rowOf(t, ann.Hub, s).Purged {
		t.Error("the row is not of a purged session")
	}
}

// testRowIsKept claims and releases a session without writing to it.
func testRowIsKept(t *testing.T, open func(*testing.T) hub.Engine) {
	s, identity := newSession(), NewIdentity(t)
	for name, change := range map[string]func(*hub.Options){"plain": Plain, "sealed": Seal(identity)} {
		s := hub.Session{Team: s.Team + "-" + name, ID: s.ID}
		ann := NewMachine(t, open(t), s, "ann", Open(identity), change)
		ben := NewMachine(t, open(t), s, "ben", Open(identity), change)
		ann.Write(t, "one")
		shipWithRow(t, ann, "the row")
		ben.Pull(t)
		for _, m := range []*Machine{ben, ann} {
			w := m.Claim(t, false)
			wantRow(t, m.Hub, s, 1, "the row")
			if err := w.Release(t.Context(), m.Reader(t)); err != nil {
				t.Fatal(err)
			}
			m.Keep(t, w.Mark())
			wantRow(t, m.Hub, s, 1, "the row")
		}
	}
}

// testRefillKeepsRow lets the hub lose its first lines, and stores them again.
func testRefillKeepsRow(t *testing.T, open func(*testing.T) hub.Engine) {
	s, e := newSession(), open(t)
	ann := NewMachine(t, e, s, "ann")
	long := strings.Repeat("long ", (2*ann.engine.MaxBody()+ann.engine.MaxBody()/2)/5)
	ann.Write(t, "one", long)
	shipWithRow(t, ann, "first")
	last, err := e.Last(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	ann.Write(t, "three")
	shipWithRow(t, ann, "second")
	ann.Write(t, "four")
	shipWithRow(t, ann, "third")
	if err := e.Purge(t.Context(), s, last.Revision); err != nil {
		t.Fatal(err)
	}
	stored := 0
	for deadline := time.Now().Add(time.Minute); stored < 2; { // a server that lags still has what was removed
		n, err := ann.Refill(t.Context(), s, ann.Reader(t), hub.Mark{})
		if stored += n; err != nil || stored > 2 || time.Now().After(deadline) {
			t.Fatalf("%d lines were stored again: %v", stored, err)
		}
	}
	wantRow(t, ann.Hub, s, 4, "third")
	if c := ann.Compare(t); c.Damage != nil || c.Hub != c.Local {
		t.Errorf("after the refill: %+v", c)
	}
}

// shipWithRow claims a session, ships it with a row, and releases it.
func shipWithRow(t *testing.T, m *Machine, row string) {
	t.Helper()
	w := m.Claim(t, false)
	w.SetRow(row)
	if err := m.Ship(t, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Release(t.Context(), m.Reader(t)); err != nil {
		t.Fatal(err)
	}
	m.Keep(t, w.Mark())
}

// wantRow fails the test unless the row of a session has a head and a text.
func wantRow(t *testing.T, h *hub.Hub, s hub.Session, head uint64, text string) {
	t.Helper()
	if row := rowOf(t, h, s); row.Head.Seq != head || string(row.Row) != strconv.Quote(text) {
		t.Errorf("the row is %s with the head %d, want %q and %d", row.Row, row.Head.Seq, text, head)
	}
}

// rowOf returns the row of a session.
func rowOf(t *testing.T, h *hub.Hub, s hub.Session) (found hub.Row) {
	t.Helper()
	err := h.Rows(t.Context(), s.Team, func(r hub.Row) {
		if r.Session == s {
			found = r
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Texts returns the texts that Write appended, in order.
func (m *Machine) Texts(t testing.TB) (texts []string) {
	t.Helper()
	for line := range bytes.Lines([]byte(m.Bytes(t))) {
		var e struct{ Data struct{ Text string } }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", line, err))
		}
		texts = append(texts, e.Data.Text)
	}
	return texts
}

package replica_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
	"github.com/agent-chatter/agent-chatter/schemas"
)

const id = "01KAHV6T3R8Q4Y2M0N7C5B0001"

var (
	created = time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
	mia     = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
)

// machine is a home with a replica of the session.
type machine struct {
	t *testing.T
	c *catalog.Catalog
	replica.Replica
}

func newMachine(t *testing.T, e hub.Engine, name string) *machine {
	c := catalog.New(t.TempDir(), journal.Options{})
	h := hub.New(e, hub.Options{Home: "/home/" + name, Host: name, Check: replica.Check})
	return &machine{t, c, replica.Replica{Hub: h, Dir: c.Team("kitchen"), ID: id}}
}

// create begins the session.
func (m *machine) create(texts ...string) {
	m.t.Helper()
	log, err := m.Dir.Journals().Create(id)
	if err != nil {
		m.t.Fatal(err)
	}
	_, err = log.Append(projection.Record(created, projection.SessionCreated{
		Format: 1, SessionID: id, CWD: "/home/mia", App: projection.App{Name: "test", Version: "1"},
		Team: projection.Team{ID: "kitchen", Name: "kitchen", Members: []projection.Member{
			{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman},
		}},
	}))
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.say(texts...)
}

// say appends messages.
func (m *machine) say(texts ...string) {
	m.t.Helper()
	for _, text := range texts {
		message := projection.NewMessage("m-"+text, created, mia, text, nil)
		if err := m.Dir.Append(m.t.Context(), id, projection.Record(created.Add(time.Minute), message)); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *machine) push() {
	m.t.Helper()
	if _, err := m.Push(m.t.Context(), false); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) pull() replica.Pulled {
	m.t.Helper()
	p, err := m.Pull(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

func (m *machine) path() string { return filepath.Join(m.Dir.Journals().Path(), id+".jsonl") }

func (m *machine) read() string {
	m.t.Helper()
	data, err := os.ReadFile(m.path())
	if err != nil {
		m.t.Fatal(err)
	}
	return string(data)
}

// texts returns the messages of a session.
func (m *machine) texts(id string) (texts []string) {
	m.t.Helper()
	for e, err := range m.Dir.Events(m.t.Context(), id) {
		if err != nil {
			m.t.Fatal(err)
		}
		if p, err := projection.Decode(e); err == nil {
			if message, ok := p.(projection.MessageAppended); ok {
				texts = append(texts, message.Message.Content)
			}
		}
	}
	return texts
}

func two(t *testing.T) (ann, ben *machine, memory *hubtest.Memory) {
	memory = &hubtest.Memory{}
	return newMachine(t, memory, "ann"), newMachine(t, memory, "ben"), memory
}

func TestSessionMovesBetweenMachines(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one", "two")
	ann.push()
	if p := ben.pull(); p.Bytes == 0 || p.Fork != "" {
		t.Errorf("pulled %+v", p)
	}
	ben.say("three")
	ben.push()
	ann.pull()
	if ann.read() != ben.read() {
		t.Error("the journals differ")
	}
	rows := 0
	err := ann.Hub.Rows(t.Context(), "", func(r hub.Row) {
		rows++
		row := replica.DecodeRow(r)
		if r.Session != ann.Session() || row.TeamID != "kitchen" || row.Messages != 3 || row.Title == "" ||
			!row.CreatedAt.Equal(created) || !r.Claim.Released || r.Head != ann.end() {
			t.Errorf("the row is %+v of %+v", row, r)
		}
	})
	if err != nil || rows != 1 {
		t.Errorf("%d rows: %v", rows, err)
	}
	if n, err := ann.Push(t.Context(), false); n != 0 || err != nil {
		t.Errorf("a second push shipped %d events: %v", n, err)
	}
}

func (m *machine) end() journal.Position {
	c, err := m.Compare(m.t.Context(), true)
	if err != nil {
		m.t.Fatal(err)
	}
	return c.Local
}

func TestArchivedSessionIsContinued(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	if err := journaltest.Archive(t.Context(), ann.Dir.Journals(), id); err != nil {
		t.Fatal(err)
	}
	if p := ann.pull(); p.Bytes != 0 {
		t.Errorf("an equal session: %+v", p)
	}
	if info, err := ann.Dir.Journals().Stat(id); err != nil || !info.Archived {
		t.Errorf("it is not archived any more: %v", err)
	}
	if n, err := ann.Push(t.Context(), false); n != 0 || err != nil {
		t.Errorf("pushed %d events: %v", n, err)
	}
	ben.say("two")
	ben.push()
	ann.pull()
	if ann.read() != ben.read() {
		t.Error("the journals differ")
	}
}

func TestArchivedSessionThatDivergedBecomesAFork(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	ann.say("by ann")
	ben.say("by ben")
	ben.push()
	before := ann.read()
	if err := journaltest.Archive(t.Context(), ann.Dir.Journals(), id); err != nil {
		t.Fatal(err)
	}
	p := ann.pull()
	if p.Fork == "" || ann.read() != ben.read() {
		t.Errorf("pulled %+v", p)
	}
	if diff := cmp.Diff([]string{"one", "by ann"}, ann.texts(p.Fork)); diff != "" {
		t.Errorf("the fork (-want +got):\n%s", diff)
	}
	if aside, err := os.ReadFile(filepath.Join(filepath.Dir(ann.path()), p.Aside)); string(aside) != before {
		t.Errorf("%d bytes are set aside, want %d: %v", len(aside), len(before), err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(ann.path()), "archive", id+".jsonl.zst")); err == nil {
		t.Error("the archive is left")
	}
}

// A damaged archive is not replaced: its events may be nowhere else.
func TestDamagedArchiveStays(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one", "two")
	ann.push()
	ben.pull()
	if err := journaltest.Archive(t.Context(), ann.Dir.Journals(), id); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(ann.path()), "archive", id+".jsonl.zst")
	damaged, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)/3] ^= 1
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	ben.say("three")
	ben.push()
	if p, err := ann.Pull(t.Context()); err == nil {
		t.Errorf("pulled %+v", p)
	}
	if after, err := os.ReadFile(path); !bytes.Equal(after, damaged) {
		t.Errorf("the archive has changed: %v", err)
	}
	if _, err := os.Stat(ann.path()); err == nil {
		t.Error("a journal was written")
	}
}

func TestRetentionIsLocal(t *testing.T) {
	ann, ben, memory := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	if _, err := ben.Claim(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	n := len(memory.Messages(ann.Session()))
	if err := journaltest.Archive(t.Context(), ann.Dir.Journals(), id); err != nil {
		t.Errorf("archive: %v", err)
	}
	if c, err := ann.Compare(t.Context(), true); err != nil || !c.Held() || c.Diverged() {
		t.Errorf("archived: %+v, %v", c, err)
	}
	if err := ann.Dir.Delete(t.Context(), id); err != nil {
		t.Errorf("delete: %v", err)
	}
	if left := len(memory.Messages(ann.Session())); left != n {
		t.Errorf("the hub has %d messages, and had %d", left, n)
	}
}

func TestDivergedSessionBecomesAFork(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	ann.say("by ann", "by ann, too")
	ben.say("by ben")
	ben.push()
	before := ann.read()
	var fork string
	for range 2 { // the second time, as if the first one had crashed before it replaced the journal
		p := ann.pull()
		if fork != "" && p.Fork != fork {
			t.Errorf("the fork is %s, and was %s before", p.Fork, fork)
		}
		fork = p.Fork
		if ann.read() != ben.read() {
			t.Error("the journals differ")
		}
		if diff := cmp.Diff([]string{"one", "by ann", "by ann, too"}, ann.texts(fork)); diff != "" {
			t.Errorf("the fork (-want +got):\n%s", diff)
		}
		s, err := ann.Dir.Session(t.Context(), fork)
		if err != nil || s.Damaged != "" {
			t.Errorf("%+v, %v", s, err)
		}
		state, _, err := ann.Dir.Load(t.Context(), fork)
		if err != nil || state.Parent == nil || state.Parent.SessionID != id || state.Parent.Seq != p.Common.Seq &&
			state.Parent.Seq >= ann.end().Seq {
			t.Errorf("the parent of the fork is %+v: %v", state.Parent, err)
		}
		if aside, err := os.ReadFile(filepath.Join(filepath.Dir(ann.path()), p.Aside)); string(aside) != before {
			t.Errorf("%d bytes are set aside, want %d: %v", len(aside), len(before), err)
		}
		if err := os.WriteFile(ann.path(), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ann.pull()
	sessions, err := ann.c.List(t.Context(), catalog.Query{})
	if err != nil || len(sessions.Sessions) != 2 {
		t.Errorf("%d sessions: %v", len(sessions.Sessions), err)
	}
}

// A crash leaves the fork, and the journal grows before the next Pull.
func TestForkOfAGrowingSessionIsExtended(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	ann.say("by ann")
	ben.say("by ben")
	ben.push()
	before := ann.read()
	fork := ann.pull().Fork
	for n, text := range []string{"more", "and more"} {
		if err := os.WriteFile(ann.path(), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		ann.say(text)
		before = ann.read()
		if p := ann.pull(); p.Fork != fork {
			t.Errorf("the fork is %s, and was %s before", p.Fork, fork)
		}
		want := []string{"one", "by ann", "more", "and more"}[:3+n]
		if diff := cmp.Diff(want, ann.texts(fork)); diff != "" {
			t.Errorf("the fork (-want +got):\n%s", diff)
		}
	}
	beginning := filepath.Join(filepath.Dir(ann.path()), fork+".jsonl")
	whole, err := os.ReadFile(beginning)
	if err != nil {
		t.Fatal(err)
	}
	for lines := range 4 { // a crash while the fork was written
		cut := bytes.Join(bytes.SplitAfter(whole, []byte("\n"))[:lines], nil)
		err := errors.Join(os.WriteFile(ann.path(), []byte(before), 0o600), os.WriteFile(beginning, cut, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		ann.pull()
		if diff := cmp.Diff([]string{"one", "by ann", "more", "and more"}, ann.texts(fork)); diff != "" {
			t.Errorf("after a crash with %d lines (-want +got):\n%s", lines, diff)
		}
	}
}

func TestOtherSessionOfTheSameIDIsReported(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.create("one")
	other := newMachine(t, &hubtest.Memory{}, "cat")
	other.create("two")
	if err := os.WriteFile(ben.path(), []byte(rechain(t, other, "/home/cat")), 0o600); err != nil {
		t.Fatal(err)
	}
	before := ben.read()
	p := ben.pull()
	if !p.Diverged() || p.Common.Seq != 0 || p.Fork != "" || ben.read() != before {
		t.Errorf("pulled %+v", p)
	}
	_, err := ben.Push(t.Context(), true)
	if diverged := (*hub.DivergedError)(nil); !errors.As(err, &diverged) {
		t.Errorf("push: %v", err)
	}
}

// rechain returns the journal of a session with another working directory.
func rechain(t *testing.T, m *machine, cwd string) string {
	t.Helper()
	var text []byte
	var at journal.Position
	for e, err := range m.Dir.Events(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		data := bytes.Replace(e.Data, []byte("/home/mia"), []byte(cwd), 1)
		e, next, err := at.Next(journal.Record{Type: e.Type, Data: data, Time: e.Time})
		if err != nil {
			t.Fatal(err)
		}
		text, at = append(append(text, e.Line()...), '\n'), next
	}
	return string(text)
}

func TestDamagedJournalIsHealed(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"a changed byte":          func(text string) string { return strings.Replace(text, `"two"`, `"too"`, 1) },
		"a changed byte at start": func(text string) string { return strings.Replace(text, `"kitchen"`, `"kitsch!"`, 1) },
		"lost pages": func(text string) string {
			return text[:len(text)/2] + strings.Repeat("\x00", 64) + text[len(text)/2+64:]
		},
	} {
		for _, more := range []bool{false, true} { // more events here than on the hub
			t.Run(fmt.Sprint(name, more), func(t *testing.T) {
				ann, _, _ := two(t)
				ann.create("one", "two", "three", "four")
				ann.push()
				if more {
					ann.say("five")
				}
				whole := ann.read()
				if err := os.WriteFile(ann.path(), []byte(damage(whole)), 0o600); err != nil {
					t.Fatal(err)
				}
				p := ann.pull()
				if !p.Healed || p.Aside == "" || ann.read() != whole {
					t.Errorf("pulled %+v; %d bytes of %d", p, len(ann.read()), len(whole))
				}
			})
		}
	}
}

func TestPurgedSessionStaysHere(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	if err := ben.Hub.Purge(t.Context(), ben.Session()); err != nil {
		t.Fatal(err)
	}
	before := ann.read()
	if _, err := ann.Push(t.Context(), false); !errors.Is(err, hub.ErrPurged) {
		t.Errorf("push of an equal session: %v", err)
	}
	if _, err := ann.Pull(t.Context()); !errors.Is(err, hub.ErrPurged) {
		t.Errorf("pull: %v", err)
	}
	ann.say("two")
	if _, err := ann.Push(t.Context(), true); !errors.Is(err, hub.ErrPurged) {
		t.Errorf("push: %v", err)
	}
	if !strings.HasPrefix(ann.read(), before) {
		t.Error("the journal has changed")
	}
}

func TestDeletedSessionLosesItsMark(t *testing.T) {
	ann, _, _ := two(t)
	ann.create("one")
	ann.push()
	if ann.Mark().Revision == 0 {
		t.Fatal("there is no mark")
	}
	mark, err := os.ReadFile(hub.MarkPath(ann.Dir.Journals(), id))
	if err == nil {
		err = schemas.Check(schemas.HubMark, mark)
	}
	if err != nil {
		t.Errorf("%s: %v", mark, err)
	}
	if err := ann.Dir.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Dir(ann.path()))
	for _, e := range left {
		if strings.Contains(e.Name(), "hub") {
			t.Errorf("%s is left: %v", e.Name(), err)
		}
	}
}

func TestRowsOfLongTextsFit(t *testing.T) {
	long := strings.Repeat("\x00<\"界", 1000)
	s := catalog.Session{TeamID: long, Row: projection.Row{Title: long, Preview: long, Ended: "end"}}
	memory := &hubtest.Memory{}
	ann := newMachine(t, memory, "ann")
	ann.create("one")
	w, err := ann.Claim(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	w.SetRow(replica.RowOf(s))
	r, err := ann.Dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := w.Ship(t.Context(), r, ann.end()); err != nil {
		t.Fatal(err)
	}
	err = ann.Hub.Rows(t.Context(), "", func(r hub.Row) {
		if replica.DecodeRow(r).Ended != "end" {
			t.Errorf("the row has %d bytes: %s", len(r.Row), r.Row)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A crash left the fork, which a user has continued, and the journal as it was. Then the journal has grown.
func TestContinuedForkOfAGrowingSessionIsLeftAlone(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	ann.say("by ann")
	ben.say("by ben")
	ben.push()
	before := ann.read()
	first := ann.pull().Fork
	inFork := projection.NewMessage("m-fork", created, mia, "in the fork", nil)
	if err := ann.Dir.Append(t.Context(), first, projection.Record(created, inFork)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ann.path(), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := ann.pull().Fork; again != first { // the fork has everything
		t.Errorf("the fork is %s, and was %s before", again, first)
	}
	if err := os.WriteFile(ann.path(), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	ann.say("more")
	second := ann.pull().Fork
	for id, want := range map[string][]string{
		first: {"one", "by ann", "in the fork"}, second: {"one", "by ann", "more"},
	} {
		if diff := cmp.Diff(want, ann.texts(id)); diff != "" {
			t.Errorf("the fork %s (-want +got):\n%s", id, diff)
		}
	}
}

// A crash left the whole fork without its seal.
func TestUnsealedForkIsSealed(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	ann.say("by ann")
	ben.say("by ben")
	ben.push()
	before := ann.read()
	path := filepath.Join(filepath.Dir(ann.path()), ann.pull().Fork+".jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	unsealed := bytes.Join(lines[:len(lines)-2], nil) // the last line is the seal
	err = errors.Join(os.WriteFile(path, unsealed, 0o600), os.WriteFile(ann.path(), []byte(before), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	ann.pull()
	if again, err := os.ReadFile(path); err != nil || !bytes.Contains(again, []byte(`"type":"journal.sealed"`)) {
		t.Errorf("the fork is not sealed: %v\n%s", err, again)
	}
}

// The fork has the events by which the history of the hub is shorter: none are lost.
func TestShorterHistoryOfTheHubLosesNothing(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	ben.pull()
	ann.say("by ann", "by ann, too")
	ben.say("by ben")
	ben.push()
	before := ann.end()
	ann.pull()
	if after := ann.end(); after.Seq >= before.Seq {
		t.Fatalf("%d events, and %d before", after.Seq, before.Seq)
	}
	for range 2 { // the first list writes the index
		sessions, err := ann.c.List(t.Context(), catalog.Query{})
		if err != nil || len(sessions.Sessions) != 2 {
			t.Fatalf("%d sessions: %v", len(sessions.Sessions), err)
		}
		for _, s := range sessions.Sessions {
			if s.Truncated {
				t.Errorf("events of session %s are missing", s.ID)
			}
		}
	}
}

// A journal on the hub that is of another session, or of another team, is not stored under the name.
func TestOtherSessionOnTheHubIsNotFetched(t *testing.T) {
	const other = "01KAHV6T3R8Q4Y2M0N7C5B0002"
	for name, change := range map[string]func(*replica.Replica, *projection.SessionCreated){
		"session": func(_ *replica.Replica, c *projection.SessionCreated) { c.SessionID = other },
		"team":    func(_ *replica.Replica, c *projection.SessionCreated) { c.Team.ID = "garden" },
	} {
		t.Run(name, func(t *testing.T) {
			memory := &hubtest.Memory{}
			eve, ben := newMachine(t, memory, "eve"), newMachine(t, memory, "ben")
			payload := projection.SessionCreated{Format: 1, SessionID: id}
			payload.Team.ID = "kitchen"
			change(&eve.Replica, &payload)
			log, err := eve.Dir.Journals().Create(id)
			if err == nil {
				_, err = log.Append(projection.Record(created, payload))
			}
			if err == nil {
				err = log.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			eve.Hub = hub.New(memory, hub.Options{Home: "/home/eve", Host: "eve"}) // without the check
			if _, err := eve.Push(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			f, err := ben.Fetch(t.Context())
			var wrong *replica.OtherSessionError
			if err != nil || f.Local.Seq > 0 || !errors.As(f.Damage, &wrong) {
				t.Errorf("fetched up to %d, damage %v, %v", f.Local.Seq, f.Damage, err)
			}
		})
	}
}

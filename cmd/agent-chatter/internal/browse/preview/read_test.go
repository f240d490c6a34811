package preview

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

// A countingFS counts the bytes that are read.
type countingFS struct {
	vfs.FS
	read atomic.Int64
}

func (c *countingFS) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	return &countingFile{f, c}, err
}

type countingFile struct {
	vfs.File
	fs *countingFS
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.fs.read.Add(int64(n))
	return n, err
}

// written returns a session of so many messages in turns of two tool calls, with the bytes that are read of it.
func written(t *testing.T, messages int) (*session, *countingFS) {
	t.Helper()
	s := newSession(t)
	counting := &countingFS{FS: vfs.OS}
	s.app.Catalog = catalog.New(t.TempDir(), journal.Options{FS: counting})
	s.dir = s.app.Catalog.Team("kitchen")
	if err := os.MkdirAll(s.dir.Journals().Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(s.path())
	if err == nil {
		_, err = projectiontest.WriteSession(f, messages, 1)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s.pending = nil
	return s, counting
}

func TestLongSessionCostsWhatIsShown(t *testing.T) {
	racetest.SkipSequential(t)
	messages := 1500 // 17 MB
	if sizetest.Full() {
		messages = 4000 // 46 MB
	}
	for _, archived := range []bool{false, true} {
		s, disk := written(t, messages)
		most := int64(2 << 20)
		if archived {
			if err := journaltest.Archive(t.Context(), s.dir.Journals(), id); err != nil {
				t.Fatal(err)
			}
		}
		row := s.row()
		read := func(what string, do func()) {
			before := disk.read.Load()
			do()
			n := disk.read.Load() - before
			if n > most {
				t.Errorf("archived %v: %s reads %d bytes", archived, what, n)
			}
		}
		if archived {
			most = 9 << 20 // frames
		}
		p := New(s.app)
		drive(p, p.SetSize(80, 40))
		read("the end", func() { drive(p, p.Show(row, 0)) })
		if p.document.rows() < 40 || !p.follow || !p.ended {
			t.Errorf("%d rows, follow %v, ended %v", p.document.rows(), p.follow, p.ended)
		}
		read("a key", func() { press(p, "pgup") })
		read("the start", func() { press(p, "home") })
		if !p.started || p.top != 0 || !strings.HasPrefix(ansiless(shown(p)[0]), "Mia") {
			t.Errorf("the start is %q", shown(p)[0])
		}
		read("a message", func() { drive(p, p.Show(row, row.LastSeq/2)) })
		if from, to, ok := p.find(row.LastSeq / 2); !ok || from > p.top+40 || to < p.top {
			t.Errorf("event %d is in rows %d to %d, and row %d is shown", row.LastSeq/2, from, to, p.top)
		}
	}
}

func ansiless(text string) string {
	for _, code := range []string{"\x1b[1;36m", "\x1b[m"} {
		text = strings.ReplaceAll(text, code, "")
	}
	return text
}

func TestLoadedPartsAreBounded(t *testing.T) {
	racetest.SkipSequential(t)
	s, _ := written(t, 1300) // 15 MB
	p := s.pane(80, 30, 0)
	most := 0
	check := func() {
		n := 0
		for _, part := range p.parts {
			n += part.bytes
		}
		most = max(most, n)
	}
	for p.top > 0 || !p.started {
		press(p, "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup")
		check()
	}
	if p.ended {
		t.Error("nothing was dropped")
	}
	for !p.ended || p.top < p.lastTop() {
		press(p, "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
		check()
	}
	if most > keptBytes+keptBytes/2 || p.started {
		t.Errorf("%d bytes were loaded, started: %v", most, p.started)
	}
}

// damage changes a byte of the line of an event, before its checksum or in it.
func (s *session) damage(seq uint64, inSum bool) {
	s.t.Helper()
	s.flush()
	data, err := os.ReadFile(s.path())
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	line := lines[seq-1]
	if at := len(line) - 40; !inSum {
		line[at] ^= 1
	} else {
		line[len(line)-5] ^= 1
	}
	if err := os.WriteFile(s.path(), bytes.Join(lines, nil), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// synced appends events with a sync mark, so that the lines before it are not a torn tail.
func (s *session) synced() {
	s.t.Helper()
	s.flush()
	log, err := s.dir.Journals().Open(s.t.Context(), id)
	if err == nil {
		_, err = log.Seal()
	}
	if err = errors.Join(err, log.Close()); err != nil {
		s.t.Fatal(err)
	}
	s.events, s.at = append(s.events, journal.Event{Type: journal.TypeSealed}), log.Position()
}

func TestDamageInTheMiddleIsShownInItsPlace(t *testing.T) {
	for _, inSum := range []bool{false, true} {
		s := newSession(t)
		var seqs []uint64
		for i := range 200 {
			seqs = append(seqs, s.say(mia, fmt.Sprintf("Message %d. %s", i, strings.Repeat("word ", 100))))
		}
		s.synced()
		row := s.row() // of the intact session
		s.damage(seqs[50], inSum)
		s.app.NoColor = true
		for name, row := range map[string]catalog.Session{"not known": row, "known": s.row()} {
			p := New(s.app)
			drive(p, p.SetSize(100, 30))
			drive(p, p.Show(row, 0))
			text := strings.Join(scrolled(t, p, func() string { return "pgup" }), "\n")
			for i := range 200 {
				want := i < 50 || i > 50 && name == "not known"
				if i == 51 && inSum {
					want = false // nothing verifies it
				}
				if strings.Contains(text, fmt.Sprintf("Message %d.", i)) != want {
					t.Errorf("%s, in the sum %v: message %d is shown: %v", name, inSum, i, !want)
				}
			}
			notice := strings.Index(text, "is damaged")
			if following := strings.Index(text, "Message 52."); notice < strings.Index(text, "Message 49.") ||
				following > 0 && notice > following {
				t.Errorf("%s: the notice is at %d", name, notice)
			}
			if strings.Contains(text, "Nothing after it is shown.") != (name == "known") {
				t.Errorf("%s: it says that nothing follows: %v", name, name != "known")
			}
			if !strings.Contains(strings.ReplaceAll(text, "\n", " "), "agent-chatter repair "+id) {
				t.Errorf("%s: it does not say what helps", name)
			}
		}
	}
}

func TestDamageAtTheEnds(t *testing.T) {
	for _, seq := range []uint64{1, 2, 3, 11, 12} {
		s := newSession(t)
		for i := range 11 {
			s.say(mia, fmt.Sprintf("Message %d.", i+2))
		}
		s.synced()
		s.damage(seq, false)
		p := s.pane(200, 60, 0) // the notice has a path
		text := strings.Join(scrolled(t, p, func() string { return "pgup" }), "\n")
		if !strings.Contains(text, fmt.Sprintf("line %d ", seq)) || !strings.Contains(text, "is damaged") {
			t.Errorf("line %d is damaged, and it shows\n%s", seq, text)
		}
		for i := uint64(2); i < seq; i++ {
			if !strings.Contains(text, fmt.Sprintf("Message %d.", i)) {
				t.Errorf("line %d is damaged, and message %d is not shown", seq, i)
			}
		}
		press(p, "home")
		press(p, "end")
	}
}

func TestTornTailIsReportedAtTheEnd(t *testing.T) {
	s := newSession(t)
	s.say(mia, "Boil the water.")
	s.pending = append(s.pending, `{"seq":3,"ti`...)
	p := s.pane(100, 20, 0)
	text := strings.Join(shown(p), " ")
	if !strings.Contains(text, "Boil the water.") || !strings.Contains(text, "12 bytes of an unfinished write") {
		t.Errorf("it shows\n%s", text)
	}
}

func TestMissingAndReplacedJournals(t *testing.T) {
	fill := func() (*session, *Pane) {
		s := newSession(t)
		s.app.NoColor = true
		for i := range 100 {
			s.say(mia, fmt.Sprintf("Message %d.\n\n%s", i, strings.Repeat("word ", 300)))
		}
		return s, s.pane(120, 20, 0)
	}
	t.Run("removed while it is shown", func(t *testing.T) {
		s, p := fill()
		if err := os.Remove(s.path()); err != nil {
			t.Fatal(err)
		}
		drive(p, p.Refresh(p.session))
		if text := strings.Join(shown(p), " "); !strings.Contains(text, "is gone") || !strings.Contains(text, "sessions restore "+id) {
			t.Errorf("it shows\n%s", text)
		}
		press(p, "home", "pgup", "end", "pgdown")
	})
	t.Run("removed before it is shown", func(t *testing.T) {
		s, p := fill()
		row := s.row()
		if err := os.Remove(s.path()); err != nil {
			t.Fatal(err)
		}
		drive(p, p.Show(row, 0))
		if text := strings.Join(shown(p), " "); !strings.Contains(text, "is gone") {
			t.Errorf("it shows\n%s", text)
		}
		press(p, "home", "pgup", "end", "pgdown")
		drive(p, p.Show(row, 20))
	})
	t.Run("shorter", func(t *testing.T) {
		s, p := fill()
		var lines []byte
		s.events = s.events[:30]
		for _, e := range s.events {
			lines = append(append(lines, e.Line()...), '\n')
		}
		if err := os.WriteFile(s.path(), lines, 0o600); err != nil {
			t.Fatal(err)
		}
		row := s.row()
		row.Truncated = true // as a list with an index says
		drive(p, p.Refresh(row))
		press(p, "end")
		rows := shown(p)
		if !strings.Contains(strings.Join(rows, " "), "fewer events than the index recorded") {
			t.Errorf("it shows\n%s", strings.Join(rows, "\n"))
		}
		want := s.replayed(118, ansi.NoColor)
		if i := slices.Index(rows, want[len(want)-1]); i < 0 || !strings.Contains(strings.Join(want, "\n"), strings.Join(rows[:i+1], "\n")) {
			t.Errorf("it shows\n%s", strings.Join(rows, "\n"))
		}
	})
	t.Run("another one, while older parts are read", func(t *testing.T) {
		s, p := fill()
		other := newSession(t)
		other.say(mia, "Another session.")
		other.flush()
		data, err := os.ReadFile(other.path())
		if err == nil {
			err = os.WriteFile(s.path(), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for !p.started || p.top > 0 {
			press(p, "pgup")
		}
		if text := strings.Join(shown(p), " "); !strings.Contains(text, "Another session.") {
			t.Errorf("it shows\n%s", text)
		}
	})
}

// No failure of the disk ends the pane or makes it read on forever.
func TestEachFailedReadIsShown(t *testing.T) {
	racetest.SkipSequential(t)
	s := newSession(t)
	for i := range 60 {
		s.turn(ada, fmt.Sprintf("Message %d.\n\n%s", i, strings.Repeat("word ", 200)))
	}
	row := s.row()
	for _, forever := range []bool{false, true} {
		for n := 1; ; n++ {
			p := New(s.app)
			drive(p, p.SetSize(80, 12))
			if forever {
				s.disk.FailFrom(n, syscall.EIO, journaltest.Read)
			} else {
				s.disk.Fail(n, syscall.EIO, journaltest.Read)
			}
			before := s.disk.Count(journaltest.Read)
			drive(p, p.Show(row, 0))
			for range 8 {
				press(p, "pgup")
			}
			drive(p, p.Refresh(row))
			press(p, "home", "pgdown", "end")
			drive(p, p.Show(row, 100))
			reads := s.disk.Count(journaltest.Read) - before
			s.disk.Heal()
			if reads > 2000 {
				t.Fatalf("failure %d: %d reads", n, reads)
			}
			if reads < n {
				break // it did not fail
			}
			drive(p, p.Show(row, 0))
			equal(t, fmt.Sprintf("after failure %d", n), shown(p), last(s.replayed(78, ansi.Color16), p.height()))
		}
	}
}

func last(rows []string, n int) []string { return rows[max(0, len(rows)-n):] }

func TestOutdatedMessagesAreIgnored(t *testing.T) {
	s := newSession(t)
	first := s.say(mia, "First.")
	s.say(mia, "Second.")
	p := New(s.app)
	p.SetSize(80, 20)
	row := s.row()
	outdated := p.Show(row, first)
	current := p.Show(row, 0)
	drive(p, current)
	want := shown(p)
	if cmd := p.Update(outdated()); cmd != nil {
		t.Error("an outdated message is answered")
	}
	equal(t, "shown", shown(p), want)
	late := p.Show(row, 0)
	p.Close()
	if cmd := p.Update(late()); cmd != nil || strings.Join(p.Rows(), "") != "" {
		t.Error("a closed pane shows something")
	}
	if p.Update(tea.KeyPressMsg{Code: 'g', Text: "g"}) != nil || p.Refresh(row) != nil || p.SetSize(10, 10) != nil {
		t.Error("a closed pane reads")
	}
}

func TestGrowingSessionIsFollowed(t *testing.T) {
	racetest.SkipSequential(t)
	s := newSession(t)
	for i := range 30 {
		s.turn(ada, fmt.Sprintf("Message %d.", i))
	}
	p := s.pane(60, 20, 0)
	top := func(n int) { press(p, slices.Repeat([]string{"k"}, n)...) }
	check := func(what string) {
		t.Helper()
		equal(t, what, shown(p), last(s.replayed(58, ansi.Color16), p.height()))
	}
	check("at first")
	s.turn(bo, "More.", "And more.")
	drive(p, p.Refresh(s.row()))
	check("a turn more")
	s.add(projection.TurnStarted{TurnID: "open", MemberID: "ada"}, projection.TurnText{TurnID: "open", Text: "I sp"})
	drive(p, p.Refresh(s.row()))
	check("an open turn")
	s.add(projection.TurnText{TurnID: "open", Text: "eak."}, projection.ToolStarted{TurnID: "open", ToolID: "1", Name: "Read"})
	drive(p, p.Refresh(s.row()))
	check("more text")
	s.say(ada, "I speak.")
	drive(p, p.Refresh(s.row()))
	check("its message")

	top(5)
	before := shown(p)
	s.turn(bo, strings.Repeat("A long reply. ", 500))
	drive(p, p.Refresh(s.row()))
	equal(t, "when the end is not shown", shown(p), before)
	press(p, "G")
	check("again at the end")
	for range 60 {
		s.turn(bo, strings.Repeat("Long replies. ", 100))
	}
	drive(p, p.Refresh(s.row()))
	check("many turns more")
	s.say(mia, strings.Repeat("x\n", 3<<20))
	s.turn(bo, "After it.")
	drive(p, p.Refresh(s.row()))
	if rows := shown(p); len(rows) < 2 || rows[len(rows)-2] != "After it." {
		t.Errorf("after much it shows %q", rows)
	}
}

func TestRefreshReadsWhatIsNew(t *testing.T) {
	racetest.SkipSequential(t)
	s, disk := written(t, 1000)
	row := s.row()
	s.at, s.events = row.End, make([]journal.Event, row.LastSeq)
	p := New(s.app)
	drive(p, p.SetSize(80, 40))
	drive(p, p.Show(row, 0))
	for i := range 20 {
		s.turn(ada, fmt.Sprintf("New %d.", i))
		row = s.row()
		before := disk.read.Load()
		drive(p, p.Refresh(row))
		if n := disk.read.Load() - before; n > 64<<10 {
			t.Errorf("it reads %d bytes", n)
		}
		if text := strings.Join(shown(p), "\n"); !strings.Contains(text, fmt.Sprintf("New %d.", i)) {
			t.Fatalf("it shows\n%s", text)
		}
	}
}

func TestSessionThatIsWrittenHasNoUnfinishedTurn(t *testing.T) {
	s := newSession(t)
	s.say(mia, "Boil.")
	s.add(projection.TurnStarted{TurnID: "open", MemberID: "ada"}, projection.TurnText{TurnID: "open", Text: "I am boiling"})
	s.flush()
	p := s.pane(100, 20, 0)
	if text := strings.Join(shown(p), "|"); !strings.Contains(text, "unfinished") {
		t.Errorf("without a writer it shows %s", text)
	}
	log, err := s.dir.Journals().Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	drive(p, p.Refresh(s.row()))
	if text := strings.Join(shown(p), "|"); strings.Contains(text, "unfinished") || !strings.Contains(text, "I am boiling") {
		t.Errorf("with a writer it shows %s", text)
	}
	if head := strings.Join(p.Rows()[:6], "|"); !strings.Contains(head, fmt.Sprintf("locked by process %d", os.Getpid())) {
		t.Errorf("the head is %s", head)
	}
}

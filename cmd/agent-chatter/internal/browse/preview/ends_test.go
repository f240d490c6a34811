package preview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A list may describe a session as it was before.
func TestEndIsFoundFromAnOldRow(t *testing.T) {
	racetest.SkipSequential(t)
	for name, tt := range map[string]struct {
		change func(s *session, row *catalog.Session)
		want   string // in a notice; "": none
	}{
		"as it is":               {func(*session, *catalog.Session) {}, ""},
		"without a position":     {func(_ *session, row *catalog.Session) { row.End = journal.Position{} }, ""},
		"of another journal":     {func(_ *session, row *catalog.Session) { row.End.Sum++ }, ""},
		"after the end":          {func(_ *session, row *catalog.Session) { row.End.Offset, row.End.Seq = 1<<30, 1<<20 }, ""},
		"before some events":     {func(s *session, _ *catalog.Session) { s.turn(bo, "More."); s.flush() }, ""},
		"long before the end":    {func(s *session, _ *catalog.Session) { s.many(); s.flush() }, ""},
		"before a torn tail":     {func(s *session, _ *catalog.Session) { s.pending = []byte("{"); s.flush() }, "unfinished write"},
		"long before a torn one": {func(s *session, _ *catalog.Session) { s.many(); s.pending = append(s.pending, '{'); s.flush() }, "unfinished write"},
		"before damage": {func(s *session, _ *catalog.Session) {
			n := len(s.events)
			s.say(mia, "It is damaged.")
			s.synced()
			s.damage(uint64(n+1), false)
			s.events = s.events[:n]
		}, "Nothing after it is shown."},
		"before an old damage": {func(s *session, row *catalog.Session) {
			s.say(mia, "It is damaged.")
			s.synced()
			s.damage(5, false)
			s.events, *row = s.events[:4], s.row()
		}, "Nothing after it is shown."},
	} {
		s := newSession(t)
		s.app.NoColor = true
		for i := range 30 {
			s.turn(ada, fmt.Sprintf("Message %d.", i))
		}
		row := s.row()
		tt.change(s, &row)
		p := New(s.app)
		drive(p, p.SetSize(120, 24))
		drive(p, p.Show(row, 0))
		rows := p.texts(0, p.document.rows())
		notice := ""
		if i := len(p.parts) - 1; p.parts[i].onlyNotice() {
			n := len(p.parts[i].rows)
			notice, rows = strings.Join(rows[len(rows)-n:], "\n"), rows[:len(rows)-n]
		}
		if (notice == "") != (tt.want == "") || !strings.Contains(notice, tt.want) {
			t.Errorf("%s: the notice is %q", name, notice)
		}
		equal(t, name, last(rows, 15), last(s.replayed(118, ansi.NoColor), 15))
	}
}

// many adds more than is read at once.
func (s *session) many() {
	for range 6 {
		s.say(mia, strings.Repeat("A kettle. ", 100_000))
	}
	s.turn(bo, strings.Repeat("Line.\n\n", 30))
}

func TestNoticesOfSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		fill func(s *session)
		want []string
	}{
		"a missing header": {func(s *session) {
			s.events, s.pending, s.at = nil, nil, journal.Position{}
			s.say(mia, "Boil.")
		}, []string{"Boil.", "it does not begin with session.created", "agent-chatter replay " + id}},
		"a newer version": {func(s *session) {
			s.events, s.pending, s.at = nil, nil, journal.Position{}
			s.add(projection.SessionCreated{Format: 7, SessionID: id, Team: projection.Team{ID: "kitchen"}})
			s.say(mia, "Boil.")
		}, []string{"Boil.", "incompatible schema version: 7", "Upgrade to resume it."}},
		"an invalid event": {func(s *session) {
			s.say(mia, "Boil.")
			s.record(journal.Record{Type: "message.appended", Data: []byte(`{"message":7}`)})
		}, []string{"Boil.", "has 1 invalid event, first event 3", "agent-chatter verify " + id}},
		"a line over the limit": {func(s *session) {
			s.app.Catalog = catalog.New(t.TempDir(), journal.Options{FS: s.disk, MaxLine: journal.MinMaxLine})
			s.say(mia, "Boil.")
			s.say(mia, strings.Repeat("A long message. ", 200))
			s.say(mia, "After it.")
		}, []string{"Boil.", "is too long", `{"journal": {"maxLine": `}},
	} {
		s := newSession(t)
		s.app.NoColor = true
		tt.fill(s)
		p := New(s.app)
		drive(p, p.SetSize(200, 30)) // notices have a path
		s.flush()
		row, err := s.app.Catalog.At(s.dir.Journals().Path()).Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		drive(p, p.Show(row, 0))
		text := strings.Join(shown(p), "\n")
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it does not show %q:\n%s", name, want, text)
			}
		}
	}
}

func TestSessionIsShownUntilAnEvent(t *testing.T) {
	s := newSession(t)
	s.app.NoColor = true
	var ends []int
	for i := range 40 {
		s.turn(ada, fmt.Sprintf("Message %d.\n\n", i), strings.Repeat("some words ", 400))
		ends = append(ends, len(s.events))
	}
	row, all := s.row(), s.events
	p := New(s.app)
	drive(p, p.SetSize(80, 24))
	for _, i := range []int{39, 20, 0} {
		s.events = all[:ends[i]]
		drive(p, p.ShowUntil(row, uint64(ends[i])))
		equal(t, "the end", shown(p), last(s.replayed(78, ansi.NoColor), 24))
	}
	s.events = all
	drive(p, p.Show(row, 1)) // of what is shown only the beginning is the same
	drive(p, p.Show(row, 0))
	equal(t, "all", shown(p), last(s.replayed(78, ansi.NoColor), p.height()))
}

func TestPaneIsEmptyWithoutASessionOrASize(t *testing.T) {
	s := newSession(t)
	s.say(mia, "Boil.")
	p := New(s.app)
	if p.Rows() != nil || p.Show(s.row(), 0) != nil {
		t.Error("a pane without a size reads")
	}
	p = New(s.app)
	if cmd := p.SetSize(80, 3); cmd != nil || strings.Join(p.Rows(), "|") != "||" {
		t.Errorf("without a session it shows %q", p.Rows())
	}
	if cmd := p.Show(s.row(), 0); cmd == nil || p.Rows()[0] != "\x1b[2m  Loading …\x1b[m" {
		t.Errorf("before it is read it shows %q", p.Rows())
	}
}

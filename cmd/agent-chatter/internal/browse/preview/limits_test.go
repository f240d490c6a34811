package preview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

func TestResizingKeepsTheRow(t *testing.T) {
	s := newSession(t)
	var seqs []uint64
	for i := range 100 {
		seqs = append(seqs, s.turn(ada, fmt.Sprintf("Message %d. ", i)+strings.Repeat("some words ", i)))
	}
	p := s.pane(80, 20, seqs[50])
	want := shown(p)
	at, _ := p.spot(p.top)
	for _, size := range [][2]int{{30, 20}, {80, 20}, {80, 6}, {80, 40}, {200, 3}, {80, 20}} {
		drive(p, p.SetSize(size[0], size[1]))
		now, _ := p.spot(p.top)
		if now.from != at.from || now.block != at.block {
			t.Errorf("at %v it shows %+v first, not %+v", size, now, at)
		}
	}
	equal(t, "in the first size again", shown(p), want)
	press(p, "end")
	for _, size := range [][2]int{{30, 20}, {80, 6}, {200, 3}, {80, 20}} {
		drive(p, p.SetSize(size[0], size[1]))
		equal(t, fmt.Sprint("the end at ", size), shown(p), last(s.replayed(size[0]-2, ansi.Color16), p.height()))
	}
	for _, size := range [][2]int{{0, 0}, {1, 1}, {2, 2}, {3, 1}, {-1, -1}, {80, 20}} {
		drive(p, p.SetSize(size[0], size[1]))
		checkRows(t, p)
	}
}

// checkRows checks the number and the width of the rows of a pane, and that they are safe.
func checkRows(t failer, p *Pane) {
	t.Helper()
	rows := p.Rows()
	if len(rows) != max(0, p.size.rows) {
		t.Fatalf("%d rows, not %d", len(rows), p.size.rows)
	}
	for _, row := range rows {
		text := plain(row)
		if n := displaywidth.String(text); n > max(0, p.size.columns) {
			t.Fatalf("%q takes %d of %d columns", row, n, p.size.columns)
		}
		for _, r := range text {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Fatalf("%q has %U", row, r)
			}
		}
	}
}

func TestHostileTextStaysInThePane(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", " ", "\n", "\t", "\x1b[2J", "\x1b]52;c;QQ==\a", "\x1b]8;;http://a\x1b\\", "\u009b31m", "\x00", "\x7f", "\r", "\b", "\u202e",
		"\u2066", "\u200b", "\u200d", "\ufeff", "\u0301", "你", "👍🏽", "\U000e0041", "\xff", "`", "```\n", "> ", "- ", "|a|\n|-|\n", "[a](http",
		strings.Repeat("word", 40),
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(pieces, 0, 20).Draw(t, "pieces"), "") })
	propertytest.Check(t, func(rt *rapid.T) {
		s := newSession(t)
		by := projection.Speaker{ID: text.Draw(rt, "id"), DisplayName: text.Draw(rt, "name"), Type: "ai"}
		quoted, _ := json.Marshal(text.Draw(rt, "command"))
		s.add(projection.SessionRenamed{Title: text.Draw(rt, "title")})
		s.say(mia, text.Draw(rt, "said"))
		s.add(projection.TurnStarted{TurnID: "t", MemberID: by.ID},
			projection.ToolStarted{TurnID: "t", ToolID: "1", Name: text.Draw(rt, "tool"), Input: quoted},
			projection.ToolCompleted{TurnID: "t", ToolID: "1", Output: text.Draw(rt, "output"), Error: text.Draw(rt, "error")})
		s.say(by, text.Draw(rt, "reply"))
		s.app.NoColor = rapid.Bool().Draw(rt, "no color")
		row := s.row()
		row.CWD, row.TeamID, row.Title = text.Draw(rt, "directory"), text.Draw(rt, "team"), text.Draw(rt, "title")
		p := New(s.app)
		p.SetMatch(literal(text.Draw(rt, "match")))
		drive(p, p.SetSize(rapid.IntRange(0, 60).Draw(rt, "columns"), rapid.IntRange(1, 40).Draw(rt, "rows")))
		drive(p, p.Show(row, 0))
		links := p.profile
		p.profile = ansi.NoColor // without links, which checkRows does not know
		checkRows(rt, p)
		p.profile = links
		press(p, "pgup")
		drive(p, p.SetSize(rapid.IntRange(0, 60).Draw(rt, "more columns"), 20))
		p.profile = ansi.NoColor
		checkRows(rt, p)
	})
}

func TestLongTextsAreShortened(t *testing.T) {
	racetest.SkipSequential(t)
	repeated := 40_000
	if sizetest.Full() {
		repeated = 100_000 // 2 MB
	}
	long := "The beginning.\n\n" + strings.Repeat("A kettle boils water. ", repeated) + "\n\nThe end."
	command, _ := json.Marshal(map[string]string{"command": long})
	entries := make([]projection.PlanEntry, 20_000)
	for i := range entries {
		entries[i].Content = fmt.Sprintf("Step %d. %s", i, strings.Repeat("more ", 200))
	}
	for name, add := range map[string]func(s *session){
		"a message":   func(s *session) { s.say(mia, long) },
		"a reply":     func(s *session) { s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"}); s.say(ada, long) },
		"an agent's":  func(s *session) { s.say(ada, long) },
		"a streamed":  func(s *session) { s.turn(ada, long) },
		"a tool call": func(s *session) { s.turn(ada, "Calling. ", "Done."); s.call("t1", "9", long, long) },
		"a tool": func(s *session) {
			s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"},
				projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Bash", Input: command},
				projection.ToolCompleted{TurnID: "t", ToolID: "1", Output: long, Error: long})
		},
		"a plan": func(s *session) {
			s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"}, projection.PlanUpdated{TurnID: "t", Entries: entries})
		},
		"an unfinished reply": func(s *session) {
			s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"},
				projection.TurnEnded{TurnID: "t", MemberID: "ada", FinishReason: projection.Failed, Partial: long, Error: long})
		},
		"a change of the queue": func(s *session) {
			s.add(projection.QueueChanged{Changes: []projection.QueueChange{{Reason: long}}, Waiting: []string{}})
		},
		"a team": func(s *session) {
			s.add(projection.SessionCreated{Format: 1, SessionID: id, Team: projection.Team{ID: "kitchen", Name: long[:700<<10]}})
		},
		"a tool with a long name": func(s *session) {
			s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"},
				projection.ToolStarted{TurnID: "t", ToolID: "1", Name: long[:700<<10], Input: []byte("{}")})
		},
		"another event": func(s *session) { s.record(journal.Record{Type: "unknown.event", Data: command}) },
	} {
		s := newSession(t)
		s.say(mia, "Before it.")
		add(s)
		s.say(mia, "After it.")
		p := s.pane(80, 30, 0)
		n, text := 0, strings.Join(scrolled(t, p, func() string { return "pgup" }), "\n")
		for _, part := range p.parts {
			n += part.bytes
		}
		if n > 1<<20 {
			t.Errorf("%s: %d bytes are kept", name, n)
		}
		for _, want := range []string{"Before it.", "After it."} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it lacks %q", name, want)
			}
		}
		shows := strings.Contains(text, "The beginning.") && strings.Contains(text, "The end.")
		switch name {
		case "a message", "a reply", "an agent's", "an unfinished reply", "a streamed":
			if !shows || !strings.Contains(text, "bytes more") || !strings.Contains(text, "replay "+id+" --from ") {
				t.Errorf("%s is shown in %d bytes", name, len(text))
			}
		case "a plan":
			if !strings.Contains(text, "and 19900 more") {
				t.Errorf("%s is shown in %d bytes", name, len(text))
			}
		}
	}
}

// What was streamed of a reply is not shown again, however long it is.
func TestLongReplyIsShownOnce(t *testing.T) {
	racetest.SkipSequential(t)
	s := newSession(t)
	texts := make([]string, 40)
	for i := range texts {
		texts[i] = fmt.Sprintf("Part %d. %s\n\n", i, strings.Repeat("A kettle boils. ", 1000))
	}
	s.turn(ada, texts...) // 640 KB
	p := s.pane(80, 30, 0)
	equal(t, "the reply", scrolled(t, p, func() string { return "pgup" }), s.replayed(78, ansi.Color16))
}

// A turn that is longer than the limits is read in several parts.
func TestEndlessTurnIsScrolledInParts(t *testing.T) {
	racetest.SkipSequential(t)
	s := newSession(t)
	s.say(mia, "Begin.")
	s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"})
	for i := range conversation.MostEvents {
		s.call("t", fmt.Sprint(i), fmt.Sprintf("step %d;", i), "done")
		s.add(projection.TurnText{TurnID: "t", Text: fmt.Sprintf("Text %d.\n\n", i)})
	}
	p := s.pane(80, 30, 0)
	if len(p.parts) > 2 || p.started {
		t.Errorf("%d parts are loaded", len(p.parts))
	}
	rows := scrolled(t, p, func() string { return "ctrl+u" })
	equal(t, "the turn", rows, s.replayed(78, ansi.Color16))
	drive(p, p.Show(s.row(), s.at.Seq/2))
	if from, to, ok := p.find(s.at.Seq / 2); !ok || from >= p.top+p.height() || to <= p.top {
		t.Errorf("the event in the middle is in rows %d to %d from row %d", from, to, p.top)
	}
	press(p, "home")
	rows = nil
	for !p.ended || p.top < p.lastTop() {
		before, _ := p.spot(p.top)
		press(p, "pgdown")
		rows = append(rows, p.texts(p.row(before), p.top)...)
	}
	equal(t, "from the start", append(rows, p.texts(p.top, p.document.rows())...), s.replayed(78, ansi.Color16))
}

package preview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"pgregory.net/rapid"
)

// scrolled scrolls from the end to the start by a key and returns all rows that were shown.
func scrolled(t failer, p *Pane, keys func() string) (rows []string) {
	t.Helper()
	rows = shown(p)
	for n := 0; p.top > 0 || !p.started; n++ {
		if n > 100_000 {
			t.Fatalf("the start is not reached")
		}
		before, _ := p.spot(p.top)
		press(p, keys())
		now := p.document.row(before)
		rows = append(p.texts(p.top, now), rows...)
	}
	return rows
}

func (p *Pane) texts(from, to int) (texts []string) {
	for _, r := range p.between(from, to) {
		texts = append(texts, p.profile.Encode(r.line))
	}
	return texts
}

var someTexts = []string{
	"Boil the water.", "One.\n\n- two\n- three\n\n> four", "```go\nfunc main() {\n\tboil()\n}\n```\n", "\x1b[31mred\u202e",
	strings.Repeat("many words ", 60), strings.Repeat("long", 70), "| a | b |\n|---|---|\n| c | d |\n", "", "你好世界再见 👍🏽",
	strings.Repeat("line\n\n", 40), "[NEXT: bo] go on", strings.Repeat("x", 5000),
}

// anySession fills a session with events in any order that the program or another one may write.
func anySession(rt *rapid.T, s *session) {
	text := rapid.SampledFrom(someTexts)
	by := rapid.SampledFrom([]projection.Speaker{ada, bo})
	for range rapid.IntRange(0, 25).Draw(rt, "events") {
		switch rapid.SampledFrom([]string{"person", "turn", "turn", "agent", "open", "tool", "end", "other"}).Draw(rt, "event") {
		case "person":
			s.say(mia, text.Draw(rt, "text"))
		case "turn":
			s.turn(by.Draw(rt, "by"), rapid.SliceOfN(text, 1, 4).Draw(rt, "texts")...)
		case "agent":
			s.say(by.Draw(rt, "by"), text.Draw(rt, "text"))
		case "open":
			s.add(projection.TurnStarted{TurnID: "open", MemberID: "ada"}, projection.TurnText{TurnID: "open", Text: text.Draw(rt, "text")})
		case "tool":
			s.add(projection.ToolStarted{TurnID: "open", ToolID: "1", Name: "Read"})
		case "end":
			s.add(projection.TurnEnded{TurnID: "open", MemberID: "ada", FinishReason: projection.Cancelled, Partial: text.Draw(rt, "text")})
		default:
			s.add(projection.TaskSet{}, projection.SessionPinned{})
		}
	}
}

func TestScrolledRowsEqualReplay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSession(t)
		anySession(rt, s)
		columns, rows := rapid.IntRange(12, 100).Draw(rt, "columns"), rapid.IntRange(1, 60).Draw(rt, "rows")
		s.app.NoColor = rapid.Bool().Draw(rt, "no color")
		p := s.pane(columns, rows, 0)
		keys := rapid.SampledFrom([]string{"k", "up", "pgup", "ctrl+u"})
		got := scrolled(rt, p, func() string { return keys.Draw(rt, "key") })
		equal(rt, "scrolled", got, s.replayed(p.width(), p.profile))
	})
}

// Long sessions are read in several parts.
func TestLongSessionIsScrolledInParts(t *testing.T) {
	s := newSession(t)
	for i := range 300 {
		s.say(mia, fmt.Sprintf("Question %d: %s", i, strings.Repeat("why is that? ", i%40)))
		s.turn(ada, fmt.Sprintf("Answer %d.\n\n", i), strings.Repeat("Because of that. ", i%50), "Done.")
	}
	for _, rows := range []int{5, 24, 70} {
		for _, key := range []string{"pgup", "ctrl+u"} {
			p := s.pane(80, rows, 0)
			if len(p.parts) > 4 || p.started {
				t.Errorf("%d rows: %d parts are loaded", rows, len(p.parts))
			}
			got := scrolled(t, p, func() string { return key })
			if len(p.parts) < 10 {
				t.Errorf("%d parts", len(p.parts))
			}
			equal(t, key, got, s.replayed(78, ansi.Color16))
			// ... and back
			for !p.ended || p.top < p.lastTop() {
				press(p, "pgdown")
			}
			equal(t, "at the end", shown(p), got[len(got)-len(shown(p)):])
		}
	}
}

func TestHeadOfASession(t *testing.T) {
	s := newSession(t)
	s.say(mia, "Boil the water.")
	s.turn(ada, "Yes.")
	p := s.pane(60, 16, 0)
	rows := p.Rows()
	if len(rows) != 16 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []string{"Boil the water.", "kitchen: ", " · 2 messages", "/home/mia/kettle", "────"} {
		if !strings.Contains(rows[i], want) {
			t.Errorf("row %d is %q, want %q", i, rows[i], want)
		}
	}
	if i := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "Yes.") }); i < 0 {
		t.Errorf("it shows\n%s", strings.Join(rows, "\n"))
	}
}

package preview

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
	"pgregory.net/rapid"
)

// scrolled scrolls from the end to the start by a key and returns all rows that were shown.
func scrolled(t failer, p *Pane, keys func() string) (rows []string) {
	t.Helper()
	rows = p.texts(p.top, p.document.rows())
	for n := 0; p.top > 0 || !p.started; n++ {
		if n > 100_000 {
			t.Fatalf("the start is not reached")
		}
		before, _ := p.spot(p.top)
		press(p, keys())
		now := p.document.row(before)
		equal(t, "shown", shown(p), trimmed(p.texts(p.top, p.top+p.height())))
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

func TestScrolledRowsEqualReplay(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		s := newSession(t)
		s.add(conversationtest.Draw(rt, someTexts)...)
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
	racetest.SkipSequential(t)
	s := newSession(t)
	for i := range 300 {
		s.say(mia, fmt.Sprintf("Question %d: %s", i, strings.Repeat("why is that? ", i%40)))
		s.turn(ada, fmt.Sprintf("Answer %d.\n\n", i), strings.Repeat("Because of that. ", i%50), "Done.")
	}
	heights := []int{24}
	if sizetest.Full() {
		heights = []int{5, 24, 70}
	}
	for _, rows := range heights {
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

func TestKeysAndWheelScroll(t *testing.T) {
	s := newSession(t)
	for i := range 200 {
		s.say(mia, fmt.Sprintf("Message %d.", i))
	}
	p := s.pane(60, 20, 0)
	end := p.top
	wheel := func(button tea.MouseButton) { drive(p, p.Update(tea.MouseWheelMsg{Button: button})) }
	for _, tt := range []struct {
		name string
		do   func()
		want int // rows from where it was
	}{
		{"k", func() { press(p, "k") }, -1}, {"up", func() { press(p, "up") }, -1}, {"j", func() { press(p, "j") }, 1},
		{"down", func() { press(p, "down") }, 1}, {"pgup", func() { press(p, "pgup") }, -p.height()},
		{"ctrl+u", func() { press(p, "ctrl+u") }, -p.height() / 2}, {"ctrl+d", func() { press(p, "ctrl+d") }, p.height() / 2},
		{"pgdown", func() { press(p, "pgdown") }, p.height()}, {"the wheel up", func() { wheel(tea.MouseWheelUp) }, -3},
		{"the wheel down", func() { wheel(tea.MouseWheelDown) }, 3}, {"the wheel left", func() { wheel(tea.MouseWheelLeft) }, 0},
		{"another key", func() { press(p, "x") }, 0},
	} {
		if tt.want > 0 {
			p.scrollTo(end / 2)
		} else {
			p.scrollTo(end)
		}
		before := p.top
		tt.do()
		if p.top-before != tt.want {
			t.Errorf("%s scrolls %d rows, want %d", tt.name, p.top-before, tt.want)
		}
	}
	for _, keys := range [][]string{{"g", "G"}, {"home", "end"}} {
		press(p, keys[0])
		if p.top != 0 || !p.started || p.follow {
			t.Errorf("%s: row %d", keys[0], p.top)
		}
		press(p, "k")
		press(p, keys[1])
		if p.top != p.lastTop() || !p.ended || !p.follow {
			t.Errorf("%s: row %d", keys[1], p.top)
		}
		press(p, "j")
	}
}

func TestHeadNamesStates(t *testing.T) {
	row := catalog.Session{TeamID: "kitchen", CWD: "/kettle"}
	row.Title, row.CreatedAt, row.UpdatedAt, row.MessageCount = "Boil", noon, noon.Add(time.Hour), 1
	h := head{members: []projection.Member{{ID: "ada", DisplayName: "Ada"}}}
	for _, tt := range []struct {
		name   string
		change func(*catalog.Session, *head)
		want   string
	}{
		{"nothing", func(*catalog.Session, *head) {}, ""},
		{"pinned and archived", func(s *catalog.Session, _ *head) { s.Pinned, s.Archived = true, true }, "pinned · archived"},
		{"damaged", func(s *catalog.Session, _ *head) { s.Damaged = "line 2 is damaged" }, "damaged"},
		{"unreadable", func(s *catalog.Session, _ *head) { s.Damaged, s.ReadErr = "EIO", syscall.EIO }, "unreadable"},
		{"newer", func(s *catalog.Session, _ *head) { s.Newer = "2" }, "of a newer version"},
		{"invalid", func(s *catalog.Session, _ *head) { s.Invalid, s.Truncated = 1, true }, "1 invalid event · truncated"},
		{"locked", func(_ *catalog.Session, h *head) {
			h.writer = journal.Holder{PID: 4711, Host: "mill", StartedAt: noon}
		}, "locked by process 4711 on mill, since " + noon.Local().Format(time.DateTime)},
	} {
		s, h := row, h
		tt.change(&s, &h)
		var lines []string
		for _, line := range headLines(s, h, wholeHead) {
			lines = append(lines, ansi.NoColor.Encode(line))
		}
		local := func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
		want := []string{"Boil", "kitchen: Ada", local(noon) + " – " + local(noon.Add(time.Hour)) + " · 1 message", "/kettle"}
		if tt.want != "" {
			want = append(want, tt.want)
		}
		equal(t, tt.name, lines, want)
		small := ansi.NoColor.Encode(headLines(s, h, smallHead)[0])
		if small != strings.TrimSuffix("Boil · "+tt.want, " · ") {
			t.Errorf("%s: the small head is %q", tt.name, small)
		}
	}
}

func TestHeadOfUnreadableSessionHasItsID(t *testing.T) {
	lines := headLines(catalog.Session{ID: "01A", Damaged: "EIO", ReadErr: syscall.EIO}, head{}, wholeHead)
	var got []string
	for _, line := range lines {
		got = append(got, ansi.NoColor.Encode(line))
	}
	equal(t, "the head", got, []string{"01A", "unreadable"})
}

func TestSessionsWithoutConversation(t *testing.T) {
	racetest.SkipSequential(t)
	s := newSession(t)
	p := s.pane(60, 20, 0)
	if text := strings.Join(p.Rows(), "|"); !strings.Contains(text, "(no title)") || !strings.Contains(text, "Nothing was said.") {
		t.Errorf("it shows %s", text)
	}
	for range (2*mostReads + 2) * 2 * conversation.MostEvents {
		s.add(projection.TaskSet{})
	}
	p = s.pane(80, 20, 0)
	if text := strings.Join(p.Rows(), "|"); p.started || !strings.Contains(text, "scroll up for earlier ones.") {
		t.Errorf("it shows %s", text)
	}
	for range 10 {
		press(p, "k")
	}
	if text := strings.Join(p.Rows(), "|"); !p.started || !strings.Contains(text, "Nothing was said.") {
		t.Errorf("it shows %s", text)
	}
}

func TestHeadOfSmallPaneIsOneRow(t *testing.T) {
	p := newSession(t).pane(50, wholeHead, 0)
	for rows := range wholeHead {
		drive(p, p.SetSize(50, rows))
		if got, want := len(p.headRows()), min(rows/smallHead, 1); got != want {
			t.Errorf("in %d rows, the head has %d, want %d", rows, got, want)
		}
	}
}

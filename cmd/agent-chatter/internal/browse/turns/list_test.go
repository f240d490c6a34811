package turns_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns/turnstest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// encoded returns the rows of a list, as many as it has room for.
func encoded(a *app.App, l *turns.List, rows int) []string {
	p, shown := ansi.Color16, make([]string, rows)
	if a.NoColor {
		p = ansi.NoColor
	}
	for i, line := range l.Lines() {
		shown[i] = p.Encode(line)
	}
	return shown
}

func TestListShowsEachKindOfRow(t *testing.T) {
	a := turnstest.App(t)
	s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	turnstest.Golden(t, "rows", a, func(size picture.Size) []string {
		l := turns.NewList(a)
		turnstest.Run(l.Update, l.SetSize(size.Columns, size.Rows))
		turnstest.Run(l.Update, l.Show(s, 0))
		turnstest.Press(l.Update, "up")
		return encoded(a, l, size.Rows)
	})
}

func TestListHasTheRowsOfTheTimeline(t *testing.T) {
	racetest.SkipSequential(t)
	a := turnstest.App(t)
	s, want := turnstest.WriteLong(t, a)
	l := turns.NewList(a)
	turnstest.Run(l.Update, l.SetSize(80, 11))
	turnstest.Run(l.Update, l.Show(s, 0))
	at := len(want) - 1
	for _, step := range []struct {
		key  string
		rows int // to move
	}{
		{"", 0}, {"up", -1}, {"k", -1}, {"pgup", -9}, {"ctrl+u", -4}, {"g", -len(want)}, {"up", 0}, {"pgdown", 9},
		{"down", 1}, {"j", 1}, {"ctrl+d", 4}, {"G", len(want)}, {"down", 0}, {"home", -len(want)}, {"end", len(want)},
	} {
		at = max(0, min(at+step.rows, len(want)-1))
		if step.key != "" {
			turnstest.Press(l.Update, step.key)
		}
		if r, ok := l.Selected(); !ok || r.Seq != want[at].Seq || r.Text != want[at].Text {
			t.Errorf("after %q, row %d is %+v, not %+v", step.key, at, r, want[at])
		}
	}
	for i := len(want) - 1; i >= 0; i-- { // every page, and again what was forgotten
		if r, ok := l.Selected(); !ok || fmt.Sprint(r) != fmt.Sprint(want[i]) {
			t.Fatalf("row %d is %+v, not %+v", i, r, want[i])
		}
		turnstest.Press(l.Update, "up")
	}
	wheel := tea.MouseWheelMsg{Button: tea.MouseWheelDown}
	turnstest.Run(l.Update, l.Update(wheel))
	if r, _ := l.Selected(); r.Seq != want[3].Seq {
		t.Errorf("the wheel selects %+v", r)
	}
}

func TestListOfAnArchivedSession(t *testing.T) {
	racetest.SkipSequential(t)
	a := turnstest.App(t)
	s, want := turnstest.WriteLong(t, a)
	if err := journaltest.Archive(t.Context(), turnstest.Dir(a).Journals(), s.ID); err != nil {
		t.Fatal(err)
	}
	l := turns.NewList(a)
	turnstest.Run(l.Update, l.SetSize(80, 11))
	turnstest.Run(l.Update, l.Show(turnstest.Session(t, a, s.ID), 0))
	if r, ok := l.Selected(); !ok || r.Seq != want[len(want)-1].Seq {
		t.Errorf("the last row is %+v", r)
	}
	turnstest.Press(l.Update, "g")
	if r, ok := l.Selected(); !ok || r.Seq != want[0].Seq {
		t.Errorf("the first row is %+v", r)
	}
}

func TestListStartsAfterTheCommonPart(t *testing.T) {
	racetest.SkipSequential(t)
	a := turnstest.App(t)
	s, want := turnstest.WriteLong(t, a)
	for _, after := range []uint64{0, 1, want[500].Seq, want[500].End, s.LastSeq} {
		l := turns.NewList(a)
		turnstest.Run(l.Update, l.SetSize(80, 11))
		turnstest.Run(l.Update, l.Show(s, after))
		turnstest.Press(l.Update, "g")
		r, ok := l.Selected()
		first := 0
		for first < len(want) && want[first].End <= after {
			first++
		}
		if first == len(want) {
			if !strings.Contains(strings.Join(encoded(a, l, 11), "\n"), "Nothing follows.") {
				t.Errorf("after %d: %q", after, encoded(a, l, 11))
			}
		} else if !ok || r.Seq != want[first].Seq {
			t.Errorf("after %d, the first row is %+v, not %+v", after, r, want[first])
		}
	}
}

func TestListGrowsWithTheSession(t *testing.T) {
	all := turnstest.Payloads()
	a := turnstest.App(t)
	s := turnstest.Write(t, a, turnstest.ID, all[:8]...)
	l := turns.NewList(a)
	turnstest.Run(l.Update, l.SetSize(80, 11))
	turnstest.Run(l.Update, l.Show(s, 0))
	if l.Show(s, 0) != nil {
		t.Error("an unchanged session is read again")
	}
	if err := turnstest.Dir(a).Append(t.Context(), s.ID, turnstest.Records(all[8:]...)...); err != nil {
		t.Fatal(err)
	}
	turnstest.Run(l.Update, l.Show(turnstest.Session(t, a, s.ID), 0))
	if r, ok := l.Selected(); !ok || r.Text != "Plan First, I will" {
		t.Errorf("the last row is %+v", r)
	}
	turnstest.Press(l.Update, "g")
	if r, ok := l.Selected(); !ok || r.Kind != projection.RowFork {
		t.Errorf("the first row is %+v", r)
	}
}

// A message of another session, and one that was cancelled, change nothing.
func TestListIgnoresOutdatedMessages(t *testing.T) {
	a := turnstest.App(t)
	first := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	second := turnstest.Write(t, a, "01KAJ0000000000000000000A2",
		turnstest.Created("01KAJ0000000000000000000A2"), turnstest.Said("m1", turnstest.Mia, "second"))
	l := turns.NewList(a)
	turnstest.Run(l.Update, l.SetSize(80, 11))
	outdated := l.Show(first, 0)
	current := l.Show(second, 0)
	turnstest.Run(l.Update, current)
	turnstest.Run(l.Update, outdated)
	if r, _ := l.Selected(); r.Text != "second" {
		t.Errorf("the row is %+v", r)
	}
	l.Close()
	turnstest.Run(l.Update, current)
	if rows := encoded(a, l, 11); strings.Contains(strings.Join(rows, ""), "Reading") {
		t.Errorf("%q", rows)
	}
}

func TestListSaysWhyTheRestCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(path string) error
		want   string
		rows   bool // some are shown
	}{
		{"a changed byte", func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(path, data, 0o600)
		}, "agent-chatter repair", true},
		{"a torn tail", func(path string) error {
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = file.WriteString(`{"seq":`)
			file.Close()
			return err
		}, "unfinished write", true},
		{"a journal that is removed", os.Remove, "is gone", false},
		{"a journal that is emptied", func(path string) error { return os.Truncate(path, 0) }, "no messages", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := turnstest.App(t)
			s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
			if err := test.damage(s.Path()); err != nil {
				t.Fatal(err)
			}
			l := turns.NewList(a)
			turnstest.Run(l.Update, l.SetSize(160, 30))
			turnstest.Run(l.Update, l.Show(s, 0))
			rows := strings.Join(encoded(a, l, 30), "\n")
			if !strings.Contains(rows, test.want) || strings.Contains(rows, "Why does") != test.rows {
				t.Errorf("%s", rows)
			}
		})
	}
}

// Pages that were read are kept, and others are not requested again and again.
func TestListOfALostJournalEnds(t *testing.T) {
	a := turnstest.App(t)
	s, want := turnstest.WriteLong(t, a)
	l := turns.NewList(a)
	turnstest.Run(l.Update, l.SetSize(80, 11))
	turnstest.Run(l.Update, l.Show(s, 0))
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	turnstest.Press(l.Update, "g")
	if _, ok := l.Selected(); ok {
		t.Error("a row of a journal that was removed is known")
	}
	if rows := strings.Join(encoded(a, l, 11), "\n"); !strings.Contains(rows, "is gone") {
		t.Errorf("%s", rows)
	}
	turnstest.Press(l.Update, "G")
	if r, _ := l.Selected(); r.Seq != want[len(want)-1].Seq {
		t.Errorf("the last row is %+v", r)
	}
}

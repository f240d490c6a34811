package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// twoSessions writes two sessions with a common message, and one of its own for each text, and returns the home.
func twoSessions(t *testing.T, alice, bob []string) (home string) {
	t.Helper()
	home = t.TempDir()
	dir := catalog.New(filepath.Join(home, "sessions"), journal.Options{}).Team("review").Journals()
	mia := projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	at := time.Now()
	for id, texts := range map[string][]string{apptest.AliceID: alice, apptest.BobID: bob} {
		log, err := dir.Create(id)
		if err != nil {
			t.Fatal(err)
		}
		records := []journal.Record{projection.Record(at, projection.SessionCreated{
			Format: projection.Format, SessionID: id, Team: projection.Team{ID: "review", Name: "review"},
		})}
		for i, text := range append([]string{"common"}, texts...) {
			m := projection.NewMessage(fmt.Sprint(i), time.Unix(0, 0), mia, text, nil)
			records = append(records, projection.Record(at, m))
		}
		if _, err := log.Append(records...); err != nil {
			t.Fatal(err)
		}
		err = log.Sync()
		_, ended := log.Append(projection.Record(at, projection.SessionEnded{Reason: "end"})) // has the sync mark
		if err := errors.Join(err, ended, log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// compared returns what a terminal of so many columns shows of the two sessions.
func compared(t *testing.T, home string, columns int) (lines []string, err error) {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	sideOf := func(id string) side {
		s, err := a.Find(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return side{view.NewReplay(a, s), s.Title, 2}
	}
	var out bytes.Buffer
	left, right := sideOf(apptest.AliceID), sideOf(apptest.BobID)
	common := projection.Divergence{A: 2, B: 2, Messages: 1}
	err = printSides(t.Context(), &out, left, right, common, view.Style{Width: columns, Profile: ansi.NoColor})
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

func TestSessionsAreShownSideBySideOrBelowEachOther(t *testing.T) {
	home := twoSessions(t, []string{"left"}, []string{"right", "and more"})
	common := "⋯ 1 message in common"
	left := []string{"common", apptest.AliceID, "1 message after event 2", "", "Mia", "left"}
	right := []string{"common", apptest.BobID, "2 messages after event 2", "", "Mia", "right", "", "Mia", "and more"}
	below := slices.Concat([]string{common, ""}, left, []string{""}, right)
	beside := []string{common, ""}
	for i := range right {
		text := ""
		if i < len(left) {
			text = left[i]
		}
		beside = append(beside, strings.TrimRight(fmt.Sprintf("%-48s │ %s", text, right[i]), " "))
	}
	for columns, want := range map[int][]string{99: below, 100: beside} {
		if got, err := compared(t, home, columns); err != nil || !slices.Equal(got, want) {
			t.Errorf("of %d columns, %v:\n%s\nwant\n%s", columns, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestSidesFitAndAreSafe(t *testing.T) {
	texts := []string{
		apptest.Hostile, strings.Repeat("long", 100), "```go\n" + strings.Repeat("\t", 30) + strings.Repeat("x y ", 90) + "\n```",
		strings.Repeat("設計", 80), "| a | b |\n|---|---|\n| " + strings.Repeat("c ", 90) + " | \x1b[2J |", "\u202e\u2066👩‍💻\x9b31m",
	}
	home := twoSessions(t, texts, texts[1:])
	for _, columns := range []int{20, 50, 80, 100, 101, 120, 201} {
		lines, err := compared(t, home, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if r, found := apptest.Acting(line); found || displaywidth.String(line) >= columns {
				t.Errorf("of %d columns: %q has %U", columns, line, r)
			}
		}
	}
}

func TestSidesEndAtDamage(t *testing.T) {
	for _, columns := range []int{80, 120} {
		home := twoSessions(t, []string{"left"}, []string{"right", "and more"})
		path := filepath.Join(home, "sessions", "review", apptest.BobID+".jsonl")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(data, []byte("right"), []byte("wrong"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = compared(t, home, columns)
		var corrupt *journal.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("of %d columns: %v", columns, err)
		}
	}
}

func TestWideLinesKeepTheirIndentation(t *testing.T) {
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"  short", []string{"  short"}},
		{"  one two three", []string{"  one two", "  three"}},
		{strings.Repeat(" ", 8) + "one two", []string{"     one", "     two"}},
		{"abcdefghijklm", []string{"abcdefghij", "klm"}},
	} {
		var got []string
		for _, part := range fitted(ansi.Line{{Text: tt.line[:1]}, {Text: tt.line[1:], Style: dim}}, 10) {
			got = append(got, ansi.NoColor.Encode(part))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
}

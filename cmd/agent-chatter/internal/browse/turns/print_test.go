package turns

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns/turnstest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// lines are the first columns of printed lines.
func lines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		lines = append(lines, fields[len(fields)-1])
	}
	return lines
}

func TestPrintToAPipeHasEveryRow(t *testing.T) {
	racetest.SkipSequential(t)
	a := turnstest.App(t)
	s, rows := turnstest.WriteLong(t, a)
	var out bytes.Buffer
	if err := Print(t.Context(), a, &out, s); err != nil {
		t.Fatal(err)
	}
	printed := lines(out.String())
	if len(printed) != len(rows)+1 || printed[0] != "WORDS" {
		t.Fatalf("%d lines of %d rows, the first ends in %s", len(printed), len(rows), printed[0])
	}
	for i, r := range rows {
		if words := strings.Fields(r.Text); printed[i+1] != words[len(words)-1] {
			t.Errorf("row %d ends in %s, not as %q", i, printed[i+1], r.Text)
		}
	}
}

func TestPrintToATerminalHasTheNewestRows(t *testing.T) {
	for _, most := range []int{1, 3, 14, 15, 16} {
		a := turnstest.App(t)
		s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
		var out bytes.Buffer
		p := printer{out: bufio.NewWriter(&out), columns: 79, profile: ansi.NoColor, most: most}
		if err := p.print(t.Context(), turnstest.Dir(a), s.ID); err != nil {
			t.Fatal(err)
		}
		printed := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		older := 15 - most
		if older > 0 {
			if want := "    … " + app.Count(older, "row") + " before"; printed[1] != want {
				t.Errorf("%q, want %q", printed[1], want)
			}
			printed = append(printed[:1], printed[2:]...)
		}
		if n := len(printed) - 1; n != min(most, 15) || !strings.HasSuffix(printed[n], "Plan First, I will") {
			t.Errorf("of at most %d rows, %d are printed:\n%s", most, n, out.String())
		}
	}
}

func TestPrintEndsWhereASessionIsDamaged(t *testing.T) {
	a := turnstest.App(t)
	s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	data, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(s.Path(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Print(t.Context(), a, &out, s); !errors.As(err, new(*journal.CorruptError)) {
		t.Errorf("the error is %v", err)
	}
	if text := out.String(); !strings.Contains(text, "It is not plugged in.") || strings.Contains(text, "again") {
		t.Errorf("%s", text)
	}
	if err := Print(t.Context(), a, failing{}, s); !errors.Is(err, errFailing) {
		t.Errorf("the error is %v", err)
	}
}

var errFailing = errors.New("no space")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }

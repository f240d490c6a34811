package interchange_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// bundle returns a bundle of sample sessions.
func bundle(t testing.TB, sessions ...string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := interchange.NewBundle(&b, app, len(sessions))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sessions {
		records := mustRead(t, sample(t, "valid/session-snapshot-"+name+".json")).Records()
		err := w.Add(func(yield func(journal.Event, error) bool) {
			for _, r := range records {
				if !yield(journal.Event{Type: r.Type, Data: r.Data, Time: r.Time}, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readBundle reads the events of all sessions.
func readBundle(text string) (events []journal.Event, err error) {
	for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine) {
		for e, err := range session {
			if err != nil {
				return events, err
			}
			events = append(events, e)
		}
	}
	return events, nil
}

func TestBundleSkipsUnreadEvents(t *testing.T) {
	text := bundle(t, "legacy", "new-format", "legacy")
	for _, take := range []int{0, 1, 2, 100} {
		var firsts []uint64
		for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine) {
			n := 0
			for e, err := range session {
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					firsts = append(firsts, e.Seq)
				}
				if n++; n >= take {
					break
				}
			}
		}
		if diff := cmp.Diff([]uint64{1, 1, 1}, firsts); diff != "" {
			t.Errorf("%d of each were read: the first ones (-want +got):\n%s", take, diff)
		}
	}
}

func TestBundleErrorAfterUnreadEvents(t *testing.T) {
	text := bundle(t, "legacy", "new-format")
	text = text[:len(text)-10]
	sessions, failures := 0, 0
	for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine) {
		sessions++
		for _, err := range session {
			if err != nil {
				failures++
			}
			break
		}
	}
	if sessions != 3 || failures != 1 {
		t.Errorf("%d sessions with %d failures", sessions, failures)
	}
}

func TestBundleHasLinesOfJournals(t *testing.T) {
	text := bundle(t, "legacy", "new-format")
	events, err := readBundle(text)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range events {
		lines = append(lines, string(e.Line()))
	}
	want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if diff := cmp.Diff(want[1:len(want)-1], lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBundleLinesMatchSchema(t *testing.T) {
	for line := range strings.Lines(bundle(t, "legacy", "new-format")) {
		if err := schemas.Check(schemas.BundleLine, []byte(line)); err != nil {
			t.Errorf("%s\n%v", line, err)
		}
	}
}

func TestDamagedBundleReportsLine(t *testing.T) {
	text := bundle(t, "legacy", "new-format")
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	without := func(from, to int) string {
		return strings.Join(append(append([]string{}, lines[:from]...), lines[to:]...), "")
	}
	second := 0
	for i, line := range lines[2:] {
		if strings.HasPrefix(line, `{"seq":1,`) {
			second = i + 2
		}
	}
	for damage, test := range map[string]struct {
		text string
		line int
	}{
		"nothing":                     {"", 1},
		"missing head":                {without(0, 1), 1},
		"changed word":                {strings.Replace(text, "Hello", "Hallo", 1), 3},
		"missing line":                {without(3, 4), 4},
		"missing end":                 {without(len(lines)-1, len(lines)), len(lines)},
		"half a line":                 {text[:len(text)-10], len(lines)},
		"missing session":             {without(second, len(lines)-1), second + 1},
		"invalid JSON":                {lines[0] + "nonsense\n", 2},
		"text after the end":          {text + "nonsense\n", len(lines) + 1},
		"half a bundle after the end": {text + without(len(lines)-1, len(lines)), 2 * len(lines)},
		"newer version":               {strings.Replace(text, "1.0", "1.1", 1), 1},
	} {
		t.Run(damage, func(t *testing.T) {
			_, err := readBundle(test.text)
			var wrong *interchange.BundleError
			if !errors.As(err, &wrong) || wrong.Line != test.line {
				t.Errorf("%v, want line %d", err, test.line)
			}
		})
	}
}

func TestConcatenatedBundles(t *testing.T) {
	legacy, other := bundle(t, "legacy"), bundle(t, "new-format")
	first, err := readBundle(legacy)
	if err != nil {
		t.Fatal(err)
	}
	second, err := readBundle(other)
	if err != nil {
		t.Fatal(err)
	}
	both, err := readBundle(legacy + other)
	if err != nil || len(both) != len(first)+len(second) {
		t.Errorf("%d events, want %d and %d: %v", len(both), len(first), len(second), err)
	}
}

func TestBundleLineTooLong(t *testing.T) {
	text := bundle(t, "legacy")
	for session := range interchange.ReadBundle(strings.NewReader(text), 100) {
		for _, err := range session {
			if wrong := (*interchange.BundleError)(nil); errors.As(err, &wrong) {
				return
			}
		}
	}
	t.Error("it was read")
}

func FuzzReadBundle(f *testing.F) {
	f.Add([]byte(bundle(f, "legacy", "new-format")))
	f.Add([]byte(bundle(f)))
	f.Add([]byte(`{"bundle":"1.0","sessions":1}` + "\n" + `{"end":"1.0","events":0}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := readBundle(string(data))
		if err != nil {
			return
		}
		at := journal.Position{}
		for _, e := range events {
			if e.Seq == 1 {
				at = journal.Position{}
			}
			again, next, err := at.Next(journal.Record{Type: e.Type, Data: e.Data, Time: e.Time})
			if err != nil || again.Sum != e.Sum || again.Seq != e.Seq {
				t.Errorf("%s does not check: %v", e.Line(), err)
			}
			at = next
		}
	})
}

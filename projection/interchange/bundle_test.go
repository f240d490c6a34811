package interchange_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// bundle returns a bundle of sample sessions.
func bundle(t testing.TB, sessions ...string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := interchange.NewBundle(&b, app, len(sessions), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sessions {
		records := recordsOf(t, mustRead(t, sample(t, "valid/session-snapshot-"+name+".json")))
		err := w.Add(func(yield func(journal.Event, error) bool) {
			for _, r := range records {
				if !yield(journal.Event{Type: r.Type, Data: r.Data, Time: r.Time}, nil) {
					return
				}
			}
		}, nil)
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
	for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine, nil) {
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
		for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine, nil) {
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
	for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine, nil) {
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

// Earlier versions wrote no checksum at the end of a bundle, only the counts.
func TestDamagedOlderBundleReportsLine(t *testing.T) {
	text := regexp.MustCompile(`,"sum":"[0-9a-f]{8}"\}\n\z`).ReplaceAllString(bundle(t, "legacy", "new-format"), "}\n")
	if events, err := readBundle(text); err != nil || len(events) == 0 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	lines := strings.SplitAfter(text, "\n")
	end := len(lines) - 2 // the last one is empty
	second := slices.IndexFunc(lines[2:], func(l string) bool { return strings.HasPrefix(l, `{"seq":1,`) }) + 2
	for damage, test := range map[string]struct {
		text string
		line int
	}{
		"missing last event":         {strings.Join(slices.Delete(slices.Clone(lines), end-1, end), ""), end},
		"missing first session":      {strings.Join(slices.Delete(slices.Clone(lines), 1, second), ""), end - second + 2},
		"missing second session":     {strings.Join(slices.Delete(slices.Clone(lines), second, end), ""), second + 1},
		"larger number of sessions":  {strings.Replace(text, `"sessions":2`, `"sessions":3`, 1), end + 1},
		"smaller number of sessions": {strings.Replace(text, `"sessions":2`, `"sessions":1`, 1), end + 1},
	} {
		t.Run(damage, func(t *testing.T) {
			_, err := readBundle(test.text)
			if wrong := (*interchange.LineError)(nil); !errors.As(err, &wrong) || wrong.Line != test.line {
				t.Errorf("%v, want line %d", err, test.line)
			}
		})
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
		"missing first session":       {without(1, second), len(lines) - second + 1},
		"missing last event":          {without(len(lines)-2, len(lines)-1), len(lines) - 1},
		"larger number of sessions":   {strings.Replace(text, `"sessions":2`, `"sessions":3`, 1), len(lines)},
		"smaller number of sessions":  {strings.Replace(text, `"sessions":2`, `"sessions":1`, 1), len(lines)},
		"event of the schema":         {strangeBundle(t), 2 + strings.Count(bundle(t, "legacy"), "\n") - 2 + 1},
		"invalid JSON":                {lines[0] + "nonsense\n", 2},
		"text after the end":          {text + "nonsense\n", len(lines) + 1},
		"half a bundle after the end": {text + without(len(lines)-1, len(lines)), 2 * len(lines)},
		"newer version":               {strings.Replace(text, "1.0", "1.2", 1), 1},
		"newer version of the end":    {strings.Replace(text, `{"end":"1.0"`, `{"end":"1.1"`, 1), len(lines)},
		"field of the end":            {strings.Replace(text, `{"end":"1.0",`, `{"end":"1.0","x":1,`, 1), len(lines)},
		"changed sum":                 {regexp.MustCompile(`"sum":"[0-9a-f]{8}"\}\n\z`).ReplaceAllString(text, `"sum":"00000000"}`+"\n"), len(lines)},
	} {
		t.Run(damage, func(t *testing.T) {
			_, err := readBundle(test.text)
			var wrong *interchange.LineError
			if !errors.As(err, &wrong) || wrong.Line != test.line {
				t.Errorf("%v, want line %d", err, test.line)
			}
			if ofSchema := (*schemas.InvalidError)(nil); errors.As(err, &ofSchema) != (damage == "event of the schema") {
				t.Errorf("the error of the schema is %v", ofSchema)
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
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(texts(append(first, second...)), texts(both)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// texts returns the lines of events.
func texts(events []journal.Event) (all []string) {
	for _, e := range events {
		all = append(all, string(e.Line()))
	}
	return all
}

// bundleParts describes each session of a bundle: "<events> events", and the error
// that ended it.
func bundleParts(text string, limit int) (parts []string) {
	for session := range interchange.ReadBundle(strings.NewReader(text), limit, nil) {
		n, part := 0, ""
		for _, err := range session {
			if err != nil {
				part = ", " + err.Error()
				break
			}
			n++
		}
		parts = append(parts, fmt.Sprintf("%d events%s", n, part))
	}
	return parts
}

// strangeBundle returns a bundle of three sessions, of which the second has an
// event that violates the schema.
func strangeBundle(t testing.TB) string {
	t.Helper()
	text := bundle(t, "legacy")
	lines := strings.SplitAfter(text, "\n")
	sessions := strings.Join(lines[1:len(lines)-2], "")
	var strange bytes.Buffer
	_, err := interchange.WriteJournal(&strange, func(yield func(journal.Event, error) bool) {
		events, err := readBundle(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			e.Data = bytes.Replace(e.Data, []byte(`"speaker":`), []byte(`"spoken":`), 1)
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 3 * (len(lines) - 3)
	return fmt.Sprintf("{\"bundle\":\"1.0\",\"app\":{\"name\":\"test\",\"version\":\"1\"},\"sessions\":3}\n"+
		"%s%s%s{\"end\":\"1.0\",\"events\":%d}\n", sessions, strange.String(), sessions, n)
}

func TestInvalidLineEndsOnlyItsSession(t *testing.T) {
	const limit = 4 << 10
	text := bundle(t, "legacy", "legacy", "legacy")
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	each := (len(lines) - 2) / 3 // lines of a session
	change := func(line int, how func(string) string) string {
		changed := append([]string{}, lines...)
		changed[line] = how(changed[line])
		return strings.Join(changed, "") + "\n"
	}
	flip := func(line string) string { return strings.Replace(line, `"time":"20`, `"time":"21`, 1) }
	cut := func(line string) string { return line[:len(line)/2] + "\n" }
	damage := func(from, to int, how func(string) string) string {
		changed := append([]string{}, lines...)
		for i := from; i <= to; i++ {
			changed[i] = how(changed[i])
		}
		return strings.Join(changed, "") + "\n"
	}
	untyped := func(line string) string { return strings.Replace(line, `"type":"message.appended"`, `"type":""`, 1) }
	long := func(line string) string { return strings.TrimSuffix(line, "\n") + strings.Repeat(" ", limit) + "\n" }
	start, end := 1+each, 2*each
	for name, test := range map[string]struct {
		text   string
		line   int // from 0
		before int // events of the session
		reason string
	}{
		"changed first line":  {change(start, flip), start, 0, "checksum mismatch"},
		"changed line":        {change(start+1, flip), start + 1, 1, "checksum mismatch"},
		"changed last line":   {change(end, flip), end, each - 1, "checksum mismatch"},
		"half a first line":   {change(start, cut), start, 0, "unexpected end of JSON input"},
		"half a line":         {change(start+1, cut), start + 1, 1, "unexpected end of JSON input"},
		"half a last line":    {change(end, cut), end, each - 1, "unexpected end of JSON input"},
		"line too long":       {change(start+1, long), start + 1, 1, "the line is too long"},
		"last line too long":  {change(end, long), end, each - 1, "the line is too long"},
		"lines too long":      {damage(start+1, end, long), start + 1, 1, "the line is too long"},
		"half of each line":   {damage(start+1, end, cut), start + 1, 1, "unexpected end of JSON input"},
		"event without type":  {change(start+1, untyped), start + 1, 1, `type "" is not noun.verb`},
		"event of the schema": {strangeBundle(t), start + 1, 1, "Invalid journal-event-v1.0:"},
	} {
		t.Run(name, func(t *testing.T) {
			got := bundleParts(test.text, limit)
			all := fmt.Sprintf("%d events", each)
			bad := fmt.Sprintf("%d events, session 2 of the bundle, line %d: %s", test.before, test.line+1, test.reason)
			if len(got) != 3 || got[0] != all || !strings.HasPrefix(got[1], bad) || got[2] != all {
				t.Errorf("got %q, want %q and an error in %q", got, all, bad)
			}
		})
	}
}

// An error outside of the sessions is reported by itself: the sessions before it are
// complete.
func TestTextAfterBundleIsErrorOfItsOwn(t *testing.T) {
	text := bundle(t, "legacy")
	lines := strings.Count(text, "\n")
	all := fmt.Sprintf("%d events", lines-2)
	want := []string{all, fmt.Sprintf("0 events, line %d: it is not the first line of a bundle", lines+1)}
	if diff := cmp.Diff(want, bundleParts(text+"nonsense\n", 1<<20)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHeaderIsSessionCreated(t *testing.T) {
	events, err := readBundle(bundle(t, "legacy"))
	if err != nil {
		t.Fatal(err)
	}
	created, err := interchange.Header(events[0])
	if err != nil || created.Team.ID == "" || !journal.ValidID(created.SessionID) {
		t.Errorf("got %+v, %v", created, err)
	}
	if got, err := interchange.Header(events[1]); err == nil {
		t.Errorf("a message is the header %+v", got)
	}
	invalid := events[0]
	invalid.Data = bytes.Replace(invalid.Data, []byte(created.SessionID), []byte("../x"), 1)
	if got, err := interchange.Header(invalid); err == nil {
		t.Errorf("an invalid id is the header %+v", got)
	}
	invalid.Data = []byte("7")
	if got, err := interchange.Header(invalid); err == nil {
		t.Errorf("a number is the header %+v", got)
	}
}

func TestValidateEndsAtInvalidEvent(t *testing.T) {
	events, err := readBundle(bundle(t, "legacy"))
	if err != nil {
		t.Fatal(err)
	}
	events[2].Data = []byte(`{"message":{}}`)
	broken := errors.New("broken")
	for at, want := range map[int]string{1: "broken", len(events): "event 3: Invalid journal-event-v1.0:"} {
		n := 0
		var failure error
		for e, err := range interchange.Validate(func(yield func(journal.Event, error) bool) {
			for i, e := range events {
				if i == at && !yield(journal.Event{}, broken) || !yield(e, nil) {
					return
				}
			}
		}) {
			if failure != nil {
				t.Errorf("%s after an error", e.Line())
			}
			if failure = err; err == nil {
				n++
			}
		}
		if n != min(at, 2) || failure == nil || !strings.HasPrefix(failure.Error(), want) {
			t.Errorf("%d events, then %v; want %q", n, failure, want)
		}
	}
}

func TestBundleLineTooLong(t *testing.T) {
	text := bundle(t, "legacy")
	for session := range interchange.ReadBundle(strings.NewReader(text), 100, nil) {
		for _, err := range session {
			if wrong := (*interchange.LineError)(nil); errors.As(err, &wrong) {
				return
			}
		}
	}
	t.Error("it was read")
}

// A long line at the end of a file without a line break is one error, not that and a truncated bundle.
func TestLongLastLineIsReportedOnce(t *testing.T) {
	text := bundle(t, "legacy")
	lines := strings.SplitAfter(text, "\n")
	want := []string{"1 events, session 1 of the bundle, line 3: the line is too long"}
	if diff := cmp.Diff(want, bundleParts(lines[0]+lines[1]+strings.Repeat("x", 5<<10), 4<<10)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
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

// Whatever byte of a bundle is changed, the error names a line at or after it: the line
// itself, but for a first line whose content is only covered by the end.
func TestFlipsInBundleAreRefused(t *testing.T) {
	sound := []byte(bundle(t, "legacy", "new-format", "legacy"))
	if _, err := readBundle(string(sound)); err != nil {
		t.Fatal(err)
	}
	last := bytes.Count(sound, []byte("\n"))
	random := rand.New(rand.NewPCG(15, 11))
	flips := 500
	if !sizetest.Full() {
		flips = 100
	}
	for n := range flips {
		damaged := bytes.Clone(sound)
		at := random.IntN(len(damaged))
		if n < 100 {
			at = n // in the first line
		}
		damaged[at] ^= byte(1 + random.IntN(255))
		line := bytes.Count(sound[:at], []byte("\n")) + 1
		var invalid *interchange.LineError
		switch _, err := readBundle(string(damaged)); {
		case !errors.As(err, &invalid):
			t.Errorf("line %d, byte %d changed to %q: %v", line, at, damaged[at], err)
		case invalid.Line == line:
		case line == 1 && invalid.Line == last:
		default:
			t.Errorf("line %d, byte %d changed to %q: %v", line, at, damaged[at], err)
		}
	}
}

func TestDamagedSessionOfBundleIsReportedOnce(t *testing.T) {
	text := strings.Replace(bundle(t, "legacy", "new-format", "legacy"), `"content":"`, `"content":"x`, 1)
	var problems []string
	for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine, nil) {
		for _, err := range session {
			if err != nil {
				problems = append(problems, err.Error())
			}
		}
	}
	want := []string{"session 1 of the bundle, line 3: checksum mismatch"}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestBundleOfEarlierVersionHasNoSum(t *testing.T) {
	text := bundle(t, "legacy", "new-format")
	at := strings.LastIndex(text, `,"sum":"`)
	events, err := readBundle(text[:at] + "}\n")
	if whole, wholeErr := readBundle(text); err != nil || wholeErr != nil || len(events) != len(whole) {
		t.Errorf("%d events, %v; with the sum %d, %v", len(events), err, len(whole), wholeErr)
	}
}

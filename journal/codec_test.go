package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
)

// withSum appends the end of a line, its checksum, according to the format; prev is
// the sum of the previous line.
func withSum(body string, prev journal.Sum) string {
	sum := crc32.Checksum([]byte(prev.String()+body), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf(`%s,"sum":"%08x"}`, body, sum)
}

func TestAnyValidJSONBeforeTheSumIsRead(t *testing.T) {
	noonish := noon.Add(123456 * time.Microsecond)
	plain := journal.Event{Seq: 7, Time: noonish, Type: "sheep.counted", Data: json.RawMessage(`{"n":1}`)}
	withSynced, spaced, sumInData, hugeSeq := plain, plain, plain, plain
	withSynced.Synced = 6
	spaced.Data = json.RawMessage(`{ "n" : 1 }`)
	sumInData.Data = json.RawMessage(`{"sum":"00000000"}`)
	hugeSeq.Seq = 1 << 63
	for name, c := range map[string]struct {
		body string
		want journal.Event
	}{
		"as written": {`{"seq":7,"time":"2026-11-21T12:00:00.123456Z","type":"sheep.counted","data":{"n":1}`,
			plain},
		"with synced": {
			`{"seq":7,"synced":6,"time":"2026-11-21T12:00:00.123456Z","type":"sheep.counted","data":{"n":1}`,
			withSynced},
		"spaces": {`{ "seq": 7, "time": "2026-11-21T12:00:00.123456Z", "type": "sheep.counted", "data": { "n" : 1 }`,
			spaced},
		"another order": {
			`{"data":{"n":1},"type":"sheep.counted","synced":6,"seq":7,"time":"2026-11-21T12:00:00.123456Z"`,
			withSynced},
		"another time zone": {
			`{"seq":7,"time":"2026-11-21T13:00:00.123456+01:00","type":"sheep.counted","data":{"n":1}`,
			plain},
		"an escaped type": {`{"seq":7,"time":"2026-11-21T12:00:00.123456Z","type":"sheep\u002ecounted","data":{"n":1}`,
			plain},
		"an unknown field": {
			`{"seq":7,"time":"2026-11-21T12:00:00.123456Z","type":"sheep.counted","data":{"n":1},"mark":[1,2]`,
			plain},
		"a sum in the data": {
			`{"seq":7,"time":"2026-11-21T12:00:00.123456Z","type":"sheep.counted","data":{"sum":"00000000"}`,
			sumInData},
		"a seq of 19 digits": {
			`{"seq":9223372036854775808,"time":"2026-11-21T12:00:00.123456Z","type":"sheep.counted","data":{"n":1}`,
			hugeSeq},
	} {
		line := withSum(c.body, 0xfeed)
		got, err := journal.DecodeLine([]byte(line), 0xfeed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.want.Sum = got.Sum
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, err := journal.DecodeLine([]byte(line), 0xfeee); err == nil {
			t.Errorf("%s: accepted after a line with another sum", name)
		}
	}
}

func TestInvalidLinesWithAValidSumAreRejected(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":             ``,
		"no object":           `7`,
		"no seq":              `{"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted","data":{}`,
		"no type":             `{"seq":7,"time":"2026-11-21T12:00:00.000000Z","data":{}`,
		"no data":             `{"seq":7,"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted"`,
		"data a list":         `{"seq":7,"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted","data":[]`,
		"data null":           `{"seq":7,"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted","data":null`,
		"a bad time":          `{"seq":7,"time":"yesterday","type":"sheep.counted","data":{}`,
		"an hour of 24":       `{"seq":7,"time":"2026-11-21T24:00:00.000000Z","type":"sheep.counted","data":{}`,
		"a minute of 60":      `{"seq":7,"time":"2026-11-21T12:60:00.000000Z","type":"sheep.counted","data":{}`,
		"a second of 60":      `{"seq":7,"time":"2026-11-21T12:00:60.000000Z","type":"sheep.counted","data":{}`,
		"a letter":            `{"seq":7,"time":"2026-11-21T1x:00:00.000000Z","type":"sheep.counted","data":{}`,
		"a letter of micros":  `{"seq":7,"time":"2026-11-21T12:00:00.00000xZ","type":"sheep.counted","data":{}`,
		"another hour sign":   `{"seq":7,"time":"2026-11-21T12.00:00.000000Z","type":"sheep.counted","data":{}`,
		"another minute sign": `{"seq":7,"time":"2026-11-21T12:00.00.000000Z","type":"sheep.counted","data":{}`,
		"another sign":        `{"seq":7,"time":"2026-11-21T12:00:00:000000Z","type":"sheep.counted","data":{}`,
		"another zone":        `{"seq":7,"time":"2026-11-21T12:00:00.000000X","type":"sheep.counted","data":{}`,
		"another date sign":   `{"seq":7,"time":"2026-11-21 12:00:00.000000Z","type":"sheep.counted","data":{}`,
		"day 31":              `{"seq":7,"time":"2026-11-31T12:00:00.000000Z","type":"sheep.counted","data":{}`,
		"seq below 0":         `{"seq":-7,"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted","data":{}`,
		"half a line":         `{"seq":7,"time":"2026-11`,
		"two braces":          `{{"seq":7,"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted","data":{}`,
	} {
		if e, err := journal.DecodeLine([]byte(withSum(body, 0)), 0); err == nil {
			t.Errorf("%s is read as %+v", name, e)
		}
	}
	good := withSum(`{"seq":7,"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted","data":{}`, 0)
	for name, line := range map[string]string{
		"upper-case digits":  good[:len(good)-10] + strings.ToUpper(good[len(good)-10:len(good)-2]) + `"}`,
		"a space at the end": good + " ",
		"a space in the sum": strings.Replace(good, `,"sum"`, `, "sum"`, 1),
		"CR LF":              good + "\r",
	} {
		if line == good {
			continue // its sum has no letters
		}
		if _, err := journal.DecodeLine([]byte(line), 0); err == nil {
			t.Errorf("%s: %s is read", name, line)
		}
	}
}

func TestForeignLayoutIsReadAndAppendedTo(t *testing.T) {
	dir := newDir(t)
	id := dir.NewID()
	line := withSum(`{ "type": "sheep.counted", "data": {"n": 1}, "seq": 1, "time": "2026-11-21T12:00:00Z"`, 0)
	writeFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte(line+"\n"))
	l := mustOpen(t, dir, id)
	if l.Position().Offset != int64(len(line))+1 {
		t.Errorf("opened at %+v", l.Position())
	}
	mustAppend(t, l, counted(2, 0))
	if diff := cmp.Diff([]int{1, 2}, countedIn(t, validEvents(t, dir, id))); diff != "" {
		t.Error(diff)
	}
}

// anyRecord draws a valid record.
func anyRecord(t *rapid.T) journal.Record {
	data := map[string]any{}
	for _, key := range rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "keys") {
		data[key] = rapid.OneOf(rapid.String().AsAny(), rapid.Float64().AsAny(), rapid.Just[any](nil),
			rapid.Just[any](map[string]any{"sum": "00000000"})).Draw(t, "value")
	}
	encoded, err := json.MarshalIndent(data, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const year0, year9999 = -62167219200, 253402300799 // the first and the last second
	at := time.Unix(rapid.Int64Range(year0, year9999).Draw(t, "seconds"),
		rapid.Int64Range(0, 999999999).Draw(t, "ns"))
	return journal.Record{
		Type: rapid.StringMatching(`[a-z]{1,9}\.[a-z]{1,9}`).Draw(t, "type"),
		Data: encoded,
		Time: at.In(time.FixedZone("there", rapid.IntRange(-43200, 43200).Draw(t, "zone"))),
	}
}

func TestAppendedEventsAreRead(t *testing.T) {
	dir := newDir(t)
	propertytest.Check(t, func(rt *rapid.T) {
		l := mustCreate(t, dir)
		defer l.Close()
		var appended []journal.Event
		for range rapid.IntRange(1, 4).Draw(rt, "batches") {
			events, err := l.Append(rapid.SliceOfN(rapid.Custom(anyRecord), 1, 3).Draw(rt, "batch")...)
			if err != nil {
				rt.Fatal(err)
			}
			appended = append(appended, events...)
		}
		events, torn, err := read(t, dir, l.ID())
		if diff := cmp.Diff(appended, events); diff != "" || err != nil || torn.Bytes > 0 {
			rt.Fatalf("torn %+v, error %v (-appended +read):\n%s", torn, err, diff)
		}
		at := journal.Position{}
		for line := range bytes.Lines(readFile(t, l.Path())) {
			if !json.Valid(line) {
				rt.Errorf("not JSON: %s", line)
			}
			e := events[0]
			if string(e.Line())+"\n" != string(line) {
				rt.Errorf("Line gives %s for %s", e.Line(), line)
			}
			if e.Synced == 0 {
				again, next, err := at.Next(journal.Record{Type: e.Type, Data: e.Data, Time: e.Time})
				if diff := cmp.Diff(e, again); diff != "" || err != nil || next.Offset != at.Offset+int64(len(line)) {
					rt.Errorf("Next gives %+v, %v (-want +got):\n%s", next, err, diff)
				}
			}
			at = journal.Position{Seq: e.Seq, Offset: at.Offset + int64(len(line)), Sum: e.Sum}
			events = events[1:]
		}
		if l.Position() != at {
			rt.Errorf("the log is at %+v, the file ends at %+v", l.Position(), at)
		}
	})
}

func TestHoldsOnlyPositionsOfTheJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 5000)
	events := validEvents(t, dir, id)
	r, err := dir.Reader(id, journal.Position{})
	must(t, err)
	defer r.Close()
	var at []journal.Position
	for _, err := range r.All() {
		must(t, err)
		at = append(at, r.Position())
	}
	for i, p := range at {
		if !r.Holds(p) {
			t.Errorf("does not hold %+v", p)
		}
		rest, err := dir.Reader(id, p)
		must(t, err)
		var got []journal.Event
		for e, err := range rest.All() {
			must(t, err)
			got = append(got, e)
		}
		rest.Close()
		same(t, fmt.Sprint("read after ", p.Seq), got, events[i+1:])
	}
	p := at[7]
	for name, wrong := range map[string]journal.Position{
		"another seq":        {Seq: p.Seq + 1, Offset: p.Offset, Sum: p.Sum},
		"another sum":        {Seq: p.Seq, Offset: p.Offset, Sum: p.Sum ^ 1},
		"an offset inside":   {Seq: p.Seq, Offset: p.Offset - 1, Sum: p.Sum},
		"another line's end": {Seq: p.Seq, Offset: at[6].Offset, Sum: p.Sum},
		"after the end":      {Seq: p.Seq, Offset: at[14].Offset + 1, Sum: p.Sum},
		"before the start":   {Seq: p.Seq, Offset: -1, Sum: p.Sum},
		"nothing but a seq":  {Seq: p.Seq},
	} {
		if r.Holds(wrong) {
			t.Errorf("holds %s: %+v", name, wrong)
		}
	}
	if !r.Holds(journal.Position{}) {
		t.Error("does not hold its beginning")
	}
}

func TestPositionSurvivesJSON(t *testing.T) {
	want := journal.Position{Seq: 3, Offset: 400, Sum: 0x0badcafe}
	text, err := json.Marshal(want)
	must(t, err)
	if string(text) != `{"seq":3,"offset":400,"sum":"0badcafe"}` {
		t.Errorf("written as %s", text)
	}
	var got journal.Position
	must(t, json.Unmarshal(text, &got))
	if got != want {
		t.Errorf("read as %+v", got)
	}
	for _, bad := range []string{`""`, `"0BADCAFE"`, `"0badcaf"`, `"0badcafex"`, `"xbadcafe"`, `7`} {
		if err := json.Unmarshal([]byte(`{"sum":`+bad+`}`), &got); err == nil {
			t.Errorf("%s is read as a sum", bad)
		}
	}
}

func TestValidLineOverMaxLineIsTooLong(t *testing.T) {
	dir := newDir(t)
	for _, padding := range []int{3000, 300_000, 600_000} {
		l := mustCreate(t, dir)
		mustAppend(t, l, counted(1, 5), counted(2, padding), counted(3, 5))
		must(t, l.Close())
		length := len(splitLines(readFile(t, l.Path()))[1])
		enough := journal.NewDir(dir.Path(), journal.Options{MaxLine: length})
		if events, torn, err := read(t, enough, l.ID()); err != nil || len(events) != 3 || torn.Bytes > 0 {
			t.Errorf("a line of %d bytes within the limit: %d events, torn %+v, %v", length, len(events), torn, err)
		}
		less := journal.NewDir(dir.Path(), journal.Options{MaxLine: length - 1})
		events, torn, err := read(t, less, l.ID())
		var corrupt *journal.CorruptError
		if !errors.As(err, &corrupt) || corrupt.TooLong != int64(length) || corrupt.Line != 2 ||
			len(events) != 1 || torn.Bytes > 0 {
			t.Errorf("a line of %d bytes over the limit: %d events, torn %+v, %v", length, len(events), torn, err)
		}
	}
}

func TestRandomOperationsKeepAllEvents(t *testing.T) {
	dir := newDir(t)
	propertytest.Check(t, func(rt *rapid.T) {
		l := mustCreate(t, dir)
		id := l.ID()
		defer func() { l.Close() }()
		var want []journal.Event
		add := func() {
			events, err := l.Append(batch(1, rapid.IntRange(1, 3).Draw(rt, "events"),
				rapid.IntRange(0, 300).Draw(rt, "padding"))...)
			if err != nil {
				rt.Fatal(err)
			}
			want = append(want, events...)
		}
		reopen := func() {
			must(t, l.Close())
			var err error
			if l, err = dir.Open(t.Context(), id); err != nil {
				rt.Fatal(err)
			}
		}
		add()
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"append", "sync", "reopen", "crash", "archive"}).Draw(rt, "step") {
			case "append":
				add()
			case "sync":
				must(t, l.Sync())
			case "reopen":
				reopen()
			case "crash":
				must(t, l.Close())
				if info, err := dir.Stat(id); err == nil && !info.Archived {
					appendFile(t, info.Path(), rapid.SliceOfN(rapid.Byte(), 1, 400).Draw(rt, "tail"))
				}
				reopen()
				add()
			case "archive":
				must(t, l.Close())
				if err := dir.Archive(t.Context(), id); err != nil {
					rt.Fatal(err)
				}
				reopen()
			}
		}
		events, torn, err := read(t, dir, id)
		equal := slices.EqualFunc(want, events, func(a, b journal.Event) bool { return a.Sum == b.Sum })
		if err != nil || torn.Bytes > 0 || !equal {
			rt.Fatalf("%d events of %d, torn %+v, %v", len(events), len(want), torn, err)
		}
	})
}

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }

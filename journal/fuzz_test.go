package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// fuzzed is the name of the one journal of a fuzz target's directory.
const fuzzed = "01JDQ3W7ZK8M5N6P7Q8R9S0T1A"

// tight is a directory in memory, in which lines are soon too long.
type tight struct {
	*journal.Dir
	t   testing.TB
	mem *journaltest.Mem
}

func newTight(t testing.TB) tight {
	mem := journaltest.NewMem()
	return tight{journal.NewDir("/journals", journal.Options{FS: mem, Now: atNoon, MaxLine: journal.MinMaxLine}), t, mem}
}

func (d tight) write(name string, content []byte) {
	d.t.Helper()
	for _, dir := range []string{d.Path(), filepath.Dir(filepath.Join(d.Path(), name))} {
		if err := d.mem.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			d.t.Fatal(err)
		}
	}
	must(d.t, journal.WriteFile(d.mem, filepath.Join(d.Path(), name), content))
}

func (d tight) read(name string) []byte {
	d.t.Helper()
	content, err := journal.ReadFile(d.mem, filepath.Join(d.Path(), name), 1<<30)
	must(d.t, err)
	return content
}

func (d tight) names() (names []string) {
	entries, err := d.mem.ReadDir(d.Path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// fuzzedFile is the file of that journal.
const fuzzedFile = fuzzed + ".jsonl"

func sameEvents(a, b []journal.Event) bool {
	return slices.EqualFunc(a, b, func(a, b journal.Event) bool { return bytes.Equal(a.Line(), b.Line()) })
}

// What a line is read as can be written, and is read as the same.
func FuzzDecodeLine(f *testing.F) {
	f.Fuzz(func(t *testing.T, line []byte, prev uint32) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return // two lines
		}
		checkDecoded(t, line, journal.Sum(prev))
		// Nearly no input has the right sum: give it one.
		if i := len(line) - 18; i > 0 {
			checkDecoded(t, []byte(seal(string(line[:i]), journal.Sum(prev))), journal.Sum(prev))
		}
	})
}

func checkDecoded(t *testing.T, line []byte, prev journal.Sum) {
	e, err := journal.DecodeLine(line, prev)
	if err != nil {
		return
	}
	if e.Type == "" && !bytes.Contains(line, []byte(`"type":""`)) || len(e.Data) == 0 || e.Data[0] != '{' {
		t.Errorf("%q is read as %+v", line, e)
	}
	if !bytes.Contains(line, e.Data) {
		t.Errorf("%q has other data than %q", line, e.Data)
	}
	written := journal.EncodeLine(e, prev)
	again, err := journal.DecodeLine(written, prev)
	if err != nil {
		t.Fatalf("%q is written as %q: %v", line, written, err)
	}
	if again.Seq != e.Seq || again.Synced != e.Synced || again.Type != e.Type || !bytes.Equal(again.Data, e.Data) || !again.Time.Equal(e.Time.Truncate(time.Microsecond)) {
		t.Errorf("%q is read as %+v, and when that was written as %+v", line, e, again)
	}
}

// Whatever somebody wants to append: it is refused and leaves no trace, or it is
// read as it was meant.
func FuzzAppendRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, eventType string, data []byte, seconds, nanoseconds int64) {
		dir := newTight(t)
		l, err := dir.Create(fuzzed)
		must(t, err)
		defer l.Close()
		r := journal.Record{Type: eventType, Data: data, Time: time.Unix(seconds, nanoseconds)}
		events, err := l.Append(r, counted(1, 0), r)
		if err != nil {
			if names := dir.names(); len(names) > 0 || errors.Is(err, journal.ErrPoisoned) {
				t.Fatalf("refused with %v, and there are %v", err, names)
			}
			mustAppend(t, l, counted(1, 0))
			sound(t, dir.Dir, fuzzed)
			return
		}
		got := sound(t, dir.Dir, fuzzed)
		if !sameEvents(got, events) || len(got) != 3 {
			t.Fatalf("appended %v, read %v", events, got)
		}
		var compact bytes.Buffer
		must(t, json.Compact(&compact, data))
		for _, e := range []journal.Event{got[0], got[2]} {
			if e.Type != eventType || !bytes.Equal(e.Data, compact.Bytes()) || !r.Time.IsZero() && !e.Time.Equal(r.Time.Truncate(time.Microsecond)) {
				t.Errorf("%+v is read as %+v", r, e)
			}
			if !json.Valid(e.Line()) {
				t.Errorf("%q is not JSON", e.Line())
			}
		}
		must(t, l.Close())
		if end := mustOpen(t, dir.Dir, fuzzed).Position(); end.Seq != 3 {
			t.Errorf("opened behind %v", end)
		}
	})
}

// Whatever a file holds: reading and opening it end, agree with each other and
// keep the good beginning; what can be opened can be appended to, which changes
// nothing before the torn tail and loses nothing of it.
func FuzzOpenCorrupt(f *testing.F) {
	source := newDir(f)
	id := newJournal(f, source, 3)
	lines := splitLines(readFile(f, filepath.Join(source.Path(), id+".jsonl")))
	events := sound(f, source, id)
	f.Fuzz(func(t *testing.T, keep uint8, rest []byte) {
		kept := min(int(keep), len(lines))
		checkDamaged(t, append(bytes.Join(lines[:kept], nil), rest...), events[:kept])
	})
}

// checkDamaged opens and reads a file that begins with good events.
func checkDamaged(t *testing.T, content []byte, good []journal.Event) {
	t.Helper()
	dir := newTight(t)
	dir.write(fuzzedFile, content)

	got, torn, err := read(t, dir.Dir, fuzzed)
	if len(got) < len(good) || !sameEvents(got[:len(good)], good) {
		t.Fatalf("%d of the %d good events were read", len(got), len(good))
	}
	l, openErr := dir.Open(fuzzed)
	if (err == nil) != (openErr == nil) || (err == nil) != (dir.Check(fuzzed) == nil) {
		t.Fatalf("reading says %v, opening %v, checking %v", err, openErr, dir.Check(fuzzed))
	}
	var corrupt *journal.CorruptError
	if err != nil && (!errors.As(err, &corrupt) || corrupt.Line != int64(len(got))+1) {
		t.Fatalf("after %d events: %v", len(got), err)
	}
	if !bytes.Equal(dir.read(fuzzedFile), content) {
		t.Fatal("the file was changed")
	}
	if err != nil {
		return
	}
	defer l.Close()
	if l.Torn() != torn || l.Position().Seq != uint64(len(got)) {
		t.Fatalf("opened at %+v, torn %+v; read %d events, torn %+v", l.Position(), l.Torn(), len(got), torn)
	}
	if torn.Bytes > 0 && torn.Offset+torn.Bytes != int64(len(content)) {
		t.Fatalf("torn %+v, the file has %d bytes", torn, len(content))
	}
	if claimed := claims(content[len(content)-int(torn.Bytes):]); claimed > uint64(len(got)) {
		t.Fatalf("torn behind event %d, and a line in it says that %d was on the disk", len(got), claimed)
	}
	added := mustAppend(t, l, counted(1, 0))
	checkAppended(t, dir, content, got, added, torn)
}

// claims is the highest seq that any line calls synced, whether it checks or
// not.
func claims(content []byte) (claimed uint64) {
	for _, line := range splitLines(content) {
		body, whole := bytes.CutSuffix(line, []byte("\n"))
		var said struct{ Seq, Synced uint64 }
		if _, sealed := saidSum(body); whole && sealed && json.Unmarshal(body, &said) == nil && said.Synced < said.Seq {
			claimed = max(claimed, said.Synced)
		}
	}
	return claimed
}

// checkAppended checks what an Append behind a torn tail has left.
func checkAppended(t *testing.T, dir tight, before []byte, got, added []journal.Event, torn journal.Torn) {
	t.Helper()
	if after := sound(t, dir.Dir, fuzzed); !sameEvents(after, append(slices.Clip(got), added...)) {
		t.Fatalf("%v and %v became %v", got, added, after)
	}
	good := before[:int64(len(before))-torn.Bytes]
	if now := dir.read(fuzzedFile); !bytes.HasPrefix(now, good) {
		t.Error("what was good is written otherwise now")
	}
	if torn.Bytes == 0 {
		if len(added) != 1 {
			t.Errorf("appended %v behind a whole journal", added)
		}
		return
	}
	aside := dir.read(recoveredIn(t, added[0]).Aside)
	if !bytes.Equal(aside, before[torn.Offset:]) {
		t.Errorf("of the torn tail %q was set aside %q", before[torn.Offset:], aside)
	}
}

// Whatever a file holds: Repair keeps every line that checks against its own
// predecessor, and tells of everything else in its place. The file as it was is
// kept, the new one is sound, and repairing it again does nothing.
func FuzzRepair(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte, sealed bool) {
		if sealed { // nearly no input has the right sums
			content = sealLines(content)
		}
		checkRepaired(t, content)
	})
}

// checkRepaired repairs a file that holds anything.
func checkRepaired(t *testing.T, content []byte) {
	t.Helper()
	dir := newTight(t)
	dir.write(fuzzedFile, content)
	_, _, readErr := read(t, dir.Dir, fuzzed)
	want, tooLong := mended(content)

	done, err := dir.Repair(fuzzed, false)
	now := dir.read(fuzzedFile)
	var corrupt *journal.CorruptError
	switch {
	case readErr == nil:
		if err != nil || len(done.Dropped) > 0 || !bytes.Equal(now, content) {
			t.Fatalf("a journal that can be read: %+v, %v", done, err)
		}
		return
	case tooLong:
		if !errors.As(err, &corrupt) || corrupt.TooLong == 0 || !bytes.Equal(now, content) || len(dir.names()) != 2 {
			t.Fatalf("%+v, %v", done, err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	if aside := dir.read(done.Aside); !bytes.Equal(aside, content) {
		t.Errorf("the journal as it was is not kept")
	}
	checkMended(t, want, sound(t, dir.Dir, fuzzed))
	if len(done.Dropped) == 0 || done.Kept+uint64(len(done.Dropped)) != uint64(len(want)) {
		t.Errorf("%d events for %+v", len(want), done)
	}
	if again, err := dir.Repair(fuzzed, false); err != nil || len(again.Dropped) > 0 || !bytes.Equal(dir.read(fuzzedFile), now) {
		t.Errorf("a second repair: %+v, %v", again, err)
	}
	mustAppend(t, mustOpen(t, dir.Dir, fuzzed), counted(1, 0))
	sound(t, dir.Dir, fuzzed)
}

// sealLines gives every line that is long enough the sum that it should have.
func sealLines(content []byte) []byte {
	var out []byte
	var prev journal.Sum
	for _, line := range splitLines(content) {
		body, whole := bytes.CutSuffix(line, []byte("\n"))
		if len(body) <= 18 || !whole {
			out = append(out, line...)
			continue
		}
		text := seal(string(body[:len(body)-18]), prev)
		prev, _ = saidSum([]byte(text))
		out = append(append(out, text...), '\n')
	}
	return out
}

// mended is what a repair should make of a file, line by line: the events that
// check, and an empty one for each run of bytes that does not, or where numbers
// leap. It reports
// whether a line that checks is too long, or would be once it is written again.
func mended(content []byte) (want []journal.Event, tooLong bool) {
	var before journal.Sum
	var seq uint64
	bad := false
	for _, line := range splitLines(content) {
		body, whole := bytes.CutSuffix(line, []byte("\n"))
		prev := before
		if said, ok := saidSum(body); ok && whole {
			before = said
		}
		if len(line) > journal.MinMaxLine {
			if whole && string(body) == seal(string(body[:len(body)-18]), prev) {
				return nil, true
			}
			whole = false
		}
		e, err := journal.DecodeLine(body, prev)
		switch {
		case whole && err == nil:
			if !bad && e.Seq != seq+1 {
				want = append(want, journal.Event{})
			}
			seq = e.Seq
			want, bad = append(want, journal.Event{Seq: uint64(len(want)) + 1, Time: e.Time, Type: e.Type, Data: e.Data}), false
			if len(journal.EncodeLine(want[len(want)-1], 0)) >= journal.MinMaxLine {
				return nil, true
			}
		case !bad:
			want, bad = append(want, journal.Event{}), true
		}
	}
	return want, false
}

// saidSum is the sum that stands at the end of a line.
func saidSum(line []byte) (sum journal.Sum, ok bool) {
	_, end, found := strings.Cut(string(line[max(0, len(line)-18):]), `,"sum":"`)
	digits, closed := strings.CutSuffix(end, `"}`)
	return sum, found && closed && sum.UnmarshalText([]byte(digits)) == nil
}

func checkMended(t *testing.T, want, got []journal.Event) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if w.Data == nil {
			recoveredIn(t, g)
		} else if g.Type != w.Type || !bytes.Equal(g.Data, w.Data) || !g.Time.Equal(w.Time.Truncate(time.Microsecond)) {
			t.Errorf("event %d is %+v, want %+v", i+1, g, w)
		}
	}
}

// Whatever an archive holds: reading it ends and finds the events that the
// decompressed bytes have as a journal, the same damage, and more only where
// they cannot be decompressed.
func FuzzArchive(f *testing.F) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	must(f, err)
	f.Fuzz(func(t *testing.T, data []byte, packed bool) {
		if !packed {
			data = pack.EncodeAll(data, nil)
		}
		dir, live := newTight(t), newTight(t)
		dir.write("archive/"+fuzzedFile+".zst", data)
		got, torn, err := read(t, dir.Dir, fuzzed)
		plain, whole := decompressed(t, data)
		if len(plain) > mostPlain {
			return // it ended, which is enough of a bomb
		}
		live.write(fuzzedFile, plain)
		want, wantTorn, wantErr := read(t, live.Dir, fuzzed)
		var corrupt, wantCorrupt *journal.CorruptError
		if journal.SaysItHasATable(data) && errors.As(err, &corrupt) && len(got) <= len(want) {
			want, whole = want[:len(got)], false // the table is wrong, which other programs do not see
		}
		if !sameEvents(got, want) {
			t.Fatalf("%d events, decompressed there are %d", len(got), len(want))
		}
		switch damaged := errors.As(wantErr, &wantCorrupt); {
		case !whole:
			if !errors.As(err, &corrupt) {
				t.Fatalf("what cannot be decompressed: %v", err)
			}
		case damaged:
			if !errors.As(err, &corrupt) || corrupt.Line != wantCorrupt.Line || corrupt.Offset != wantCorrupt.Offset || corrupt.Reason != wantCorrupt.Reason {
				t.Fatalf("%v, decompressed it is %v", err, wantErr)
			}
		case err != nil || torn != wantTorn:
			t.Fatalf("torn %+v, %v, decompressed it is torn %+v", torn, err, wantTorn)
		}
		if (err == nil) != (dir.Check(fuzzed) == nil) {
			t.Fatalf("reading says %v, checking %v", err, dir.Check(fuzzed))
		}
		l, openErr := dir.Open(fuzzed)
		if (err == nil) != (openErr == nil) {
			t.Fatalf("reading says %v, opening %v", err, openErr)
		}
		if err != nil {
			return
		}
		defer l.Close()
		checkAppended(t, dir, plain, got, mustAppend(t, l, counted(1, 0)), torn)
	})
}

// mostPlain is how much a fuzzed archive may hold to be compared, in bytes.
const mostPlain = 1 << 20

// decompressed decompresses as far as it goes, and reports whether that is all.
func decompressed(t *testing.T, data []byte) (plain []byte, whole bool) {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(16<<20))
	must(t, err)
	defer r.Close()
	plain, err = io.ReadAll(io.LimitReader(r, mostPlain+1))
	return plain, err == nil && len(data) > 0
}

// Whatever a lock file says: it is nobody or what stands there, and can be
// said in one error.
func FuzzHolder(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := newTight(t)
		dir.write(fuzzed+".lock", content)
		var said journal.Holder
		if json.Unmarshal(content, &said) != nil || len(content) > 4<<10 {
			said = journal.Holder{}
		}
		got := journal.ReadHolder(dir.mem, filepath.Join(dir.Path(), fuzzed+".lock"))
		if got.PID != said.PID || got.Host != said.Host || !got.StartedAt.Equal(said.StartedAt) {
			t.Errorf("%q is read as %v", content, got)
		}
		text := (&journal.LockedError{Path: fuzzedFile, Holder: got}).Error()
		if want := fmt.Sprintf("%s is locked by process %d on ", fuzzedFile, got.PID); got.PID != 0 && !strings.HasPrefix(text, want) {
			t.Errorf("the error is %q", text)
		}
	})
}

// Whatever the date of a journal in the trash is: the journal is listed, and
// comes back whole.
func FuzzTrashTime(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := newTight(t)
		l, err := dir.Create(fuzzed)
		must(t, err)
		mustAppend(t, l, counted(1, 0))
		must(t, l.Close())
		must(t, dir.Trash(fuzzed))
		dir.write("trash/"+fuzzed+".trashed", content)
		list, err := dir.ListTrash()
		if err != nil || len(list) != 1 || list[0].ID != fuzzed || list[0].Bytes == 0 {
			t.Fatalf("the trash has %+v, %v", list, err)
		}
		since, err := time.Parse(time.RFC3339, strings.TrimSpace(string(content)))
		if err != nil || len(content) > 4<<10 {
			since = time.Time{} // it is no date
		}
		if !since.Equal(list[0].Since) {
			t.Errorf("%q is read as %v", content, list[0].Since)
		}
		must(t, dir.Restore(fuzzed))
		if n := len(sound(t, dir.Dir, fuzzed)); n != 1 {
			t.Errorf("%d events came back", n)
		}
	})
}

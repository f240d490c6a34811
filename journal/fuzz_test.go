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
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// fuzzed is the name of the only journal in the directory of a fuzz target.
const fuzzed = "01JDQ3W7ZK8M5N6P7Q8R9S0T1A"

// tight is a directory in memory with a small limit for lines.
type tight struct {
	*journal.Dir
	t   testing.TB
	mem *journaltest.Mem
}

func newTight(t testing.TB) tight {
	mem := journaltest.NewMem()
	return tight{journal.NewDir("/journals",
		journal.Options{FS: mem, Now: atNoon, MaxLine: journal.MinMaxLine}), t, mem}
}

func (d tight) write(name string, content []byte) {
	d.t.Helper()
	for _, dir := range []string{d.Path(), filepath.Dir(filepath.Join(d.Path(), name))} {
		if err := d.mem.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			d.t.Fatal(err)
		}
	}
	must(d.t, vfs.WriteFile(d.mem, filepath.Join(d.Path(), name), content))
}

func (d tight) read(name string) []byte {
	d.t.Helper()
	content, err := vfs.ReadFile(d.mem, filepath.Join(d.Path(), name), 1<<30)
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

// A line that can be decoded can be encoded, and decodes to the same event.
func FuzzDecodeLine(f *testing.F) {
	f.Fuzz(func(t *testing.T, line []byte, prev uint32) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return // two lines
		}
		checkDecoded(t, line, journal.Sum(prev))
		// Almost no input has the right sum, so it is added.
		if i := len(line) - 18; i > 0 {
			checkDecoded(t, []byte(withSum(string(line[:i]), journal.Sum(prev))), journal.Sum(prev))
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
	if again.Seq != e.Seq || again.Synced != e.Synced || again.Type != e.Type ||
		!bytes.Equal(again.Data, e.Data) || !again.Time.Equal(e.Time.Truncate(time.Microsecond)) {
		t.Errorf("%q is read as %+v, and when that was written as %+v", line, e, again)
	}
}

// Whatever is appended: it is refused and changes nothing, or it reads back the
// same.
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
			validEvents(t, dir.Dir, fuzzed)
			return
		}
		got := validEvents(t, dir.Dir, fuzzed)
		if !sameEvents(got, events) || len(got) != 3 {
			t.Fatalf("appended %v, read %v", events, got)
		}
		var compact bytes.Buffer
		must(t, json.Compact(&compact, data))
		for _, e := range []journal.Event{got[0], got[2]} {
			if e.Type != eventType || !bytes.Equal(e.Data, compact.Bytes()) || !r.Time.IsZero() &&
				!e.Time.Equal(r.Time.Truncate(time.Microsecond)) {
				t.Errorf("%+v is read as %+v", r, e)
			}
			if !json.Valid(e.Line()) {
				t.Errorf("%q is not JSON", e.Line())
			}
		}
		must(t, l.Close())
		if end := mustOpen(t, dir.Dir, fuzzed).Position(); end.Seq != 3 {
			t.Errorf("opened after %v", end)
		}
	})
}

// Whatever a file contains: reading and opening it terminate, agree with each other
// and keep the valid prefix. A journal that can be opened can be appended to, which
// changes nothing before the torn tail and loses nothing of it.
func FuzzOpenCorrupt(f *testing.F) {
	source := newDir(f)
	id := newJournal(f, source, 3)
	lines := splitLines(readFile(f, filepath.Join(source.Path(), id+".jsonl")))
	events := validEvents(f, source, id)
	f.Fuzz(func(t *testing.T, keep uint8, rest []byte) {
		kept := min(int(keep), len(lines))
		checkCorrupt(t, append(bytes.Join(lines[:kept], nil), rest...), events[:kept])
	})
}

// checkCorrupt opens and reads a file that starts with valid events.
func checkCorrupt(t *testing.T, content []byte, good []journal.Event) {
	t.Helper()
	dir := newTight(t)
	dir.write(fuzzedFile, content)

	got, torn, err := read(t, dir.Dir, fuzzed)
	if len(got) < len(good) || !sameEvents(got[:len(good)], good) {
		t.Fatalf("%d of the %d good events were read", len(got), len(good))
	}
	l, openErr := dir.Open(t.Context(), fuzzed)
	if (err == nil) != (openErr == nil) || (err == nil) != (dir.Check(fuzzed) == nil) {
		t.Fatalf("reading: %v, opening: %v, checking: %v", err, openErr, dir.Check(fuzzed))
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
	if claimed := highestSynced(content[len(content)-int(torn.Bytes):]); claimed > uint64(len(got)) {
		t.Fatalf("torn after event %d, although a line declares %d synced", len(got), claimed)
	}
	added := mustAppend(t, l, counted(1, 0))
	checkAppended(t, dir, content, got, added, torn)
}

// highestSynced returns the highest seq that any line declares synced, valid or
// not.
func highestSynced(content []byte) (synced uint64) {
	for _, line := range splitLines(content) {
		body, complete := bytes.CutSuffix(line, []byte("\n"))
		var line struct{ Seq, Synced uint64 }
		if _, sealed := trailerSum(body); complete && sealed && json.Unmarshal(body, &line) == nil &&
			line.Synced < line.Seq {
			synced = max(synced, line.Synced)
		}
	}
	return synced
}

// checkAppended checks the result of an Append after a torn tail.
func checkAppended(t *testing.T, dir tight, before []byte, got, added []journal.Event, torn journal.Torn) {
	t.Helper()
	if after := validEvents(t, dir.Dir, fuzzed); !sameEvents(after, append(slices.Clip(got), added...)) {
		t.Fatalf("%v and %v became %v", got, added, after)
	}
	good := before[:int64(len(before))-torn.Bytes]
	if now := dir.read(fuzzedFile); !bytes.HasPrefix(now, good) {
		t.Error("what was good is written otherwise now")
	}
	if torn.Bytes == 0 {
		if len(added) != 1 {
			t.Errorf("appended %v after a valid journal", added)
		}
		return
	}
	aside := dir.read(recoveredIn(t, added[0]).Aside)
	if !bytes.Equal(aside, before[torn.Offset:]) {
		t.Errorf("of the torn tail %q was set aside %q", before[torn.Offset:], aside)
	}
}

// Whatever a file contains: Repair keeps every line that is valid after its
// predecessor, and records everything else. The previous file is kept
// aside, the new one is valid, and repairing it again does nothing.
func FuzzRepair(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte, sealed bool) {
		if sealed { // almost no input has the right sums
			content = sealLines(content)
		}
		checkRepaired(t, content)
	})
}

// checkRepaired repairs a file with any content.
func checkRepaired(t *testing.T, content []byte) {
	t.Helper()
	dir := newTight(t)
	dir.write(fuzzedFile, content)
	_, _, readErr := read(t, dir.Dir, fuzzed)
	want, tooLong := wantRepaired(content)

	done, err := dir.Repair(t.Context(), fuzzed, nil, false)
	now := dir.read(fuzzedFile)
	var corrupt *journal.CorruptError
	switch {
	case readErr == nil:
		if err != nil || len(done.Dropped) > 0 || !bytes.Equal(now, content) {
			t.Fatalf("a journal that can be read: %+v, %v", done, err)
		}
		return
	case tooLong && errors.As(err, &corrupt) && corrupt.TooLong > 0:
		if !bytes.Equal(now, content) || len(dir.names()) != 2 {
			t.Fatalf("%+v, %v", done, err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	if aside := dir.read(done.Aside); !bytes.Equal(aside, content) {
		t.Errorf("the journal as it was is not kept")
	}
	events := validEvents(t, dir.Dir, fuzzed)
	if last := events[len(events)-1]; last.Type != journal.TypeSealed || last.Synced != last.Seq-1 {
		t.Errorf("the last event is %+v", last)
	}
	checkWantRepaired(t, content, want, events[:len(events)-1], len(done.Dropped))
	if len(done.Dropped) == 0 || int(done.Kept)+len(done.Dropped)+1 != len(events) {
		t.Errorf("%d events, with the seal, for %+v", len(events), done)
	}
	if again, err := dir.Repair(t.Context(), fuzzed, nil, false); err != nil || len(again.Dropped) > 0 ||
		!bytes.Equal(dir.read(fuzzedFile), now) {
		t.Errorf("a second repair: %+v, %v", again, err)
	}
	mustAppend(t, mustOpen(t, dir.Dir, fuzzed), counted(1, 0))
	validEvents(t, dir.Dir, fuzzed)
}

// sealLines gives every line that is long enough the right sum.
func sealLines(content []byte) []byte {
	var out []byte
	var prev journal.Sum
	for _, line := range splitLines(content) {
		body, complete := bytes.CutSuffix(line, []byte("\n"))
		if len(body) <= 18 || !complete {
			out = append(out, line...)
			continue
		}
		text := withSum(string(body[:len(body)-18]), prev)
		prev, _ = trailerSum([]byte(text))
		out = append(append(out, text...), '\n')
	}
	return out
}

// wantRepaired computes which events a repair keeps at least: those of the lines that are valid after the previous line.
// It reports whether a valid line is too long, or may become too long when it is written again.
func wantRepaired(content []byte) (want []journal.Event, tooLong bool) {
	var before journal.Sum
	for _, line := range splitLines(content) {
		body, complete := bytes.CutSuffix(line, []byte("\n"))
		prev := before
		if sum, ok := trailerSum(body); ok && complete {
			before = sum
		}
		if complete && len(line) > journal.MinMaxLine {
			if string(body) == withSum(string(body[:len(body)-18]), prev) {
				return nil, true
			}
			continue
		}
		// A line that is not JSON may consist of lines that are kept instead.
		if e, err := journal.DecodeLine(body, prev); complete && err == nil && json.Valid(e.Data) {
			want = append(want, e)
			tooLong = tooLong || len(line) > journal.MinMaxLine-100
		}
	}
	return want, tooLong
}

// trailerSum returns the sum in the trailer of a line.
func trailerSum(line []byte) (sum journal.Sum, ok bool) {
	_, end, found := strings.Cut(string(line[max(0, len(line)-18):]), `,"sum":"`)
	digits, closed := strings.CutSuffix(end, `"}`)
	return sum, found && closed && sum.UnmarshalText([]byte(digits)) == nil
}

// checkWantRepaired checks that the events have the wanted ones, in this order, and nothing else than what is in the
// content and what records the repair.
func checkWantRepaired(t *testing.T, content []byte, want, got []journal.Event, dropped int) {
	t.Helper()
	records := 0
	for _, g := range got {
		if len(want) > 0 && g.Type == want[0].Type && bytes.Equal(g.Data, want[0].Data) &&
			g.Time.Equal(want[0].Time.Truncate(time.Microsecond)) {
			want = want[1:]
		} else if !bytes.Contains(content, g.Data) {
			recoveredIn(t, g)
			records++
		}
	}
	if len(want) > 0 {
		t.Errorf("%d valid lines were not kept, the first is %+v", len(want), want[0])
	}
	if records != dropped {
		t.Errorf("%d events record %d invalid parts", records, dropped)
	}
}

// Whatever an archive contains: reading it terminates, and returns the same events
// and the same corruption as reading the decompressed bytes as a journal, except
// where they cannot be decompressed.
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
		plain, complete := decompressed(t, data)
		if len(plain) > maxPlain {
			return // it terminated, which suffices for a decompression bomb
		}
		live.write(fuzzedFile, plain)
		want, wantTorn, wantErr := read(t, live.Dir, fuzzed)
		var corrupt, wantCorrupt *journal.CorruptError
		if looksSeekable(data) && errors.As(err, &corrupt) && len(got) <= len(want) {
			want, complete = want[:len(got)], false // the table is wrong; other programs ignore it
		}
		if !sameEvents(got, want) {
			t.Fatalf("%d events, decompressed there are %d", len(got), len(want))
		}
		switch isCorrupt := errors.As(wantErr, &wantCorrupt); {
		case !complete:
			if !errors.As(err, &corrupt) {
				t.Fatalf("what cannot be decompressed: %v", err)
			}
		case isCorrupt:
			if !errors.As(err, &corrupt) || corrupt.Line != wantCorrupt.Line ||
				corrupt.Offset != wantCorrupt.Offset || corrupt.Reason != wantCorrupt.Reason {
				t.Fatalf("%v, decompressed it is %v", err, wantErr)
			}
		case wantTorn.Bytes > 0: // every line of an archive counts as synced
			if !errors.As(err, &corrupt) || corrupt.Offset != wantTorn.Offset || corrupt.Reason != wantTorn.Reason {
				t.Fatalf("%v, decompressed it is torn %+v", err, wantTorn)
			}
		case err != nil || torn.Bytes > 0:
			t.Fatalf("torn %+v, %v", torn, err)
		}
		if (err == nil) != (dir.Check(fuzzed) == nil) {
			t.Fatalf("reading: %v, checking: %v", err, dir.Check(fuzzed))
		}
		l, openErr := dir.Open(t.Context(), fuzzed)
		if (err == nil) != (openErr == nil) {
			t.Fatalf("reading: %v, opening: %v", err, openErr)
		}
		if err != nil {
			return
		}
		defer l.Close()
		checkAppended(t, dir, plain, got, mustAppend(t, l, counted(1, 0)), torn)
	})
}

// maxPlain is the decompressed size up to which a fuzzed archive is compared, in
// bytes.
const maxPlain = 1 << 20

// decompressed decompresses as much as possible, and reports whether that is all.
func decompressed(t *testing.T, data []byte) (plain []byte, complete bool) {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(16<<20))
	must(t, err)
	defer r.Close()
	plain, err = io.ReadAll(io.LimitReader(r, maxPlain+1))
	return plain, err == nil && len(data) > 0
}

// Whatever a lock file contains: the holder is unknown or the one in the file, and
// its name fits into an error.
func FuzzHolder(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := newTight(t)
		dir.write(fuzzed+".lock", content)
		var want journal.Holder
		if json.Unmarshal(content, &want) != nil || len(content) > 4<<10 {
			want = journal.Holder{}
		}
		got := journal.ReadHolder(dir.mem, filepath.Join(dir.Path(), fuzzed+".lock"))
		if got.PID != want.PID || got.Host != want.Host || !got.StartedAt.Equal(want.StartedAt) {
			t.Errorf("%q is read as %v", content, got)
		}
		text := (&journal.LockedError{Path: fuzzedFile, Holder: got}).Error()
		if want := fmt.Sprintf("%s is locked by process %d on ", fuzzedFile, got.PID); got.PID != 0 &&
			!strings.HasPrefix(text, want) {
			t.Errorf("the error is %q", text)
		}
	})
}

// Whatever the trash time of a journal contains: the journal is listed, and can be
// restored.
func FuzzTrashTime(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := newTight(t)
		l, err := dir.Create(fuzzed)
		must(t, err)
		mustAppend(t, l, counted(1, 0))
		must(t, l.Close())
		must(t, trash.Of(dir.Dir).Move(t.Context(), fuzzed))
		dir.write("trash/"+fuzzed+".trashed", content)
		list, err := trash.Of(dir.Dir).List()
		if err != nil || len(list) != 1 || list[0].ID != fuzzed || list[0].Bytes == 0 {
			t.Fatalf("the trash has %+v, %v", list, err)
		}
		since, err := time.Parse(time.RFC3339, strings.TrimSpace(string(content)))
		if err != nil || len(content) > 4<<10 {
			since = time.Time{} // not a date
		}
		if !since.Equal(list[0].Since) {
			t.Errorf("%q is read as %v", content, list[0].Since)
		}
		must(t, trash.Of(dir.Dir).Restore(t.Context(), fuzzed))
		if n := len(validEvents(t, dir.Dir, fuzzed)); n != 1 {
			t.Errorf("%d events came back", n)
		}
	})
}

package journal_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

func FuzzDecodeLine(f *testing.F) {
	f.Add([]byte(`{"seq":1,"time":"2026-11-21T12:00:00.000000Z","type":"water.poured","data":{"litres":1.5},"sum":"b1377f53"}`), uint32(0))
	f.Add([]byte(`{"data":{},"seq":18446744073709551615,"type":"a.b","time":"0000-01-01T00:00:00Z","sum":"00000000"}`), uint32(1))
	f.Add([]byte(`,"sum":"00000000"}`), uint32(1<<31))
	f.Fuzz(func(t *testing.T, line []byte, prev uint32) {
		if e, err := journal.DecodeLine(line, journal.Sum(prev)); err == nil {
			checkDecoded(t, e, line)
		}
		// Nearly no input has the right sum: give it one.
		if i := len(line) - 18; i > 0 {
			sealed := []byte(seal(string(line[:i]), journal.Sum(prev)))
			if e, err := journal.DecodeLine(sealed, journal.Sum(prev)); err == nil {
				checkDecoded(t, e, sealed)
			}
		}
	})
}

func checkDecoded(t *testing.T, e journal.Event, line []byte) {
	if e.Type == "" && !bytes.Contains(line, []byte(`"type":""`)) || len(e.Data) == 0 || e.Data[0] != '{' {
		t.Errorf("%q is read as %+v", line, e)
	}
	if !bytes.Contains(line, e.Data) {
		t.Errorf("%q has other data than %q", line, e.Data)
	}
}

// Whatever a file holds: reading and opening it end, agree with each other and
// keep the good beginning; what can be opened can be appended to and read.
func FuzzOpenDamaged(f *testing.F) {
	source := newDir(f)
	id := newJournal(f, source, 3)
	good := readFile(f, filepath.Join(source.Path(), id+".jsonl"))
	events := sound(f, source, id)
	lines := splitLines(good)
	f.Add(uint8(15), []byte("half"))
	f.Add(uint8(12), bytes.Join(lines[13:], nil))
	f.Add(uint8(5), bytes.Join(lines[4:], nil))
	f.Add(uint8(0), []byte("\n\n{}\n\x00\x00\n"))
	f.Add(uint8(11), bytes.Replace(bytes.Join(lines[11:], nil), []byte("\n"), nil, 1))
	f.Add(uint8(3), []byte(`{"seq":4,"synced":99,"time":"2026-11-21T12:00:00.000000Z","type":"a.b","data":{},"sum":"00000000"}`+"\n"))
	f.Fuzz(func(t *testing.T, keep uint8, rest []byte) {
		kept := min(int(keep), len(lines))
		dir := newDir(t)
		path := filepath.Join(dir.Path(), id+".jsonl")
		content := append(bytes.Join(lines[:kept], nil), rest...)
		writeFile(t, path, content)

		got, torn, err := read(t, dir, id)
		if len(got) < kept || !slices.EqualFunc(got[:kept], events[:kept], func(a, b journal.Event) bool { return a.Sum == b.Sum }) {
			t.Fatalf("%d of the %d good events were read", len(got), kept)
		}
		l, openErr := dir.Open(id)
		if (err == nil) != (openErr == nil) {
			t.Fatalf("reading says %v, opening %v", err, openErr)
		}
		var corrupt *journal.CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Fatalf("error %v", err)
		}
		if !bytes.Equal(readFile(t, path), content) {
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
		added := mustAppend(t, l, counted(1, 0))
		after := sound(t, dir, id)
		if len(after) != len(got)+len(added) {
			t.Fatalf("%d events after appending %d to %d", len(after), len(added), len(got))
		}
	})
}

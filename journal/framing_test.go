package journal_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Another program changes the bytes around lines whose checksums match without the change: no event may be lost, and
// no reader accepts a line with bytes that its checksum does not cover.
func TestRepairSetsOnlyForeignBytesAside(t *testing.T) {
	for name, c := range map[string]struct {
		change func(lines [][]byte) [][]byte
		bytes  int64
		reason string
	}{
		"CR LF": {func(lines [][]byte) [][]byte {
			for i, line := range lines {
				lines[i] = append(bytes.TrimSuffix(line, []byte("\n")), "\r\n"...)
			}
			return lines
		}, 15, "15 line breaks were changed to CR LF"},
		"a byte order mark": {func(lines [][]byte) [][]byte {
			lines[0] = append([]byte("\ufeff"), lines[0]...)
			return lines
		}, 3, "bytes that do not belong between the lines"},
		"a byte order mark and NULs": {func(lines [][]byte) [][]byte {
			lines[0] = append([]byte("\ufeff"), lines[0]...)
			lines[3] = append(make([]byte, 200), lines[3]...)
			return lines
		}, 203, "bytes that do not belong between the lines, in 2 places"},
		"conflict markers": {func(lines [][]byte) [][]byte {
			lines[4] = slices.Concat([]byte("<<<<<<< HEAD\n"), lines[4], []byte("=======\n>>>>>>> b\n"))
			return lines
		}, 31, "bytes that do not belong between the lines, in 2 places"},
		"before the last line": {func(lines [][]byte) [][]byte {
			lines[14] = append([]byte("??\n"), lines[14]...)
			return lines
		}, 3, "bytes that do not belong between the lines"},
		"a line of another journal": {func(lines [][]byte) [][]byte {
			foreign := journal.Event{Seq: 9, Time: noon, Type: "sheep.counted", Data: []byte(`{}`), Sum: 0xabad1dea}
			lines[6] = slices.Concat(foreign.Line(), []byte("\n"), lines[6])
			return lines
		}, 97, "bytes that do not belong between the lines"},
		"line breaks removed": {func(lines [][]byte) [][]byte {
			lines[7] = bytes.TrimSuffix(lines[7], []byte("\n"))
			lines[13] = bytes.TrimSuffix(lines[13], []byte("\n"))
			return lines
		}, 0, "2 line breaks are missing"},
		"a torn line joined with a whole one": {func(lines [][]byte) [][]byte {
			lines[9] = slices.Concat(lines[9][:40], lines[9])
			return lines
		}, 40, "bytes that do not belong between the lines"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 100)
			path := filepath.Join(dir.Path(), id+".jsonl")
			original := readFile(t, path)
			events := validEvents(t, dir, id)
			writeFile(t, path, bytes.Join(c.change(splitLines(bytes.Clone(original))), nil))

			_, _, err := read(t, dir, id)
			if corrupt := new(journal.CorruptError); !errors.As(err, &corrupt) {
				t.Errorf("reading: %v", err)
			}
			if _, err := dir.Open(t.Context(), id); err == nil {
				t.Error("it can be opened")
			}
			done, err := dir.Repair(t.Context(), id, nil, false)
			must(t, err)
			if len(done.Dropped) != 1 || done.Dropped[0].Bytes != c.bytes || done.Dropped[0].Reason != c.reason {
				t.Errorf("set aside %+v, want %d bytes: %s", done.Dropped, c.bytes, c.reason)
			}
			if now := readFile(t, path); !bytes.HasPrefix(now, original) {
				t.Error("the lines are not as they were")
			}
			after := validEvents(t, dir, id)
			same(t, "after the repair", after[:len(events)], events)
			recoveredIn(t, after[len(events)])
		})
	}
}

// A power cut may lose the page that begins with the newline of a whole line: that is a torn tail, not the work of
// another program.
func TestLineBeforeALostPageIsTorn(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 100)
	path := filepath.Join(dir.Path(), id+".jsonl")
	lines := splitLines(readFile(t, path))
	whole := bytes.TrimSuffix(lines[13], []byte("\n"))
	for _, rest := range []string{"", string(lines[14][50:])} {
		content := slices.Concat(bytes.Join(lines[:13], nil), whole, make([]byte, 60), []byte(rest))
		writeFile(t, path, content)
		events, torn, err := read(t, dir, id)
		if err != nil || len(events) != 13 || torn.Bytes == 0 {
			t.Errorf("%d events, torn %+v, %v", len(events), torn, err)
		}
	}
}

// A last line that lacks only its newline is an event for readers and writers, and gets its newline before the next
// write.
func TestLastLineWithoutItsNewlineIsAnEvent(t *testing.T) {
	for name, write := range map[string]func(*testing.T, *journal.Dir, string){
		"append": func(t *testing.T, d *journal.Dir, id string) { mustAppend(t, mustOpen(t, d, id), counted(16, 0)) },
		"seal": func(t *testing.T, d *journal.Dir, id string) {
			_, err := d.Seal(t.Context(), id)
			must(t, err)
		},
		"archive": func(t *testing.T, d *journal.Dir, id string) {
			must(t, mustOpen(t, d, id).Archive(t.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 100)
			path := filepath.Join(dir.Path(), id+".jsonl")
			original := readFile(t, path)
			events := validEvents(t, dir, id)
			writeFile(t, path, bytes.TrimSuffix(original, []byte("\n")))
			same(t, "read", validEvents(t, dir, id), events)

			r, err := dir.Reader(id, journal.Position{})
			must(t, err)
			defer r.Close()
			end, err := r.End()
			must(t, err)
			if !r.Holds(end) || r.Torn().Bytes > 0 || end.Offset != int64(len(original)) {
				t.Errorf("the end is %+v, torn %+v", end, r.Torn())
			}
			for e, err := range r.Before(end) {
				must(t, err)
				if e.Seq != 15 {
					t.Errorf("the last event is %d", e.Seq)
				}
				break
			}
			if text, _, err := r.Lines(journal.Position{}, 0); err != nil || !bytes.Equal(text, original) {
				t.Errorf("%d bytes of lines, want %d, %v", len(text), len(original), err)
			}
			write(t, dir, id)
			same(t, "after it", validEvents(t, dir, id)[:15], events)
			for _, name := range filesIn(t, dir.Path()) {
				if strings.Contains(name, ".aside-") {
					t.Errorf("%s was set aside", name)
				}
			}
		})
	}
}

// A checksum in the data of a torn line does not make it a line.
func TestTornLineThatEndsInAChecksumOfItsDataIsTorn(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	path := filepath.Join(dir.Path(), id+".jsonl")
	before := stat(t, path).Size()
	half := `{"seq":16,"time":"2026-11-21T12:00:00.000000Z","type":"a.b","data":{"inner":{"x":1,"sum":"0badcafe"}`
	appendFile(t, path, []byte(half))
	events, torn, err := read(t, dir, id)
	if err != nil || len(events) != 15 || torn.Offset != before || torn.Bytes != int64(len(half)) {
		t.Errorf("%d events, torn %+v, %v", len(events), torn, err)
	}
	mustAppend(t, mustOpen(t, dir, id), counted(16, 0))
	validEvents(t, dir, id)
}

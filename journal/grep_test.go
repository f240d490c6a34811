package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
)

// found returns the counts of the events whose lines contain a needle.
func found(t testing.TB, dir *journal.Dir, id string, from journal.Position, needle string) (numbers []int, err error) {
	t.Helper()
	r, err := dir.Reader(id, from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.Grep(func(lines []byte) int { return bytes.Index(lines, []byte(needle)) }) {
		if err != nil {
			return numbers, err
		}
		numbers = append(numbers, countsOf(t, e))
	}
	return numbers, nil
}

func countsOf(t testing.TB, e journal.Event) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscanf(string(e.Data), `{"n":%d`, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestGrepReturnsTheMatchingEvents(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, batch(1, 30, 40_000)...)
	middle := l.Position()
	mustAppend(t, l, batch(31, 60, 40_000)...)
	must(t, l.Close())
	for _, archived := range []bool{false, true} {
		for _, c := range []struct {
			needle string
			from   journal.Position
			want   []int
		}{
			{`"n":1`, journal.Position{}, []int{1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}},
			{`"n":6`, journal.Position{}, []int{6, 60}},
			{`"n":31,`, middle, []int{31}},
			{`"n":30,`, middle, nil},
			{`no such thing`, journal.Position{}, nil},
		} {
			got, err := found(t, dir, l.ID(), c.from, c.needle)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s from %d, archived %v: %v, %v; want %v", c.needle, c.from.Seq, archived, got, err, c.want)
			}
		}
		must(t, dir.Archive(t.Context(), l.ID()))
	}
}

// Whatever the lengths of the lines and the boundaries of the blocks, Grep finds
// what reading finds.
func TestGrepFindsWhatReadingFinds(t *testing.T) {
	dir := newDir(t)
	propertytest.Check(t, func(rt *rapid.T) {
		l, err := dir.Create(dir.NewID())
		must(t, err)
		var want []int
		for n := 1; n <= rapid.IntRange(1, 8).Draw(rt, "lines"); n++ {
			size := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(250_000, 270_000)).Draw(rt, "size")
			record := counted(n, size)
			if rapid.Bool().Draw(rt, "hit") {
				record.Data = bytes.Replace(record.Data, []byte(`"pad"`), []byte(`"needle"`), 1)
				want = append(want, n)
			}
			mustAppend(t, l, record)
		}
		must(t, l.Close())
		got, err := found(t, dir, l.ID(), journal.Position{}, "needle")
		if err != nil || !slices.Equal(got, want) {
			rt.Fatalf("found %v, %v; want %v", got, err, want)
		}
	})
}

func TestGrepChecksMatches(t *testing.T) {
	for _, c := range []struct {
		name    string
		damage  func(lines [][]byte) []byte
		want    []int
		corrupt bool
	}{
		{"a line that was found is changed", func(lines [][]byte) []byte {
			lines[4] = bytes.Replace(lines[4], []byte(`"n":5`), []byte(`"n":6`), 1)
			return bytes.Join(lines, nil)
		}, nil, true},
		{"the line before it is gone", func(lines [][]byte) []byte {
			return bytes.Join(slices.Delete(lines, 3, 4), nil)
		}, nil, true},
		{"a line without a match is changed", func(lines [][]byte) []byte {
			lines[1] = bytes.Replace(lines[1], []byte(`"n":2`), []byte(`"n":3`), 1)
			return bytes.Join(lines, nil)
		}, []int{5, 14}, false},
		{"an incomplete line", func(lines [][]byte) []byte {
			return append(bytes.Join(lines, nil), `{"n":5,"n":14`...)
		}, []int{5, 14}, false},
		{"a torn tail with a match", func(lines [][]byte) []byte {
			return append(bytes.Join(lines, nil), "{\"n\":14}\n"...)
		}, []int{5, 14}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 100)
			path := filepath.Join(dir.Path(), id+".jsonl")
			writeFile(t, path, c.damage(splitLines(readFile(t, path))))
			var got []int
			var err error
			for _, needle := range []string{`"n":5`, `"n":6,`, `"n":14`} {
				numbers, findErr := found(t, dir, id, journal.Position{}, needle)
				got, err = append(got, numbers...), errors.Join(err, findErr)
			}
			got = slices.DeleteFunc(got, func(n int) bool { return n == 6 })
			corrupt := new(journal.CorruptError)
			if c.corrupt {
				if !errors.As(err, &corrupt) {
					t.Errorf("found %v, %v", got, err)
				}
			} else if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("found %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestGrepStopsAtATooLongLine(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 100)
	path := filepath.Join(dir.Path(), id+".jsonl")
	writeFile(t, path, []byte(strings.Repeat("x", 3<<20)+"\n"+string(readFile(t, path))))
	small := journal.NewDir(dir.Path(), journal.Options{MaxLine: 1 << 20})
	corrupt := new(journal.CorruptError)
	if got, err := found(t, small, id, journal.Position{}, `"n":5`); !errors.As(err, &corrupt) {
		t.Errorf("found %v, %v", got, err)
	}
}

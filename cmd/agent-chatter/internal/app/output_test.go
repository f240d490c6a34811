package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// On a terminal, JSON is escaped, also if a character arrives in pieces.
func TestOutputEscapesOnATerminal(t *testing.T) {
	for _, test := range []struct {
		terminal bool
		want     string
	}{{false, "a\u0085\u202eb"}, {true, `a\u0085\u202eb`}} {
		path := filepath.Join(t.TempDir(), "out")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		out := &Output{File: f, Terminal: test.terminal}
		for _, part := range []string{"a\xc2", "\x85\xe2\x80", "\xaeb"} {
			if n, err := out.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("%q: %d, %v", part, n, err)
			}
		}
		if err := out.Err(); err != nil || out.Fd() != f.Fd() {
			t.Errorf("%v", err)
		}
		f.Close()
		if got, err := os.ReadFile(path); string(got) != test.want || err != nil {
			t.Errorf("terminal %v: %q, %v, want %q", test.terminal, got, err, test.want)
		}
	}
}

func TestOutputKeepsItsFirstError(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		out := &Output{File: f, Terminal: terminal}
		f.Close()
		n, first := out.Write([]byte("one"))
		if output := (*OutputError)(nil); n != 0 || !errors.As(first, &output) || !errors.Is(first, os.ErrClosed) {
			t.Errorf("terminal %v: %d, %v", terminal, n, first)
		}
		if _, second := out.Write([]byte("two")); second == nil || out.Err() != first {
			t.Errorf("terminal %v: %v, then %v", terminal, second, out.Err())
		}
	}
}

package tty

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

func TestTableAlignsWideCharacters(t *testing.T) {
	list := func(columns int) string {
		table := &Table{Columns: columns}
		table.Add("7QN3", "团队", "Ada", "a title of some length")
		table.Add("8ABCD", "demo", "设计师", "短")
		table.Add("9", "x", "y", "")
		var shown bytes.Buffer
		if err := table.Write(&shown); err != nil {
			t.Fatal(err)
		}
		return shown.String()
	}
	if got, want := list(0), "7QN3   团队  Ada     a title of some length\n8ABCD  demo  设计师  短\n9      x     y\n"; got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(list(40)) {
		if n := displaywidth.String(strings.TrimSuffix(line, "\n")); n >= 40 {
			t.Errorf("%q takes %d columns", line, n)
		}
	}
}

func TestTableCutsTheLastText(t *testing.T) {
	for columns, want := range map[int]string{
		0: "a  bc  0123456789abcdefgh", 26: "a  bc  0123456789abcdefgh", 25: "a  bc  0123456789abcdef…", 20: "a  bc  0123456789a…", 5: "a  bc  0123456789a…",
	} {
		table := &Table{Columns: columns}
		table.Add("a", "bc", "0123456789abcdefgh")
		var shown bytes.Buffer
		if err := table.Write(&shown); err != nil || shown.String() != want+"\n" {
			t.Errorf("of %d columns: %q, %v", columns, shown.String(), err)
		}
	}
}

// full is an output that takes nothing.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestTableReportsLostOutput(t *testing.T) {
	table := &Table{}
	table.Add("a")
	if err := table.Write(full{}); err != errFull {
		t.Error(err)
	}
}

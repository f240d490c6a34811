package tty

import (
	"bytes"
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

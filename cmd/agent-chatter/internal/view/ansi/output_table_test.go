package ansi

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

// sample returns a table with a text that may be cut, one that may be left out first, and a number.
func sample(rows ...[3]string) *Table {
	t := &Table{Columns: []Column{
		{Name: "TITLE", Least: 8}, {Name: "TEAM", Least: 4, Rank: 2}, {Name: "N", Right: true, Rank: 1},
	}}
	for _, row := range rows {
		t.Add(Text(row[0], Style{}), Text(row[1], Style{}), Text(row[2], Style{}))
	}
	return t
}

func shown(t *Table, columns int) (lines []string) {
	for _, line := range t.Lines(columns) {
		lines = append(lines, NoColor.Encode(line))
	}
	return lines
}

func TestOutputTableFitsItsRoom(t *testing.T) {
	table := sample([3]string{"a title of some length", "review", "7"}, [3]string{"設計を考える", "団", "12"})
	for columns, want := range map[int][]string{
		80: {"TITLE                   TEAM     N", "a title of some length  review   7", "設計を考える            団      12"},
		30: {"TITLE               TEAM     N", "a title of some l…  review   7", "設計を考える        団      12"},
		18: {"TITLE     TEAM   N", "a title…  rev…   7", "設計を…   団    12"},
		17: {"TITLE           N", "a title of s…   7", "設計を考える   12"},
		11: {"TITLE", "a title of…", "設計を考え…"},
		4:  {"TIT…", "a t…", "設…"},
		1:  {"…", "…", "…"},
	} {
		if got := shown(table, columns); !slices.Equal(got, want) {
			t.Errorf("of %d columns:\n%s\nwant\n%s", columns, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestPathsKeepTheirEnd(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "FILE", Path: true, Least: 4}}}
	table.Add(append(Text("~/teams/", Style{}), Text("review.json", Style{Bold: true})...))
	table.Add(Text("設計/\x1b団", Style{}))
	for columns, want := range map[int][]string{
		19: {"FILE", "~/teams/review.json", "設計/␛団"}, 18: {"FILE", "…/review.json", "設計/␛団"},
		8: {"FILE", "…ew.json", "設計/␛団"}, 7: {"FILE", "…w.json", "…/␛団"}, 1: {"…", "…", "…"},
	} {
		if got := shown(table, columns); !slices.Equal(got, want) {
			t.Errorf("of %d columns: %q, want %q", columns, got, want)
		}
	}
}

func TestFieldsAreBrokenBetweenWords(t *testing.T) {
	fields := [][2]string{{"id", "7QN3"}, {"summary", "a conversation about a calculator, 設計"}, {"unknown \x1b[2J event.happened", "1"}}
	for columns, want := range map[int]string{
		80: "id                           7QN3\nsummary                      a conversation about a calculator, 設計\n" +
			"unknown ␛[2J event.happened  1\n",
		30: "id       7QN3\nsummary  a conversation about\n         a calculator, 設計\nunknow…  1\n",
		5:  "…  7QN3\n…  a conversation about\n   a calculator, 設計\n…  1\n",
	} {
		var out bytes.Buffer
		if err := WriteFields(&out, fields, columns, NoColor); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("of %d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
	if err := WriteFields(full{}, fields, 80, NoColor); err != errFull {
		t.Error(err)
	}
}

func TestColumnWithoutTextsIsLeftOut(t *testing.T) {
	if got, want := shown(sample([3]string{"a", "", "1"}), 80), []string{"TITLE  N", "a      1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTableWithoutRowsHasNoHeader(t *testing.T) {
	if got := shown(sample(), 80); got != nil {
		t.Errorf("%q", got)
	}
}

func TestTableLeavesTheLastColumnEmpty(t *testing.T) {
	var out bytes.Buffer
	if err := sample([3]string{strings.Repeat("x", 90), "y", "1"}).Write(&out, 40, Color16); err != nil {
		t.Fatal(err)
	}
	head, row, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), "\n")
	if !strings.HasPrefix(head, "\x1b[1mTITLE\x1b[m ") || displaywidth.String(row) != 39 {
		t.Errorf("%q", out.String())
	}
}

func TestHostileTableIsSafeAndFits(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		texts := rapid.SampledFrom([]string{"", "a", apptest.Hostile, "\x1b[2J\x1b]52;c;QQ==\a", "设计 👩‍💻", "\u202e\u200d\x00", "1234567890"})
		var rows [][3]string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			rows = append(rows, [3]string{texts.Draw(t, "title"), texts.Draw(t, "team"), texts.Draw(t, "n")})
		}
		columns := rapid.IntRange(1, 60).Draw(t, "columns")
		for _, line := range shown(sample(rows...), columns) {
			if r, found := apptest.Acting(line); found || displaywidth.String(line) > columns {
				t.Fatalf("%q in %d columns has %U", line, columns, r)
			}
		}
	})
}

func TestAlignCutsNothing(t *testing.T) {
	long := strings.Repeat("a title ", 50)
	got := Align([][]string{{"7QN3", "团队", "Ada", long}, {"8ABCD", "demo", "设计师", "短"}, {"9", "x", "y", ""}})
	want := []string{"7QN3   团队  Ada     " + strings.TrimSpace(long), "8ABCD  demo  设计师  短", "9      x     y"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// full is an output that takes nothing.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestTableReportsLostOutput(t *testing.T) {
	if err := sample([3]string{"a", "b", "1"}).Write(full{}, 80, NoColor); err != errFull {
		t.Error(err)
	}
}

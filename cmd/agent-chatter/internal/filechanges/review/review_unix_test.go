//go:build unix

package review

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns/turnstest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges/filestest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestMain(m *testing.M) {
	if tty.Watched() {
		return
	}
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

// helpers are functions between those that change.
func helpers() string {
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, "// Helper%d returns %d.\nfunc Helper%d() int { return %d }\n\n", i, i, i, i)
	}
	return b.String()
}

// The versions of the file of the tests.
var (
	cart0 = "package cart\n\n/* Total returns the price\nof all items. */\nfunc Total(items []Item) float64 {\n\ttotal := 0.0\n" +
		"\tfor _, item := range items {\n\t\ttotal += item.Price\n\t}\n\treturn total\n}\n\n" + helpers() +
		"// Max returns the highest price.\nfunc Max(items []Item) float64 {\n\treturn 0\n}\n"
	cart1 = strings.NewReplacer("total := 0.0", "total := int64(0) // cents", "float64", "int64",
		"return total", "return total // with a comment that is longer than half of the widest terminal of these tests").Replace(cart0)
	cart2 = "// Copyright\n\n" + cart1
)

// hostile is a name and a text that would change a terminal.
const hostile = "evil\x1b[2J\u202e.js"

// A reviewed session is shown by a pane.
type reviewed struct {
	*Pane
	t       *testing.T
	app     *app.App
	session catalog.Session
	dir     string
}

// review writes a session with two turns, between which a person edits.
func review(t *testing.T) *reviewed {
	t.Helper()
	home := t.TempDir()
	t.Setenv("AGENT_CHATTER_HOME", home) // so that no text has --home
	a, err := app.New(app.IO{Stdout: os.Stdout, Stderr: os.Stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "shop")
	filestest.Files(t, map[string]string{"src/cart.go": cart0, "old.go": "package cart\n", "README.md": "# Shop\n"})(dir)
	big := strings.Repeat("a line of a large file\n", 50_000)
	s := filestest.Write(t, a, dir, "Count in cents",
		filestest.Turn{Agent: filestest.Files(t, map[string]string{
			"src/cart.go": cart1, "old.go": "", "docs/rounding.md": "# Rounding\n\nTotals are *cents*.\n",
		})},
		filestest.Turn{
			Person: filestest.Files(t, map[string]string{"README.md": "# My shop\n"}),
			Agent: filestest.Files(t, map[string]string{
				"src/cart.go": cart2, hostile: "let a = \"\x1b]0;title\a\u202e\"\n", "logo.png": "\x00\x01\x02", "link": "->/etc/passwd",
				"big.txt": big, "README.md": "# My shop of agents\n",
			}),
		})
	r := &reviewed{t: t, app: a, session: s, dir: dir}
	r.open(80, 24)
	return r
}

// open shows the session.
func (r *reviewed) open(columns, rows int) {
	r.t.Helper()
	if r.Pane != nil {
		r.Close()
	}
	r.Pane = New(r.app, nil)
	r.t.Cleanup(r.Close)
	r.SetSize(columns, rows)
	turnstest.Run(r.Update, r.Show(r.session))
}

func (r *reviewed) press(keys ...string) { turnstest.Press(r.Update, keys...) }

// file selects a file of the last turns that changed it.
func (r *reviewed) file(path string) {
	r.t.Helper()
	for i := len(r.list.rows) - 1; i >= 0; i-- {
		of := r.list.rows[i]
		if of.isFile() && string(r.reader.Steps[of.step].Files[of.file].Path) == path {
			r.list.selected = i
			turnstest.Run(r.Update, r.Update(turnstest.Key("left")))
			return
		}
	}
	r.t.Fatalf("no file %q in\n%s", path, r.text())
}

// text returns what the pane shows, with a fixed name of the directory.
func (r *reviewed) text() string { return strings.Join(r.screen(), "\n") }

func (r *reviewed) screen() []string {
	rows := r.Rows()
	for i := range rows {
		rows[i] = strings.ReplaceAll(rows[i], r.dir, "/home/eva/shop")
	}
	return rows
}

// content returns the content of a file; "": there is none.
func (r *reviewed) content(name string) string {
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(data)
}

func TestScreens(t *testing.T) {
	r := review(t)
	for name, keys := range map[string][]string{
		"list": nil, "hunk": {"g", "j", "j", "j", "enter", "n"}, "turn": {"g"}, "added": {"g", "j", "enter"}, "help": {"?"},
		"question": {"g", "j", "j", "j", "enter", "n", "h"},
	} {
		sizes := []picture.Size{{Columns: 40, Rows: 16}, {Columns: 80, Rows: 24}, {Columns: 160, Rows: 40}}
		if name == "question" || name == "turn" { // the directory would be wrapped
			sizes = sizes[1:]
		}
		turnstest.GoldenOf(t, name, r.app, sizes, func(s picture.Size) []string {
			r.open(s.Columns, s.Rows)
			r.press(keys...)
			return r.screen()
		})
	}
}

// What is no text has a line that says so, and hostile names and contents reach no terminal.
func TestNotesAndHostileFiles(t *testing.T) {
	r := review(t)
	for path, want := range map[string]string{
		"logo.png": "The file is no text: 0 bytes before, 3 bytes after.",
		"link":     "It became a symbolic link to /etc/passwd.",
		"big.txt":  "The file is too large for its lines to be shown: 0 bytes before, 1.1 MiB after.",
		hostile:    " a = \"",
	} {
		r.open(80, 40)
		r.file(path)
		r.press("enter")
		text := r.text()
		if !strings.Contains(text, want) {
			t.Errorf("%q shows\n%s", path, text)
		}
		if acting, found := apptest.Acting(strings.NewReplacer("\n", "", "\x1b[", "").Replace(text)); found {
			t.Errorf("%q shows %q: %q", path, acting, text)
		}
	}
}

// A hunk, a file and a turn are set back, and each restore is undone.
func TestRestores(t *testing.T) {
	r := review(t)
	for _, test := range []struct {
		keys []string // from the row of src/cart.go in turn 1
		want map[string]string
	}{
		{[]string{"enter", "n", "h", "y", "enter"},
			map[string]string{"src/cart.go": strings.Replace(cart2, "Max(items []Item) int64", "Max(items []Item) float64", 1)}},
		{[]string{"enter", "h", "n"}, nil}, // not confirmed
		{[]string{"r", "y", "enter"}, map[string]string{"src/cart.go": cart0}},
		{[]string{"g", "r", "y", "enter"},
			map[string]string{"src/cart.go": cart0, "old.go": "package cart\n", "docs/rounding.md": ""}},
	} {
		r.open(80, 24)
		r.press("g", "j", "j", "j")
		r.press(test.keys...)
		now := map[string]string{"src/cart.go": cart2, "old.go": "", "docs/rounding.md": "# Rounding\n\nTotals are *cents*.\n"}
		for name := range now {
			want, ok := test.want[name]
			if !ok {
				want = now[name]
			}
			if got := r.content(name); got != want {
				t.Errorf("after %q, %s is %q", test.keys, name, got)
			}
		}
		if test.want == nil {
			continue
		}
		r.press("u")
		if text := r.text(); !strings.Contains(text, "Undo the last restore") || !strings.Contains(text, "src/cart.go") {
			t.Fatalf("u shows\n%s", text)
		}
		r.press("y", "enter")
		for name, want := range now {
			if got := r.content(name); got != want {
				t.Errorf("after the undo of %q, %s is %q", test.keys, name, got)
			}
		}
	}
}

// Rows of a question that do not fit are counted, and an error does not hide what was set back before it.
func TestDialogNamesAll(t *testing.T) {
	r := review(t)
	r.open(80, 6)
	r.press("g", "r")
	if text := r.text(); !strings.Contains(text, "↓ 2 more") || strings.Contains(text, "docs/rounding.md") {
		t.Errorf("it shows\n%s", text)
	}
	r.press("down", "down")
	if text := r.text(); strings.Contains(text, "more") || !strings.Contains(text, "docs/rounding.md") {
		t.Errorf("at the end, it shows\n%s", text)
	}
	r.open(80, 24)
	r.press("g", "r")
	r.takeDone(doneMsg{text: "1 file written, 0 removed.", err: errors.New("the disk is full")})
	if text := r.text(); !strings.Contains(text, "disk is full") || !strings.Contains(text, "1 file written") {
		t.Errorf("after an error, it shows\n%s", text)
	}
}

// What a person changed is kept, and the reason is shown before anything is asked.
func TestRestoreKeepsWhatAPersonChanged(t *testing.T) {
	r := review(t)
	mine := cart2 + "// mine\n"
	filestest.Files(t, map[string]string{"src/cart.go": mine})(r.dir)
	for _, key := range []string{"r", "h"} {
		r.file("src/cart.go")
		r.press("enter", key)
		if text := r.text(); !strings.Contains(text, "src/cart.go: you changed it after turn 2") || r.dialog.asks {
			t.Errorf("%s shows\n%s", key, text)
		}
		r.press("y", "q")
	}
	r.press("g", "j", "j", "j", "j", "j", "r") // of the person
	if text := r.text(); !strings.Contains(text, "Only what agents changed can be set back") {
		t.Errorf("it shows\n%s", text)
	}
	if got := r.content("src/cart.go"); got != mine {
		t.Errorf("the file is %q", got)
	}
}

// A session of another home is not read, whatever it names.
func TestSessionFromElsewhere(t *testing.T) {
	r := review(t)
	if err := os.Remove(filepath.Join(r.app.Home, "id")); err != nil { // the key of the home
		t.Fatal(err)
	}
	r.open(80, 24)
	if text := r.text(); !strings.Contains(text, "were recorded in another home") {
		t.Errorf("it shows\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(r.app.Home, "id")); !os.IsNotExist(err) {
		t.Errorf("reading made a key: %v", err)
	}
}

// While another program has the session open, nothing is set back.
func TestSessionThatIsOpen(t *testing.T) {
	r := review(t)
	log, err := r.app.Catalog.At(r.session.Dir()).Journals().Open(t.Context(), r.session.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r.file("src/cart.go")
	r.press("r", "y")
	if text := r.text(); !strings.Contains(text, "is locked by") || strings.Contains(text, textUndoHow) {
		t.Errorf("it shows\n%s", text)
	}
	if got := r.content("src/cart.go"); got != cart2 {
		t.Errorf("the file is %q", got)
	}
}

// Whatever the size, the pane has exactly its rows, none too wide.
func TestSizes(t *testing.T) {
	r := review(t)
	for _, keys := range [][]string{nil, {"enter"}, {"g"}, {"?"}, {"r"}} {
		for _, columns := range []int{0, 1, 7, 39, 80, 120, 139, 140, 200} {
			for _, rows := range []int{0, 1, 2, 15, 16, 60} {
				r.open(columns, rows)
				r.press(keys...)
				turnstest.CheckFits(t, r.Rows(), columns, rows)
			}
		}
	}
}

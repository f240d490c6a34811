package browse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/clipperhouse/displaywidth"
)

// footer returns the last row of the screen.
func (b *browser) footer() string {
	b.t.Helper()
	rows := strings.Split(strings.TrimSuffix(b.screen(ansi.NoColor), "\n"), "\n")
	return strings.TrimRight(rows[len(rows)-1], " ")
}

// plain is what the terminal shows without its colours.
func (b *browser) plain() string { return stripped(b.screen(ansi.NoColor)) }

func TestRename(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("r")
	if got := b.footer(); got != " Rename to: "+one {
		t.Errorf("it asks %q", got)
	}
	if c := b.m.View().Cursor; c == nil || c.X != len(" Rename to: "+one) || c.Y != 39 {
		t.Errorf("the cursor is at %+v", c)
	}
	b.press("ctrl+u", "q")
	b.send(tea.PasteMsg{Content: "uick\nsums\n"})
	b.press("enter")
	b.expect(">quick sums", two, five, three, four)
	if got := b.footer(); got != " Renamed to: quick sums (u: undo)" {
		t.Errorf("it says %q", got)
	}
	b.press("u")
	b.expect(">"+one, two, five, three, four)
	if got := b.footer(); got != " Renamed to: "+one {
		t.Errorf("it says %q", got)
	}
	if b.press("u"); b.footer() != " There is nothing to undo." {
		t.Errorf("it says %q", b.footer())
	}
	for _, cancel := range []string{"esc", "ctrl+c"} {
		if b.press("r", "x", cancel); b.m.mode != choosing || b.m.actions.Asking() || b.quit {
			t.Errorf("after %s: mode %d, quit %v", cancel, b.m.mode, b.quit)
		}
	}
	b.expect(">"+one, two, five, three, four)
	b.press("r", "ctrl+u", "enter")
	if got := b.footer(); got != " A title cannot be empty." {
		t.Errorf("it says %q", got)
	}
}

func TestPin(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	for _, step := range []struct {
		key, says string
		pinned    bool
	}{
		{"p", " Pinned. (u: undo)", true}, {"p", " No longer pinned. (u: undo)", false},
		{"u", " Pinned.", true}, {"u", " No longer pinned.", false},
	} {
		b.press(step.key)
		if s, _ := b.m.list.session(); s.Pinned != step.pinned || b.footer() != step.says {
			t.Errorf("after %s: pinned %v, it says %q", step.key, s.Pinned, b.footer())
		}
	}
}

func TestDelete(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("d")
	if got := b.footer(); got != " Move to the trash? [y/N] "+one {
		t.Errorf("it asks %q", got)
	}
	if c := b.m.View().Cursor; c == nil || c.X != len(" Move to the trash? [y/N] ") {
		t.Errorf("the cursor is at %+v", c)
	}
	b.send(tea.PasteMsg{Content: "y"}) // no answer
	b.press("n")
	b.expect(">"+one, two, five, three, four)
	b.press("d", "enter", "d", "esc", "d", "ctrl+c")
	b.expect(">"+one, two, five, three, four)
	b.press("d", "y")
	b.expect(">"+two, five, three, four)
	if got := b.footer(); got != " Moved to the trash: "+one+" (u: undo)" {
		t.Errorf("it says %q", got)
	}
	b.press("G", "d", "Y")
	b.expect(two, five, ">"+three)
	b.press("u")
	b.expect(two, five, three, ">"+four)
	b.press("u")
	b.expect(">"+one, two, five, three, four)
	b.press("down", "d")
	if b.m.mode != choosing || b.m.actions.Asking() || b.footer() != " The session is pinned. p removes the pin." {
		t.Errorf("a pinned session: mode %d, it says %q", b.m.mode, b.footer())
	}
}

// The keys work while the preview has them, and leave them there.
func TestChangesWhileReading(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("tab", "p", "r", "esc", "d", "n")
	if s, _ := b.m.list.session(); !s.Pinned || b.m.mode != reading {
		t.Errorf("pinned %v, mode %d", s.Pinned, b.m.mode)
	}
}

func TestFork(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("down", "f")
	s, _ := b.m.list.session()
	if s.ID == id(2) || s.Title != two || len(b.m.list.shown) != 6 ||
		b.footer() != " Session "+s.ID+" is a copy of "+id(2)+"." {
		t.Errorf("%s is selected of %q; it says %q", s.ID, b.titles(), b.footer())
	}
}

// A fork that the filter hides is not selected.
func TestForkInAFilter(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("3", "f")
	b.expect(">" + four)
	b.press("1")
	if b.m.list.selected != 0 {
		t.Errorf("row %d is selected", b.m.list.selected)
	}
}

func TestExport(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	b := open(t, home(t), 200, 40, Options{})
	b.press("e")
	if got := b.footer(); got != " Export to: "+id(1)+".md" {
		t.Errorf("it asks %q", got)
	}
	b.press("enter")
	path := filepath.Join(dir, id(1)+".md")
	if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), "# "+one) ||
		b.footer() != " Written: "+path {
		t.Errorf("%v; it says %q", err, b.footer())
	}
	b.press("e", "enter")
	if got := b.screen(ansi.NoColor); !strings.Contains(got, path+" exists already; nothing was written.") ||
		!strings.Contains(got, "To replace it, type: agent-chatter") ||
		!strings.HasSuffix(strings.TrimRight(got, " \n"), "\n Export to: "+id(1)+".md") {
		t.Errorf("it says\n%s", got)
	}
	b.press("ctrl+u", "talk.html", "enter")
	if text, err := os.ReadFile(filepath.Join(dir, "talk.html")); err != nil || !strings.Contains(string(text), "<html") {
		t.Errorf("%v; it says %q", err, b.footer())
	}
}

func TestCopyID(t *testing.T) {
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
	b := open(t, home(t), 120, 40, Options{})
	b.press("down")
	raw, ok := b.begun("y")().(tea.RawMsg)
	if !ok || raw.Msg != tty.CopySequence(id(2)) || b.footer() != " Copied to the clipboard of the terminal: "+id(2) {
		t.Errorf("sent %q; it says %q", raw.Msg, b.footer())
	}
}

func TestTrash(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("d", "y", "G", "d", "y", "5")
	if got := b.plain(); !strings.Contains(got, "▸ "+four) || !strings.Contains(got, "  "+one) ||
		!strings.HasPrefix(got, " Trash") || !strings.Contains(got, "enter restore") {
		t.Errorf("the trash is\n%s", got)
	}
	b.send(tea.MouseWheelMsg{X: 1, Y: 1, Button: tea.MouseWheelDown})
	b.send(tea.MouseClickMsg{X: 5, Y: headerRows, Button: tea.MouseLeft}) // is ignored
	b.press("enter")
	if got := b.plain(); strings.Contains(got, "▸ "+one) || !strings.Contains(got, " Restored: "+one) {
		t.Errorf("after restoring a session:\n%s", got)
	}
	b.press("q")
	b.expect(">"+one, two, five, three)
	b.press("5", "u", "esc")
	b.expect(one, two, five, three, ">"+four)
	if b.press("5"); !strings.Contains(b.plain(), "The trash is empty.") {
		t.Errorf("the trash is\n%s", b.plain())
	}
	b.press("r", "p", "d", "f", "e", "y", "u", "enter", "q")
	b.expect(one, two, five, three, ">"+four)
}

func TestErrorsOfChanges(t *testing.T) {
	dir := home(t)
	log, err := catalog.New(filepath.Join(dir, "sessions"), journal.Options{}).Team("shop").Journals().Open(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b := open(t, dir, 120, 40, Options{})
	for keys, want := range map[string][]string{
		"p":    {"is locked by process", "To watch it, type: agent-chatter", "tail -f " + id(1)},
		"d y":  {"is locked by process", "tail -f " + id(1)},
		"4 p":  {"checksum mismatch", "repair " + id(5)},
		"4 rx": {"checksum mismatch", "repair " + id(5)},
		"4 f":  {"checksum mismatch", "repair " + id(5)},
	} {
		b.press("1", "g")
		b.press(strings.Fields(keys)...)
		if b.m.actions.Asking() {
			b.press("enter")
		}
		got := b.screen(ansi.NoColor)
		for _, text := range want {
			if !strings.Contains(strings.ReplaceAll(got, "\n ", " "), text) {
				t.Errorf("after %s there is no %q in\n%s", keys, text, got)
			}
		}
		if rows := strings.Count(got, "\n"); rows != 40 {
			t.Errorf("%d rows", rows)
		}
		b.press("x") // the next key removes the notice
		if strings.Contains(b.screen(ansi.NoColor), want[0]+" ") {
			t.Errorf("the notice of %s stays", keys)
		}
	}
}

// A session that goes away while its question is asked.
func TestChangeOfASessionThatIsGone(t *testing.T) {
	dir := home(t)
	b := open(t, dir, 120, 40, Options{})
	b.press("d")
	if err := b.m.catalog.Team("shop").Delete(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	b.press("y")
	if got := b.screen(ansi.NoColor); !strings.Contains(got, "Session "+id(1)+" is in the trash.") {
		t.Errorf("it says\n%s", got)
	}
	b.expect(">"+two, five, three, four)
}

func TestChangesOfTheChatsSession(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.m.running = b.m.list.shown[0].Key()
	for _, key := range []string{"r", "p", "d"} {
		if b.press(key); b.m.mode != choosing || b.m.actions.Asking() || !strings.Contains(b.footer(), "/rename TITLE") {
			t.Errorf("after %s: mode %d, it says %q", key, b.m.mode, b.footer())
		}
	}
	b.press("f")
	if len(b.m.list.shown) != 6 {
		t.Errorf("it cannot be copied: %q", b.footer())
	}
}

// An undo that another process prevents can be repeated.
func TestUndoOfALockedSession(t *testing.T) {
	dir := home(t)
	b := open(t, dir, 120, 40, Options{})
	b.press("p")
	log, err := b.m.catalog.Team("shop").Journals().Open(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	if b.press("u"); !strings.Contains(b.screen(ansi.NoColor), "is locked by process") {
		t.Errorf("it says %q", b.footer())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if b.press("u"); b.footer() != " No longer pinned." {
		t.Errorf("it says %q", b.footer())
	}
}

// begun presses a key, and returns the command that waits for the end of its change.
func (b *browser) begun(key string) tea.Cmd {
	_, cmd := b.m.Update(tea.KeyPressMsg{Code: rune(key[0]), Text: key})
	return cmd
}

func TestQuitWaitsForChanges(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	pin, fork := b.begun("p"), b.begun("f")
	b.press("q")
	if b.quit || b.footer() != " Waiting for 2 changes. Ctrl+C cancels." {
		t.Fatalf("quit %v; it says %q", b.quit, b.footer())
	}
	if b.press("down", "d"); b.m.mode != choosing || b.m.actions.Asking() || b.footer() != " Waiting for 2 changes. Ctrl+C cancels." {
		t.Errorf("mode %d; it says %q", b.m.mode, b.footer())
	}
	b.run(pin)
	if b.quit || b.footer() != " Waiting for 1 change. Ctrl+C cancels." {
		t.Errorf("quit %v; it says %q", b.quit, b.footer())
	}
	if b.run(fork); !b.quit {
		t.Error("it stays open")
	}
}

// The session is chosen when its changes have ended, so that it can be opened.
func TestChooseWaitsForChanges(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	pin := b.begun("p")
	if b.press("enter"); b.quit {
		t.Error("it quits while the session is changed")
	}
	if b.run(pin); !b.quit || b.m.choice.Session.ID != id(1) {
		t.Errorf("quit %v, %+v", b.quit, b.m.choice)
	}
}

func TestQuitCancelsChanges(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	changes := []tea.Cmd{b.begun("p"), b.begun("f")}
	b.press("q", "ctrl+c")
	if b.quit {
		t.Error("it does not wait")
	}
	for _, change := range changes {
		b.run(change)
	}
	if !b.quit {
		t.Error("it stays open")
	}
}

// An error is shown, even if the user has quit meanwhile.
func TestFailedChangeKeepsBrowserOpen(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	log, err := b.m.catalog.Team("shop").Journals().Open(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	pin := b.begun("p")
	b.press("enter")
	b.run(pin)
	if b.quit || b.m.choice.Chosen || !strings.Contains(b.screen(ansi.NoColor), "is locked by process") {
		t.Errorf("quit %v, %+v; it says %q", b.quit, b.m.choice, b.footer())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if b.press("p"); b.footer() != " Pinned. (u: undo)" {
		t.Errorf("the next change: %q", b.footer())
	}
	if b.press("q"); !b.quit {
		t.Error("it cannot be left")
	}
}

// close waits for what runs: afterwards the session can be opened.
func TestCloseEndsChanges(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.begun("p")
	b.begun("f")
	b.m.close()
	log, err := b.m.catalog.Team("shop").Journals().Open(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
}

func TestKeysWithoutSessions(t *testing.T) {
	b := open(t, t.TempDir(), 80, 24, Options{})
	b.press("r", "p", "d", "f", "e", "y", "u")
	if b.m.mode != choosing || b.m.actions.Asking() || b.footer() != " There is nothing to undo." {
		t.Errorf("mode %d; it says %q", b.m.mode, b.footer())
	}
	b.press("5", "enter", "u", "q")
}

// Questions and long notices fit into every terminal.
func TestQuestionsFit(t *testing.T) {
	dir := home(t)
	for columns := 1; columns < 60; columns += 3 {
		for rows := 1; rows < 12; rows += 5 {
			b := open(t, dir, columns, rows, Options{})
			for _, keys := range [][]string{{"r"}, {"d"}, {"e"}, {"4", "p"}} {
				b.press("1", "g")
				b.press(keys...)
				lines := b.m.draw()
				for _, line := range lines {
					if n := displaywidth.String(stripped(line)); n > columns {
						t.Errorf("%dx%d, %q: %d columns: %q", columns, rows, keys, n, line)
					}
				}
				if c := b.m.View().Cursor; len(lines) > max(rows, 1) || c != nil && (c.X < 0 || c.X >= columns || c.Y >= rows) {
					t.Errorf("%dx%d, %q: %d rows, the cursor is at %+v", columns, rows, keys, len(lines), c)
				}
				b.press("esc")
				b.quit = false
			}
		}
	}
}

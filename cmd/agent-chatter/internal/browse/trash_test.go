package browse

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns/turnstest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A bin is a home with sessions in the trash, and a pane that shows them.
type bin struct {
	*trashPane
	t    testing.TB
	app  *app.App
	root string
	now  time.Time
	disk *journaltest.FS
}

func newBin(t testing.TB) *bin {
	t.Helper()
	home := t.TempDir()
	t.Setenv("AGENT_CHATTER_HOME", home) // so that no text has --home
	a, err := app.New(app.IO{Stdout: os.Stdout, Stderr: os.Stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	b := &bin{t: t, app: a, root: filepath.Join(home, "sessions"), disk: journaltest.New(vfs.OS), now: noon}
	a.Catalog = catalog.New(b.root, journal.Options{FS: b.disk})
	b.open()
	return b
}

// open opens the pane.
func (b *bin) open() {
	b.trashPane = newTrashPane(b.app)
	b.trashPane.now = func() time.Time { return noon }
	b.t.Cleanup(b.trashPane.Close)
}

// put writes a session and moves it to the trash so long ago.
func (b *bin) put(n int, team, title string, ago time.Duration) {
	b.t.Helper()
	at := noon.Add(-ago)
	d := catalog.New(b.root, journal.Options{Now: func() time.Time { return at }}).Team(team)
	log, err := d.Journals().Create(id(n))
	if err != nil {
		b.t.Fatal(err)
	}
	mia := projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	records := []journal.Record{projection.Record(noon.Add(-1000*time.Hour), projection.SessionCreated{
		Format: projection.Format, SessionID: id(n), CWD: "/home/eva/" + team,
		Team: projection.Team{ID: team, Name: team, Members: []projection.Member{{ID: "mia", Name: "mia", DisplayName: "Mia",
			Type: projection.TypeHuman}}},
	})}
	if title != "" {
		records = append(records, projection.Record(at, projection.NewMessage("m", at, mia, title, nil)))
	}
	_, err = log.Append(records...)
	if err == nil {
		_, err = log.Seal()
	}
	if err = errors.Join(err, log.Close()); err == nil {
		err = trash.Of(d.Journals()).Move(b.t.Context(), id(n))
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// file is the path of a journal in the trash.
func (b *bin) file(n int, team string) string {
	return filepath.Join(b.root, team, "trash", id(n)+".jsonl")
}

// show shows the trash and waits for what is read.
func (b *bin) show(columns, rows int) {
	b.t.Helper()
	turnstest.Run(b.Update, b.SetSize(columns, rows))
	turnstest.Run(b.Update, b.Show())
}

func (b *bin) press(keys ...string) { turnstest.Press(b.Update, keys...) }

// text returns what the pane shows.
func (b *bin) text() string { return strings.Join(b.Rows(), "\n") }

func TestTrashScreens(t *testing.T) {
	b := newBin(t)
	b.put(1, "shop", "The checkout rounds 0.125 down. Why?", 2*time.Minute)
	b.put(2, "shop", "", 3*time.Hour)
	b.put(3, "research", "日本語の論文を要約してください", 50*time.Hour)
	b.put(4, "shop", "An old question about rounding", 400*time.Hour)
	b.put(5, "shop", "This one is damaged", 30*time.Hour)
	damaged, err := os.ReadFile(b.file(5, "shop"))
	if err == nil {
		err = os.WriteFile(b.file(5, "shop"), []byte(strings.Replace(string(damaged), "This", "That", 1)), 0o600)
	}
	if err = errors.Join(err, os.Remove(strings.TrimSuffix(b.file(4, "shop"), "jsonl")+"trashed")); err != nil {
		t.Fatal(err)
	}
	turnstest.Golden(t, "trash", b.app, func(s picture.Size) []string {
		b.open()
		b.show(s.Columns, s.Rows)
		return b.Rows()
	})
	turnstest.Golden(t, "damaged", b.app, func(s picture.Size) []string {
		b.open()
		b.show(s.Columns, s.Rows)
		b.press("down", "down")
		return b.Rows()
	})
}

func TestEmptyTrash(t *testing.T) {
	b := newBin(t)
	if b.SetSize(60, 10); !strings.Contains(b.text(), "Reading …") {
		t.Errorf("before it is read: %q", b.text())
	}
	if b.show(60, 10); !strings.Contains(b.text(), "The trash is empty.") {
		t.Errorf("got %q", b.text())
	}
	b.press("enter", "u", "down", "G", "pgdown")
	if b.show(0, 0); b.Rows() != nil {
		t.Errorf("without a size: %q", b.Rows())
	}
}

func TestTrashKeys(t *testing.T) {
	b := newBin(t)
	for n := range 40 {
		b.put(n, "shop", fmt.Sprint("question ", n), time.Duration(n)*time.Hour)
	}
	b.trashPane.profile = ansi.NoColor
	b.show(80, 14) // 10 sessions
	for _, test := range []struct {
		keys     string
		selected int
		top      int
	}{
		{"", 0, 0}, {"down j", 2, 0}, {"up k k", 0, 0}, {"pgdown", 9, 0}, {"down", 10, 1}, {"pgdown", 19, 10},
		{"ctrl+d", 23, 14}, {"ctrl+u", 19, 14}, {"pgup", 10, 10}, {"G", 39, 30}, {"down", 39, 30}, {"g", 0, 0},
		{"end", 39, 30}, {"home", 0, 0}, {"x", 0, 0},
	} {
		b.press(strings.Fields(test.keys)...)
		if b.selected != test.selected || b.top != test.top {
			t.Errorf("after %s: row %d is selected, %d is the first, want %d and %d",
				test.keys, b.selected, b.top, test.selected, test.top)
		}
		for i := range min(10, 40-test.top) {
			if want := fmt.Sprint("question ", test.top+i, " "); !strings.Contains(b.Rows()[i], want) {
				t.Errorf("after %s: row %d is %q, want %q", test.keys, i, b.Rows()[i], want)
			}
		}
	}
	turnstest.Run(b.Update, b.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown}))
	turnstest.Run(b.Update, b.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown}))
	turnstest.Run(b.Update, b.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp}))
	turnstest.Run(b.Update, b.Update(tea.MouseWheelMsg{Button: tea.MouseWheelLeft}))
	if b.selected != 3 {
		t.Errorf("the wheel selects row %d", b.selected)
	}
	for key, want := range map[string]tea.Msg{
		"enter": restoreMsg{catalog.Key{Dir: filepath.Join(b.root, "shop"), ID: id(3)}},
		"u":     restoreMsg{catalog.Key{Dir: filepath.Join(b.root, "shop"), ID: id(3)}},
		"esc":   closeTrashMsg{}, "q": closeTrashMsg{}, "ctrl+c": closeTrashMsg{},
	} {
		cmd := b.Update(turnstest.Key(key))
		if cmd == nil || cmd() != want {
			t.Errorf("%s does not return %+v", key, want)
		}
	}
}

// The selection stays where it is when the trash has changed.
func TestShowAgain(t *testing.T) {
	b := newBin(t)
	for n := range 3 {
		b.put(n, "shop", fmt.Sprint("question ", n), time.Duration(n)*time.Hour)
	}
	b.show(80, 14)
	b.press("G")
	d := catalog.New(b.root, journal.Options{}).Team("shop")
	if err := d.Restore(t.Context(), id(2)); err != nil {
		t.Fatal(err)
	}
	if b.show(80, 14); b.selected != 1 || strings.Contains(b.text(), "question 2") {
		t.Errorf("row %d is selected of\n%s", b.selected, b.text())
	}
}

// A list, and heads, that were requested before another list are ignored.
func TestOutdatedMessages(t *testing.T) {
	b := newBin(t)
	b.put(1, "shop", "question", time.Hour)
	b.SetSize(80, 14)
	old := b.Show()
	outdated := old()
	b.show(80, 14)
	before := b.text()
	b.put(2, "shop", "another", time.Minute)
	turnstest.Run(b.Update, b.Update(outdated))
	turnstest.Run(b.Update, b.Update(itemsMsg{}))
	turnstest.Run(b.Update, b.Update(headsMsg{ctx: t.Context(), heads: map[catalog.Key]head{
		keyOf(b.items[0]): {TrashHead: catalog.TrashHead{Title: "wrong"}},
	}}))
	if got := b.text(); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
	again := b.Show()
	b.Close()
	turnstest.Run(b.Update, b.Update(again()))
	if len(b.items) > 0 {
		t.Error("a closed pane shows sessions")
	}
	if b.show(80, 14); len(b.items) != 2 {
		t.Error("a pane that was closed does not open")
	}
}

// Only the rows that are shown are read, each once.
func TestHeadsAreReadForShownRows(t *testing.T) {
	b := newBin(t)
	for n := range 50 {
		b.put(n, "shop", fmt.Sprint("question ", n), time.Duration(n)*time.Hour)
	}
	if b.show(80, 14); len(b.heads) != 10 {
		t.Errorf("%d heads were read", len(b.heads))
	}
	if b.press("down", "up", "G"); len(b.heads) != 20 {
		t.Errorf("%d heads were read", len(b.heads))
	}
	reads := b.disk.Count(journaltest.Read)
	if b.press("up", "down"); b.disk.Count(journaltest.Read) != reads {
		t.Error("a head was read again")
	}
	if b.Update(turnstest.Key("g")) != nil {
		t.Error("known heads are read")
	}
	b.Update(turnstest.Key("pgdown"))
	b.Update(turnstest.Key("pgdown"))
	slow := b.Update(turnstest.Key("pgdown"))
	b.press("g")
	turnstest.Run(b.Update, slow) // cancelled
	if len(b.heads) != 20 {
		t.Errorf("%d heads, some that are not shown", len(b.heads))
	}
}

func TestHeadsAreForgotten(t *testing.T) {
	b := newBin(t)
	b.put(1, "shop", "question", time.Hour)
	b.show(80, 14)
	b.heads = map[catalog.Key]head{}
	for n := range keptHeads + 1 {
		b.heads[catalog.Key{ID: id(100 + n)}] = head{}
	}
	turnstest.Run(b.Update, b.SetSize(80, 14))
	if len(b.heads) != 1 || !strings.Contains(b.text(), "question") {
		t.Errorf("%d heads are kept; the pane has\n%s", len(b.heads), b.text())
	}
}

func TestProblemsAreShown(t *testing.T) {
	b := newBin(t)
	b.put(1, "shop", "question", time.Hour)
	b.disk.Fail(1, syscall.EIO, journaltest.Read)
	if b.show(200, 14); !strings.Contains(b.text(), syscall.EIO.Error()) {
		t.Errorf("got\n%s", b.text())
	}
	if b.show(80, 14); !strings.Contains(b.text(), "question") {
		t.Errorf("a later list shows\n%s", b.text())
	}
	// The session is restored or purged between the list and its head.
	b.open()
	b.SetSize(80, 14)
	list := b.Show()()
	if err := os.Remove(b.file(1, "shop")); err != nil {
		t.Fatal(err)
	}
	turnstest.Run(b.Update, b.Update(list))
	if got := b.text(); !strings.Contains(got, "✗ "+id(1)) || !strings.Contains(got, "not in the trash") {
		t.Errorf("got\n%s", got)
	}
}

func TestHostileText(t *testing.T) {
	b := newBin(t)
	b.put(1, "a", apptest.Hostile, time.Hour)
	for _, columns := range []int{1, 2, 5, 20, 59, 60, 200} {
		for _, rows := range []int{1, 7, 8, 30} {
			b.show(columns, rows)
			turnstest.CheckFits(t, b.Rows(), columns, rows)
		}
	}
	b.trashPane.profile = ansi.NoColor
	if r, acting := apptest.Acting(b.text()); acting {
		t.Errorf("%U in %q", r, b.text())
	}
}

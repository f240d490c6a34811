package browse

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	mia  = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada  = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
)

func TestMain(m *testing.M) {
	if tty.Watched() {
		return
	}
	journaltest.UseMemoryForTempDir()
	time.Local = time.UTC // heads have local times
	os.Exit(m.Run())
}

// a chat is a session of a test.
type chat struct {
	number   int
	team     string
	cwd      string
	age      time.Duration // since its last message
	messages []string      // by turns of Mia and Ada
	more     []projection.Payload
}

func id(number int) string { return fmt.Sprintf("01KAH9TQ4GJ5X8C2VRB0%06d", number) }

// write writes the session to a catalog.
func (c chat) write(t testing.TB, root *catalog.Catalog) {
	t.Helper()
	end := noon.Add(-c.age)
	at := end.Add(-time.Duration(len(c.messages)) * time.Minute)
	members := []projection.Member{
		{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman},
		{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI, AgentType: "command"},
	}
	records := []journal.Record{projection.Record(at, projection.SessionCreated{
		Format: projection.Format, SessionID: id(c.number), CWD: c.cwd,
		Team: projection.Team{ID: c.team, Name: c.team, Members: members},
	})}
	for i, text := range c.messages {
		at = at.Add(time.Minute)
		speaker := []projection.Speaker{mia, ada}[i%2]
		records = append(records, projection.Record(at, projection.NewMessage(fmt.Sprint("m", i), at, speaker, text, nil)))
	}
	for _, p := range c.more {
		records = append(records, projection.Record(end, p))
	}
	log, err := root.Team(c.team).Journals().Create(id(c.number))
	if err == nil {
		_, err = log.Append(records...)
	}
	if err == nil {
		_, err = log.Seal()
	}
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// chats are the sessions of most tests.
var chats = []chat{
	{number: 1, team: "shop", cwd: "/home/eva/shop", age: 2 * time.Minute, messages: []string{
		"The checkout rounds 0.125 down. Why?",
		"It uses **binary** floats:\n\n```go\ntotal := price * 1.19\n```\n\nUse integers of cents.",
		"Mend it.", "Done: `Cents` is an `int64` now, and the rounding is half to even.",
	}},
	{number: 2, team: "shop", cwd: "/home/eva/shop", age: 3 * time.Hour,
		messages: []string{"Write the release notes for 2.4", "Here they are."},
		more:     []projection.Payload{projection.SessionRenamed{Title: "Release notes"}, projection.SessionPinned{Pinned: true}}},
	{number: 3, team: "research", cwd: "/home/eva/papers", age: 50 * time.Hour, messages: []string{
		"日本語の論文を要約してください", "要約: 丸め誤差 is rounding error. 👩‍💻", "Thank you", "You are welcome."}},
	{number: 4, team: "research", cwd: "/home/eva/papers", age: 400 * time.Hour,
		messages: []string{"An old question about rounding", "An old answer"}},
	{number: 5, team: "shop", cwd: "/home/eva/shop/api", age: 30 * time.Hour, messages: []string{"This one is damaged", "Yes"}},
}

// home writes the sessions, archives session 4 and damages session 5.
func home(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	root := catalog.New(filepath.Join(dir, "sessions"), journal.Options{})
	for _, c := range chats {
		c.write(t, root)
	}
	if err := journaltest.Archive(t.Context(), root.Team("research").Journals(), id(4)); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "sessions", "shop", id(5)+".jsonl")
	content, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	content = []byte(strings.Replace(string(content), "This one", "That one", 1))
	if err := os.WriteFile(damaged, content, 0o600); err != nil {
		t.Fatal(err)
	}
	settled := noon.Add(-30 * time.Hour) // a damaged session is as old as its file
	if err := os.Chtimes(damaged, settled, settled); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A browser is a model that a test drives: each command ends before the next key.
type browser struct {
	t    testing.TB
	m    *model
	quit bool
}

func open(t testing.TB, dir string, columns, rows int, o Options) *browser {
	t.Helper()
	a, err := app.New(app.IO{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}, app.Options{Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, m: newModel(t.Context(), a, o)}
	t.Cleanup(b.m.close)
	b.m.now = func() time.Time { return noon }
	b.m.tick = nil
	b.m.fetcher.rest = func(key catalog.Key) tea.Cmd { return func() tea.Msg { return restedMsg(key) } }
	b.send(tea.WindowSizeMsg{Width: columns, Height: rows})
	b.run(b.m.Init())
	return b
}

// run runs a command and what follows from it.
func (b *browser) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, cmd := range msg {
			b.run(cmd)
		}
	case tea.QuitMsg:
		b.quit = true
	default:
		b.send(msg)
	}
}

func (b *browser) send(msg tea.Msg) {
	_, cmd := b.m.Update(msg)
	b.run(cmd)
}

// keys are the keys that have a name.
var keys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"backspace": {Code: tea.KeyBackspace}, "space": {Code: tea.KeySpace, Text: " "},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
}

// press presses keys: those with a name, else characters.
func (b *browser) press(names ...string) {
	for _, name := range names {
		if k, ok := keys[name]; ok {
			b.send(k)
			continue
		}
		for _, r := range name {
			b.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// titles are the titles on the screen, with a mark for the selected one.
func (b *browser) titles() (titles []string) {
	for i := range b.m.list.shown {
		title := titleOf(b.m.list.row(i))
		if i == b.m.list.selected {
			title = ">" + title
		}
		titles = append(titles, title)
	}
	return titles
}

func (b *browser) expect(want ...string) {
	b.t.Helper()
	if got := b.titles(); !slices.Equal(got, want) {
		b.t.Errorf("got %q, want %q", got, want)
	}
}

// screen is what the terminal shows.
func (b *browser) screen(p ansi.Profile) string {
	b.m.profile = p
	return strings.Join(b.m.draw(), "\n") + "\n"
}

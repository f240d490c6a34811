package browse

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// a mill is another machine, and the hub that it ships to.
type mill struct {
	t       *testing.T
	engine  hub.Engine
	catalog *catalog.Catalog
	hub     *hub.Hub
}

func newMill(t *testing.T) *mill {
	engine := &hubtest.Memory{}
	return &mill{
		t, engine, catalog.New(t.TempDir(), journal.Options{}),
		hub.New(engine, hub.Options{Home: "/home/eva", Host: "mill"}),
	}
}

func (m *mill) replica(c chat) replica.Replica {
	return replica.Replica{Hub: m.hub, Dir: m.catalog.Team(c.team), ID: id(c.number)}
}

// ship writes a session and ships it.
func (m *mill) ship(c chat) {
	m.t.Helper()
	c.write(m.t, m.catalog)
	if _, err := m.replica(c).Push(m.t.Context(), false); err != nil {
		m.t.Fatal(err)
	}
}

// claim claims a session.
func (m *mill) claim(c chat) {
	m.t.Helper()
	if _, err := m.replica(c).Claim(m.t.Context(), false); err != nil {
		m.t.Fatal(err)
	}
}

// open opens a browser that uses the hub.
func (m *mill) open(columns, rows int, o Options) *browser {
	m.t.Helper()
	dir := home(m.t)
	config := `{"hub": {"urls": ["nats://hub"], "teams": ["*"]}}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		m.t.Fatal(err)
	}
	b := open(m.t, dir, columns, rows, o)
	b.m.app.Remote.Open = func(context.Context, jetstream.Options) (hub.Engine, error) { return m.engine, nil }
	return b
}

// hear asks the hub, as Run does in the background.
func (b *browser) hear() {
	b.t.Helper()
	elsewhere, err := b.m.app.Remote.Elsewhere(b.t.Context(), b.m.catalog)
	b.send(elsewhereMsg{elsewhere, err})
}

var (
	there = chat{number: 7, team: "garden", cwd: "/home/eva/garden", age: 5 * time.Hour,
		messages: []string{"When do the beans flower?", "In June, unless it is cold."}}
	theirs = chat{number: 8, team: "shop", cwd: "/home/eva/shop", age: time.Hour,
		messages: []string{"Count the boxes", "Forty"}}
)

const beans, boxes = "When do the beans flower?", "Count the boxes"

func (b *browser) here(c chat) bool {
	_, err := b.m.catalog.Team(c.team).Session(b.t.Context(), id(c.number))
	return err == nil
}

func TestSessionsOnTheHubAreListed(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	m.ship(theirs)
	m.claim(theirs)
	b := m.open(120, 40, Options{})
	b.expect(">"+one, two, five, three, four) // before the hub has answered
	b.hear()
	b.expect(">"+one, boxes, two, beans, five, three, four)
	screen := b.screen(ansi.NoColor)
	for _, want := range []string{"○ When do the beans", "● Count the boxes", " on the hub ", " live on mill ", "7 sessions"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	b.press("2")
	b.expect(">" + boxes)
	b.press("1", "/", "beans")
	b.expect(">" + beans)
}

func TestSelectedSessionIsFetched(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	b := m.open(120, 40, Options{})
	b.hear()
	if b.press("down"); b.here(there) {
		t.Fatal("it was fetched before it was selected")
	}
	b.press("down")
	b.expect(one, two, ">"+beans, five, three, four)
	if !b.here(there) || b.m.notice != "Fetched from the hub: "+beans {
		t.Fatalf("not fetched: %q", b.m.notice)
	}
	if screen := b.screen(ansi.NoColor); strings.Contains(screen, "on the hub ") || !strings.Contains(screen, "In June") {
		t.Errorf("the preview is\n%s", screen)
	}
	b.press("t")
	if b.m.mode != timing || b.m.timed.LastSeq == 0 {
		t.Error("no timeline")
	}
	b.press("t", "/", "unless it is cold")
	b.expect(">" + beans)
}

// A session that is passed quickly is not fetched; keys that need it wait for it.
func TestKeysWaitForTheSession(t *testing.T) {
	for key, done := range map[string]func(b *browser) bool{
		"t": func(b *browser) bool { return b.m.mode == timing },
		"r": func(b *browser) bool { return b.m.actions.Asking() },
		"e": func(b *browser) bool { return b.m.actions.Asking() },
		"f": func(b *browser) bool { return slices.Contains(b.titles(), ">"+beans) && len(b.titles()) == 7 },
		"p": func(b *browser) bool { s, _ := b.m.list.session(); return s.Pinned },
	} {
		m := newMill(t)
		m.ship(there)
		b := m.open(120, 40, Options{})
		b.m.fetcher.rest = func(catalog.Key) tea.Cmd { return nil }
		b.hear()
		b.press("down", "down")
		if b.here(there) {
			t.Fatal("it was fetched")
		}
		if b.press(key); !b.here(there) || !done(b) {
			t.Errorf("%s: %q, %q", key, b.m.notice, b.titles())
		}
	}
}

func TestOnlyOnTheHubIsNotDeleted(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	b := m.open(120, 40, Options{})
	b.m.fetcher.rest = func(catalog.Key) tea.Cmd { return nil }
	b.hear()
	b.press("down", "down", "d")
	if b.m.actions.Asking() || !strings.Contains(b.m.notice, " hub purge "+id(7)) {
		t.Errorf("got %q", b.m.notice)
	}
}

func TestResumeOfSessionOnTheHub(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	m.ship(theirs)
	m.claim(theirs)
	b := m.open(120, 40, Options{})
	b.m.fetcher.rest = func(catalog.Key) tea.Cmd { return nil }
	b.hear()
	b.press("down", "enter")
	if b.quit || !strings.Contains(b.m.notice, "live on mill") || !strings.Contains(b.m.notice, "--take-over") {
		t.Errorf("the session of another machine: %q", b.m.notice)
	}
	b.press("down", "down", "enter")
	if !b.quit || b.m.choice.Session.ID != id(7) {
		t.Errorf("got %+v", b.m.choice)
	}
}

func TestLocalSessionOfAnotherMachineIsMarked(t *testing.T) {
	m := newMill(t)
	m.ship(chats[1])
	m.claim(chats[1])
	b := m.open(120, 40, Options{})
	b.hear()
	b.expect(">"+one, two, five, three, four)
	if screen := b.screen(ansi.NoColor); !strings.Contains(screen, "● Release notes") || !strings.Contains(screen, "live on mill") {
		t.Errorf("got\n%s", screen)
	}
}

func TestHubThatDoesNotAnswer(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	b := m.open(120, 40, Options{})
	b.hear()
	down := &hub.UnavailableError{Err: context.DeadlineExceeded}
	b.send(elsewhereMsg{err: down})
	b.expect(">"+one, two, beans, five, three, four) // as it was
	if !strings.HasPrefix(b.m.notice, "The hub cannot be reached") {
		t.Errorf("got %q", b.m.notice)
	}
	b.press("k")
	b.send(elsewhereMsg{err: down})
	if b.m.notice != "" {
		t.Errorf("a second notice: %q", b.m.notice)
	}
}

func TestFetchFails(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	b := m.open(120, 40, Options{})
	b.hear()
	if err := m.hub.Purge(t.Context(), m.replica(there).Session()); err != nil {
		t.Fatal(err)
	}
	b.press("down", "down")
	if b.here(there) || !strings.Contains(b.m.notice, "purged from the hub") {
		t.Errorf("got %q", b.m.notice)
	}
}

func TestDeletedSessionIsNotListed(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	b := m.open(120, 40, Options{})
	b.hear()
	b.press("down", "down", "d", "y")
	b.expect(one, two, ">"+five, three, four)
	b.hear()
	b.expect(one, two, ">"+five, three, four)
}

// A session that has events on the hub is fetched in the background, and the preview grows.
func TestWatchFetchesWhatIsBehind(t *testing.T) {
	m := newMill(t)
	m.ship(there)
	b := m.open(120, 40, Options{})
	b.hear()
	b.press("down", "down")
	r := m.replica(there)
	again := projection.NewMessage("m9", noon, ada, "It was cold.", nil)
	if err := r.Dir.Append(t.Context(), r.ID, projection.Record(noon, again)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Push(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	before, _ := b.m.list.session()
	ctx, end := context.WithCancel(t.Context())
	local := b.m.catalog.Team(there.team)
	seen := make(chan struct{})
	go func() {
		defer end()
		for e, err := range local.Journals().Follow(t.Context(), r.ID, before.End) {
			if err == nil && strings.Contains(string(e.Line()), "It was cold.") {
				close(seen)
				return
			}
		}
	}()
	b.m.app.Remote.Watch(ctx, b.m.catalog, func(*catalog.Elsewhere, error) {})
	<-seen
	b.m.now = func() time.Time { return noon.Add(time.Hour) } // the list is read again
	b.send(tickMsg{})
	if !strings.Contains(b.screen(ansi.NoColor), "It was cold.") {
		t.Error("the preview does not show it")
	}
}

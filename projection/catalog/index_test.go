package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

func TestListOpensNoUnchangedJournal(t *testing.T) {
	disk := watch()
	c := mixed(t, t.TempDir(), disk)
	want := list(t, c)
	disk.forget()
	sameAnswers(t, answers{Sessions: want}, answers{Sessions: list(t, c)})
	if opened, _ := disk.journals(); opened != 0 {
		t.Errorf("%d journals were opened: %v", opened, disk.read)
	}
	if len(disk.written) != 0 {
		t.Errorf("was written: %v", disk.written)
	}
}

func TestListHasTeamSource(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	first := &projection.Source{Path: "/home/mia/kitchen.json", SHA256: "00ff"}
	second := &projection.Source{Path: "/home/mia/other.json", SHA256: "11ee"}
	end := put(t, team, id(1), after(0, projection.SessionCreated{
		Format:    1,
		SessionID: id(1),
		Team:      projection.Team{ID: "kitchen", Source: first, Members: []projection.Member{}},
	}), said(1, mia, "Repair"))
	want := func(source *projection.Source) {
		t.Helper()
		for range 2 { // the second time from the index
			if got := list(t, c)[0]; got.Source == nil || *got.Source != *source {
				t.Errorf("got %v, want %v", got.Source, source)
			}
		}
	}
	want(first)
	end = add(t, team, id(1), end, said(2, ada, "well"))
	want(first)
	add(t, team, id(1), end, after(3, projection.SessionResumed{Source: second}))
	want(second)
	archive(t, team, id(1))
	want(second)
}

func TestBrokenRowIsReplaced(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	want := list(t, c)
	change(t, indexOf(team), `"title":"Repair"`, "\x00\x00\x00")
	put(t, team, id(2), chat(id(2), "kitchen", "Cake", 3)...)
	list(t, c)
	if text := read(t, indexOf(team)); !json.Valid(text) {
		t.Errorf("the index is %q", text)
	}
	sameAnswers(t, answers{Sessions: want}, answers{Sessions: list(t, c)[1:]})
}

func TestUnchangedListWritesNothing(t *testing.T) {
	disk := watch()
	c := mixed(t, t.TempDir(), disk)
	write(t, live(c.Team("kitchen"), id(7)), nil)                   // empty
	write(t, live(c.Team("kitchen"), id(8)), []byte(`{"seq":1,"t`)) // half a line
	list(t, c)
	disk.forget()
	list(t, c)
	if len(disk.written) != 0 {
		t.Errorf("was written: %v", disk.written)
	}
}

func TestIndexInOtherLayoutIsReformatted(t *testing.T) {
	disk := watch()
	c := mixed(t, t.TempDir(), disk)
	want := list(t, c)
	path := indexOf(c.Team("kitchen"))
	ours := read(t, path)
	for name, layout := range map[string]func(t *testing.T) []byte{
		"fields in another order": func(t *testing.T) []byte {
			return regexp.MustCompile(`(?m)^{("id":"[^"]*"),(.*),("updatedAt":"[^"]*")`).ReplaceAll(ours,
				[]byte(`{$1,$3,$2`))
		},
		"times of another zone": func(t *testing.T) []byte {
			return regexp.MustCompile(`[^"]*Z","inode"`).ReplaceAllFunc(ours, func(found []byte) []byte {
				at, err := time.Parse(time.RFC3339, strings.TrimSuffix(string(found), `","inode"`))
				if err != nil {
					t.Fatal(err)
				}
				return []byte(at.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano) + `","inode"`)
			})
		},
		"indented": func(t *testing.T) []byte {
			var b bytes.Buffer
			if err := json.Indent(&b, ours, "", "  "); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, layout(t))
			disk.forget()
			sameAnswers(t, answers{Sessions: want}, answers{Sessions: list(t, c)})
			if opened, _ := disk.journals(); opened != 0 {
				t.Errorf("%d journals were opened: %v", opened, disk.read)
			}
			if now := read(t, path); !bytes.Equal(now, ours) {
				t.Errorf("%s\nnot\n%s", now, ours)
			}
		})
	}
}

func TestIndexMatchesSchema(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	write(t, live(c.Team("kitchen"), id(9)), []byte("not a journal\n"))
	list(t, c)
	for _, team := range []string{"kitchen", "Garden"} {
		if err := schemas.Check(schemas.SessionIndex, read(t, indexOf(c.Team(team)))); err != nil {
			t.Error(err)
		}
	}
}

func TestListOpensNoClosedSession(t *testing.T) {
	disk := watch()
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	for n := range 3 {
		put(t, team, id(n), chat(id(n), "kitchen", "Repair", n+1)...)
		state, loaded, err := team.Load(ctx, id(n))
		if err != nil {
			t.Fatal(err)
		}
		team.UpdateIndex(id(n), state, loaded.At)
	}
	disk.forget()
	if got := list(t, c); len(got) != 3 || got[0].MessageCount != 3 {
		t.Errorf("%+v", got)
	}
	if opened, _ := disk.journals(); opened != 0 {
		t.Errorf("%d journals were opened", opened)
	}
}

func TestUpdateIndexChecksEndOfJournal(t *testing.T) {
	root := t.TempDir()
	c := catalog.New(root, journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 2)...)
	state, loaded, err := team.Load(ctx, id(1))
	if err != nil {
		t.Fatal(err)
	}
	after := add(t, team, id(1), end, said(9, ada, "more"))
	want := ask(t, catalog.New(root, journal.Options{}))
	dropCaches(t, root)
	team.UpdateIndex(id(1), state, loaded.At) // outdated
	sameAnswers(t, want, ask(t, c))
	dropCaches(t, root)
	team.UpdateIndex(id(1), state, after) // not the state at that position
	sameAnswers(t, want, ask(t, c))
	dropCaches(t, root)
	team.UpdateIndex(id(1), state, journal.Position{})
	team.UpdateIndex(id(2), state, end) // no such journal
	sameAnswers(t, want, ask(t, c))
}

func TestConcurrentIndexUpdates(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for process := range 4 {
		wg.Go(func() {
			c := catalog.New(root, journal.Options{})
			team := c.Team("kitchen")
			for n := range 10 {
				name := id(process*10 + n)
				put(t, team, name, chat(name, "kitchen", "Repair", n+1)...)
				state, loaded, err := team.Load(ctx, name)
				if err != nil {
					t.Error(err)
					return
				}
				team.UpdateIndex(name, state, loaded.At)
				if _, err := team.List(ctx, catalog.Query{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c := catalog.New(root, journal.Options{})
	cached := ask(t, c)
	if len(cached.Sessions) != 40 {
		t.Errorf("%d sessions", len(cached.Sessions))
	}
	if err := schemas.Check(schemas.SessionIndex, read(t, indexOf(c.Team("kitchen")))); err != nil {
		t.Error(err)
	}
	dropCaches(t, root)
	sameAnswers(t, ask(t, c), cached)
}

func TestLockedIndexIsNotWritten(t *testing.T) {
	root := t.TempDir()
	c := catalog.New(root, journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 2)...)
	lock, err := vfs.LockFile(vfs.OS, filepath.Join(team.Journals().Path(), "sessions.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, c); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	state, loaded, err := team.Load(ctx, id(1))
	if err != nil {
		t.Fatal(err)
	}
	team.UpdateIndex(id(1), state, loaded.At)
	if _, err := os.Stat(indexOf(team)); !os.IsNotExist(err) {
		t.Errorf("it was written: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	list(t, c)
	read(t, indexOf(team))
}

func TestLargeIndexIsRarelyRewritten(t *testing.T) {
	disk := watch()
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	var end journal.Position
	for n := range 1000 {
		end = put(t, team, id(n), begun(id(n), "kitchen"), said(n+1, mia, "Repair"))
	}
	list(t, c)
	wrote := func(do func()) bool {
		disk.forget()
		do()
		return slices.ContainsFunc(slices.Collect(maps.Keys(disk.written)), func(name string) bool {
			return strings.HasPrefix(name, "sessions.json.")
		})
	}
	end = add(t, team, id(999), end, said(2000, ada, "well"))
	if wrote(func() { list(t, c) }) {
		t.Error("a list rewrote 1,000 rows for one event")
	}
	state, loaded, err := team.Load(ctx, id(999))
	if err != nil {
		t.Fatal(err)
	}
	if wrote(func() { team.UpdateIndex(id(999), state, loaded.At) }) {
		t.Error("UpdateIndex rewrote 1,000 rows")
	}
	if got := list(t, c)[0]; got.ID != id(999) || got.MessageCount != 2 {
		t.Errorf("%+v", got)
	}
	add(t, team, id(999), end, said(2001, mia, strings.Repeat("x", 600_000)))
	if !wrote(func() { list(t, c) }) {
		t.Error("a list read a large journal and did not write the index")
	}
}

func TestAppendUpdatesIndex(t *testing.T) {
	root := t.TempDir()
	disk := watch()
	c := mixed(t, root, disk)
	list(t, c)
	if err := c.Team("kitchen").Append(ctx, id(1), after(500, projection.SessionRenamed{Title: "Tea"})); err != nil {
		t.Fatal(err)
	}
	disk.forget()
	s, _, err := c.Find(ctx, "Tea")
	if err != nil || s.ID != id(1) || s.LastSeq != 5 {
		t.Errorf("%+v, %v", s, err)
	}
	if opened, _ := disk.journals(); opened != 0 {
		t.Error("a journal was opened for it")
	}
	if !s.UpdatedAt.Equal(created.Add(3 * time.Minute)) {
		t.Errorf("renaming moved updatedAt to %v", s.UpdatedAt)
	}
	cached := ask(t, c)
	dropCaches(t, root)
	sameAnswers(t, ask(t, c), cached)
}

func TestReindexReportsLockedIndex(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "hello", 2)...)
	lock, err := vfs.LockFile(vfs.OS, filepath.Join(team.Journals().Path(), "sessions.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := team.Reindex(ctx); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("while the index is locked: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if sessions, err := team.Reindex(ctx); err != nil || len(sessions) != 1 {
		t.Errorf("%v, %v", ids(sessions), err)
	}
}

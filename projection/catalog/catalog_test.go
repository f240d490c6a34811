package catalog_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func ids(sessions []catalog.Session) []string {
	var all []string
	for _, s := range sessions {
		all = append(all, s.ID)
	}
	return all
}

func TestMissingDirectoryHasNoSessions(t *testing.T) {
	root := filepath.Join(t.TempDir(), "sessions")
	c := catalog.New(root, journal.Options{})
	if got := list(t, c); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := list(t, c.Team("kitchen")); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"latest", id(1), "kettle"} {
		if _, _, err := c.Find(ctx, name); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := c.Team("kitchen").Load(ctx, id(1)); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("loading: %v", err)
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("the directory was created: %v", err)
	}
}

func TestListIsNewestFirst(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	sessions := list(t, c)
	if diff := cmp.Diff([]string{id(2), id(4), id(1), id(3)}, ids(sessions)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := catalog.Session{
		ID: id(2), TeamID: "kitchen", CWD: "/home/mia", LastSeq: 43,
		Row: projection.Row{
			CreatedAt:     created,
			UpdatedAt:     created.Add(91 * time.Minute),
			Title:         "Boil water",
			Preview:       "[NEXT: ada] Boil water",
			MessageCount:  41,
			LastSpeakerID: "ada",
			LastSpeaker:   "Ada",
		},
	}
	got := sessions[0]
	if got.Path() != live(c.Team("kitchen"), id(2)) || got.Dir() != c.Team("kitchen").Journals().Path() {
		t.Errorf("it is at %s in %s", got.Path(), got.Dir())
	}
	if got.End.Seq != 43 || got.End.Offset != got.Bytes {
		t.Errorf("it ends at %+v of %d", got.End, got.Bytes)
	}
	want.Bytes, want.End = got.Bytes, got.End
	ignoreDir := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "dir" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, ignoreDir); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := sessions[3]; got.Title != "Renamed" || !got.Renamed || !got.Pinned {
		t.Errorf("%+v", got)
	}
}

func TestListOrdersSameTimeByID(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	for _, n := range []int{2, 1, 3} {
		put(t, c.Team([]string{"a", "b"}[n%2]), id(n), chat(id(n), "x", "Repair", 1)...)
	}
	if diff := cmp.Diff([]string{id(3), id(2), id(1)}, ids(list(t, c))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestListDamagedSessions(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, path string)
	}{
		{"a changed message", func(t *testing.T, path string) { change(t, path, "Repair", "Repaid") }},
		{"a changed first line", func(t *testing.T, path string) { change(t, path, "/home/mia", "/home/bob") }},
		{"a missing line", func(t *testing.T, path string) {
			lines := strings.SplitAfter(string(read(t, path)), "\n")
			write(t, path, []byte(strings.Join(slices.Delete(lines, 1, 2), "")))
		}},
		{"another first event", func(t *testing.T, path string) {
			text, _ := lines(t, journal.Position{}, said(1, mia, "hello"))
			write(t, path, text)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			c := catalog.New(root, journal.Options{})
			team := c.Team("kitchen")
			synced(t, team, id(1), put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...))
			put(t, team, id(2), chat(id(2), "kitchen", "Intact", 2)...)
			list(t, c)
			test.damage(t, live(team, id(1)))
			for range 2 { // the second time from the index
				sessions := list(t, c)
				if len(sessions) != 2 {
					t.Fatalf("%+v", sessions)
				}
				for _, s := range sessions {
					if (s.Damaged != "") != (s.ID == id(1)) {
						t.Errorf("%s is damaged: %q", s.ID, s.Damaged)
					}
				}
			}
			latest, skipped, err := c.Find(ctx, "latest")
			if err != nil || latest.ID != id(2) || len(skipped) != 1 || skipped[0].ID != id(1) {
				t.Errorf("%+v, %+v, %v", latest, skipped, err)
			}
			if s, _, err := c.Find(ctx, id(1)); err != nil || s.Damaged == "" {
				t.Errorf("%+v, %v", s, err)
			}
			if _, _, err := team.Load(ctx, id(1)); err == nil {
				t.Error("Load succeeded")
			}
			cached := ask(t, c)
			dropCaches(t, root)
			sameAnswers(t, ask(t, c), cached)
		})
	}
}

func TestTornTailIsNotDamage(t *testing.T) {
	root := t.TempDir()
	c := catalog.New(root, journal.Options{})
	team := c.Team("kitchen")
	text, end := lines(t, journal.Position{}, chat(id(1), "kitchen", "Repair", 3)...)
	more, _ := lines(t, end, said(9, ada, "not acknowledged"))
	write(t, live(team, id(1)), append(text, more[:20]...))
	for range 2 {
		if got := list(t, c)[0]; got.Damaged != "" || got.MessageCount != 3 || got.LastSeq != 4 {
			t.Errorf("%+v", got)
		}
	}
	if _, loaded := load(t, team, id(1)); loaded.Torn.Bytes != 20 || loaded.At != end {
		t.Errorf("%+v", loaded)
	}
	// Archiving sets the tail aside, which adds an event.
	archive(t, team, id(1))
	cached := ask(t, c)
	dropCaches(t, root)
	sameAnswers(t, ask(t, c), cached)
}

func TestEmptyJournalsAreNotListed(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	write(t, live(team, id(1)), nil)
	write(t, live(team, id(2)), []byte(`{"seq":1,"time":"2026-11`))
	put(t, team, id(3), chat(id(3), "kitchen", "Repair", 1)...)
	for range 2 {
		if diff := cmp.Diff([]string{id(3)}, ids(list(t, c))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for n := 1; n <= 2; n++ {
		if _, _, err := c.Find(ctx, id(n)); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
}

func TestUnknownFilesAreNotListed(t *testing.T) {
	root := t.TempDir()
	c := catalog.New(root, journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 1)...)
	text := read(t, live(team, id(1)))
	for _, name := range []string{
		id(2) + ".jsonl.tmp", id(2) + ".jsonl~", id(2) + ".json", "." + id(2) + ".jsonl",
		"copy of " + id(2) + ".jsonl", "notes.jsonl",
		strings.ToLower(id(2)) + ".jsonl", id(2) + "x.jsonl", id(2)[1:] + ".jsonl", ".jsonl", "8" + id(2)[1:] +
			".jsonl",
		filepath.Join("trash", id(2)+".jsonl"), filepath.Join("archive", id(2)+".jsonl"), id(2) + ".aside-1",
	} {
		write(t, filepath.Join(team.Journals().Path(), name), text)
	}
	if err := os.MkdirAll(live(team, id(3)), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, id(4)+".jsonl"), text) // not in a team's directory
	write(t, filepath.Join(root, "config.json"), []byte("{}"))
	if diff := cmp.Diff([]string{id(1)}, ids(list(t, c))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestArchivedSessionIsListedAndLoaded(t *testing.T) {
	root := t.TempDir()
	disk := watch()
	c := mixed(t, root, disk)
	team := c.Team("kitchen")
	before := list(t, c)
	state, _ := load(t, team, id(2))
	archive(t, team, id(2))
	disk.forget()
	after := list(t, c)
	if opened, _ := disk.journals(); opened != 0 {
		t.Errorf("%d journals were opened to list an indexed archive", opened)
	}
	if !after[0].Archived {
		t.Errorf("%+v", after[0])
	}
	after[0].Archived, after[0].Bytes = false, before[0].Bytes
	sameAnswers(t, answers{Sessions: before}, answers{Sessions: after})
	archived, loaded := load(t, team, id(2))
	if diff := cmp.Diff(state, archived); diff != "" {
		t.Errorf("(-live +archived):\n%s", diff)
	}
	if loaded.At != before[0].End {
		t.Errorf("loaded to %v, not %v", loaded.At, before[0].End)
	}
	cached := ask(t, c)
	dropCaches(t, root)
	sameAnswers(t, ask(t, c), cached)
	if s, _, err := c.Find(ctx, "Boil water"); err != nil || s.ID != id(2) {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAppendToArchivedSession(t *testing.T) {
	root := t.TempDir()
	c := mixed(t, root, nil)
	list(t, c)
	if err := c.Team("Garden").Append(ctx, id(4), said(300, mia, "And water it")); err != nil {
		t.Fatal(err)
	}
	s, _, err := c.Find(ctx, "latest")
	if err != nil || s.ID != id(4) || s.Archived || s.MessageCount != 6 {
		t.Errorf("%+v, %v", s, err)
	}
	cached := ask(t, c)
	dropCaches(t, root)
	sameAnswers(t, ask(t, c), cached)
}

func TestAppendRefusesNewerVersion(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	records := chat(id(1), "kitchen", "Repair", 1)
	put(t, team, id(1), append(records, journal.Record{Type: "message.appended", Data: []byte(`{"v":2}`)})...)
	before := read(t, live(team, id(1)))
	err := team.Append(ctx, id(1), after(9, projection.SessionPinned{Pinned: true}))
	if !errors.Is(err, projection.ErrNewer) {
		t.Errorf("%v", err)
	}
	if string(read(t, live(team, id(1)))) != string(before) {
		t.Error("the journal was changed")
	}
}

func TestTeamDirectoriesAreDistinct(t *testing.T) {
	root := t.TempDir()
	c := catalog.New(root, journal.Options{})
	seen := map[string]string{}
	for _, team := range []string{
		"团队A", "团组A", "Dev", "dev", "DEV", "../../etc", "..", ".", "/etc", "a/b", `a\b`, "a b", "a_b", "", "con",
		"x\x00y",
		strings.Repeat("x", 300), strings.Repeat("x", 299), "dev-0123abcd", "archive", "trash",
	} {
		path := c.Team(team).Journals().Path()
		if filepath.Dir(path) != root {
			t.Errorf("%q goes to %s", team, path)
		}
		key := strings.ToLower(path)
		if other, taken := seen[key]; taken {
			t.Errorf("%q and %q share %s", team, other, path)
		}
		seen[key] = team
	}
	if got := c.Team("dev").Journals().Path(); got != filepath.Join(root, "dev") {
		t.Errorf("a plain id is at %s", got)
	}
}

func TestLinkedDirectoriesAreTeams(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	c := catalog.New(root, journal.Options{})
	put(t, catalog.New(elsewhere, journal.Options{}).Team("garden"), id(1), chat(id(1), "garden", "hello", 1)...)
	put(t, c.Team("kitchen"), id(2), chat(id(2), "kitchen", "hello", 1)...)
	write(t, filepath.Join(elsewhere, "file"), nil)
	for name, target := range map[string]string{"garden": "garden", "file": "file", "nowhere": "nowhere"} {
		programtest.SkipOnWindows(t, os.Symlink(filepath.Join(elsewhere, target), filepath.Join(root, name)))
	}
	write(t, filepath.Join(root, "plain"), nil)
	teams, err := c.Teams()
	if err != nil || len(teams) != 2 || len(list(t, c)) != 2 {
		t.Errorf("%d teams with %d sessions, %v", len(teams), len(list(t, c)), err)
	}
}

func TestListTeamsWithUnusualIDs(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	teams := []string{"团队A", "团组A", "Dev", "dev", "../../etc"}
	for n, name := range teams {
		put(t, c.Team(name), id(n), chat(id(n), name, "Repair", 1)...)
	}
	for n, name := range teams {
		sessions := list(t, c.Team(name))
		if len(sessions) != 1 || sessions[0].ID != id(n) || sessions[0].TeamID != name {
			t.Errorf("%s: %+v", name, sessions)
		}
	}
	if got := list(t, c); len(got) != len(teams) {
		t.Errorf("%d sessions", len(got))
	}
}

// Sessions whose ids have different beginnings and ends.

func TestUpdateIndexKeepsMissingHeader(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), said(1, mia, "hello"))
	state := &projection.State{Seq: 1}
	team.UpdateIndex(id(1), state, end)
	if s, err := team.Session(ctx, id(1)); err != nil || !s.MissingHeader {
		t.Errorf("%+v, %v", s, err)
	}
}

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }

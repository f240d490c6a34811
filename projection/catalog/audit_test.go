package catalog_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
	"github.com/agent-chatter/agent-chatter/schemas"
	"github.com/google/go-cmp/cmp"
)

func TestAuditOfListedAndArchivedSessions(t *testing.T) {
	root := t.TempDir()
	ids, err := catalogtest.Sessions{Count: 5, Messages: 3}.Fill(root)
	if err != nil {
		t.Fatal(err)
	}
	team := catalog.New(root, journal.Options{}).Team("demo")
	nothingWrong := func() {
		t.Helper()
		var listed []string
		for _, s := range list(t, team) {
			listed = append(listed, s.ID)
			if removed, err := audited(team, s.ID); len(removed) > 0 || err != nil {
				t.Errorf("%s: %v, %v", s.ID, removed, err)
			}
		}
		if !slices.Equal(listed, ids) {
			t.Errorf("there are %v; the list says %v", ids, listed)
		}
	}
	nothingWrong()
	for _, id := range ids[2:] {
		archive(t, team, id)
	}
	nothingWrong()
}

// changeCheckpoint changes the checkpoint of session 1 and its checksum.
func changeCheckpoint(t *testing.T, team *catalog.Dir, old, new string) {
	t.Helper()
	path := checkpointOf(team, id(1))
	change(t, path, old, new)
	write(t, path, withChecksum(read(t, path)))
}

// Earlier versions wrote the messages of a checkpoint without their steps.
func TestAuditKeepsIndexOfGrownJournal(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair the kettle", 3)...)
	list(t, team)
	audit := team.Audit(id(1))
	reader, err := team.Journals().Reader(id(1), journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for e, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		audit.Apply(e, reader.Position())
	}
	if err := team.Append(ctx, id(1), said(9, mia, "one more")); err != nil {
		t.Fatal(err)
	}
	before := read(t, indexOf(team))
	if removed, err := removeInvalid(audit); err != nil || len(removed) > 0 {
		t.Errorf("removed %q, %v", removed, err)
	}
	if !bytes.Equal(read(t, indexOf(team)), before) {
		t.Error("the index was changed")
	}
}

func TestAuditRemovesInvalidCaches(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, team *catalog.Dir)
		gone   func(team *catalog.Dir) string
		want   string
	}{
		{"a checkpoint with another title",
			func(t *testing.T, team *catalog.Dir) {
				changeCheckpoint(t, team, "Repair the kettle", "Repair the teapot")
			},
			func(team *catalog.Dir) string { return checkpointOf(team, id(1)) },
			"its checkpoint disagreed with event 4"},
		{"an index with another title",
			func(t *testing.T, team *catalog.Dir) {
				change(t, indexOf(team), `"title":"Repair the kettle"`, `"title":"Repair the teapot"`)
			},
			indexOf,
			"sessions.json disagreed with its journal"},
		{"an index with another summary",
			func(t *testing.T, team *catalog.Dir) {
				change(t, indexOf(team), `"summary":"3 messages`, `"summary":"4 messages`)
			},
			indexOf,
			"sessions.json disagreed with its journal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
			put(t, team, id(1), chat(id(1), "kitchen", "Repair the kettle", 3)...)
			keep(t, team, id(1))
			list(t, team)
			c.damage(t, team)
			removed, err := audited(team, id(1))
			if err != nil || !slices.Equal(removed, []string{c.want}) {
				t.Errorf("removed %q, %v", removed, err)
			}
			if _, err := os.Stat(c.gone(team)); !errors.Is(err, fs.ErrNotExist) {
				t.Error("it is still there:", err)
			}
			if removed, err := audited(team, id(1)); len(removed) > 0 || err != nil {
				t.Errorf("a second audit removed %q, %v", removed, err)
			}
		})
	}
}

func TestAuditReportsFailedRemoval(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair the kettle", 3)...)
	keep(t, team, id(1))
	list(t, team)
	changeCheckpoint(t, team, "Repair the kettle", "Repair the teapot")
	change(t, indexOf(team), `"title":"Repair the kettle"`, `"title":"Repair the teapot"`)
	disk.Fail(1, syscall.EROFS, journaltest.Remove)
	removed, err := audited(team, id(1))
	if !slices.Equal(removed, []string{"sessions.json disagreed with its journal"}) || !errors.Is(err, syscall.EROFS) {
		t.Errorf("removed %q, %v", removed, err)
	}
}

func TestUnknownFilesAreListedAndKept(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair the kettle", 3)...)
	list(t, team)
	write(t, filepath.Join(team.Journals().Path(), "notes.txt"), []byte("milk"))
	write(t, filepath.Join(team.Journals().Path(), "retention.aside-1"), []byte("torn"))
	write(t, live(team, id(2)), []byte("milk\n"))
	write(t, live(team, id(3)), nil)
	contents := func() map[string]string {
		t.Helper()
		files := map[string]string{}
		entries, err := os.ReadDir(team.Journals().Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			files[e.Name()] = string(read(t, filepath.Join(team.Journals().Path(), e.Name())))
		}
		return files
	}
	before := contents()

	unknown, err := team.UnknownFiles()
	if err != nil || !slices.Equal(unknown, []string{"notes.txt"}) {
		t.Errorf("unknown: %q, %v", unknown, err)
	}
	empty, err := team.EmptyJournals(ctx)
	if err != nil || len(empty) != 1 || empty[0].ID != id(2) {
		t.Errorf("empty: %+v, %v", empty, err)
	}
	if sessions := list(t, team); len(sessions) != 1 {
		t.Errorf("%d sessions", len(sessions))
	}
	if diff := cmp.Diff(before, contents()); diff != "" {
		t.Errorf("files changed (-before +after):\n%s", diff)
	}
}

func TestJournalWithoutFirstEvent(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair the kettle", 3)[1:]...)
	headless := new(catalog.MissingHeaderError)
	if _, _, err := team.Load(ctx, id(1)); !errors.As(err, &headless) || headless.ID != id(1) {
		t.Error("Load:", err)
	}
	for range 2 { // the second time from the index
		if s := list(t, team); len(s) != 1 || s[0].Damaged == "" || !s[0].MissingHeader {
			t.Errorf("the list has %+v", s)
		}
	}
}

func TestAuditFindsMissingHeader(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), said(1, mia, "hello"))
	list(t, c)
	damaged := `"lastSeq":0,"damaged":"it does not begin with session.created"`
	change(t, indexOf(team), damaged, `"lastSeq":1`) // a wrong row
	if sessions := list(t, c); len(sessions) != 1 || sessions[0].Damaged != "" {
		t.Fatalf("the index is not believed: %+v", sessions)
	}
	reader, err := team.Journals().Reader(id(1), journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	audit := team.Audit(id(1))
	if audit.MissingHeader() != nil {
		t.Error("nothing was read, and it is no session")
	}
	for e, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		audit.Apply(e, reader.Position())
	}
	if audit.MissingHeader() == nil {
		t.Error("it is taken for a session")
	}
	if removed, err := removeInvalid(audit); err != nil || len(removed) != 1 {
		t.Errorf("removed %q, %v", removed, err)
	}
	if sessions := list(t, c); len(sessions) != 1 || !sessions[0].MissingHeader {
		t.Errorf("listed as %+v", sessions[0])
	}
}

// The index notes that a journal was longer, which the journal does not show.
func TestAuditKeepsIndexOfTruncatedJournal(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	records := chat(id(1), "kitchen", "Repair", 5)
	put(t, team, id(1), records...)
	list(t, team)
	put(t, team, id(1), records[:4]...)
	if got := list(t, team)[0]; !got.Truncated {
		t.Fatalf("%+v", got)
	}
	if removed, err := audited(team, id(1)); err != nil || len(removed) > 0 {
		t.Errorf("removed %q, %v", removed, err)
	}
}

// The index is read once for all sessions, unless it is replaced.
func TestAuditsReadTheIndexOnce(t *testing.T) {
	disk := watch()
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	for n := range 3 {
		put(t, team, id(n), chat(id(n), "kitchen", "Repair", 3)...)
	}
	list(t, team)
	size := int64(len(read(t, indexOf(team))))
	disk.forget()
	for n := range 3 {
		if removed, err := audited(team, id(n)); err != nil || len(removed) > 0 {
			t.Errorf("session %d: removed %q, %v", n, removed, err)
		}
	}
	if got := disk.read["sessions.json"]; got != size {
		t.Errorf("%d bytes of the index were read, want %d", got, size)
	}
	change(t, indexOf(team), `"title":"Repair"`, `"title":"Repaid"`) // of the same size
	if removed, err := audited(team, id(0)); err != nil || len(removed) != 1 {
		t.Errorf("after a change of the index: removed %q, %v", removed, err)
	}
}

func TestAuditReturnsInvalidEvents(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	invalid := journal.Record{Type: "message.appended", Data: []byte(`{"message":1}`), Time: created}
	put(t, team, id(1), begun(id(1), "kitchen"), invalid, said(2, mia, "hello"))
	audit := team.Audit(id(1))
	r, err := team.Journals().Reader(id(1), journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		var problem *schemas.InvalidError
		if err := audit.Apply(e, r.Position()); (e.Seq == 2) != errors.As(err, &problem) || (e.Seq == 2) != (err != nil) {
			t.Errorf("event %d: %v", e.Seq, err)
		}
	}
}

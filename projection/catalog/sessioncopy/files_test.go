package sessioncopy_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// withFile returns a message of mia with a file, which is kept for the session.
func withFile(t *testing.T, dir *catalog.Dir, id string, minutes int, content string) journal.Record {
	t.Helper()
	files, err := dir.Attachments(id)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := files.Write([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	m := projection.NewMessage("f"+content, created, mia, "look", nil)
	m.Attachments = []projection.File{{Name: "a.png", MediaType: "image/png", Bytes: int64(len(content)), SHA256: sum}}
	return projection.Record(created.Add(time.Duration(minutes)*time.Minute), m)
}

// wantFiles checks that a session has files with these contents, and no others.
func wantFiles(t *testing.T, dir *catalog.Dir, id string, contents ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir.Journals().Path(), id+".attachments"))
	if err != nil && !errors.Is(err, os.ErrNotExist) || len(entries) != len(contents) {
		t.Errorf("%s has %d files, want %d, %v", id, len(entries), len(contents), err)
	}
	files, err := dir.Attachments(id)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, entry := range entries {
		for _, content := range contents {
			if data, err := files.Read(entry.Name(), int64(len(content))); err == nil {
				found[string(data)] = true
			}
		}
	}
	for _, content := range contents {
		if !found[content] {
			t.Errorf("%s lacks %q", id, content)
		}
	}
}

func TestCopiesHaveTheFilesOfTheirMessages(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	put(t, dir, id(1), header(id(1)), message(1, mia, "hello"))
	put(t, dir, id(2), header(id(2)), message(1, mia, "hello"))
	for _, of := range []struct {
		id       string
		minutes  int
		contents []string
	}{{id(1), 10, []string{"one", "two"}}, {id(2), 20, []string{"three"}}} {
		for i, content := range of.contents {
			if err := dir.Append(ctx, of.id, withFile(t, dir, of.id, of.minutes+i, content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole, err := sessioncopy.Fork(ctx, dir, id(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, whole, "one", "two")
	part, err := sessioncopy.Fork(ctx, dir, id(1), 3)
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, part, "one")
	merged, err := sessioncopy.Merge(ctx, dir, id(1), id(2))
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, merged.ID, "one", "two", "three")
	diverged, err := sessioncopy.ForkDiverged(ctx, dir, id(1), 2)
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, diverged, "one", "two")
	if err := dir.Delete(ctx, id(1)); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, whole, "one", "two")
}

// A file that is missing does not prevent a copy of the conversation.
func TestCopyOfASessionWithoutItsFiles(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	put(t, dir, id(1), header(id(1)), message(1, mia, "hello"))
	for i, content := range []string{"one", "two"} {
		if err := dir.Append(ctx, id(1), withFile(t, dir, id(1), 10+i, content)); err != nil {
			t.Fatal(err)
		}
	}
	files := filepath.Join(dir.Journals().Path(), id(1)+".attachments")
	entries, err := os.ReadDir(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(files, entries[0].Name())); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, entries[1].Name()), []byte("owt"), 0o600); err != nil {
		t.Fatal(err)
	}
	fork, err := sessioncopy.Fork(ctx, dir, id(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, fork)
	if got := texts(t, dir, fork); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestCreatesTeamDirectoryIfNotExists(t *testing.T) {
	d := newDisk(t)
	id := add(t, d)
	for path := d.dir(); path != filepath.Dir(filepath.Dir(d.root)); path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if info, err := os.Stat(d.path(id)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", d.path(id), info, err)
	}
}

func TestSnapshotIsIndentedWithTwoSpaces(t *testing.T) {
	d := newDisk(t)
	session := open(t, d, add(t, d))
	defer session.Close(session.state)
	var events []journal.Event
	for e, err := range session.Backward() {
		if err != nil {
			t.Fatal(err)
		}
		events = append([]journal.Event{e}, events...)
	}
	var b strings.Builder
	err := projection.WriteSnapshot(&b, session.state, func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil || !strings.HasPrefix(b.String(), "{\n  \"schemaVersion\": \"1.0\",\n  \"teamId\"") {
		t.Errorf("%v:\n%.100s", err, b.String())
	}
}

func TestUpdatesUpdatedAtTimestamp(t *testing.T) {
	for name, s := range map[string]store.Store{"files": newDisk(t), "memory": &store.Memory{}} {
		session := create(t, s, team)
		session.append(message("hello", noon.Add(time.Second)))
		first, err := s.Latest(t.Context(), team)
		if err != nil {
			t.Fatal(err)
		}
		session.append(message("again", noon.Add(time.Minute)))
		second, err := s.Latest(t.Context(), team)
		if err != nil || !second.UpdatedAt.After(first.UpdatedAt) || !second.CreatedAt.Equal(first.CreatedAt) {
			t.Errorf("%s: %+v, then %+v; %v", name, first.Row, second.Row, err)
		}
	}
}

// Files that are replaced as a whole are written under another name and renamed; journals are only
// appended to.
func TestUsesAtomicWritePattern(t *testing.T) {
	d := newDisk(t)
	session := create(t, d, team)
	session.save(1, 1<<20)
	add(t, d)
	for _, path := range []string{d.checkpointPath(session.SessionID()), filepath.Join(d.dir(), "sessions.json")} {
		direct := d.operations(func(kind, rest string) bool { return kind == "open" && rest == path })
		renamed := d.operations(func(kind, rest string) bool {
			return kind == "rename" && strings.HasPrefix(rest, path+".") && strings.HasSuffix(rest, ".tmp to "+path)
		})
		if len(direct) > 0 || len(renamed) == 0 {
			t.Errorf("%s was opened %d times, renamed %d times", path, len(direct), len(renamed))
		}
	}
	truncated := d.operations(func(kind, rest string) bool {
		return kind == "truncate" && !strings.Contains(rest, ".lock ") // a lock file is truncated before its holder is written
	})
	if len(truncated) > 0 {
		t.Errorf("truncated: %q", truncated)
	}
}

func TestAppendReturnsFileSystemError(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EACCES} {
		d := newDisk(t)
		log, createErr := d.Create(team, "")
		if createErr != nil {
			t.Fatal(createErr)
		}
		d.FailFrom(1, err)
		_, got := log.Append(created(log.SessionID(), team))
		var pathErr *fs.PathError
		if !errors.Is(got, err) || !errors.As(got, &pathErr) {
			t.Errorf("append: %v, want %v", got, err)
		}
		d.Heal()
		log.Close(&projection.State{})
	}
}

func TestOpenRejectsJournalWithoutEvents(t *testing.T) {
	d := newDisk(t)
	add(t, d)
	id := ulid.Make().String()
	if err := os.WriteFile(d.path(id), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it is not left locked
		_, _, err := d.Open(t.Context(), team, id)
		if missing, ok := errors.AsType[*catalog.MissingHeaderError](err); !ok || missing.ID != id {
			t.Errorf("open: %v", err)
		}
	}
}

func TestListReturnsFileSystemError(t *testing.T) {
	d := newDisk(t)
	if err := os.MkdirAll(d.root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.dir(), nil, 0o600); err != nil { // where the directory of the team should be
		t.Fatal(err)
	}
	if list, err := d.List(t.Context(), team); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("list: %v, %v", list, err)
	}
	if latest, err := d.Latest(t.Context(), team); err == nil || errors.Is(err, journal.ErrNotFound) {
		t.Errorf("latest: %v, %v", latest, err)
	}
}

func TestBackwardOfClosedLogFails(t *testing.T) {
	d := newDisk(t)
	session := open(t, d, add(t, d))
	session.Close(session.state)
	var errs []error
	for _, err := range session.Backward() {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], journal.ErrClosed) {
		t.Errorf("read: %v", errs)
	}
}

func TestNotFoundForNonExistentTeamAndSession(t *testing.T) {
	d := newDisk(t)
	_, err := d.Load(t.Context(), team, ulid.Make().String())
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("non-existent team: %v", err)
	}
	add(t, d)
	_, err = d.Load(t.Context(), team, ulid.Make().String())
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("non-existent session: %v", err)
	}
}

func TestCorruptErrorForADamagedJournal(t *testing.T) {
	d := newDisk(t)
	id := add(t, d)
	d.damage(t, id)
	_, err := d.Load(t.Context(), team, id)
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Line != 1 || corrupt.Path != d.path(id) {
		t.Errorf("load: %v", err)
	}
}

func TestLatestAndListSkipCorruptedFiles(t *testing.T) {
	d := newDisk(t)
	older, newer := add(t, d), add(t, d)
	d.damage(t, newer)
	// A temporary file, an empty journal and foreign files are not sessions.
	for _, name := range []string{
		ulid.Make().String() + ".jsonl.tmp", ulid.Make().String() + ".jsonl", "notes.jsonl", ulid.Make().String() +
			".json",
	} {
		if err := os.WriteFile(filepath.Join(d.dir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"without an index", "with an index"} {
		list, err := d.List(t.Context(), team)
		if err != nil || len(list) != 1 || list[0].SessionID != older {
			t.Errorf("%s: the list is %+v, %v", what, list, err)
		}
		if latest, err := d.Latest(t.Context(), team); err != nil || latest.SessionID != older {
			t.Errorf("%s: the latest is %+v, %v", what, latest, err)
		}
	}
	d.damage(t, older)
	if _, err := d.Latest(t.Context(), team); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("latest of damaged sessions: %v", err)
	}
}

func TestDeleteRemovesFilesAndIsIdempotent(t *testing.T) {
	d := newDisk(t)
	id := add(t, d)
	for range 2 {
		if err := d.Delete(t.Context(), team, id); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(d.dir(), id+"*")); len(left) > 0 {
		t.Errorf("files %q exist", left)
	}
	index, err := os.ReadFile(filepath.Join(d.dir(), "sessions.json"))
	if err == nil && strings.Contains(string(index), id) {
		t.Errorf("the index has %s", index)
	}
}

func TestTeamDirectoriesAreSafe(t *testing.T) {
	d := newDisk(t)
	teams := []string{
		"../../etc", "/etc", "团队A", "a b", "CON", ".hidden", strings.Repeat("x", 300), "plain-name_1",
	}
	for _, teamID := range teams {
		create(t, d, teamID)
	}
	entries, err := os.ReadDir(d.root)
	if err != nil || len(entries) != len(teams) {
		t.Errorf("%d directories, want %d: %v", len(entries), len(teams), err)
	}
	if _, err := os.Stat(filepath.Join(d.root, "plain-name_1")); err != nil {
		t.Error("a plain name was changed:", err)
	}
	if above, _ := os.ReadDir(filepath.Dir(d.root)); len(above) != 1 {
		t.Errorf("the parent directory has %v", above)
	}
}

// readCheckpoint returns the content of a checkpoint, and fails the test unless it exists
// as wanted.
func (d *disk) readCheckpoint(t *testing.T, id string, wantExists bool, when string) string {
	t.Helper()
	data, err := os.ReadFile(d.checkpointPath(id))
	if (err == nil) != wantExists {
		t.Errorf("%s: the checkpoint exists: %v", when, err == nil)
	}
	return string(data)
}

func TestCheckpointIsWrittenAfterAThousandEvents(t *testing.T) {
	d := newDisk(t)
	s := create(t, d, team)
	s.save(998, 1) // 998 messages and session.created: 999 events
	d.readCheckpoint(t, s.SessionID(), false, "after 999 events")
	s.save(1, 1)
	first := d.readCheckpoint(t, s.SessionID(), true, "after 1000 events")
	s.save(999, 1)
	if d.readCheckpoint(t, s.SessionID(), true, "after 1999 events") != first {
		t.Error("a second checkpoint was written after 999 events")
	}
	s.save(1, 1)
	if d.readCheckpoint(t, s.SessionID(), true, "after 2000 events") == first {
		t.Error("no second checkpoint was written after 1000 events")
	}
}

func TestCheckpointIsWrittenAfterAMebibyte(t *testing.T) {
	d := newDisk(t)
	s := create(t, d, team)
	s.save(1, 1000<<10)
	d.readCheckpoint(t, s.SessionID(), false, "after 1000 KiB")
	s.save(1, 24<<10)
	d.readCheckpoint(t, s.SessionID(), true, "after 1 MiB")
}

func TestCloseWritesACheckpointOfTheEnd(t *testing.T) {
	d := newDisk(t)
	id := add(t, d)
	first := d.readCheckpoint(t, id, true, "after close")
	if _, loaded, err := d.catalog.Team(team).Load(t.Context(), id); err != nil || loaded.From != loaded.At {
		t.Errorf("the checkpoint is of %+v, the end is %+v: %v", loaded.From, loaded.At, err)
	}
	writes := d.Count(journaltest.Rename)
	session := open(t, d, id)
	session.Close(session.state)
	if d.readCheckpoint(t, id, true, "after resume") != first || d.Count(journaltest.Rename) != writes {
		t.Error("a session that was only opened wrote caches")
	}
}

// Short chats in a long session do not write a checkpoint each, but what they leave to be read stays a part of one.
func TestCloseWritesACheckpointIfTheJournalHasOutgrownIt(t *testing.T) {
	d := newDisk(t)
	s := create(t, d, team)
	id := s.SessionID()
	s.save(300, 200)
	s.Close(s.state)
	first := d.readCheckpoint(t, id, true, "after a long chat")
	grown, chats := int64(0), 0
	for d.readCheckpoint(t, id, true, "after a short chat") == first {
		s := open(t, d, id)
		if want := uint64(301 + chats); s.state.Seq != want {
			t.Fatalf("after %d chats, the state is of event %d, want %d", chats, s.state.Seq, want)
		}
		before, err := os.Stat(d.path(id))
		if err != nil {
			t.Fatal(err)
		}
		s.save(1, 200)
		s.Close(s.state)
		after, err := os.Stat(d.path(id))
		if err != nil {
			t.Fatal(err)
		}
		grown += after.Size() - before.Size()
		chats++
	}
	size := int64(len(first))
	if grown < size/8 || grown-grown/int64(chats) >= size/8 {
		t.Errorf("a checkpoint of %d bytes was replaced after %d chats of %d bytes in all", size, chats, grown)
	}
}

func TestFailedCheckpointIsIgnored(t *testing.T) {
	d := newDisk(t)
	s := create(t, d, team)
	d.FailFrom(1, syscall.EACCES, journaltest.Rename)
	s.save(1, 1<<20) // fails the test on an error
	d.readCheckpoint(t, s.SessionID(), false, "after a failed rename")
}

func TestCachesAreOptional(t *testing.T) {
	d := newDisk(t)
	ids := []string{add(t, d), add(t, d), add(t, d)}
	for _, id := range ids {
		d.writeCheckpoint(t, id)
	}
	results := func() (all []any) {
		t.Helper()
		list, err := d.List(t.Context(), team)
		latest, latestErr := d.Latest(t.Context(), team)
		all = append(all, list, err, latest, latestErr)
		for _, id := range ids {
			session := open(t, d, id)
			snapshot, err := d.Load(t.Context(), team, id)
			all = append(all, toJSON(t, session.state), toJSON(t, snapshot), err)
			session.Close(session.state)
		}
		return all
	}
	before := results()
	for _, cache := range []string{"sessions.json", "*.checkpoint.json"} {
		paths, _ := filepath.Glob(filepath.Join(d.dir(), cache))
		if len(paths) == 0 {
			t.Errorf("no file matches %s", cache)
		}
		for _, path := range paths {
			for _, content := range []string{"", "{", "null", `{"version":"1.0.0","sessions":[]}`} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				if after := results(); !reflect.DeepEqual(after, before) {
					t.Errorf("with %q in %s:\n%v\nwant\n%v", content, path, after, before)
				}
			}
			os.Remove(path)
		}
		if after := results(); !reflect.DeepEqual(after, before) {
			t.Errorf("without %s:\n%v\nwant\n%v", cache, after, before)
		}
	}
}

// writeCheckpoint writes the checkpoint of a closed session.
func (d *disk) writeCheckpoint(t *testing.T, id string) {
	t.Helper()
	dir := d.catalog.Team(team)
	state, loaded, err := dir.Load(t.Context(), id)
	if err == nil {
		err = dir.WriteCheckpoint(id, state, loaded.At)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSecondStoreCanOnlyRead(t *testing.T) {
	d := newDisk(t)
	session := create(t, d, team)
	session.append(message("mine", noon))
	id := session.SessionID()
	other := openDisk(d.root)
	_, _, err := other.Open(t.Context(), team, id)
	var locked *journal.LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("open: %v", err)
	}
	if snapshot, err := other.Load(t.Context(), team, id); err != nil || len(snapshot.Context.Messages) != 1 {
		t.Errorf("load: %+v, %v", snapshot, err)
	}
	session.Close(session.state)
	again := open(t, other, id)
	again.Close(again.state)
}

func TestResumeOpensJournalOnce(t *testing.T) {
	d := newDisk(t)
	id := add(t, d)
	d.writeCheckpoint(t, id)
	for name, caches := range map[string]bool{"with a checkpoint": true, "without caches": false} {
		if !caches {
			os.Remove(d.checkpointPath(id))
			os.Remove(filepath.Join(d.dir(), "sessions.json"))
		}
		other := openDisk(d.root)
		s := open(t, other, id)
		for _, err := range s.Backward() {
			if err != nil {
				t.Fatal(err)
			}
		}
		s.append(message("more", noon))
		s.save(0, 0)
		s.Close(s.state)
		opens := other.operations(func(kind, rest string) bool { return kind == "open" && rest == d.path(id) })
		if len(opens) != 1 {
			t.Errorf("%s: the journal was opened %d times, want 1", name, len(opens))
		}
	}
}

// cancelAfter is a context that is done after its Err was called n times.
type cancelAfter struct {
	context.Context
	n int
}

func (c *cancelAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelledLoadStopsReading(t *testing.T) {
	s := store.NewFiles(catalog.New(t.TempDir(), journal.Options{}))
	session := create(t, s, team)
	for range 100 {
		session.append(message("hello", time.Now()))
	}
	id := session.SessionID()
	if _, err := s.Load(&cancelAfter{t.Context(), 50}, team, id); !errors.Is(err, context.Canceled) {
		t.Errorf("Load returned %v", err)
	}
	if _, err := s.Load(&cancelAfter{t.Context(), 1000}, team, id); err != nil {
		t.Error(err)
	}
}

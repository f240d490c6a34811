package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/oklog/ulid/v2"
)

func TestCreatesTeamDirectoryIfNotExists(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
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

func TestSnapshotsAreWrittenWithTwoSpacesOfIndentation(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	var state projection.State
	events := d.events(id)
	for _, e := range events {
		state.Apply(e)
	}
	var b strings.Builder
	err := projection.WriteSnapshot(&b, &state, func(yield func(journal.Event, error) bool) {
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
	bothStores(t, func(t *testing.T, store store.Store) {
		clock := noon
		s := stage(t, store)
		o := s.options(store)
		o.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
		s.Coordinator = coordinator.New(o)
		s.with(ensemble(), "")
		s.say("hello")
		first, err := store.Latest("ensemble")
		if err != nil {
			t.Fatal(err)
		}
		s.say("again")
		second, err := store.Latest("ensemble")
		if err != nil || !second.UpdatedAt.After(first.UpdatedAt) || !second.CreatedAt.Equal(first.CreatedAt) {
			t.Errorf("updated %s, then %s; created %s, then %s; %v", first.UpdatedAt, second.UpdatedAt, first.CreatedAt, second.CreatedAt, err)
		}
		s.stop()
	})
}

// What replaces a whole file is written beside it and renamed; a journal is
// only ever appended to.
func TestUsesAtomicWritePattern(t *testing.T) {
	d := onDisk(t, 0)
	_, save, checkpoint := checkpointed(t, d)
	save(1, 1<<20)
	oneRound(t, d)
	for _, name := range []string{filepath.Base(checkpoint), "sessions.json"} {
		path := filepath.Join(d.dir(), name)
		direct := d.operations(func(kind, rest string) bool { return kind == "open" && rest == path })
		renamed := d.operations(func(kind, rest string) bool {
			return kind == "rename" && strings.HasPrefix(rest, path+".") && strings.HasSuffix(rest, ".tmp to "+path)
		})
		if len(direct) > 0 || len(renamed) == 0 {
			t.Errorf("%s was opened %d times, renamed %d times", name, len(direct), len(renamed))
		}
	}
	if n := len(d.operations(func(kind, rest string) bool { return kind == "truncate" })); n > 0 {
		t.Errorf("%d truncations", n)
	}
}

func TestFailsOnDiskFull(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EACCES} {
		d := onDisk(t, 0)
		log, createErr := d.Create("ensemble")
		if createErr != nil {
			t.Fatal(createErr)
		}
		d.FailFrom(1, err)
		_, got := log.Append(projection.Record(noon, projection.SessionCreated{SessionID: log.SessionID()}))
		var path *fs.PathError
		if !errors.Is(got, err) || !errors.As(got, &path) {
			t.Errorf("append: %v, want %v", got, err)
		}
		d.Heal()
		log.Close(log.State())
	}
}

func TestNotFoundForNonExistentTeamAndSession(t *testing.T) {
	d := onDisk(t, 0)
	_, err := d.Load("ensemble", ulid.Make().String())
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("non-existent team: %v", err)
	}
	oneRound(t, d)
	_, err = d.Load("ensemble", ulid.Make().String())
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("non-existent session: %v", err)
	}
}

func TestCorruptErrorForADamagedJournal(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	damage(t, d.path(id))
	_, err := d.Load("ensemble", id)
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Line != 1 || corrupt.Path != d.path(id) {
		t.Errorf("load: %v", err)
	}
}

func TestLatestAndListSkipCorruptedFiles(t *testing.T) {
	d := onDisk(t, 0)
	older, newer := oneRound(t, d), oneRound(t, d)
	damage(t, d.path(newer))
	// Leftovers of a crash and files of somebody else are no sessions either.
	for _, name := range []string{ulid.Make().String() + ".jsonl.tmp", ulid.Make().String() + ".jsonl", "notes.jsonl", ulid.Make().String() + ".json"} {
		if err := os.WriteFile(filepath.Join(d.dir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"without an index", "with one"} {
		list, err := d.List("ensemble")
		if err != nil || len(list) != 1 || list[0].SessionID != older {
			t.Errorf("%s: the list is %+v, %v", what, list, err)
		}
		if latest, err := d.Latest("ensemble"); err != nil || latest.SessionID != older {
			t.Errorf("%s: the latest is %+v, %v", what, latest, err)
		}
	}
	damage(t, d.path(older))
	if _, err := d.Latest("ensemble"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("latest of damaged sessions only: %v", err)
	}
}

func TestDeleteRemovesFilesAndIsIdempotent(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	for range 2 {
		if err := d.Delete("ensemble", id); err != nil {
			t.Fatal(err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(d.dir(), id+"*"))
	if len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	for path, content := range d.content() {
		if filepath.Base(path) == "sessions.json" && strings.Contains(content, id) {
			t.Errorf("the index has %s", content)
		}
	}
}

func TestTeamDirectoriesAreSafeAndPlainNamesStay(t *testing.T) {
	d := onDisk(t, 0)
	for _, teamID := range []string{"../../etc", "/etc", "团队A", "a b", "CON", ".hidden", strings.Repeat("x", 300), "plain-name_1"} {
		log, err := d.Create(teamID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = log.Append(projection.Record(noon, projection.SessionCreated{SessionID: log.SessionID(), Team: projection.Team{ID: teamID}}))
		if err != nil {
			t.Errorf("%.20q: %v", teamID, err)
		}
		log.Close(log.State())
	}
	entries, err := os.ReadDir(d.root)
	if err != nil || len(entries) != 8 {
		t.Errorf("%d directories, want 8: %v", len(entries), err)
	}
	if _, err := os.Stat(filepath.Join(d.root, "plain-name_1")); err != nil {
		t.Error("a plain name was changed:", err)
	}
	if above, _ := os.ReadDir(filepath.Dir(d.root)); len(above) != 1 {
		t.Errorf("beside the directory is %v", above)
	}
}

// checkpointed is the log of a session whose checkpoints are watched.
func checkpointed(t *testing.T, d *disk) (log store.Log, save func(events int, bytes int), path string) {
	t.Helper()
	log, err := d.Create("ensemble")
	if err != nil {
		t.Fatal(err)
	}
	state := log.State()
	append := func(payload projection.Payload) {
		events, err := log.Append(projection.Record(noon, payload))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			state.Apply(e)
		}
	}
	append(projection.SessionCreated{Format: 1, SessionID: log.SessionID(), Team: projection.Team{ID: "ensemble"}})
	save = func(events, bytes int) {
		t.Helper()
		for range events {
			append(message(by("you", "you", projection.TypeHuman), strings.Repeat("x", bytes)))
		}
		if err := log.Save(state); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { log.Close(state) })
	return log, save, filepath.Join(d.dir(), log.SessionID()+".checkpoint.json")
}

func checkThere(t *testing.T, path string, want bool, when string) (content string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if (err == nil) != want {
		t.Errorf("%s: the checkpoint is there: %v", when, err == nil)
	}
	return string(data)
}

func TestCheckpointIsWrittenAfterAThousandEvents(t *testing.T) {
	_, save, path := checkpointed(t, onDisk(t, 0))
	save(998, 1) // and session.created
	checkThere(t, path, false, "after 999 events")
	save(1, 1)
	first := checkThere(t, path, true, "after 1000 events")
	save(999, 1)
	if checkThere(t, path, true, "after 1999 events") != first {
		t.Error("another one was written after 999 events")
	}
	save(1, 1)
	if checkThere(t, path, true, "after 2000 events") == first {
		t.Error("none was written after another 1000 events")
	}
}

func TestCheckpointIsWrittenAfterAMebibyte(t *testing.T) {
	_, save, path := checkpointed(t, onDisk(t, 0))
	save(1, 1000<<10)
	checkThere(t, path, false, "after 1000 KiB")
	save(1, 24<<10)
	checkThere(t, path, true, "after 1 MiB")
}

func TestNoCheckpointIsWrittenForAFewWords(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	checkThere(t, filepath.Join(d.dir(), id+".checkpoint.json"), false, "after the close")
}

func TestACheckpointThatCannotBeWrittenIsNoFailure(t *testing.T) {
	d := onDisk(t, 0)
	_, save, path := checkpointed(t, d)
	d.FailFrom(1, syscall.EACCES, journaltest.Rename)
	save(1, 1<<20) // fails the test when it fails
	checkThere(t, path, false, "after a rename failed")
}

func TestDeletingCachesChangesNothing(t *testing.T) {
	d := onDisk(t, 0)
	var ids []string
	for i := range 3 {
		s := start(t, d, says(fmt.Sprint("answer ", i)))
		s.say(fmt.Sprint("question ", i))
		ids = append(ids, s.stop())
		keepCheckpoint(t, d, ids[i])
	}
	answers := func() (all []any) {
		t.Helper()
		list, err := d.List("ensemble")
		latest, latestErr := d.Latest("ensemble")
		all = append(all, list, err, latest, latestErr)
		for _, id := range ids {
			log, err := d.Open("ensemble", id)
			if err != nil {
				t.Fatal(err)
			}
			snapshot, err := d.Load("ensemble", id)
			all = append(all, asJSON(t, log.State()), asJSON(t, snapshot), err)
			log.Close(log.State())
		}
		return all
	}
	before := answers()
	for _, cache := range []string{"sessions.json", "*.checkpoint.json"} {
		paths, _ := filepath.Glob(filepath.Join(d.dir(), cache))
		if len(paths) == 0 {
			t.Errorf("there is no %s", cache)
		}
		for _, path := range paths {
			for _, content := range []string{"", "{", "null", `{"version":"1.0.0","sessions":[]}`} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				if after := answers(); !reflect.DeepEqual(after, before) {
					t.Errorf("with %q in %s the answers are\n%v\nwant\n%v", content, path, after, before)
				}
			}
			os.Remove(path)
		}
		if after := answers(); !reflect.DeepEqual(after, before) {
			t.Errorf("without %s the answers are\n%v\nwant\n%v", cache, after, before)
		}
	}
}

// keepCheckpoint writes the checkpoint of a session, as compact does.
func keepCheckpoint(t *testing.T, d *disk, id string) {
	t.Helper()
	team := catalog.New(d.root, journal.Options{}).Team("ensemble")
	state, loaded, err := team.Load(context.Background(), id)
	if err == nil {
		err = team.WriteCheckpoint(id, state, loaded.At)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTwoStoresOnOneDirectoryLetOneWrite(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("mine")
	other := diskAt(t, d.root, 0)
	_, err := other.Open("ensemble", s.Session().ID)
	var locked *journal.LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("open: %v", err)
	}
	if snapshot, err := other.Load("ensemble", s.Session().ID); err != nil || len(snapshot.Context.Messages) != 2 {
		t.Errorf("load beside the writer: %+v, %v", snapshot, err)
	}
	resume(t, other, s.stop()).Stop("its lock was free")
}

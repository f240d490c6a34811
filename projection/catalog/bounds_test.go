package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// unreadableDir is a file system on which one directory cannot be read.
type unreadableDir struct {
	vfs.FS
	path string
}

func (f unreadableDir) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == f.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return f.FS.ReadDir(name)
}

func (f unreadableDir) StatFiles(ctx context.Context, dir string, match func(string) bool) ([]vfs.FileStat, error) {
	if dir == f.path {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.EACCES}
	}
	return f.FS.StatFiles(ctx, dir, match)
}

// The sessions of the other teams are listed if the caller has taken the error.
func TestUnreadableTeamIsReported(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "kitchen")
	c := catalog.New(root, journal.Options{FS: unreadableDir{vfs.OS, path}})
	for i, name := range []string{"garden", "kitchen", "pantry"} {
		put(t, c.Team(name), id(i+1), begun(id(i+1), name), said(i+1, mia, "hello"))
	}
	if result, err := c.List(ctx, catalog.Query{}); result != nil || !errors.Is(err, syscall.EACCES) {
		t.Errorf("without DirError: %+v, %v", result, err)
	}
	var reported []string
	c.DirError = func(path string, err error) {
		if !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s: %v", path, err)
		}
		reported = append(reported, path)
	}
	if diff := cmp.Diff([]string{id(3), id(1)}, ids(list(t, c))); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{path}, reported); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}

// The number of rows of an index is judged by its size. One of a thousand rows is read while the
// journals are described.
func TestLargeIndexIsJudgedByItsSize(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Soup", 2)...)
	if team.Large() {
		t.Error("a team without an index is large")
	}
	want := list(t, team)
	content := string(read(t, indexOf(team)))
	for size, large := range map[int]bool{600_000: false, 5_999_999: false, 6_000_000: true} {
		write(t, indexOf(team), []byte(content+strings.Repeat(" ", size-len(content))))
		if got := team.Large(); got != large {
			t.Errorf("with an index of %d bytes, Large is %t", size, got)
		}
		disk := watch()
		other := catalog.New(filepath.Dir(team.Journals().Path()), journal.Options{FS: disk}).Team("kitchen")
		if diff := cmp.Diff(want, list(t, other), cmp.AllowUnexported(catalog.Session{})); diff != "" {
			t.Errorf("with an index of %d bytes (-want +got):\n%s", size, diff)
		}
		if opened, _ := disk.journals(); opened != 0 {
			t.Errorf("with an index of %d bytes, %d journals were opened", size, opened)
		}
	}
}

func TestCheckpointSize(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Soup", 2)...)
	if size := team.CheckpointSize(id(1)); size != 0 {
		t.Errorf("without a checkpoint: %d", size)
	}
	keep(t, team, id(1))
	if size, want := team.CheckpointSize(id(1)), len(read(t, checkpointOf(team, id(1)))); size != int64(want) {
		t.Errorf("%d bytes, want %d", size, want)
	}
}

// JSON has no form for the year 10000.
func TestCheckpointThatCannotBeEncodedIsAnError(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Soup", 2)...)
	state := &projection.State{Row: projection.Row{UpdatedAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}}
	if err := team.WriteCheckpoint(id(1), state, end); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(checkpointOf(team, id(1))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the checkpoint exists: %v", err)
	}
}

func TestLatestReturnsErrorOfReading(t *testing.T) {
	unreadable := catalog.Session{ID: "unreadable", Damaged: "permission denied", ReadErr: syscall.EACCES}
	_, skipped, err := catalog.Latest(slices.Values([]catalog.Session{unreadable, {ID: "empty"}}))
	if !errors.Is(err, syscall.EACCES) || len(skipped) != 1 {
		t.Errorf("%+v, %v", skipped, err)
	}
}

func TestRecordedTeamReturnsErrors(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(vfs.OS)
		team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
		put(t, team, id(1), chat(id(1), "kitchen", "Soup", 2)...)
		disk.Fail(n, syscall.EIO, journaltest.Read)
		got, err := team.RecordedTeam(ctx, id(1))
		if disk.Failed() != errors.Is(err, syscall.EIO) || disk.Failed() != (err != nil) || disk.Failed() == (got.ID == "kitchen") {
			t.Errorf("read %d: %+v, %v", n, got, err)
		}
		if !disk.Failed() || t.Failed() {
			break
		}
	}
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Soup", 2)...)
	put(t, team, id(2), said(1, mia, "hello"))
	if _, err := team.RecordedTeam(ctx, id(9)); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a missing session: %v", err)
	}
	var missing *catalog.MissingHeaderError
	if _, err := team.RecordedTeam(ctx, id(2)); !errors.As(err, &missing) || missing.ID != id(2) {
		t.Errorf("a session without header: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := team.RecordedTeam(cancelled, id(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// countdown is a context that is done after some calls of Err.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A call that is cancelled at any time returns the error and no answer.
func TestCallsAreCancelledAtAnyTime(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	for n := range 3 {
		put(t, team, id(n), chat(id(n), "kitchen", fmt.Sprint("Soup ", n), 2)...)
	}
	want := query(t, team, catalog.Query{Sort: catalog.ByTitle})
	for name, call := range map[string]func(ctx context.Context) (got, want any, err error){
		"List": func(ctx context.Context) (any, any, error) {
			result, err := team.List(ctx, catalog.Query{Sort: catalog.ByTitle})
			if err != nil {
				return nil, nil, err
			}
			return ids(result.Sessions), ids(want.Sessions), nil
		},
		"EmptyJournals": func(ctx context.Context) (any, any, error) {
			empty, err := team.EmptyJournals(ctx)
			return len(empty), 0, err
		},
		"Load": func(ctx context.Context) (any, any, error) {
			state, _, err := team.Load(ctx, id(1))
			if err != nil {
				return nil, nil, err
			}
			return state.Row.MessageCount, 2, nil
		},
		"Events": func(ctx context.Context) (any, any, error) {
			n := 0
			for _, err := range team.Events(ctx, id(1)) {
				if err != nil {
					return nil, nil, err
				}
				n++
			}
			return n, 3, nil
		},
	} {
		for n := 0; ; n++ {
			ctx := &countdown{ctx, n}
			got, want, err := call(ctx)
			if err != nil && !errors.Is(err, context.Canceled) || err == nil && ctx.left < 0 {
				t.Errorf("%s, done after %d calls of Err: %v", name, n, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, done after %d calls of Err (-want +got):\n%s", name, n, diff)
			}
			if err == nil || t.Failed() {
				break
			}
		}
	}
}

func TestPurgeStopsAtTheFirstError(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	old(t, team, 3)
	for n := range 3 {
		if err := team.Delete(t.Context(), id(n)); err != nil {
			t.Fatal(err)
		}
	}
	trashed, err := trash.Of(team.Journals()).List()
	if err != nil || len(trashed) != 3 {
		t.Fatal(trashed, err)
	}
	stop := errors.New("stop")
	var purged []string
	pass := team.BeginRetention()
	purge := func(err error) error {
		return pass.Purge(t.Context(), trashed, "old", func(item trash.Item) error {
			purged = append(purged, item.ID)
			return err
		})
	}
	if err := purge(stop); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	trashed = trashed[1:]
	disk.Fail(1, syscall.EIO, journaltest.Remove)
	if err := purge(nil); !errors.Is(err, syscall.EIO) {
		t.Errorf("failed: %v", err)
	}
	if err := pass.Close(); err != nil {
		t.Error(err)
	}
	if left, err := trash.Of(team.Journals()).List(); err != nil || len(left) != 2 || !slices.Equal(purged, []string{id(0)}) {
		t.Errorf("left %+v, purged %q, %v", left, purged, err)
	}
}

func TestDirectoriesOfTheProgramAreKnownAsDirectories(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	path := team.Journals().Path()
	for _, dir := range []string{"archive", "trash", id(1) + ".jsonl"} {
		if err := os.MkdirAll(filepath.Join(path, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := team.UnknownFiles(); err != nil || !slices.Equal(got, []string{id(1) + ".jsonl"}) {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Remove(filepath.Join(path, "trash")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(path, "trash"), nil)
	if got, err := team.UnknownFiles(); err != nil || !slices.Equal(got, []string{id(1) + ".jsonl", "trash"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRetentionRemovesLeftoversOfCaches(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	path := team.Journals().Path()
	const hour = time.Hour
	for _, file := range []struct {
		name string
		age  time.Duration
		kept bool
	}{
		{"sessions.json.0a1b2c3d.tmp", 2 * hour, false},
		{id(1) + ".checkpoint.json.0a1b2c3d.tmp", 2 * hour, false},
		{id(2) + ".checkpoint.json.0a1b2c3d.tmp", hour / 2, true},
		{id(1) + ".checkpoint.json", 2 * hour, true},
		{"notes.tmp", 2 * hour, true},
		{"sessions.json.tmpl", 2 * hour, true},
	} {
		name := filepath.Join(path, file.name)
		write(t, name, []byte("{}"))
		at := time.Now().Add(-file.age)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		if err := team.BeginRetention().Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); (err == nil) != file.kept {
			t.Errorf("%s, %v old: %v", file.name, file.age, err)
		}
	}
}

func TestArchiveFailsOrIsRecorded(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(vfs.OS)
		team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
		old(t, team, 2)
		s := list(t, team)[1]
		pass := team.BeginRetention()
		disk.Fail(n, syscall.EIO, journaltest.Read)
		size, err := pass.Archive(t.Context(), s, "old")
		failed := disk.Failed()
		disk.Heal()
		closed := pass.Close()
		if err != nil && (!errors.Is(err, syscall.EIO) || size != s.Bytes) {
			t.Errorf("read %d: %d bytes, %v", n, size, err)
		}
		now, findErr := team.Session(ctx, s.ID)
		if findErr != nil || err == nil && (!now.Archived || now.Bytes != size) {
			t.Errorf("read %d: %+v, %v", n, now, findErr)
		}
		if got := recorded(t, team); err == nil && closed == nil && len(got) != 1 {
			t.Errorf("read %d: recorded is %q", n, got)
		}
		if !failed || t.Failed() {
			return
		}
	}
}

func TestTeamsAreOrderedByName(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	for i, name := range []string{"garden", "pantry", "attic", "kitchen"} {
		put(t, c.Team(name), id(i), begun(id(i), name))
	}
	teams, err := c.Teams()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, team := range teams {
		names = append(names, filepath.Base(team.Journals().Path()))
	}
	if diff := cmp.Diff([]string{"attic", "garden", "kitchen", "pantry"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEmptyJournalsHaveBytes(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	write(t, live(team, id(1)), nil)
	write(t, live(team, id(2)), []byte("{"))
	put(t, team, id(3), begun(id(3), "kitchen"))
	empty, err := team.EmptyJournals(ctx)
	if err != nil || len(empty) != 1 || empty[0].ID != id(2) {
		t.Errorf("%+v, %v", empty, err)
	}
}

// The rows of another version are not used, whatever the layout of the index.
func TestIndexOfAnotherVersionIsIgnored(t *testing.T) {
	disk := watch()
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Soup", 2)...)
	want := list(t, team)
	change(t, indexOf(team), `"version":"1.0.0"`, `"version":"1.0.1"`)
	disk.forget()
	if diff := cmp.Diff(want, list(t, team), cmp.AllowUnexported(catalog.Session{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if opened, _ := disk.journals(); opened != 1 {
		t.Errorf("%d journals were opened", opened)
	}
}

// Each journal that is read is reported, and the total at the end.
func TestProgressOfAList(t *testing.T) {
	for _, sessions := range []int{0, 1, 3} {
		c := catalog.New(t.TempDir(), journal.Options{})
		var reported []string
		c.Progress = func(done, total int) { reported = append(reported, fmt.Sprint(done, " of ", total)) }
		var want []string
		for n := range sessions {
			put(t, c.Team("kitchen"), id(n), chat(id(n), "kitchen", "Soup", 2)...)
			want = append(want, fmt.Sprint(n+1, " of ", sessions))
		}
		list(t, c)
		if diff := cmp.Diff(want, reported); diff != "" {
			t.Errorf("%d sessions (-want +got):\n%s", sessions, diff)
		}
		reported = nil
		if list(t, c); reported != nil {
			t.Errorf("%d sessions in the index: %q", sessions, reported)
		}
	}
}

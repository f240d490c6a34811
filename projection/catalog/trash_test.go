package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

func TestTrashOfAllTeams(t *testing.T) {
	root, now := t.TempDir(), created
	disk := journaltest.New(vfs.OS)
	c := catalog.New(root, journal.Options{FS: disk, Now: func() time.Time { return now }})
	if all, err := c.Trash(ctx); err != nil || len(all) > 0 {
		t.Errorf("without sessions: %v, %v", all, err)
	}
	var want []string
	for i, team := range []string{"b", "a", "b", "c"} {
		d := c.Team(team)
		put(t, d, id(i), chat(id(i), team, "hello", 2)...)
		put(t, d, id(10+i), chat(id(10+i), team, "it stays", 2)...)
		now = now.Add(time.Minute)
		if err := d.Delete(ctx, id(i)); err != nil {
			t.Fatal(err)
		}
		want = append([]string{team + " " + id(i) + " " + now.Format(time.TimeOnly)}, want...)
	}
	got := func() (all []string) {
		trashed, err := c.Trash(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range trashed {
			if item.Bytes == 0 {
				t.Errorf("%+v has no size", item)
			}
			all = append(all, filepath.Base(item.Dir)+" "+item.ID+" "+item.Since.Format(time.TimeOnly))
		}
		return all
	}
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	unreadable := filepath.Join(root, "c", "trash")
	if err := errors.Join(os.RemoveAll(unreadable), os.WriteFile(unreadable, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Trash(ctx); err == nil {
		t.Error("a trash that cannot be read is no error")
	}
	var reported []string
	c.DirError = func(path string, _ error) { reported = append(reported, filepath.Base(path)) }
	if diff := cmp.Diff(want[1:], got()); diff != "" || len(reported) != 1 || reported[0] != "c" {
		t.Errorf("without team c (-want +got):\n%s, %q", diff, reported)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Trash(done); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
	disk.Fail(1, syscall.EIO, journaltest.Read)
	if _, err := c.Trash(ctx); !errors.Is(err, syscall.EIO) {
		t.Errorf("of a home that cannot be read: %v", err)
	}
}

func TestTrashHead(t *testing.T) {
	long := []journal.Record{begun(id(1), "review")}
	for i := range 40 {
		long = append(long, after(i, projection.TurnText{TurnID: "t", Text: "."}))
	}
	long = append(long, said(50, mia, "too far"))
	head := catalog.TrashHead{TeamID: "review", CWD: "/home/mia", CreatedAt: created}
	titled := func(title string) catalog.TrashHead {
		h := head
		h.Title = title
		return h
	}
	for name, test := range map[string]struct {
		records []journal.Record
		damage  string // a text that is changed
		archive bool
		want    catalog.TrashHead
		err     bool
	}{
		"live":        {records: chat(id(1), "review", "hello", 4), want: titled("hello")},
		"archived":    {records: chat(id(1), "review", "hello", 4), archive: true, want: titled("hello")},
		"no message":  {records: chat(id(1), "review", "", 0), want: head},
		"many events": {records: long, want: head},
		"renamed": {records: []journal.Record{
			begun(id(1), "review"), after(1, projection.SessionRenamed{Title: "boat"}), said(2, mia, "hello"),
		}, want: titled("boat")},
		"renamed later": {records: append(slices.Clone(long),
			after(51, projection.SessionRenamed{Title: "boat"}), said(52, mia, "session.renamed"),
			after(53, projection.SessionRenamed{Title: "ship"}),
		), want: titled("ship")},
		"renamed and archived": {records: append(chat(id(1), "review", "hello", 4),
			after(51, projection.SessionRenamed{Title: "boat"}),
		), archive: true, want: titled("boat")},
		"damaged":      {records: chat(id(1), "review", "hello", 4), damage: "hello", err: true},
		"damage after": {records: chat(id(1), "review", "hello", 4), damage: "well", want: titled("hello")},
		"no header":    {records: chat(id(1), "review", "hello", 4)[1:], err: true},
		"empty":        {err: true},
	} {
		d := catalog.New(t.TempDir(), journal.Options{}).Team("review")
		put(t, d, id(1), test.records...)
		if test.damage != "" {
			if err := d.Append(ctx, id(1), said(9, ada, "synced")); err != nil {
				t.Fatal(err)
			}
			change(t, live(d, id(1)), test.damage, test.damage[1:]+"x")
		}
		if test.archive {
			if err := journaltest.Archive(ctx, d.Journals(), id(1)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.TrashHead(ctx, id(1)); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s: outside of the trash: %v", name, err)
		}
		if err := trash.Of(d.Journals()).Move(ctx, id(1)); err != nil {
			t.Fatal(err)
		}
		got, err := d.TrashHead(ctx, id(1))
		if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.err {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := d.TrashHead(done, id(1)); err == nil && len(test.records) > 0 {
			t.Errorf("%s: no error with a context that is done", name)
		}
	}
}

// Every error of reading is returned.
func TestTrashHeadFailures(t *testing.T) {
	root := t.TempDir()
	healthy := catalog.New(root, journal.Options{}).Team("review")
	for i, archive := range []bool{false, true} {
		put(t, healthy, id(i), chat(id(i), "review", "hello", 4)...)
		if archive {
			if err := journaltest.Archive(ctx, healthy.Journals(), id(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := healthy.Delete(ctx, id(i)); err != nil {
			t.Fatal(err)
		}
		for n := 1; ; n++ {
			disk := journaltest.New(vfs.OS)
			disk.Fail(n, syscall.EIO, journaltest.Read)
			_, err := catalog.New(root, journal.Options{FS: disk}).Team("review").TrashHead(ctx, id(i))
			if !disk.Failed() {
				break
			}
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("archived %v, read %d fails: %v", archive, n, err)
			}
		}
	}
}

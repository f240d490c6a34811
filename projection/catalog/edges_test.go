package catalog_test

import (
	"bytes"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A backup that is copied back may have the size and the time of the file it replaces.
func TestFileReplacedWithSameSizeAndTimeIsRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("package journal knows no inodes there")
	}
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	if sessions := list(t, c); len(sessions) != 1 || sessions[0].Title != "Repair" {
		t.Fatalf("%+v", sessions)
	}
	path := live(team, id(1))
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	kept := path + ".kept" // so that its inode is not reused
	if err := os.Rename(path, kept); err != nil {
		t.Fatal(err)
	}
	put(t, team, id(1), chat(id(1), "kitchen", "Teapot", 3)...)
	if err := os.Chtimes(path, time.Time{}, before.ModTime()); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		t.Fatalf("%v, %v; before %v", after, err, before)
	}
	if sessions := list(t, c); len(sessions) != 1 || sessions[0].Title != "Teapot" {
		t.Errorf("listed as %q", sessions[0].Title)
	}
}

// The times of some file systems have a resolution of seconds.
func TestGrownFileWithSameTimeIsRead(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	list(t, c)
	before, err := os.Stat(live(team, id(1)))
	if err != nil {
		t.Fatal(err)
	}
	add(t, team, id(1), end, said(9, mia, "one more"))
	if err := os.Chtimes(live(team, id(1)), time.Time{}, before.ModTime()); err != nil {
		t.Fatal(err)
	}
	if sessions := list(t, c); len(sessions) != 1 || sessions[0].MessageCount != 4 {
		t.Errorf("listed as %+v", sessions)
	}
}

// The row of a file that has only got a torn tail is outdated, not wrong.
func TestAuditKeepsIndexOfTornJournal(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	list(t, c)
	write(t, live(team, id(1)), append(read(t, live(team, id(1))), `{"seq":`...))
	before := read(t, indexOf(team))
	if removed, err := audited(team, id(1)); err != nil || len(removed) > 0 {
		t.Errorf("removed %q, %v", removed, err)
	}
	if !bytes.Equal(read(t, indexOf(team)), before) {
		t.Error("the index was changed")
	}
}

// A budget is what a pass may use, not what it must stay below.
func TestRetentionUsesTheWholeBudget(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		less     int64
		archived int
	}{"exactly": {0, 2}, "a byte less": {1, 1}} {
		t.Run(name, func(t *testing.T) {
			cat := catalog.New(t.TempDir(), journal.Options{})
			team := cat.Team("kitchen")
			var size int64
			for n := 1; n <= 2; n++ {
				size += put(t, team, id(n), chat(id(n), "kitchen", "Repair", 3)...).Offset
			}
			policy := catalog.Policy{ArchiveAfter: day}
			budget := catalog.Budget{Sessions: 10, Bytes: size - c.less}
			if err := team.ApplyRetention(ctx, policy, created.Add(9*day), budget); err != nil {
				t.Fatal(err)
			}
			archived := 0
			for _, s := range list(t, cat) {
				if s.Archived {
					archived++
				}
			}
			if archived != c.archived {
				t.Errorf("%d sessions are archived, want %d", archived, c.archived)
			}
		})
	}
}

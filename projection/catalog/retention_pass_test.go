package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// recorded returns the events in the retention journal of a team.
func recorded(t testing.TB, team *catalog.Dir) []string {
	t.Helper()
	r, err := team.Journals().Reader("retention", journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var lines []string
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		p, err := projection.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %+v", e.Type, p))
	}
	return lines
}

// old writes n sessions, each a minute older than the next.
func old(t testing.TB, team *catalog.Dir, n int) {
	t.Helper()
	for i := range n {
		put(t, team, id(i), begun(id(i), "kitchen"), said(i+1, mia, "Old"))
	}
}

func TestRetentionIsRecorded(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	old(t, team, 3)
	before := list(t, c)
	policy := catalog.Policy{Keep: 1, ArchiveAfter: day, DeleteAfter: 30 * day}
	if err := team.ApplyRetention(ctx, policy, created.Add(2*day), catalog.Budget{}); err != nil {
		t.Fatal(err)
	}
	after := list(t, c)
	var want []string
	for _, i := range []int{2, 1} { // the oldest first
		want = append(want, fmt.Sprintf("session.archived %+v", projection.SessionArchived{Retired: projection.Retired{
			SessionID: before[i].ID, BytesBefore: before[i].Bytes, BytesAfter: after[i].Bytes,
			Reason: "idle for 1d, and not among the newest 1",
		}}))
	}
	if got := recorded(t, team); !slices.Equal(got, want) {
		t.Errorf("%q\nnot\n%q", got, want)
	}
}

func TestTrashIsRecordedOnce(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	old(t, team, 1)
	listed := list(t, c)[0]
	pass := team.BeginRetention()
	if err := pass.Trash(t.Context(), listed, "old"); err != nil {
		t.Fatal(err)
	}
	if err := pass.Trash(t.Context(), listed, "old"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("trashed again: %v", err)
	}
	if err := pass.Close(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("session.trashed %+v", projection.SessionTrashed{Retired: projection.Retired{
		SessionID: listed.ID, BytesBefore: listed.Bytes, BytesAfter: listed.Bytes, Reason: "old",
	}})
	if got := recorded(t, team); len(got) != 1 || got[0] != want {
		t.Errorf("%q\nnot\n%q", got, want)
	}
	if left := list(t, c); len(left) != 0 {
		t.Errorf("the list has %+v", left)
	}
}

func TestRetentionUpdatesIndex(t *testing.T) {
	disk := watch()
	root := t.TempDir()
	c := catalog.New(root, journal.Options{FS: disk})
	team := c.Team("kitchen")
	old(t, team, 30)
	list(t, c)
	if err := team.ApplyRetention(ctx, catalog.Policy{Keep: 10}, created.Add(day), catalog.Budget{}); err != nil {
		t.Fatal(err)
	}
	disk.forget()
	sessions := list(t, c)
	if opened, _ := disk.journals(); opened != 0 || len(disk.written) != 0 {
		t.Errorf("%d journals were opened, and written: %v", opened, disk.written)
	}
	dropCaches(t, root)
	sameAnswers(t, answers{Sessions: list(t, c)}, answers{Sessions: sessions})
}

func TestRetentionSkipsChangedSession(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Old", 2)...)
	listed := list(t, c)[0]
	add(t, team, id(1), end, said(90, ada, "new"))
	pass := team.BeginRetention()
	if _, err := pass.Archive(t.Context(), listed, "old"); !errors.Is(err, catalog.ErrChanged) {
		t.Errorf("archived: %v", err)
	}
	if err := pass.Trash(t.Context(), listed, "old"); !errors.Is(err, catalog.ErrChanged) {
		t.Errorf("trashed: %v", err)
	}
	if err := pass.Close(); err != nil {
		t.Error(err)
	}
	if now := list(t, c)[0]; now.Archived || now.MessageCount != 3 || recorded(t, team) != nil {
		t.Errorf("%+v, %q", now, recorded(t, team))
	}
}

func TestRetentionReportsLockedJournal(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	old(t, team, 3)
	other := team.BeginRetention()
	if _, err := other.Archive(t.Context(), list(t, c)[2], "another pass"); err != nil {
		t.Fatal(err)
	}
	err := team.ApplyRetention(ctx, catalog.Policy{Keep: 1}, created.Add(day), catalog.Budget{})
	if !errors.Is(err, journal.ErrLocked) || !strings.HasPrefix(err.Error(), "not all changes were recorded") {
		t.Errorf("%v", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	for i, s := range list(t, c) {
		if s.Archived != (i > 0) {
			t.Errorf("%+v", s)
		}
	}
	if got := recorded(t, team); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestRetentionBudget(t *testing.T) {
	for _, test := range []struct {
		name string
		most func(bytes int64) catalog.Budget
		want int
	}{
		{"no limit", func(int64) catalog.Budget { return catalog.Budget{} }, 5},
		{"2 sessions", func(int64) catalog.Budget { return catalog.Budget{Sessions: 2, Bytes: 1 << 20} }, 2},
		{"bytes of 3 sessions", func(b int64) catalog.Budget { return catalog.Budget{Sessions: 9, Bytes: 3*b + b/2} },
			3},
		{"bytes of no session", func(b int64) catalog.Budget { return catalog.Budget{Sessions: 9, Bytes: b - 1} }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := catalog.New(t.TempDir(), journal.Options{})
			team := c.Team("kitchen")
			old(t, team, 5)
			bytes := list(t, c)[0].Bytes
			if err := team.ApplyRetention(ctx, catalog.Policy{}, created.Add(day), test.most(bytes)); err != nil {
				t.Fatal(err)
			}
			for i, s := range list(t, c) {
				if s.Archived != (i >= 5-test.want) {
					t.Errorf("the session %d from the newest: archived %v", i, s.Archived)
				}
			}
		})
	}
}

func TestRetentionStopsWhenCancelled(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	old(t, team, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := team.ApplyRetention(ctx, catalog.Policy{}, created.Add(day), catalog.Budget{}); err != nil {
		t.Error(err)
	}
	for _, s := range list(t, c) {
		if s.Archived {
			t.Errorf("%+v", s)
		}
	}
}

func TestPurgeIsRecordedDurablyFirst(t *testing.T) {
	mem := journaltest.NewMem()
	err := errors.Join(mem.Mkdir("/home", 0o700), mem.Mkdir(teamRoot, 0o700), mem.SyncDir("/"), mem.SyncDir("/home"))
	if err != nil {
		t.Fatal(err)
	}
	disk := journaltest.New(mem)
	team := teamOn(disk)
	log, err := team.Journals().Create(id(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(chat(id(1), "review", "Old", 1)...); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Close(), team.Delete(t.Context(), id(1))); err != nil {
		t.Fatal(err)
	}
	trashed, err := trash.Of(team.Journals()).List()
	if err != nil || len(trashed) != 1 {
		t.Fatal(trashed, err)
	}
	unrecorded := 0
	disk.Before(func() {
		for kind, image := range mem.Images(8, 1) {
			after := teamOn(image)
			left, err := trash.Of(after.Journals()).List()
			if err != nil {
				t.Error(kind, err)
			}
			switch n := len(recorded(t, after)); {
			case len(left) == 0 && n == 0:
				t.Errorf("purged and not recorded after a power cut, %s\n%s", kind, disk)
			case n == 0:
				unrecorded++
			}
		}
	})
	pass := team.BeginRetention()
	if err := pass.Purge(t.Context(), trashed, "old", func(trash.Item) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := pass.Close(); err != nil {
		t.Error(err)
	}
	if left, err := trash.Of(team.Journals()).List(); err != nil || len(left) > 0 || unrecorded == 0 {
		t.Errorf("%+v, %v, %d", left, err, unrecorded)
	}
}

func TestFailedRecordKeepsArchive(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(vfs.OS)
		team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
		old(t, team, 2)
		s := list(t, team)[1]
		pass := team.BeginRetention()
		before := disk.Count()
		disk.FailFrom(n, syscall.ENOSPC, journaltest.Write, journaltest.Open)
		_, err := pass.Archive(t.Context(), s, "old")
		closed := pass.Close()
		reached := disk.Count()-before >= n
		disk.Heal()
		now, findErr := team.Session(ctx, s.ID)
		if findErr != nil || now.MessageCount != 1 || now.Archived != (err == nil) {
			t.Errorf("failure %d: archived %v, %v; %v", n, now.Archived, err, findErr)
		}
		if got := recorded(t, team); err == nil && closed == nil && len(got) != 1 {
			t.Errorf("failure %d: no error, but recorded is %q", n, got)
		}
		if !reached || t.Failed() {
			return
		}
	}
}

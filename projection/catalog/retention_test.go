package catalog_test

import (
	"errors"
	"maps"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const day = 24 * time.Hour

func TestPolicyAction(t *testing.T) {
	deleting := catalog.Policy{Keep: 10, ArchiveAfter: 30 * day, DeleteAfter: 90 * day}
	for _, test := range []struct {
		name    string
		policy  catalog.Policy
		session catalog.Session
		idle    time.Duration
		rank    int
		want    catalog.Action
	}{
		{"new", catalog.DefaultPolicy, catalog.Session{}, day, 50, catalog.Keep},
		{"idle for nearly 30 days", catalog.DefaultPolicy, catalog.Session{}, 30*day - 1, 50, catalog.Keep},
		{"idle for 30 days", catalog.DefaultPolicy, catalog.Session{}, 30 * day, 50, catalog.Archive},
		{"the 10th", catalog.DefaultPolicy, catalog.Session{}, 300 * day, 9, catalog.Keep},
		{"the 11th", catalog.DefaultPolicy, catalog.Session{}, 300 * day, 10, catalog.Archive},
		{"archived", catalog.DefaultPolicy, catalog.Session{Archived: true}, 300 * day, 50, catalog.Keep},
		{"pinned", deleting, catalog.Session{Row: projection.Row{Pinned: true}}, 300 * day, 50, catalog.Keep},
		{"of a newer version", deleting, catalog.Session{Row: projection.Row{Newer: "2"}}, 300 * day, 50, catalog.Keep},
		{"damaged", deleting, catalog.Session{Damaged: "line 1"}, 300 * day, 50, catalog.Keep},
		{"idle for years, without deletion", catalog.DefaultPolicy, catalog.Session{}, 3000 * day, 50, catalog.Archive},
		{"older than DeleteAfter", deleting, catalog.Session{}, 90 * day, 50, catalog.Trash},
		{"archived, older than DeleteAfter", deleting, catalog.Session{Archived: true}, 90 * day, 50, catalog.Trash},
		{"among the newest, older than DeleteAfter", deleting, catalog.Session{}, 900 * day, 3, catalog.Keep},
		{"younger than DeleteAfter", deleting, catalog.Session{}, 89 * day, 50, catalog.Archive},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.session.UpdatedAt = created
			if got := test.policy.Action(test.session, test.rank, created.Add(test.idle)); got != test.want {
				t.Errorf("%v, not %v", got, test.want)
			}
		})
	}
}

func TestReasonNamesThePeriodOfTheAction(t *testing.T) {
	const hours = 36 * time.Hour
	for _, test := range []struct {
		policy catalog.Policy
		action catalog.Action
		want   string
	}{
		{catalog.Policy{Keep: 2, ArchiveAfter: day, DeleteAfter: hours}, catalog.Archive,
			"idle for 1d, and not among the newest 2"},
		{catalog.Policy{Keep: 2, ArchiveAfter: day, DeleteAfter: hours}, catalog.Trash,
			"idle for 36h0m0s, and not among the newest 2"},
		{catalog.Policy{}, catalog.Archive, "idle for 0s, and not among the newest 0"},
		{catalog.Policy{ArchiveAfter: day - 1}, catalog.Archive,
			"idle for 23h59m59.999999999s, and not among the newest 0"},
		{catalog.Policy{ArchiveAfter: 30 * day}, catalog.Archive, "idle for 30d, and not among the newest 0"},
	} {
		if got := test.policy.Reason(test.action); got != test.want {
			t.Errorf("%+v: %q, want %q", test.policy, got, test.want)
		}
	}
}

func TestRetentionSkipsPinnedAndLocked(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Old", 1)...)
	pinned := append(chat(id(2), "kitchen", "Pinned", 1), after(1, projection.SessionPinned{Pinned: true}))
	put(t, team, id(2), pinned...)
	put(t, team, id(3), chat(id(3), "kitchen", "Locked", 1)...)
	put(t, team, id(4), chat(id(4), "kitchen", "Newest", 2)...)
	log, err := team.Journals().Open(t.Context(), id(3))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	policy := catalog.Policy{Keep: 1, ArchiveAfter: day}
	if err := team.ApplyRetention(ctx, policy, created.Add(2*day), catalog.Budget{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range list(t, c) {
		if s.Archived != (s.ID == id(1)) {
			t.Errorf("%s is archived: %v", s.Title, s.Archived)
		}
	}
	policy = catalog.Policy{Keep: 1, DeleteAfter: day}
	if err := team.ApplyRetention(ctx, policy, created.Add(2*day), catalog.Budget{}); err != nil {
		t.Fatal(err)
	}
	if got := ids(list(t, c)); len(got) != 3 {
		t.Errorf("%v are left", got)
	}
}

func TestNextActionOfAPolicy(t *testing.T) {
	old, archived := catalog.Session{}, catalog.Session{Archived: true}
	pinned := old
	pinned.Pinned = true
	for _, test := range []struct {
		policy catalog.Policy
		s      catalog.Session
		rank   int
		want   catalog.Action
		idle   time.Duration
	}{
		{catalog.Policy{Keep: 2, ArchiveAfter: day}, old, 1, catalog.Keep, 0},
		{catalog.Policy{Keep: 2, ArchiveAfter: day}, old, 2, catalog.Archive, day},
		{catalog.Policy{ArchiveAfter: day}, archived, 0, catalog.Keep, 0},
		{catalog.Policy{ArchiveAfter: day}, pinned, 0, catalog.Keep, 0},
		{catalog.Policy{ArchiveAfter: day}, catalog.Session{Damaged: "damaged"}, 0, catalog.Keep, 0},
		{catalog.Policy{ArchiveAfter: day, DeleteAfter: 2 * day}, old, 0, catalog.Archive, day},
		{catalog.Policy{ArchiveAfter: day, DeleteAfter: 2 * day}, archived, 0, catalog.Trash, 2 * day},
		{catalog.Policy{ArchiveAfter: day, DeleteAfter: day}, old, 0, catalog.Trash, day},
		{catalog.Policy{ArchiveAfter: 3 * day, DeleteAfter: day}, old, 0, catalog.Trash, day},
	} {
		next, idle := test.policy.Next(test.s, test.rank)
		if next != test.want || idle != test.idle {
			t.Errorf("%+v of %+v: %v after %v", test.policy, test.s, next, idle)
		}
		if next == catalog.Keep {
			continue
		}
		updated := test.s
		updated.UpdatedAt = created
		before := test.policy.Action(updated, test.rank, created.Add(idle-1))
		if at := test.policy.Action(updated, test.rank, created.Add(idle)); at != next || before != catalog.Keep {
			t.Errorf("%+v of %+v: %v, before %v", test.policy, test.s, at, before)
		}
	}
}

func TestRanks(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	kitchen, garden := c.Team("kitchen"), c.Team("garden")
	put(t, kitchen, id(1), chat(id(1), "kitchen", "Old", 1)...)
	put(t, garden, id(2), chat(id(2), "garden", "Between", 2)...)
	put(t, kitchen, id(3), chat(id(3), "kitchen", "New", 3)...)
	want := map[string]int{id(3): 0, id(2): 0, id(1): 1}
	if got := catalog.Ranks(list(t, c)); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRetentionContinuesAfterFailure(t *testing.T) {
	step := 3
	if sizetest.Full() {
		step = 1
	}
	for n := 1; ; n += step {
		disk := journaltest.New(vfs.OS)
		c := catalog.New(t.TempDir(), journal.Options{FS: disk})
		team := c.Team("kitchen")
		for i := range 4 {
			put(t, team, id(i), chat(id(i), "kitchen", "Old", i+1)...)
		}
		policy := catalog.Policy{Keep: 1, ArchiveAfter: day, DeleteAfter: 3 * day}
		list(t, c) // writes the index before the faults
		disk.Fail(n, syscall.EIO)
		err := team.ApplyRetention(ctx, policy, created.Add(2*day), catalog.Budget{})
		if err != nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d: %v", n, err)
		}
		archived := 0
		for _, s := range list(t, c) {
			if s.Damaged != "" || s.Title != "Old" {
				t.Errorf("operation %d: %+v", n, s)
			}
			if s.Archived {
				archived++
			}
		}
		if archived < 2 || err == nil && archived < 3 {
			t.Errorf("operation %d: %d sessions are archived; %v\n%s", n, archived, err, disk)
		}
		failed := disk.Failed()
		disk.Heal()
		// The next call does the rest.
		if err := team.ApplyRetention(ctx, policy, created.Add(4*day), catalog.Budget{}); err != nil {
			t.Errorf("operation %d, next call: %v", n, err)
		}
		if left := list(t, c); len(left) != 1 || left[0].ID != id(3) {
			t.Errorf("operation %d: %v are left", n, ids(left))
		}
		if trashed, err := trash.Of(team.Journals()).List(); err != nil || len(trashed) != 3 {
			t.Errorf("operation %d: the trash has %+v, %v", n, trashed, err)
		}
		if !failed || t.Failed() {
			return
		}
	}
}

func TestRestoredSessionIsListed(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	for i := range 2 {
		put(t, team, id(i), chat(id(i), "kitchen", "Old", i+1)...)
		keep(t, team, id(i))
	}
	before := ask(t, c)
	if err := team.Delete(t.Context(), id(0)); err != nil {
		t.Fatal(err)
	}
	if left := list(t, c); len(left) != 1 || left[0].ID != id(1) {
		t.Errorf("%v are left", ids(left))
	}
	if err := team.Restore(t.Context(), id(0)); err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, before, ask(t, c))
}

package catalog_test

import (
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const day = 24 * time.Hour

func TestPolicyDecidesByAgeAndRank(t *testing.T) {
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
		{"archived already", catalog.DefaultPolicy, catalog.Session{Archived: true}, 300 * day, 50, catalog.Keep},
		{"pinned", deleting, catalog.Session{Row: projection.Row{Pinned: true}}, 300 * day, 50, catalog.Keep},
		{"damaged", deleting, catalog.Session{Damaged: "line 1"}, 300 * day, 50, catalog.Keep},
		{"for years, when nothing says delete", catalog.DefaultPolicy, catalog.Session{}, 3000 * day, 50, catalog.Archive},
		{"older than a policy that deletes", deleting, catalog.Session{}, 90 * day, 50, catalog.Trash},
		{"archived, and older than a policy that deletes", deleting, catalog.Session{Archived: true}, 90 * day, 50, catalog.Trash},
		{"among the newest, and older than a policy that deletes", deleting, catalog.Session{}, 900 * day, 3, catalog.Keep},
		{"younger than it", deleting, catalog.Session{}, 89 * day, 50, catalog.Archive},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.session.UpdatedAt = created
			if got := test.policy.Action(test.session, test.rank, created.Add(test.idle)); got != test.want {
				t.Errorf("%v, not %v", got, test.want)
			}
		})
	}
}

func TestTidyArchivesWhatIsOldAndTouchesNothingElse(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Old", 1)...)
	put(t, team, id(2), append(chat(id(2), "kitchen", "Pinned", 1), after(1, projection.SessionPinned{Pinned: true}))...)
	put(t, team, id(3), chat(id(3), "kitchen", "Locked", 1)...)
	put(t, team, id(4), chat(id(4), "kitchen", "Newest", 2)...)
	log, err := team.Journals().Open(id(3))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := team.Tidy(catalog.Policy{Keep: 1, ArchiveAfter: day}, created.Add(2*day)); err != nil {
		t.Fatal(err)
	}
	for _, s := range list(t, c) {
		if s.Archived != (s.ID == id(1)) {
			t.Errorf("%s is archived: %v", s.Title, s.Archived)
		}
	}
	if err := team.Tidy(catalog.Policy{Keep: 1, DeleteAfter: day}, created.Add(2*day)); err != nil {
		t.Fatal(err)
	}
	if got := ids(list(t, c)); len(got) != 3 {
		t.Errorf("%v are left", got)
	}
}

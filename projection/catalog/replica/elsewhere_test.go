package replica_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// elsewhere returns what the hub has that is not here.
func (m *machine) elsewhere() *catalog.Elsewhere {
	m.t.Helper()
	found, _, err := replica.Elsewhere(m.t.Context(), m.Hub, m.c, func(team string) bool { return team == "kitchen" })
	if err != nil {
		m.t.Fatal(err)
	}
	return found
}

// listed describes the sessions of a list with what is elsewhere.
func (m *machine) listed(q catalog.Query) (rows []string) {
	m.t.Helper()
	list, err := m.c.List(m.t.Context(), q)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, s := range list.Sessions {
		rows = append(rows, fmt.Sprint(s.Title, " ", s.MessageCount, " ", s.Remote, " ", s.ClaimedBy))
	}
	return rows
}

func (m *machine) expect(q catalog.Query, want ...string) {
	m.t.Helper()
	if got := m.listed(q); !slices.Equal(got, want) {
		m.t.Errorf("listed %q, want %q", got, want)
	}
}

func TestListHasSessionsOfTheHub(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one", "two")
	ann.push()
	there := catalog.Query{Elsewhere: ben.elsewhere()}
	ben.expect(there, "one 2 true ")
	ben.expect(catalog.Query{})
	for want, q := range map[string]catalog.Query{
		"one 2 true ": {Team: "kitchen", Text: "ONE", Sort: catalog.ByTitle, Limit: 1}, "": {Team: "garden"},
		" ": {CWD: "/home/mia"}, "  ": {Archived: catalog.Only}, "   ": {Live: catalog.Only},
	} {
		if q.Elsewhere = there.Elsewhere; want == "one 2 true " {
			ben.expect(q, want)
		} else {
			ben.expect(q)
		}
	}

	// What was fetched is listed as it is here, also with what the hub said before.
	ben.pull()
	ben.expect(there, "one 2 false ")
	ben.expect(catalog.Query{Elsewhere: ben.elsewhere()}, "one 2 false ")

	// What was deleted is not listed again.
	if err := ben.Dir.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	ben.expect(there)
	ben.expect(catalog.Query{Elsewhere: ben.elsewhere()})
}

func TestListHasClaimsOfOtherMachines(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.push()
	if _, err := ann.Claim(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	live := catalog.Query{Live: catalog.Only}
	ann.expect(catalog.Query{Elsewhere: ann.elsewhere()}, "one 1 false ")
	live.Elsewhere = ben.elsewhere()
	ben.expect(live, "one 1 true ann")
	ben.pull()
	live.Elsewhere = ben.elsewhere()
	ben.expect(live, "one 1 false ann")
	ann.push()
	ben.expect(catalog.Query{Elsewhere: ben.elsewhere()}, "one 1 false ")
}

func TestElsewhereLeavesOutWhatCannotBeListed(t *testing.T) {
	for name, spoil := range map[string]func(ann, ben *machine, memory *hubtest.Memory){
		"purged": func(ann, _ *machine, _ *hubtest.Memory) { _ = ann.Hub.Purge(t.Context(), ann.Session()) },
		"another team": func(_, _ *machine, memory *hubtest.Memory) {
			s := hub.Session{Team: "kitchen", ID: id}
			all := memory.Messages(s)
			memory.Change(s, func([]hub.Stored) []hub.Stored { return nil })
			s.Team = "garden"
			memory.Change(s, func([]hub.Stored) []hub.Stored {
				for i := range all {
					all[i].Session = s
				}
				return all
			})
		},
		"no row that can be read": func(_, _ *machine, memory *hubtest.Memory) {
			memory.Change(hub.Session{Team: "kitchen", ID: id}, func(all []hub.Stored) []hub.Stored {
				all[len(all)-1].Head = []byte("{")
				return all
			})
		},
		"a directory that is a file": func(_, ben *machine, _ *hubtest.Memory) {
			if err := os.WriteFile(ben.Dir.Journals().Path(), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		ann, ben, memory := two(t)
		ann.create("one")
		ann.push()
		if len(ben.elsewhere().Entries()) != 1 {
			t.Fatal("it is not on the hub")
		}
		if spoil(ann, ben, memory); len(ben.elsewhere().Entries()) != 0 {
			t.Errorf("%s: it is listed", name)
		}
	}
}

func TestElsewhereReturnsTheErrorOfTheHub(t *testing.T) {
	_, ben, _ := two(t)
	ben.Hub = hub.New(away{&hubtest.Memory{}}, hub.Options{})
	_, _, err := replica.Elsewhere(t.Context(), ben.Hub, ben.c, func(string) bool { return true })
	if !errors.As(err, new(*hub.UnavailableError)) {
		t.Errorf("got %v", err)
	}
}

// away is an engine that does not answer.
type away struct{ *hubtest.Memory }

// List implements hub.Engine.
func (away) List(context.Context, string) iter.Seq2[hub.Stored, error] {
	return func(yield func(hub.Stored, error) bool) {
		yield(hub.Stored{}, &hub.UnavailableError{Err: errors.New("no answer")})
	}
}

package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// numbers returns the numbers from which id made the ids of sessions.
func numbers(sessions []catalog.Session) string {
	var all []string
	for _, s := range sessions {
		all = append(all, strings.TrimLeft(s.ID[22:], "0"))
	}
	return strings.Join(all, " ")
}

// queried is a catalog of five sessions. Session 3 is open, 4 is archived, 5 is
// damaged, and 2 was created in another directory.
func queried(t *testing.T) *catalog.Catalog {
	t.Helper()
	c := catalog.New(t.TempDir(), journal.Options{})
	kitchen, garden := c.Team("kitchen"), c.Team("garden")
	put(t, kitchen, id(1), chat(id(1), "kitchen", "Repair the kettle", 5)...)
	put(t, garden, id(2), begunIn("/srv", id(2), "garden"), said(3, mia, "Äpfel"), said(4, ada, "well"))
	put(t, garden, id(3), chat(id(3), "garden", "apples", 3)...)
	put(t, kitchen, id(4), chat(id(4), "kitchen", "Boil the kettle", 2)...)
	put(t, kitchen, id(5), said(1, mia, "no header"))
	settle(t, live(kitchen, id(5))) // much later than the others
	archive(t, kitchen, id(4))
	log, err := garden.Journals().Open(t.Context(), id(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return c
}

func begunIn(cwd, id, team string) journal.Record {
	return after(2, projection.SessionCreated{
		Format: 1, SessionID: id, CWD: cwd, Team: projection.Team{ID: team, Members: []projection.Member{}},
	})
}

func TestQuery(t *testing.T) {
	c := queried(t)
	for _, test := range []struct {
		name string
		q    catalog.Query
		want string
	}{
		{"all", catalog.Query{}, "5 1 2 3 4"},
		{"a team", catalog.Query{Team: "garden"}, "2 3"},
		{"a team's directory, also of damaged sessions", catalog.Query{Team: "kitchen"}, "5 1 4"},
		{"an unknown team", catalog.Query{Team: "cellar"}, ""},
		{"a directory", catalog.Query{CWD: "/srv"}, "2"},
		{"not a parent directory", catalog.Query{CWD: "/home"}, ""},
		{"a title", catalog.Query{Text: "kettle"}, "1 4"},
		{"a title in another case", catalog.Query{Text: "äPFEL"}, "2"},
		{"a title in its case", catalog.Query{Text: "kettle", MatchCase: true}, "1 4"},
		{"only a title in another case", catalog.Query{Text: "Kettle", MatchCase: true}, ""},
		{"only a directory in another case", catalog.Query{Text: "/SRV", MatchCase: true}, ""},
		{"an id, whatever its case", catalog.Query{Text: strings.ToLower(id(2)), MatchCase: true}, "2"},
		{"an id", catalog.Query{Text: strings.ToLower(id(2))}, "2"},
		{"a team's id", catalog.Query{Text: "GARD"}, "2 3"},
		{"a part of a directory", catalog.Query{Text: "/SRV"}, "2"},
		{"a text that no session has", catalog.Query{Text: "cellar"}, ""},
		{"archived", catalog.Query{Archived: catalog.Only}, "4"},
		{"not archived", catalog.Query{Archived: catalog.Without}, "5 1 2 3"},
		{"damaged", catalog.Query{Damaged: catalog.Only}, "5"},
		{"not damaged", catalog.Query{Damaged: catalog.Without}, "1 2 3 4"},
		{"live", catalog.Query{Live: catalog.Only}, "3"},
		{"not live", catalog.Query{Live: catalog.Without}, "5 1 2 4"},
		{"everything at once", catalog.Query{
			Team: "kitchen", CWD: "/home/mia", Text: "kettle",
			Archived: catalog.Without, Damaged: catalog.Without, Live: catalog.Without,
		}, "1"},
		{"by creation", catalog.Query{Sort: catalog.ByCreated, Damaged: catalog.Without}, "2 1 3 4"},
		{"by messages", catalog.Query{Sort: catalog.ByMessages, Damaged: catalog.Without}, "1 3 2 4"},
		{"by title", catalog.Query{Sort: catalog.ByTitle, Damaged: catalog.Without}, "4 1 3 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // the second time from the index
				if got := numbers(query(t, c, test.q).Sessions); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}
		})
	}
}

func TestDirQueryComparesRecordedTeam(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	dir := c.At(t.TempDir())
	put(t, dir, id(1), chat(id(1), "kitchen", "Repair", 1)...)
	put(t, dir, id(2), chat(id(2), "garden", "Plant", 1)...)
	if got := numbers(query(t, dir, catalog.Query{Team: "garden"}).Sessions); got != "2" {
		t.Errorf("got %q", got)
	}
}

func TestQueryPages(t *testing.T) {
	c := queried(t)
	for _, sort := range []catalog.Sort{catalog.ByUpdated, catalog.ByCreated, catalog.ByMessages, catalog.ByTitle} {
		want := query(t, c, catalog.Query{Sort: sort}).Sessions
		for limit := 1; limit <= len(want)+1; limit++ {
			var got []catalog.Session
			q := catalog.Query{Sort: sort, Limit: limit}
			for pages := 0; ; pages++ {
				r := query(t, c, q)
				if len(r.Matches) != len(want) || len(r.Sessions) > limit || pages > len(want) {
					t.Fatalf("sort %d, limit %d, page %d: %d matches, %d sessions",
						sort, limit, pages, len(r.Matches), len(r.Sessions))
				}
				got = append(got, r.Sessions...)
				if q.After = r.Next; r.Next == "" {
					break
				}
			}
			if numbers(got) != numbers(want) {
				t.Errorf("sort %d, limit %d: got %s, want %s", sort, limit, numbers(got), numbers(want))
			}
		}
	}
}

// A session that moves to the front while a list is paged is neither repeated
// nor does it hide another one.
func TestQueryPagesWhileSessionsChange(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	for n := 1; n <= 4; n++ {
		put(t, team, id(n), chat(id(n), "kitchen", "Repair", n)...)
	}
	first := query(t, c, catalog.Query{Limit: 2})
	if err := team.Append(ctx, id(1), said(100, mia, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := team.Delete(t.Context(), id(3)); err != nil {
		t.Fatal(err)
	}
	second := query(t, c, catalog.Query{Limit: 2, After: first.Next})
	if got := numbers(first.Sessions) + ", " + numbers(second.Sessions); got != "4 3, 2" || second.Next != "" {
		t.Errorf("got %s, then %q", got, second.Next)
	}
}

func TestQueryRefusesInvalidPage(t *testing.T) {
	c := queried(t)
	for _, after := range []string{"!", "e30x", id(1)} {
		if r, err := c.List(ctx, catalog.Query{After: after}); err == nil {
			t.Errorf("%q: %d sessions", after, len(r.Sessions))
		}
	}
}

// cancelling cancels a context when a number of journals was opened.
type cancelling struct {
	*watched
	cancel context.CancelFunc
	after  int
}

func (f *cancelling) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if opened, _ := f.journals(); opened >= f.after {
		f.cancel()
	}
	return f.watched.OpenFile(name, flag, perm)
}

func TestCancelledCallsStop(t *testing.T) {
	const sessions = 500
	root := t.TempDir()
	all, err := catalogtest.Sessions{Team: "kitchen", Count: sessions}.Fill(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(context.Context, *catalog.Catalog) error{
		"List": func(ctx context.Context, c *catalog.Catalog) error {
			_, err := c.List(ctx, catalog.Query{})
			return err
		},
		"Find": func(ctx context.Context, c *catalog.Catalog) error {
			_, _, err := c.Find(ctx, "latest")
			return err
		},
		"Reindex": func(ctx context.Context, c *catalog.Catalog) error {
			_, err := c.Team("kitchen").Reindex(ctx)
			return err
		},
		"EmptyJournals": func(ctx context.Context, c *catalog.Catalog) error {
			_, err := c.Team("kitchen").EmptyJournals(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			disk := &cancelling{watch(), cancel, 10}
			c := catalog.New(root, journal.Options{FS: disk})
			if err := call(ctx, c); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if opened, _ := disk.journals(); opened > 50 {
				t.Errorf("%d of %d journals were opened", opened, sessions)
			}
			for file := range disk.written {
				if strings.HasPrefix(file, "sessions.json") {
					t.Errorf("%s was written", file)
				}
			}
		})
	}
	if got := ids(list(t, catalog.New(root, journal.Options{}))); !slices.Equal(got, all) {
		t.Errorf("%d sessions are listed afterwards", len(got))
	}
}

func TestCancelledLoadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	disk := &cancelling{watch(), cancel, 1}
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	records := []journal.Record{begun(id(1), "kitchen")}
	for i := range 1000 {
		records = append(records, said(i+1, mia, strings.Repeat("word ", 1000)))
	}
	end := put(t, team, id(1), records...)
	for name, call := range map[string]func() error{
		"Load":    func() error { _, _, err := team.Load(ctx, id(1)); return err },
		"Session": func() error { _, err := team.Session(ctx, id(1)); return err },
		"Append":  func() error { return team.Append(ctx, id(1), said(2000, mia, "more")) },
		"Events": func() error {
			for _, err := range team.Events(ctx, id(1)) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		disk.forget()
		cancel()
		err := call()
		if _, bytes := disk.journals(); !errors.Is(err, context.Canceled) || bytes > end.Offset/2 && name != "Append" {
			t.Errorf("%s: %v after %d of %d bytes", name, err, bytes, end.Offset)
		}
	}
	if got := fmt.Sprint(list(t, team)[0].LastSeq); got != "1001" {
		t.Errorf("the last event is %s", got)
	}
}

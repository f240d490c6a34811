package catalog_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const (
	kettleID = "01KAHV6T3R8Q4Y2M0N7C5B9XZE"
	treeID   = "01KAHW7S2Q9P5X3N1M8D6C0YAF"
	emptyID  = "01KAHX8R1P0N6W4M2K9E7D1ZBG"
	teaID    = "01KAHY9Q0N1M7V5K3J0F8E2ACH"
)

func wanted(t *testing.T) *catalog.Catalog {
	t.Helper()
	c := catalog.New(t.TempDir(), journal.Options{})
	put(t, c.Team("kitchen"), kettleID, begun(kettleID, "kitchen"), said(1, mia, "Repair the kettle"))
	put(t, c.Team("garden"), treeID, begun(treeID, "garden"),
		said(2, mia, "Plant a tree"), after(3, projection.SessionRenamed{Title: "B9XZE"}))
	put(t, c.Team("kitchen"), emptyID, begun(emptyID, "kitchen"),
		after(9, projection.TaskSet{Task: new("no message yet")}))
	put(t, c.Team("kitchen"), teaID, begun(teaID, "kitchen"), said(4, mia, "Tea"))
	return c
}

func TestFind(t *testing.T) {
	c := wanted(t)
	for _, test := range []struct{ what, name, want string }{
		{"an id", kettleID, kettleID},
		{"an id in lower case", strings.ToLower(kettleID), kettleID},
		{"an id in both cases", "01kahv6t3r8q4y2m0n7c5B9XZE", kettleID},
		{"the id of a session without messages", emptyID, emptyID},
		{"the latest with messages", "latest", teaID},
		{"a title", "Plant a tree", ""}, // it was renamed
		{"a title", "Repair the kettle", kettleID},
		{"a title in another case", "repair the kettle", ""},
		{"the beginning of a title", "Repair", ""},
		{"a title of 3 characters", "Tea", teaID},
		{"a title before the end of an id", "B9XZE", treeID},
		{"the end of an id", "9XZE", kettleID},
		{"the end of an id in lower case", "9xze", kettleID},
		{"the beginning of an id", "01KAHV", kettleID},
		{"the beginning of an id in lower case", "01kahw", treeID},
		{"all but the last character", kettleID[:25], kettleID},
		{"all but the first character", kettleID[1:], kettleID},
		{"the middle of an id", "3R8Q4Y2M", ""},
		{"an id and more", kettleID + "x", ""},
		{"more and an id", "x" + kettleID, ""},
		{"an id twice", kettleID + kettleID, ""},
		{"3 characters of the end", "XZE", ""},
		{"3 characters of the beginning", "01K", ""},
		{"nothing", "", ""},
		{"spaces", "    ", ""},
		{"another id", id(5), ""},
		{"latest in another case", "LATEST", ""},
		{"a path", "../kitchen/" + kettleID, ""},
		{"a pattern", "01KAHV*", ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			s, _, err := c.Find(ctx, test.name)
			if test.want != "" {
				if err != nil || s.ID != test.want {
					t.Errorf("%q: %q, %v", test.name, s.ID, err)
				}
				return
			}
			var notFound *catalog.NotFoundError
			if !errors.As(err, &notFound) || !errors.Is(err, journal.ErrNotFound) {
				t.Fatalf("%q: %q, %v", test.name, s.ID, err)
			}
			if !strings.EqualFold(notFound.Name, test.name) || !strings.Contains(err.Error(), "no session") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestFindAmbiguousName(t *testing.T) {
	c := wanted(t)
	again := "01KAHZ0P9M2K8T6J4H1G9F9XZE"
	put(t, c.Team("garden"), again, begun(again, "garden"), said(60, mia, "Tea"))
	for name, want := range map[string][]string{
		"9xze": {again, kettleID},
		"Tea":  {again, teaID},
		"01KA": {again, emptyID, teaID, treeID, kettleID},
	} {
		s, _, err := c.Find(ctx, name)
		var ambiguous *catalog.AmbiguousError
		if !errors.As(err, &ambiguous) {
			t.Errorf("%s: %+v, %v", name, s, err)
			continue
		}
		if diff := cmp.Diff(want, ids(ambiguous.Candidates)); diff != "" || ambiguous.Name != name {
			t.Errorf("%s, %v (-want +got):\n%s", name, err, diff)
		}
		if errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%v is a journal.ErrNotFound", err)
		}
	}
}

func TestFindByIDReadsNoOtherJournal(t *testing.T) {
	disk := watch()
	root := t.TempDir()
	c := mixed(t, root, disk)
	disk.forget()
	if _, _, err := c.Find(ctx, id(1)); err != nil {
		t.Fatal(err)
	}
	for name := range disk.read {
		if strings.Contains(name, ".jsonl") && !strings.HasPrefix(name, id(1)) {
			t.Errorf("%s was opened", name)
		}
	}
}

func TestLatestSkipsEmptyAndDamaged(t *testing.T) {
	at := func(messages int) projection.Row { return projection.Row{MessageCount: messages} }
	sessions := []catalog.Session{
		{ID: "empty", Row: at(0)},
		{ID: "damaged", Row: at(3), Damaged: "line 2"},
		{ID: "empty and damaged", Damaged: "line 1"},
		{ID: "latest", Row: at(1)},
		{ID: "older, damaged", Damaged: "line 1"},
		{ID: "older", Row: at(1)},
	}
	latest, skipped, err := catalog.Latest(slices.Values(sessions))
	if err != nil || latest.ID != "latest" {
		t.Errorf("%+v, %v", latest, err)
	}
	if diff := cmp.Diff([]string{"damaged", "empty and damaged"}, ids(skipped)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, skipped, err = catalog.Latest(slices.Values(sessions[:3]))
	if !errors.Is(err, journal.ErrNotFound) || len(skipped) != 2 {
		t.Errorf("%+v, %v", skipped, err)
	}
}

func TestShortIDsAreUniqueEnds(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		similar := rapid.StringMatching(`0[0-9A-C]{1}X{20}[AB]{4}`)
		names := rapid.SliceOfNDistinct(similar, 0, 60, rapid.ID).Draw(t, "ids")
		var sessions []catalog.Session
		for _, name := range names {
			sessions = append(sessions, catalog.Session{ID: name})
		}
		short := catalog.ShortIDs(sessions)
		if len(short) != len(names) {
			t.Fatalf("%d of %d", len(short), len(names))
		}
		for _, name := range names {
			s := short[name]
			if len(s) < 4 || !strings.HasSuffix(name, s) {
				t.Fatalf("%s is short for %s", s, name)
			}
			same := func(end string) int {
				n := 0
				for _, other := range names {
					if strings.HasSuffix(other, end) {
						n++
					}
				}
				return n
			}
			if same(s) != 1 {
				t.Fatalf("%s ends in %s, and others do", name, s)
			}
			if len(s) > 4 && same(s[1:]) == 1 {
				t.Fatalf("%s would do instead of %s", s[1:], s)
			}
		}
	})
}

func TestShortIDsAreFound(t *testing.T) {
	c := wanted(t)
	all := list(t, c)
	for name, short := range catalog.ShortIDs(all) {
		if s, _, err := c.Find(ctx, short); err != nil || s.ID != name || len(short) != 4 {
			t.Errorf("%s for %s: %s, %v", short, name, s.ID, err)
		}
	}
}

// A short id distinguishes a session from those that are not on the page, too.
func TestShortIDsDifferFromOthers(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	kitchen, other := c.Team("kitchen"), "02"+id(1)[2:]
	for _, name := range []string{id(1), id(2), other} {
		put(t, kitchen, name, chat(name, "kitchen", "hello", 1)...)
	}
	all, err := c.List(ctx, catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	page := slices.DeleteFunc(slices.Clone(all.Sessions), func(s catalog.Session) bool { return s.ID == other })
	short := catalog.ShortIDs(page, all.Matches...)
	if len(short) != 2 || short[id(1)] != id(1)[1:] || short[id(2)] != id(2)[22:] {
		t.Errorf("%q", short)
	}
}

// A directory that cannot be read may have the session.
func TestFindByIDReportsUnreadableDirectory(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(vfs.OS)
		c := catalog.New(t.TempDir(), journal.Options{FS: disk})
		for i, name := range []string{"garden", "kitchen", "pantry"} {
			put(t, c.Team(name), id(i+1), chat(id(i+1), name, "hello", 1)...)
		}
		disk.Fail(n, syscall.EIO, journaltest.Read)
		_, _, err := c.Find(ctx, id(9))
		var missing *catalog.NotFoundError
		if disk.Failed() != errors.Is(err, syscall.EIO) || disk.Failed() == errors.As(err, &missing) {
			t.Errorf("read %d: %v", n, err)
		}
		if !disk.Failed() || t.Failed() {
			return
		}
	}
}

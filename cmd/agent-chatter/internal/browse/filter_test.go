package browse

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestKeys(t *testing.T) {
	s := catalog.Session{TeamID: "shop", CWD: "/home/eva"}
	for keys, want := range map[string]struct {
		query catalog.Query
		names string
	}{
		"":      {catalog.Query{}, ""},
		"2":     {catalog.Query{Live: catalog.Only}, "live"},
		"3":     {catalog.Query{Archived: catalog.Only}, "archived"},
		"4":     {catalog.Query{Damaged: catalog.Only}, "damaged"},
		"41":    {catalog.Query{}, ""},
		"T.":    {catalog.Query{Team: "shop", CWD: "/home/eva"}, "team shop, in /home/eva"},
		"T.T.":  {catalog.Query{}, ""},
		"sss":   {catalog.Query{Sort: catalog.ByTitle}, "by title"},
		"ssss":  {catalog.Query{}, ""},
		"s3Tx5": {catalog.Query{Archived: catalog.Only, Team: "shop", Sort: catalog.ByCreated}, "archived, team shop, by created"},
	} {
		var f listFilter
		for _, key := range keys {
			before := f
			if f.Press(string(key), s, true) != (f != before) {
				t.Errorf("%s: %c changes %v to %v", keys, key, before, f)
			}
		}
		if f.Query() != want.query || strings.Join(f.Names(), ", ") != want.names {
			t.Errorf("%s: got %+v, %q", keys, f.Query(), f.Names())
		}
		if of := filterOf(f.Query()); of != f {
			t.Errorf("%s: the filter of its query is %+v", keys, of)
		}
		restricts := want.query != catalog.Query{Sort: want.query.Sort}
		if f.Restricts() != restricts || f.Clear() != restricts || f.Restricts() || f.Query().Sort != want.query.Sort {
			t.Errorf("%s: it restricts: %v; cleared: %+v", keys, !restricts, f)
		}
	}
	var f listFilter
	if f.Press("T", catalog.Session{}, false) || f.Press(".", catalog.Session{}, false) {
		t.Error("a list without sessions has a team")
	}
	f.Press("T", catalog.Session{TeamID: apptest.Hostile}, true)
	f.Press(".", catalog.Session{CWD: apptest.Hostile}, true)
	for _, name := range f.Names() {
		if r, acting := apptest.Acting(name); acting || strings.Contains(name, "\n") {
			t.Errorf("%U in %q", r, name)
		}
	}
}

package search_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// touchSession writes session n, in /home/mia/shop, with a tool call for each input.
func touchSession(t *testing.T, c *catalog.Catalog, n int, inputs ...string) string {
	t.Helper()
	id := fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C5B%04d", n)
	at := begun.Add(-time.Duration(n) * time.Hour)
	records := []journal.Record{projection.Record(at, projection.SessionCreated{
		Format: 1, SessionID: id, CWD: "/home/mia/shop", Team: projection.Team{ID: "review"}})}
	for i, input := range inputs {
		records = append(records, projection.Record(at, projection.ToolStarted{
			TurnID: "t", ToolID: fmt.Sprint(i), Name: "Tool", Input: json.RawMessage(input)}))
	}
	write(t, c, id, records...)
	return id
}

// touched returns the numbers of the calls that name a file.
func touched(t *testing.T, c *catalog.Catalog, q search.FileQuery) (calls []string) {
	t.Helper()
	list, err := c.List(t.Context(), catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for touch, err := range search.Touches(t.Context(), c, list.Matches, q) {
		if err != nil {
			t.Error(err)
			continue
		}
		calls = append(calls, touch.Call.ToolID)
	}
	return calls
}

func TestTouchesFindPaths(t *testing.T) {
	for _, test := range []struct {
		input, path string
		want        bool
	}{
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "/home/mia/shop/roof/main.go", true},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "roof/main.go", true},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "./roof/main.go", true},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "main.go", true},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "/home/mia/shop/roof", true},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "roof/", true},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "/roof/main.go", false},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "oof/main.go", false},
		{`{"file_path":"/home/mia/shop/roof/main.go"}`, "roof/main.g", false},
		{`{"file_path":"/home/mia/shop/roof/main.go.bak"}`, "main.go", false},
		{`{"file_path":"roof/main.go"}`, "/home/mia/shop/roof/main.go", true},
		{`{"file_path":"./roof/main.go"}`, "/home/mia/shop/roof/main.go", true},
		{`{"file_path":"other/roof/main.go"}`, "/home/mia/shop/roof/main.go", false},
		{`{"file_path":"../roof/main.go"}`, "/home/mia/shop/roof/main.go", false},
		{`{"file_path":"roof/main.go"}`, "/home/mia/other/roof/main.go", false},
		{`{"uri":"file:///home/mia/shop/main.go"}`, "/home/mia/shop/main.go", true},
		{`{"command":"sed -i s/a/b/ roof/main.go && go test"}`, "roof/main.go", true},
		{`{"command":["cat","roof/main.go"]}`, "main.go", true},
		{`{"command":"See roof/main.go."}`, "roof/main.go", true},
		{`{"command":"cat my-main.go"}`, "main.go", false},
		{`{"edits":[{"path":"roof/main.go"}]}`, "main.go", true},
		{`{"input":"*** Begin Patch\n*** Update File: roof/main.go\n+x"}`, "roof/main.go", true},
		{`{"file_path":"C:\\shop\\roof\\main.go"}`, `C:\shop\roof\main.go`, true},
		{`{"file_path":"C:\\shop\\roof\\main.go"}`, `roof\main.go`, true},
		{`{"file_path":"C:\\shop\\roof\\main.go"}`, `D:\shop\roof\main.go`, false},
		{`{"file_path":"/home/mia/shop/dächer & mehr/茶.go"}`, "dächer & mehr/茶.go", true},
		{`{"file_path":"\u8336.go"}`, "茶.go", true},
		{`{"main.go":1}`, "main.go", false},
		{`"main.go"`, "main.go", true},
		{`1`, "main.go", false},
	} {
		c := newCatalog(t)
		touchSession(t, c, 1, test.input)
		if got := touched(t, c, search.FileQuery{Path: test.path}); (len(got) > 0) != test.want {
			t.Errorf("%s in %s: %v", test.path, test.input, got)
		}
	}
}

func TestTouchesAreInTheOrderOfTheSessions(t *testing.T) {
	c := newCatalog(t)
	touchSession(t, c, 2, `{"path":"main.go"}`, `{"path":"other.go"}`)
	touchSession(t, c, 1, `{"path":"other.go"}`, `{"path":"main.go"}`, `{"path":"main.go"}`)
	session(t, c, 9, "I changed main.go", `{"path":"main.go"}`)
	if got := fmt.Sprint(touched(t, c, search.FileQuery{Path: "main.go"})); got != "[1 2 0]" {
		t.Errorf("got %s", got)
	}
	since := search.FileQuery{Path: "main.go", Since: begun.Add(-90 * time.Minute)}
	if got := fmt.Sprint(touched(t, c, since)); got != "[1 2]" {
		t.Errorf("since: got %s", got)
	}
	all, err := c.List(t.Context(), catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all.Sessions {
		if !strings.HasSuffix(s.ID, "1") {
			continue
		}
		var got []uint64
		for touch, err := range search.TouchesAfter(t.Context(), c, s, 3, search.FileQuery{Path: "main.go"}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, touch.Seq)
		}
		if fmt.Sprint(got) != "[4]" {
			t.Errorf("after event 3: got %v", got)
		}
	}
}

func TestTouchesReportDamage(t *testing.T) {
	c := newCatalog(t)
	id := touchSession(t, c, 1, `{"path":"main.go","note":"first"}`, `{"path":"main.go"}`)
	damage(t, c.Team("review"), id, "first")
	list, err := c.List(t.Context(), catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	for touch, err := range search.Touches(t.Context(), c, list.Matches, search.FileQuery{Path: "main.go"}) {
		if failed = err; err == nil {
			t.Errorf("found event %d", touch.Seq)
		}
	}
	if failed == nil {
		t.Error("no error")
	}
}

// A turn that changed a file is found as well as a call that names it.
func TestTouchesFindChanges(t *testing.T) {
	for _, test := range []struct {
		path string
		want string
	}{
		{"main.go", "roof/main.go"},
		{"/home/mia/shop/roof/main.go", "roof/main.go"},
		{"roof", "roof/main.go roof/beam.go"},
		{"/home/mia/shop/roof", "roof/main.go roof/beam.go"},
		{"/home/mia/other/roof", ""},
		{"ain.go", ""},
	} {
		c := newCatalog(t)
		tree := strings.Repeat("1", 64)
		write(t, c, "01KAHV6T3R8Q4Y2M0N7C5B0001", projection.Record(begun, projection.SessionCreated{
			Format: 1, SessionID: "01KAHV6T3R8Q4Y2M0N7C5B0001", CWD: "/home/mia/shop",
			Team: projection.Team{ID: "review"},
		}), projection.Record(begun, projection.FilesChanged{
			TurnID: "t", MemberID: "ada", Dir: "/home/mia/shop", Before: tree, After: tree, Modified: 2,
			Changes: []projection.FileChange{
				{Path: "roof/main.go", Kind: projection.FileModified}, {Path: "roof/beam.go", Kind: projection.FileAdded},
			},
		}))
		list, err := c.List(t.Context(), catalog.Query{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for touch, err := range search.Touches(t.Context(), c, list.Matches, search.FileQuery{Path: test.path}) {
			if err != nil || touch.TurnID != "t" {
				t.Error(touch, err)
			}
			for _, change := range touch.Changes {
				got = append(got, string(change.Path))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", test.path, got, test.want)
		}
	}
}

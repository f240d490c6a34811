package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	mia  = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada  = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	bo   = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
)

// A session is a session that is being written, an event each second.
type session struct{ events []journal.Event }

// begun returns a session with members.
func begun(parent *projection.Parent) *session {
	var members []projection.Member
	for _, m := range []projection.Speaker{mia, ada, bo} {
		members = append(members, projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	s := &session{}
	s.add(projection.SessionCreated{Format: projection.Format, SessionID: "s", Parent: parent,
		Team: projection.Team{ID: "t", Members: members}})
	return s
}

func (s *session) add(payloads ...projection.Payload) {
	for _, p := range payloads {
		r := projection.Record(noon.Add(time.Duration(len(s.events))*time.Second), p)
		s.events = append(s.events, journal.Event{Seq: uint64(len(s.events) + 1), Type: r.Type, Data: r.Data, Time: r.Time})
	}
}

func (s *session) say(by projection.Speaker, text string) {
	s.add(projection.NewMessage("m", noon, by, text, nil))
}

func (s *session) call(turn, id, name string, input any, output, failure string) {
	data, _ := json.Marshal(input)
	s.add(projection.ToolStarted{TurnID: turn, ToolID: id, Name: name, Input: data},
		projection.ToolCompleted{TurnID: turn, ToolID: id, Name: name, Output: output, Error: failure})
}

// html returns the HTML of all items.
func (s *session) html(t testing.TB, limit int) string {
	t.Helper()
	var b bytes.Buffer
	members := NewMembers([]projection.Member{{ID: "mia", DisplayName: "Mia"}, {ID: "ada", DisplayName: "Ada"}, {ID: "bo", DisplayName: "Bo"}})
	for _, item := range s.items() {
		if err := members.HTML(&b, item, limit); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// items returns all items.
func (s *session) items() []*conversation.Item {
	var all conversation.Chunk
	for _, e := range s.events {
		all.Add(projection.DecodeEvent(e))
	}
	return all.Items(nil)
}

const source = "## What *changed*\n\n#### Deep\n\n`Div` returns **an error**, ~~never~~ a [link](https://example.com/?a=1&b=2), " +
	"a [file](calc.go) and ![a picture](x.png).  \nA new line.\n\n```go\n// Div divides.\nfunc Div(a, b int) string {\n" +
	"\treturn \"<&>\"\n}\n```\n\n| a | b |\n|:-:|--:|\n| 1 | `2` |\n\n3. three\n4. four\n   - nested\n\n> quoted\n\n---\n\n" +
	"<b>no markup</b> &amp; [NEXT: bo]"

// talkOfAll returns a session with items of all kinds.
func talkOfAll() *session {
	s := begun(&projection.Parent{SessionID: "01KAZP4T8J6E1N3W9CRB7XF2HD", Seq: 12})
	task := "Mend the calculator"
	s.add(projection.SessionImported{Source: "claude", Path: "/x", Taken: 3})
	s.say(mia, "A division by zero\nshould be an error")
	s.add(projection.TaskSet{Task: &task}, projection.SessionRenamed{Title: "Division"})
	s.add(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}, projection.TurnText{TurnID: "t1", Text: "I look."},
		projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{
			{Content: "Find it", Status: projection.Completed}, {Content: "Mend it", Status: projection.InProgress},
			{Content: "Test it", Status: projection.Pending}}, More: 2})
	s.call("t1", "1", "Grep", map[string]string{"pattern": "a / b"}, "\ncalc.go:12:\treturn a / b\n", "")
	s.add(projection.PermissionAnswered{TurnID: "t1", ToolID: "2", Name: "Edit", Allowed: true, By: projection.ByPerson})
	s.call("t1", "2", "Edit", map[string]string{
		"file_path": "calc.go", "old_string": "a\n\tb", "new_string": "a\n\tc"}, "ok", "")
	s.add(projection.PermissionAnswered{TurnID: "t1", ToolID: "3", Name: "Bash", By: projection.ByPolicy})
	s.call("t1", "3", "Bash", map[string]string{"command": "go test\n./..."}, "", "refused <by> the policy")
	s.call("t1", "4", "TodoWrite", map[string]string{}, "ok", "")
	s.add(projection.ToolStarted{TurnID: "t1", ToolID: "5", Name: "Read"})
	s.say(ada, "I look.\n\n"+source)
	s.add(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 65_000,
		Usage: &projection.Usage{Input: 12_000, Output: 396, Cost: &projection.Cost{Amount: 0.0425, Currency: "USD"}}},
		projection.QueueChanged{Changes: []projection.QueueChange{}, Waiting: []string{"bo", "mia"}},
		projection.TurnStarted{TurnID: "t2", MemberID: "bo"}, projection.TurnText{TurnID: "t2", Text: "As `"},
		projection.TurnEnded{TurnID: "t2", MemberID: "bo", FinishReason: projection.Cancelled, Partial: "As `", DurationMS: 700})
	s.add(projection.TaskSet{}, projection.TurnStarted{TurnID: "t3", MemberID: "bo"}, // without an end
		projection.TurnText{TurnID: "t3", Text: "I was"})
	s.say(mia, "Go on")
	s.add(projection.TurnStarted{TurnID: "t4", MemberID: "bo"}, projection.TurnText{TurnID: "t4", Text: "I am still "},
		projection.ToolStarted{TurnID: "t4", ToolID: "1", Name: "Read", Input: json.RawMessage(`{"file_path":"calc.go"}`)})
	return s
}

func TestHTML(t *testing.T) { apptest.Golden(t, "testdata/items.golden", talkOfAll().html(t, 0)) }

// Turns that ran at the same time are parts with their names, and say so.
func TestPanelsAreParts(t *testing.T) {
	s := begun(nil)
	for i, by := range []projection.Speaker{ada, bo} {
		s.add(projection.TurnStarted{
			TurnID: by.ID, MemberID: by.ID, Panel: &projection.Panel{ID: "p", Index: i + 1, Of: 2},
		})
	}
	s.add(projection.TurnText{TurnID: "ada", Text: "green "}, projection.TurnText{TurnID: "bo", Text: "black "})
	for i, by := range []projection.Speaker{bo, ada} {
		said := projection.NewMessage("m", noon, by, []string{"black tea", "green tea"}[i], nil)
		said.TurnID = by.ID
		s.add(said, projection.TurnEnded{TurnID: by.ID, MemberID: by.ID, FinishReason: projection.Done})
	}
	got := s.html(t, 0)
	at := 0
	for _, want := range []string{">Ada<", "at the same time, 1 of 2", "green tea", ">Bo<", "at the same time, 2 of 2", "black tea"} {
		next := strings.Index(got[at:], want)
		if next < 0 {
			t.Fatalf("%q is missing in its place:\n%s", want, got)
		}
		at += next
	}
}

func TestLongTextsAreCut(t *testing.T) {
	s := begun(nil)
	s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"}, projection.TurnText{TurnID: "t", Text: "Before.\n\n"})
	s.call("t", "1", "Bash", map[string]string{"command": strings.Repeat("echo 1\n", 100)}, strings.Repeat("é\n", 300), "")
	s.say(ada, "Before.\n\n"+strings.Repeat("<b>é", 200))
	html := s.html(t, 800)
	for _, want := range []string{
		`<p class="more" data-of="input" data-seq="4" data-from="100" data-to="700">… 600 more bytes</p>`,
		`<p class="more" data-of="output" data-seq="4" data-from="99" data-to="900">… 801 more bytes</p>`,
		`<p class="more" data-of="message" data-seq="6" data-from="809" data-to="1009">… 200 more bytes</p>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if html := s.html(t, 0); strings.Contains(html, `class="more"`) {
		t.Errorf("without a limit it is cut:\n%s", html)
	}
	item := s.items()[0]
	for of, want := range map[string]string{
		"message": "Before.\n\n" + strings.Repeat("<b>é", 200), "input": strings.Repeat("echo 1\n", 100),
		"output": strings.Repeat("é\n", 300), "other": "",
	} {
		if got := Whole(item, of, 4); got != want {
			t.Errorf("%s: %q", of, got)
		}
	}
}

// TestColorsHaveContrast reads the colours of the style sheet.
func TestColorsHaveContrast(t *testing.T) {
	colors := stylesheetColors(t)
	for i := range 16 {
		if _, ok := colors[fmt.Sprint("fg", i)]; !ok {
			t.Errorf("fg%d has no colour", i)
		}
	}
	grounds := map[string][]string{
		"good": {"bg", "soft", "added"}, "bad": {"bg", "soft", "removed"}, "fg": {"bg", "soft", "mark"},
		"line": nil, "added": nil, "removed": nil, "mark": nil, "bg": nil, "soft": nil,
	}
	for name, shades := range colors {
		behind, ok := grounds[name]
		if !ok {
			behind = []string{"bg", "soft"}
		}
		for _, ground := range behind {
			for scheme := range shades {
				if got := contrast(shades[scheme], colors[ground][scheme]); got < 4.5 {
					t.Errorf("%s on %s in scheme %d: %.2f", name, ground, scheme, got)
				}
			}
		}
	}
}

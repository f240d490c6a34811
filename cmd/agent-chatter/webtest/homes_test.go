package webtest

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// The ids of the sessions that the tests make.
const (
	first  = "01KAH9TQ4GJ5X8C2VRB0000001"
	second = "01KAH9TQ4GJ5X8C2VRB0000002"
)

var (
	you = projection.Speaker{ID: "you", Name: "you", DisplayName: "Eva", Type: projection.TypeHuman}
	ada = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	bo  = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
)

// created begins a session of these speakers.
func created(id string) projection.Payload {
	team := projection.Team{ID: "review", Name: "review"}
	for _, s := range []projection.Speaker{you, ada, bo} {
		team.Members = append(team.Members, projection.Member{
			ID: s.ID, Name: s.Name, DisplayName: s.DisplayName, Type: s.Type,
		})
	}
	return projection.SessionCreated{Format: projection.Format, SessionID: id, Team: team, CWD: "/home/eva/shop"}
}

// message returns a message.
func message(by projection.Speaker, text string) projection.Payload {
	return projection.NewMessage("m", began, by, text, nil)
}

var began = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// write writes a session, an event a second, and returns its log, which is open until the test ends.
func write(t testing.TB, home, id string, payloads ...projection.Payload) *journal.Log {
	t.Helper()
	return writeIn(t, home, id, append([]projection.Payload{created(id)}, payloads...)...)
}

// writeIn is write for events of which the first one creates the session.
func writeIn(t testing.TB, home, id string, payloads ...projection.Payload) *journal.Log {
	t.Helper()
	log, err := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{}).Create(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	add(t, log, payloads...)
	return log
}

// add appends events.
func add(t testing.TB, log *journal.Log, payloads ...projection.Payload) {
	t.Helper()
	var records []journal.Record
	for i, p := range payloads {
		at := began.Add(time.Duration(log.Position().Seq+uint64(i)) * time.Second)
		records = append(records, projection.Record(at, p))
	}
	if _, err := log.Append(records...); err != nil {
		t.Fatal(err)
	}
}

// review is a conversation with every part that a page shows.
var review = []projection.Payload{
	message(you, "A division by zero should be an **error**.\n\n- not a panic\n- not `NaN`"), // 2
	projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
	projection.TurnText{TurnID: "t1", Text: "I look for where it divides."},
	projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{
		{Content: "Find the division", Status: projection.Completed},
		{Content: "Return an error", Status: projection.InProgress},
		{Content: "Test it", Status: projection.Pending}}},
	projection.ToolStarted{TurnID: "t1", ToolID: "1", Name: "Grep", Input: json.RawMessage(`{"pattern":"a / b"}`)}, // 6
	projection.ToolCompleted{TurnID: "t1", ToolID: "1", Output: "calc.go:12:\treturn a / b, nil"},
	projection.ToolStarted{TurnID: "t1", ToolID: "2", Name: "Edit", Input: json.RawMessage(
		`{"file_path":"calc.go","old_string":"\treturn a / b, nil","new_string":"\tif b == 0 {\n\t\treturn 0, ErrZero\n\t}\n\treturn a / b, nil"}`)},
	projection.ToolCompleted{TurnID: "t1", ToolID: "2", Output: "ok"},
	message(ada, "I look for where it divides.\n\n`calc.Div` returns an error now:\n\n```go\nif b == 0 {\n\treturn 0, ErrZero // as in the standard library\n}\n```\n\n| input | result |\n|---|---:|\n| 1 / 2 | 0.5 |\n| 1 / 0 | error |"), // 10
	projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 21_300,
		Usage: &projection.Usage{Input: 12_800, Output: 420, Cost: &projection.Cost{Amount: 0.0213, Currency: "USD"}}},
	projection.QueueChanged{Changes: []projection.QueueChange{}, Waiting: []string{"bo"}},
	projection.TurnStarted{TurnID: "t2", MemberID: "bo"},
	projection.ToolStarted{TurnID: "t2", ToolID: "3", Name: "Bash", Input: json.RawMessage(`{"command":"go test ./calc"}`)},
	projection.ToolCompleted{TurnID: "t2", ToolID: "3", Error: "FAIL: TestDivZero\ncalc_test.go:9: got 0"},
	projection.TurnEnded{TurnID: "t2", MemberID: "bo", FinishReason: projection.Cancelled, DurationMS: 4_000,
		Partial: "The test still fails, because"}, // 16
	projection.SessionRenamed{Title: "The checkout rounds down"},
	message(you, "Please look at <https://example.org/ieee> first."), // 18
}

// reviewHome returns a home with the review.
func reviewHome(t testing.TB) string {
	t.Helper()
	home := t.TempDir()
	write(t, home, first, review...).Close()
	write(t, home, second, message(you, "Shall we begin?"), message(ada, "We shall.")).Close()
	return home
}

// longHome returns a home with a session of many messages, and its id.
func longHome(t testing.TB, messages int) (home, id string) {
	t.Helper()
	home = t.TempDir()
	ids, err := catalogtest.Sessions{Team: "review", Count: 1, Messages: messages}.Fill(filepath.Join(home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	return home, ids[0]
}

package turnstest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

// ID is the id of the session that Write writes.
const ID = "01KAJ0000000000000000000A1"

// The members of the sessions.
var (
	Mia = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	Ada = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	Bo  = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo (review)", Type: projection.TypeAI}
)

// Start is the time of the first event.
var Start = time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)

// Created is the first event of a session of the members.
func Created(id string) projection.SessionCreated {
	team := projection.Team{ID: "kitchen", Name: "Kitchen"}
	for _, m := range []projection.Speaker{Mia, Ada, Bo} {
		team.Members = append(team.Members,
			projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	return projection.SessionCreated{Format: projection.Format, SessionID: id, Team: team, CWD: "/home/mia"}
}

// Said is a message to members.
func Said(id string, by projection.Speaker, text string, to ...string) projection.Payload {
	routing := &projection.Routing{}
	for _, name := range to {
		routing.ResolvedAddressees = append(routing.ResolvedAddressees,
			projection.Addressee{Identifier: name, MemberID: &name, MemberName: &name})
	}
	return projection.NewMessage(id, Start, by, text, routing)
}

// Turn is a turn with a reply, or if that is "" with a partial one.
func Turn(id string, by projection.Speaker, reply string, end projection.TurnEnded) []projection.Payload {
	end.TurnID, end.MemberID = id, by.ID
	events := []projection.Payload{projection.TurnStarted{TurnID: id, MemberID: by.ID, AgentType: "claude"}}
	if reply != "" {
		events = append(events, Said("m-"+id, by, reply))
	}
	return append(events, end)
}

// Payloads are the events of a session with a turn of every kind.
func Payloads() (all []projection.Payload) {
	task := "Repair the *kettle*"
	created := Created(ID)
	created.Parent = &projection.Parent{SessionID: "01KAJ0000000000000000000A0", Seq: 12}
	add := func(more ...projection.Payload) { all = append(all, more...) }
	failed := func(id string, by projection.Speaker, reason projection.FinishReason, ms int64, partial string) {
		add(Turn(id, by, "", projection.TurnEnded{FinishReason: reason, DurationMS: ms, Partial: partial})...)
	}
	add(created, projection.TaskSet{Task: &task})
	add(Said("m1", Mia, "[NEXT: ada, bo]\n# Why\n\ndoes the **kettle** not boil?", "ada", "bo"))
	add(
		projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
		projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash", Input: []byte(`{"command":"ls"}`)},
		projection.ToolCompleted{TurnID: "t1", ToolID: "u1", Name: "Bash", Output: "kettle.go\nplug.go"},
		projection.ToolStarted{TurnID: "t1", ToolID: "u2", Name: "Read", Input: []byte(`{"path":"plug.go"}`)},
		projection.ToolCompleted{TurnID: "t1", ToolID: "u2", Name: "Read", Error: "permission denied"},
		Said("m2", Ada, "It is not plugged in. See `kettle.go`:\n\n"+
			"```go\nif plug == nil {\n\treturn errors.New(\"no plug\")\n}\n```\n"),
		projection.TurnEnded{
			TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 12_300,
			Usage: &projection.Usage{
				Input: 900, CachedRead: 11_000, Output: 340, Cost: &projection.Cost{Amount: 0.0421, Currency: "USD"},
			},
		},
	)
	add(Turn("t2", Bo, "水壶没有问题。", projection.TurnEnded{
		FinishReason: projection.Done, DurationMS: 95_000, Usage: &projection.Usage{Input: 1_500_000, Output: 20},
	})...)
	add(projection.SessionRenamed{Title: "The kettle"})
	add(Said("m3", Mia, "Plug it in \x1b[31mnow\x1b[m\u202e", "ada"))
	failed("t3", Ada, projection.Failed, 2_000, "I am *afraid*")
	add(projection.SessionImported{Source: "claude", Path: "/old/kettle.jsonl", Taken: 3})
	failed("t4", Bo, projection.Cancelled, 700, "")
	failed("t5", Bo, projection.TimedOut, 3_605_000, "- a\n- b")
	failed("t6", Ada, projection.Interrupted, 50, "")
	add(projection.TaskSet{}, Said("m4", Mia, "again", "ada", "bo"))
	add(projection.TurnStarted{TurnID: "t7", MemberID: "ada"})
	add(projection.TurnText{TurnID: "t7", Text: "## Plan\n\nFirst, I will "})
	return all
}

// App returns an App whose sessions are in a directory of the test.
func App(t testing.TB) *app.App {
	root := t.TempDir()
	return &app.App{Home: root, Catalog: catalog.New(filepath.Join(root, "sessions"), journal.Options{})}
}

// Dir is where Write puts sessions.
func Dir(a *app.App) *catalog.Dir { return a.Catalog.Team("kitchen") }

// Write writes a session, its events four seconds apart.
func Write(t testing.TB, a *app.App, id string, payloads ...projection.Payload) catalog.Session {
	t.Helper()
	log, err := Dir(a).Journals().Create(id)
	if err != nil {
		t.Fatal(err)
	}
	records := Records(payloads...)
	last := len(records) - 1
	_, err = log.Append(records[:last]...)
	err = errors.Join(err, log.Sync())
	if err == nil {
		_, err = log.Append(records[last]) // with a sync mark: a change before it is damage
	}
	if err = errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
	return Session(t, a, id)
}

// WriteLong writes a session of several pages and returns its rows.
func WriteLong(t testing.TB, a *app.App) (catalog.Session, []projection.TimelineRow) {
	t.Helper()
	const id = "01KAJ000000000000000000000" // that of projectiontest
	dir := Dir(a).Journals().Path()
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		var b bytes.Buffer
		_, err = projectiontest.WriteSession(&b, 800, 1)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, id+".jsonl"), b.Bytes(), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	var all projection.Timeline
	for e, err := range Dir(a).Events(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		all.Apply(e)
	}
	return Session(t, a, id), all.Rows
}

// Records are events four seconds apart.
func Records(payloads ...projection.Payload) (records []journal.Record) {
	for i, p := range payloads {
		records = append(records, projection.Record(Start.Add(time.Duration(i)*4*time.Second), p))
	}
	return records
}

// Session returns a session as a list describes it.
func Session(t testing.TB, a *app.App, id string) catalog.Session {
	t.Helper()
	s, err := Dir(a).Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package main

import (
	"encoding/json"
	"os"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	. "github.com/agent-chatter/agent-chatter/projection"
)

func main() {
	dir := journal.NewDir(os.Args[1], journal.Options{})
	log, err := dir.Create("v1")
	check(err)
	second := 0
	at := func() time.Time {
		second++
		return time.Date(2026, 11, 21, 2, 30, second, 0, time.UTC)
	}
	put := func(payloads ...Payload) {
		var batch []journal.Record
		for _, p := range payloads {
			batch = append(batch, Record(at(), p))
		}
		_, err := log.Append(batch...)
		check(err)
		check(log.Sync())
	}
	str := func(s string) *string { return &s }
	mia := Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: TypeHuman}
	ada := Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: TypeAI}
	bo := Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: TypeAI}
	app := App{Name: "agent-chatter", Version: "0.1.0"}
	msg := func(id string, by Speaker, content string, r *Routing) MessageAppended {
		return NewMessage(id, time.Date(2026, 11, 21, 2, 30, second+1, 0, time.UTC), by, content, r)
	}
	put(SessionCreated{
		Format: 1, SessionID: "01KAHV6T3R8Q4Y2M0N7C5B9XZE", CWD: "/home/mia/kettle", App: app,
		Team: Team{ID: "kitchen", Name: "Kitchen", Members: []Member{
			{ID: "mia", Name: "mia", DisplayName: "Mia", Type: TypeHuman},
			{ID: "ada", Name: "ada", DisplayName: "Ada", Type: TypeAI, AgentType: "claude", Model: "opus"},
			{ID: "bo", Name: "bo", DisplayName: "Bo", Type: TypeAI, AgentType: "codex"},
		}, Source: &Source{Path: "/home/mia/kettle/team.json", SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}},
		Parent: &Parent{SessionID: "01KAHV5K1J3WZ6T8R0Q2P4M6NA", Seq: 7},
	}, TaskSet{Task: str("Repair the kettle,\nwhose notes say \"messages\": []")},
		msg("m1", mia, "[NEXT: ada] Why does the kettle\nnot boil? <&> \u2028 水壶 🫖", &Routing{
			RawNextMarkers: []string{"ada"}, ResolvedAddressees: []Addressee{{Identifier: "ada", MemberID: str("ada"), MemberName: str("ada")}},
		}))
	put(TurnStarted{TurnID: "t1", MemberID: "ada", AgentType: "claude", Model: "opus", TriggerMessageID: "m1"})
	put(ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash", Input: json.RawMessage(`{"command":"cat plug.txt"}`)})
	put(ToolCompleted{TurnID: "t1", ToolID: "u1", Name: "Bash", Output: "not plugged in", OutputBytes: 40_000})
	put(TurnText{TurnID: "t1", Text: "It is not "})
	put(TurnText{TurnID: "t1", Text: "plugged in."})
	put(msg("m2", ada, "It is not plugged in.", &Routing{
		RawNextMarkers: []string{"carol", "bo"}, ResolvedAddressees: []Addressee{{Identifier: "carol"}, {Identifier: "bo", MemberID: str("bo"), MemberName: str("bo")}},
	}), TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: Done, DurationMS: 4200, Usage: &Usage{InputTokens: 1200, OutputTokens: 34}, AgentSession: "claude-1"})
	put(TurnStarted{TurnID: "t2", MemberID: "bo", AgentType: "codex", TriggerMessageID: "m2"})
	put(ToolStarted{TurnID: "t2", ToolID: "u2", Name: "shell"})
	put(TurnText{TurnID: "t2", Text: "I am plugging"})
	put(JournalRecovered{Recovered: journal.Recovered{Reason: "the last line has no end", Aside: "v1.aside-1", Offset: 2748, Bytes: 31, FirstSeq: 14, LastSeq: 14}},
		SessionResumed{App: app, CWD: "/home/mia", Source: &Source{Path: "/home/mia/team.json", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
			Missing: []MemberRef{{ID: "carol", Name: "carol"}}, Changed: []MemberRef{{ID: "ada", Name: "ada"}}},
		ToolCompleted{TurnID: "t2", ToolID: "u2", Error: "the program ended while the tool ran"},
		TurnEnded{TurnID: "t2", MemberID: "bo", FinishReason: Interrupted, Partial: "I am plugging"},
		msg("m3", mia, "Go on, \xff please. \x00 \x1b[31m", nil))
	put(SessionImported{Source: "session-snapshot-v1.0", Path: "/home/mia/old.json", Taken: 2, Skipped: 1})
	put(SessionRenamed{Title: "The kettle"}, SessionPinned{Pinned: true})
	data, _ := json.Marshal(map[string]any{"litres": 1.5})
	_, err = log.Append(journal.Record{Type: "water.poured", Data: data, Time: at()})
	check(err)
	put(TurnStarted{TurnID: "t3", MemberID: "bo", AgentType: "codex", TriggerMessageID: "m3"}, TurnText{TurnID: "t3", Text: "Now it"})
	put(SessionEnded{Reason: "exit"})
	check(log.Close())
	check(os.Remove(os.Args[1] + "/v1.lock"))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

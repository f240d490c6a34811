package updates_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/acptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/updates"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var (
	mia = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	bo  = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
)

var crew = &team.Team{ID: "t", Members: []team.Member{
	{ID: "mia", Name: "mia", DisplayName: "Mia", Type: team.Human}, {ID: "ada", Name: "ada", DisplayName: "Ada", Type: team.AI},
	{ID: "bo", Name: "bo", DisplayName: "Bo", Type: team.AI}, {ID: "cy", Name: "cy", DisplayName: "Cy (new)", Type: team.AI},
}}

// A step is what a Translator gets: an event, or text that streams.
type step struct {
	event  journal.Event
	turn   string
	stream string
}

// A session builds the steps of a session, a second apart.
type session struct {
	steps []step
	seq   uint64
}

func (s *session) add(p projection.Payload) {
	s.seq++
	r := projection.Record(noon.Add(time.Duration(s.seq)*time.Second), p)
	s.steps = append(s.steps, step{event: journal.Event{Seq: s.seq, Type: r.Type, Data: r.Data, Time: r.Time}})
}

func (s *session) stream(turn, text string) {
	s.steps = append(s.steps, step{turn: turn, stream: text})
}

// begin begins a session of Mia, Ada and Bo.
func begin() *session {
	s := &session{}
	var members []projection.Member
	for _, m := range []projection.Speaker{mia, ada, bo} {
		members = append(members, projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	s.add(projection.SessionCreated{
		Format: 1, SessionID: "s", CWD: "/home/mia", Team: projection.Team{ID: "t", Members: members},
	})
	return s
}

func (s *session) say(by projection.Speaker, content string) {
	s.add(projection.NewMessage(fmt.Sprintf("m%d", s.seq), noon, by, content, nil))
}

func (s *session) turn(id string, by projection.Speaker) {
	s.add(projection.TurnStarted{TurnID: id, MemberID: by.ID})
}

func (s *session) end(id string, by projection.Speaker, reason projection.FinishReason, partial, failure string) {
	s.add(projection.TurnEnded{TurnID: id, MemberID: by.ID, FinishReason: reason, Partial: partial, Error: failure})
}

func (s *session) call(turn, id, name, input, output, failure string) {
	s.add(projection.ToolStarted{TurnID: turn, ToolID: id, Name: name, Input: json.RawMessage(input)})
	s.add(projection.ToolCompleted{TurnID: turn, ToolID: id, Name: name, Output: output, Error: failure})
}

func (s *session) events() (events []journal.Event) {
	for _, step := range s.steps {
		if step.stream == "" {
			events = append(events, step.event)
		}
	}
	return events
}

// live returns the updates of a session that takes place.
func (s *session) live() []sdk.SessionUpdate {
	return play(updates.New(updates.Options{Team: crew}), s.steps)
}

func play(t *updates.Translator, steps []step) (all []sdk.SessionUpdate) {
	for _, step := range steps {
		if step.stream != "" {
			all = append(all, t.Text(step.turn, step.stream)...)
			continue
		}
		all = append(all, t.Event(coordinator.Event{Event: projection.DecodeEvent(step.event)})...)
	}
	return all
}

// replay returns the updates of a journal.
func replay(events []journal.Event) (all []sdk.SessionUpdate) {
	t := updates.New(updates.Options{Team: crew})
	for _, e := range events {
		all = append(all, t.Replay(e)...)
	}
	return append(all, t.EndReplay()...)
}

// A message is what a client has of one.
type message struct {
	id     string
	user   bool
	member string
	text   string // all of it
	said   string // what no program added
}

// messages returns the messages of updates without notices.
func messages(all []sdk.SessionUpdate) (found []message) {
	for _, u := range all {
		var chunk sdk.SessionUpdateAgentMessageChunk
		switch {
		case u.AgentMessageChunk != nil:
			chunk = *u.AgentMessageChunk
		case u.UserMessageChunk != nil:
			chunk = sdk.SessionUpdateAgentMessageChunk(*u.UserMessageChunk)
		default:
			continue
		}
		meta := metaOf(chunk.Meta)
		if meta["notice"] == true {
			continue
		}
		id := *chunk.MessageId
		i := slices.IndexFunc(found, func(m message) bool { return m.id == id })
		if i < 0 {
			i = len(found)
			found = append(found, message{id: id, user: u.UserMessageChunk != nil, member: fmt.Sprint(meta["member"])})
		}
		found[i].text += chunk.Content.Text.Text
		if meta["added"] != true {
			found[i].said += chunk.Content.Text.Text
		}
	}
	return found
}

// replies returns the messages without those of people.
func replies(all []sdk.SessionUpdate) []message {
	return slices.DeleteFunc(messages(all), func(m message) bool { return m.user })
}

func metaOf(meta map[string]any) map[string]any {
	values, _ := meta["agent-chatter"].(map[string]any)
	return values
}

// text returns the text that a client has that joins what agents say.
func text(all []sdk.SessionUpdate) string {
	var b strings.Builder
	for _, u := range all {
		if u.AgentMessageChunk != nil {
			b.WriteString(u.AgentMessageChunk.Content.Text.Text)
		}
	}
	return b.String()
}

// others describes the updates that have no text of a message.
func others(all []sdk.SessionUpdate) (lines []string) {
	for _, u := range all {
		if u.AgentMessageChunk == nil && u.UserMessageChunk == nil {
			line, _ := json.Marshal(u)
			lines = append(lines, string(line))
		}
	}
	return lines
}

// check checks updates against the schema of the protocol.
func check(t testing.TB, all []sdk.SessionUpdate) {
	t.Helper()
	r, err := acptest.NewRecording()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all {
		params, err := json.Marshal(sdk.SessionNotification{SessionId: "s", Update: u})
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":%s}`, params)
		if err := r.Check(acptest.Agent, line); err != nil {
			t.Error(err)
		}
	}
}

// journals returns those of every version of the format, and those of the manual.
func journals(t testing.TB) map[string][]journal.Event {
	t.Helper()
	all := map[string][]journal.Event{}
	for _, pattern := range []string{
		"../../../../../projection/testdata/journals/v*[0-9].jsonl",
		"../../../../../projection/testdata/journals/panel.jsonl", "../../../guide/testdata/sessions/*/*.jsonl",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d journals, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			all[id] = read(t, filepath.Dir(path), id)
		}
	}
	return all
}

func read(t testing.TB, dir, id string) (events []journal.Event) {
	t.Helper()
	reader, err := journal.NewDir(dir, journal.Options{}).Reader(id, journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for e, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		e.Data = slices.Clone(e.Data)
		events = append(events, e)
	}
	return events
}

package conversationtest

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/projection"
)

// The speakers of a drawn session. Cy is no member of the team.
var (
	Mia = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	Ada = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	Bo  = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
	Cy  = projection.Speaker{ID: "cy", Name: "cy", DisplayName: "cy", Type: projection.TypeAI}
)

// Team has the members of a drawn session.
func Team() projection.Team {
	team := projection.Team{ID: "kitchen", Name: "Kitchen"}
	for _, m := range []projection.Speaker{Mia, Ada, Bo} {
		team.Members = append(team.Members, member(m))
	}
	return team
}

func member(s projection.Speaker) projection.Member {
	return projection.Member{ID: s.ID, Name: s.Name, DisplayName: s.DisplayName, Type: s.Type}
}

// A session is a session that is being drawn.
type session struct {
	*rapid.T
	text     *rapid.Generator[string]
	payloads []projection.Payload
	open     []*turn
	resumed  int // length of payloads at the newest start of the program
}

// A turn is one that may continue.
type turn struct {
	id      string
	by      projection.Speaker
	began   int // length of session.payloads
	text    string
	replied bool
}

// What Draw draws, more often than others if it is repeated. "continue" is an event of an open turn.
var (
	drawnEvents = []string{
		"person", "agent", "begin", "begin", "other",
		"continue", "continue", "continue", "continue", "continue", "continue",
	}
	drawnSteps = []string{
		"text", "text", "call", "result", "answer", "plan", "message", "message", "older message", "end",
	}
)

// Draw draws what may follow the start of a session of the Team: messages of people and agents, any number of open
// turns with texts, tool calls and todo lists, turns without a message or an end, later runs of the program, and
// changes of the session. The texts are among those that are given.
func Draw(t *rapid.T, texts []string) []projection.Payload {
	s := &session{T: t, text: rapid.SampledFrom(texts)}
	for range rapid.IntRange(0, 40).Draw(t, "events") {
		switch rapid.SampledFrom(drawnEvents).Draw(t, "event") {
		case "person":
			s.over(func(u *turn) bool { return u.replied || u.began < s.resumed })
			s.say(Mia, s.text.Draw(t, "text"), "")
		case "agent": // an answer to none of the open turns
			by := s.speaker()
			if !slices.ContainsFunc(s.open, func(u *turn) bool { return u.by == by }) {
				s.say(by, s.text.Draw(t, "text"), "")
			}
		case "begin":
			s.begin(s.speaker())
		case "other":
			s.change()
		default:
			if len(s.open) > 0 {
				s.continueTurn(rapid.SampledFrom(s.open).Draw(t, "turn"))
			}
		}
	}
	return s.payloads
}

func (s *session) speaker() projection.Speaker {
	return rapid.SampledFrom([]projection.Speaker{Ada, Bo, Cy}).Draw(s.T, "speaker")
}

func (s *session) add(payloads ...projection.Payload) { s.payloads = append(s.payloads, payloads...) }

func (s *session) say(by projection.Speaker, text, turnID string) {
	m := projection.NewMessage(fmt.Sprint("m", len(s.payloads)), began, by, text, nil)
	m.TurnID = turnID
	s.add(m)
}

// over removes the turns that do not continue.
func (s *session) over(is func(*turn) bool) { s.open = slices.DeleteFunc(s.open, is) }

func (s *session) begin(by projection.Speaker) {
	s.over(func(u *turn) bool { return u.by == by || u.began < s.resumed })
	u := &turn{id: fmt.Sprint("t", len(s.payloads)), by: by, began: len(s.payloads)}
	s.open = append(s.open, u)
	s.add(projection.TurnStarted{TurnID: u.id, MemberID: by.ID, AgentType: "demo"})
}

func (s *session) change() {
	text := s.text.Draw(s.T, "text")
	switch rapid.IntRange(0, 4).Draw(s.T, "change") {
	case 0:
		s.resumed = len(s.payloads)
		s.add(projection.SessionResumed{CWD: "/kettle"})
	case 1:
		s.add(projection.TaskSet{Task: &text})
	case 2:
		s.add(projection.SessionRenamed{Title: text})
	case 3:
		s.add(projection.QueueChanged{Changes: []projection.QueueChange{}, Waiting: []string{Bo.ID}})
	default:
		s.add(projection.SessionPinned{})
	}
}

// continueTurn adds an event of a turn.
func (s *session) continueTurn(u *turn) {
	tool := rapid.SampledFrom([]string{"1", "2"}).Draw(s.T, "tool")
	switch rapid.SampledFrom(drawnSteps).Draw(s.T, "step") {
	case "text":
		if !u.replied {
			text := s.text.Draw(s.T, "text")
			u.text += text
			s.add(projection.TurnText{TurnID: u.id, Text: text})
		}
	case "call":
		input := []byte(`{"command":"ls ` + u.id + `"}`)
		s.add(projection.ToolStarted{TurnID: u.id, ToolID: tool, Name: "Bash", Input: input})
	case "result":
		s.add(projection.ToolCompleted{TurnID: u.id, ToolID: tool, Name: "Bash", Output: "output of " + u.id,
			Error: rapid.SampledFrom([]string{"", "it failed"}).Draw(s.T, "failure")})
	case "answer":
		allowed := rapid.Bool().Draw(s.T, "allowed")
		s.add(projection.PermissionAnswered{TurnID: u.id, ToolID: tool, Allowed: allowed, By: projection.ByPerson})
	case "plan":
		entry := projection.PlanEntry{Content: s.text.Draw(s.T, "entry"), Status: projection.Pending}
		s.add(projection.PlanUpdated{TurnID: u.id, Entries: []projection.PlanEntry{entry}})
	case "message":
		if !u.replied {
			u.replied = true
			if s.say(u.by, s.message(u), u.id); rapid.Bool().Draw(s.T, "ends") {
				s.end(u)
			}
		}
	case "older message": // of journals of earlier versions, which do not name the turn
		if !u.replied {
			u.replied = true
			s.say(u.by, s.message(u), "")
			s.end(u)
		}
	case "end":
		s.end(u)
	}
}

// message draws the message of a turn: its text or another one.
func (s *session) message(u *turn) string {
	if rapid.IntRange(0, 9).Draw(s.T, "another text") == 0 {
		return s.text.Draw(s.T, "message")
	}
	return strings.TrimRight(u.text, " \t\r\n")
}

func (s *session) end(u *turn) {
	end := projection.TurnEnded{TurnID: u.id, MemberID: u.by.ID, FinishReason: projection.Done, DurationMS: 1200}
	if !u.replied {
		end.FinishReason, end.Partial = projection.Cancelled, u.text
	}
	s.add(end)
	s.over(func(other *turn) bool { return other == u })
}

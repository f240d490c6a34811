package projectiontest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// WriteSession writes the journal of a session with a number of messages, and returns
// the position of its end. Every fourth message is a person's. The others are the turns
// of agents, with one or two tool calls and a turn.text, about six events per message.
// Lines have 2 KB on average, from 150 bytes to 50 KB. The same seed always gives the
// same bytes.
func WriteSession(w io.Writer, messages int, seed uint64) (journal.Position, error) {
	s := newSession(w, seed)
	s.event(s.created())
	for n := range messages {
		if n%4 == 0 {
			s.event(s.question(n))
			continue
		}
		s.turn(n)
	}
	if s.err != nil {
		return journal.Position{}, s.err
	}
	return s.at, s.out.Flush()
}

// session is the session that is being written.
type session struct {
	out  *bufio.Writer
	rand *rand.Rand
	text string // the source of all texts
	time time.Time
	at   journal.Position
	err  error
}

var (
	mia    = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	agents = []projection.Speaker{
		{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI},
		{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI},
		{ID: "cy", Name: "cy", DisplayName: "Cy (review)", Type: projection.TypeAI},
	}
)

func newSession(w io.Writer, seed uint64) *session {
	r := rand.New(rand.NewPCG(seed, seed))
	return &session{
		out: bufio.NewWriterSize(w, 1<<20), rand: r, text: prose(r, 256<<10),
		time: time.Date(2026, time.November, 21, 2, 30, 0, 0, time.UTC),
	}
}

// phrases are parts of texts about code: mostly plain words, with line breaks, quotes,
// paths, code and some characters that are not ASCII.
var phrases = []string{
	"the kettle does not boil", "I have read the file", "and the test fails", "because", "nothing was changed",
	"in coordinator/turn.go,", "line 42:", "it returns nil", "`go test ./...`", "\"unexpected end\"", "for example",
	"which is what we want", "but not here.", "Then", "should I go on?", "as far as I can see", "— perhaps —",
	"für alle",
	"\n\n", "\n- ",
	"\n```go\nif err != nil {\n\treturn fmt.Errorf(\"read %s: %w\", path, err)\n}\n```\n", "a\\b", "水壶",
	"🫖", "✓",
}

func prose(r *rand.Rand, length int) string {
	var b strings.Builder
	for b.Len() < length {
		b.WriteString(phrases[min(r.IntN(len(phrases)), r.IntN(len(phrases)))])
		b.WriteByte(' ')
	}
	return b.String()
}

// said returns a part of the text with about length bytes: most are shorter, few are
// eight times as long.
func (s *session) said(length int) string {
	length = 20 + int(float64(length)*min(8, s.rand.ExpFloat64()))
	start := s.rand.IntN(len(s.text) - length)
	return strings.ToValidUTF8(s.text[start:start+length], "")
}

// event writes the next line, some seconds after the previous one.
func (s *session) event(p projection.Payload) {
	if s.err != nil {
		return
	}
	s.time = s.time.Add(time.Duration(s.rand.IntN(20_000_000)) * time.Microsecond)
	var e journal.Event
	if e, s.at, s.err = s.at.Next(projection.Record(s.time, p)); s.err == nil {
		_, s.err = s.out.Write(append(e.Line(), '\n'))
	}
}

func (s *session) created() projection.SessionCreated {
	team := projection.Team{ID: "kitchen", Name: "Kitchen"}
	for _, m := range append([]projection.Speaker{mia}, agents...) {
		team.Members = append(team.Members,
			projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	return projection.SessionCreated{
		Format: projection.Format, SessionID: "01KAJ000000000000000000000", Team: team, CWD: "/home/mia/kettle",
		App: projection.App{Name: "agent-chatter", Version: "1.0.0"},
	}
}

func messageID(n int) string { return fmt.Sprintf("01KAJ%021d", n) }

func (s *session) question(n int) projection.Payload {
	return projection.NewMessage(messageID(n), s.time, mia, s.said(600), to(agents[s.rand.IntN(len(agents))]))
}

// turn writes the turn of an agent.
func (s *session) turn(n int) {
	agent := agents[s.rand.IntN(len(agents))]
	id := fmt.Sprintf("turn-%d", n)
	s.event(
		projection.TurnStarted{
			TurnID:           id,
			MemberID:         agent.ID,
			AgentType:        "claude",
			Model:            "opus",
			TriggerMessageID: messageID(n - 1),
		},
	)
	for i := range 1 + s.rand.IntN(2) {
		s.tool(id, fmt.Sprintf("%s-tool-%d", id, i))
	}
	reply := s.said(3500)
	s.event(projection.TurnText{TurnID: id, Text: reply})
	s.event(projection.NewMessage(messageID(n), s.time, agent, reply, to(agents[s.rand.IntN(len(agents))])))
	s.event(projection.TurnEnded{
		TurnID: id, MemberID: agent.ID, FinishReason: projection.Done, DurationMS: s.rand.Int64N(60_000),
		AgentSession: "5f3c2a10",
		Usage:        &projection.Usage{Input: s.rand.Int64N(100_000), Output: int64(len(reply) / 4)},
	})
}

func (s *session) tool(turnID, id string) {
	input, err := json.Marshal(
		map[string]any{"command": "cat coordinator/turn.go", "timeout": s.rand.IntN(100), "lines": []int{1, 40}},
	)
	if err != nil && s.err == nil {
		s.err = err
	}
	s.event(projection.ToolStarted{TurnID: turnID, ToolID: id, Name: "Bash", Input: input})
	output := s.said(4000)
	s.event(
		projection.ToolCompleted{
			TurnID:      turnID,
			ToolID:      id,
			Name:        "Bash",
			Output:      output,
			OutputBytes: int64(len(output)),
		},
	)
}

// to returns a routing to one member.
func to(m projection.Speaker) *projection.Routing {
	return &projection.Routing{
		RawNextMarkers:     []string{m.Name},
		ResolvedAddressees: []projection.Addressee{{Identifier: m.Name, MemberID: &m.ID, MemberName: &m.Name}},
	}
}

//go:build unix

package chat

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// panelScenes have four turns that run at the same time.
var panelScenes = []namedScene{
	{"panel", func(s *scene) {
		s.panel()
	}},
	{"panel_chosen", func(s *scene) {
		s.panel()
		s.types("3")
	}},
	{"panel_typing", func(s *scene) {
		s.panel()
		s.types("", tty.Key{Code: tty.Tab})
		s.types("and what of 3")
		s.model.Update(tty.Paste{Text: strings.Repeat("line\n", 200)})
		s.model.Queued = []tty.Line{{Text: "@bea which of them is the fastest?"}}
	}},
	{"panel_ends", func(s *scene) {
		s.panel()
		s.replied("cy", "Cy", "The parser is **too slow**: it reads each line twice.")
		s.ended("bea", projection.Failed, "Bea failed: 429 Too Many Requests; wait a while, then retry")
		s.ended("ada", projection.Cancelled, "")
		s.notice("Ada was interrupted. The partial reply is kept in the session.")
	}},
	{"panel_question", func(s *scene) {
		s.panel()
		s.model.Panel.Ask("bea", 1)
		s.model.Panel.Ask("cy", 1)
		s.asksAs("bea", "Bea", agent.Permission{Tool: "execute", Title: "go test -race ./... && go vet ./..."})
	}},
	{"panel_next_question", func(s *scene) {
		s.panel()
		s.model.Panel.Ask("bea", 1)
		s.model.Panel.Ask("cy", 1)
		s.asksAs("bea", "Bea", agent.Permission{Tool: "execute", Title: "go test -race ./... && go vet ./..."})
		s.lines = append(s.lines, "  Allowed.")
		s.model.Panel.Ask("bea", -1)
		s.replied("dirk", "Dirk der Lange", "Nothing, as far as I see.")
		s.asksAs("cy", "Cy", agent.Permission{Tool: "edit", Title: "Edit main.go", Edits: []agent.FileEdit{{
			Path: "main.go", Old: "var a = 1\n", New: "var a = 2\n",
		}}})
	}},
	{"panel_is_over", func(s *scene) {
		s.panel()
		s.replied("cy", "Cy", "The parser is **too slow**: it reads each line twice.")
		s.ended("bea", projection.Failed, "Bea failed: 429 Too Many Requests; wait a while, then retry")
		s.replied("ada", "Ada", panelText[0]+panelText[1])
		s.replied("dirk", "Dirk der Lange", "Nothing, as far as I see.")
		s.notice("To retry, type: /retry")
		s.idles()
	}},
}

var panelText = []string{
	"I would look at three things, in this order:\n\n1. the parser, which reads each line twice\n",
	"2. the evaluation, with `errDivision`\n3. the tests\n\nThe first one is where the time goes, and",
}

// panel asks four members the same, who begin to work.
func (s *scene) panel() {
	s.says("What is wrong with the calculator?")
	names := []string{"Ada", "Bea", "Cy", "Dirk der Lange"}
	ids := []string{"ada", "bea", "cy", "dirk"}
	for i, id := range ids {
		member := projection.Member{ID: id, Name: id, DisplayName: names[i], Type: projection.TypeAI}
		s.transcript.AddMembers([]projection.Member{member})
	}
	s.transcript.WholePanels()
	s.model.Prompt, s.model.Status.Escape = "", true
	began := s.now
	for i, id := range ids {
		s.now = began
		s.happens(projection.TurnStarted{
			TurnID: id, MemberID: id, Panel: &projection.Panel{ID: "p", Index: i + 1, Of: len(ids)},
		})
	}
	input := json.RawMessage(`{"file_path":"calc/parse.go"}`)
	s.print(s.transcript.Stream("ada", panelText[0]))
	s.happens(
		projection.ToolStarted{TurnID: "bea", ToolID: "1", Name: "Bash", Input: json.RawMessage(`{"command":"go test"}`)},
		projection.ToolStarted{TurnID: "cy", ToolID: "1", Name: "Read", Input: input},
		projection.ToolCompleted{TurnID: "cy", ToolID: "1", Name: "Read", Output: "package calc\n"},
	)
	s.print(s.transcript.Stream("cy", "The parser is **too slow**: it reads"))
	s.print(s.transcript.Stream("ada", panelText[1]))
	s.now = s.now.Add(9 * time.Second)
}

// replied ends the turn of a member of the panel with a reply.
func (s *scene) replied(id, name, text string) {
	reply := said(id, name, projection.TypeAI, text)
	reply.TurnID = id
	s.happens(reply)
	s.ended(id, projection.Done, "")
}

// ended ends the turn of a member of the panel.
func (s *scene) ended(id string, reason projection.FinishReason, failure string) {
	s.happens(projection.TurnEnded{
		TurnID: id, MemberID: id, FinishReason: reason, DurationMS: 12_400, Error: failure,
		Usage: &projection.Usage{Input: 1200, CachedRead: 20_000, Output: 340},
	})
}

// asksAs is asks for another member.
func (s *scene) asksAs(id, name string, p agent.Permission) {
	s.lines = append(s.lines, permissionLines(name, p, s.style())...)
	q := permissionQuestion(p, true)
	q.Member = id
	s.model.Question = &q
}

package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A realQuestion is how an agent asks the user which wood it is to be, and what its model gets then.
type realQuestion struct {
	call         string
	chosen       string // of the answer pine
	own          string // of the answer "a birch, not a pine"
	refused      string
	takesReason  bool
	experimental []string // arguments
}

var realQuestions = map[string]realQuestion{
	"claude": {
		call: `call <<AskUserQuestion {"questions":[{"question":"Which wood?","header":"Wood","multiSelect":false,` +
			`"options":[{"label":"oak","description":"hard"},{"label":"pine","description":"soft"}]}]}>>`,
		chosen: `\"Which wood?\"=\"pine\"`, own: `\"Which wood?\"=\"a birch, not a pine\"`,
		refused: "ask me tomorrow", takesReason: true,
	},
	"claude over ACP": {refused: "The user did not answer the questions."},
	"codex": {
		call: `call <<request_user_input {"questions":[{"id":"wood","question":"Which wood?","header":"Wood",` +
			`"options":[{"label":"oak","description":"hard"},{"label":"pine","description":"soft"}]}]}>>`,
		chosen: `\"answers\":[\"pine\"]`, own: `user_note: a birch, not a pine`, refused: `{\"answers\":{}}`,
		experimental: []string{"-c", "features.default_mode_request_user_input=true"},
	},
}

// The answers of the user to a question of a real agent reach its model, whatever its permissions allow, also in a
// session that was resumed. A refusal reaches it, too.
func TestRealAgentsAskTheUser(t *testing.T) {
	asks := func(a agenttest.Real) bool { _, ok := realQuestions[a.Name]; return ok }
	withReal(t, asks, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		q := realQuestions[a.Name]
		if q.call == "" {
			refused := q.refused
			q = realQuestions[strings.TrimSuffix(a.Name, " over ACP")]
			q.refused, q.takesReason = refused, false
		}
		turn.Member.Args = append(turn.Member.Args, q.experimental...)
		permissions := []string{agent.Ask, agent.Allow, agent.Edit, agent.ReadOnly}
		if a.Engine != "acp" {
			permissions = append(permissions, agent.Bypass)
		}
		var origin agent.Origin
		for _, turn.Member.Permissions = range permissions {
			for i, grant := range []agent.Grant{
				{Scope: agent.Once, Answers: [][]string{{"pine"}}},
				{Scope: agent.Once, Answers: [][]string{{"a birch, not a pine"}}},
				{Reason: "ask me tomorrow"},
			} {
				if i > 0 && turn.Member.Permissions != agent.Ask {
					continue
				}
				var asked []agent.Question
				turn.Prompt = q.call
				turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
					if asked = p.Questions; p.TakesReason != q.takesReason {
						t.Errorf("takes a reason: %t", p.TakesReason)
					}
					return grant
				}
				tools, id := useTools(t, e, turn, origin)
				origin = agent.Origin{Way: agent.Resume, ID: id}
				want := []string{q.chosen, q.own, q.refused}[i]
				bodies := model.Bodies()
				got := slices.ContainsFunc(bodies[max(0, len(bodies)-3):], func(body string) bool {
					at := strings.LastIndex(body, want)
					return at >= 0 && strings.LastIndex(body, "Which wood?") < at+len(want)
				})
				if !got || len(asked) != 1 || asked[0].Text != "Which wood?" && asked[0].Header != "Which wood?" ||
					len(asked[0].Options) < 2 || asked[0].Options[1] != (agent.Option{Label: "pine", Description: "soft"}) ||
					!asked[0].Free || len(tools) != 2 {
					t.Errorf("%s, %+v: the model got %q: %t; asked %+v; tools %q", turn.Member.Permissions, grant, want, got,
						asked, tools)
				}
			}
		}
	})
}

// useTools runs a turn, in a session if the engine has some, and returns the events of tools and the session.
func useTools(t *testing.T, e agent.Engine, turn agent.Turn, origin agent.Origin) (tools []string, id string) {
	t.Helper()
	run := e.Run
	if e, ok := e.(agent.SessionEngine); ok {
		s, err := e.Open(within(t), turn, origin)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		run, id = s.Turn, s.ID()
	}
	for event, err := range run(within(t), turn) {
		if err != nil {
			t.Error(err)
		}
		switch e := event.(type) {
		case agent.ToolStarted:
			tools = append(tools, "started "+e.Name)
		case agent.ToolCompleted:
			tools = append(tools, "completed "+e.Name+": "+e.Output+e.Error)
		}
	}
	return tools, id
}

// What a server of tools asks the user is asked through the agents that can, and the server gets the answers.
func TestRealAgentsPassFormsOfServers(t *testing.T) {
	some := func(a agenttest.Real) bool {
		return strings.HasPrefix(a.Name, "claude") || strings.HasPrefix(a.Name, "codex")
	}
	withReal(t, some, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		turn.Member.Permissions = agent.Ask
		turn.MCPServers = []agent.MCPServer{agenttest.MCPServer("agent-chatter", nil)}
		turn.Prompt = `call <<` + strings.TrimSuffix(realToolName(a), "look") + `choose {"text": "an oak"}>>`
		for _, tt := range []struct {
			answers [][]string
			want    string
		}{
			{[][]string{{"a\nb"}, {"7"}, {"pine"}}, `{"action":"accept","content":{"note":"a\nb","number":7,"wood":"pine"}}`},
			{[][]string{nil, nil, {"oak"}}, `{"action":"accept","content":{"wood":"oak"}}`},
			{nil, `{"action":"decline"}`},
			{[][]string{nil, nil, {"elm"}}, `{"action":"decline"}`}, // it is none of the options
			{[][]string{nil, nil, nil}, `{"action":"decline"}`},     // it is required
		} {
			var asked []agent.Question
			turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
				if len(p.Questions) == 0 {
					return agent.AllowedOnce // to use the tool
				}
				asked = p.Questions
				if tt.answers == nil {
					return agent.Refused
				}
				return agent.Grant{Scope: agent.Once, Answers: tt.answers}
			}
			tools, _ := useTools(t, e, turn, agent.Origin{})
			var got struct{ Answer json.RawMessage }
			for _, tool := range tools {
				_, output, _ := strings.Cut(tool, "choose: ")
				_ = json.Unmarshal([]byte(output), &got)
			}
			if string(got.Answer) != tt.want || len(asked) != 3 || len(tools) != 4 {
				t.Errorf("%q: the server got %s, not %s; asked %+v; tools %q", tt.answers, got.Answer, tt.want, asked, tools)
			}
		}
	})
}

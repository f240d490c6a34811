package coordinator_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

const secretToken = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// whichWood are questions with secrets, of which two options look the same without them.
func whichWood() []agent.Question {
	return []agent.Question{
		{
			Header: "Wood", Text: "Which wood?", Free: true, Several: true,
			Options: []agent.Option{{Label: "oak", Description: "hard"}, {Label: secretToken + "A"}, {Label: secretToken + "B"}},
		},
		{Text: "Key?", Free: true, Secret: true, Optional: true},
	}
}

// asks is an engine that asks the same questions twice.
func asks(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	for range 2 {
		turn.Permit(ctx, agent.Permission{
			ToolID: "t1", Tool: "AskUserQuestion", Kind: agent.KindRead, Title: "Which wood?", Questions: whichWood(),
		})
	}
	return says("done")(ctx, turn)
}

// No permissions answer a question, and only deny refuses it.
func TestQuestionsAreAskedWhateverThePermissionsAre(t *testing.T) {
	for _, permissions := range []string{"", agent.Ask, agent.Allow, agent.Edit, agent.ReadOnly, agent.Bypass, agent.Deny} {
		for _, decision := range []coordinator.Decision{
			coordinator.Unanswered, coordinator.Allowed, coordinator.AllowedForSession, coordinator.AllowedAlways, coordinator.Refused,
		} {
			s := newFixture(t, &store.Memory{}, asks)
			team := testTeam()
			for i := range team.Members {
				if team.Members[i].Engine != "" {
					team.Members[i].Permissions = permissions
				}
			}
			asked := 0
			s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Decision {
				asked++
				return decision
			}
			s.recorder.answers = [][]string{{"oak"}, nil}
			s.setTeam(team, "")
			s.say("go")
			answered := payloads[projection.PermissionAnswered](t, s.recorder.appended)
			times, yes := 2, decision != coordinator.Refused && decision != coordinator.Unanswered
			if permissions == agent.Deny {
				times, yes = 0, false
			}
			if asked != times || len(answered) != 2 || answered[1].Allowed != yes || len(answered[1].Questions) != 2 ||
				(len(answered[1].Answers) == 2) != yes {
				t.Errorf("%q, %d: asked %d times; recorded %+v", permissions, decision, asked, answered)
			}
		}
	}
}

func TestAnswersReachTheAgent(t *testing.T) {
	for _, tt := range []struct{ given, got, recorded [][]string }{
		{[][]string{{"oak"}, {}}, [][]string{{"oak"}, {}}, [][]string{{"oak"}, {}}},
		{
			[][]string{{"[REDACTED:github-token]", "my " + secretToken}, {"key " + secretToken}},
			[][]string{{secretToken + "A", "my [REDACTED:github-token]"}, {"key " + secretToken}},
			[][]string{{"[REDACTED:github-token]", "my [REDACTED:github-token]"}, {}},
		},
		{
			[][]string{{"[REDACTED:github-token] (2)"}, {"\x1b[31m\u202etext"}}, [][]string{{secretToken + "B"}, {"\x1b[31m\u202etext"}},
			[][]string{{"[REDACTED:github-token] (2)"}, {}},
		},
		{[][]string{{}, {}}, nil, nil},
		{[][]string{{"oak", "oak"}, {}}, nil, nil},
		{[][]string{{"oak"}}, nil, nil},
		{nil, nil, nil},
	} {
		var got agent.Grant
		s := newFixture(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
			got = turn.Permit(ctx, agent.Permission{ToolID: "t1", Title: "Which wood?", Questions: whichWood()})
			return says("done")(ctx, turn)
		})
		var shown []agent.Question
		s.recorder.answer = func(_ context.Context, q coordinator.Question) coordinator.Decision {
			shown = q.Permission.Questions
			return coordinator.Allowed
		}
		s.recorder.answers = tt.given
		s.setTeam(testTeam(), "")
		s.say("go")
		answered := payloads[projection.PermissionAnswered](t, s.recorder.appended)
		if diff := cmp.Diff(tt.got, got.Answers); diff != "" || (got.Scope == agent.Once) != (tt.got != nil) {
			t.Errorf("%q: %+v (-want +got):\n%s", tt.given, got, diff)
		}
		if diff := cmp.Diff(tt.recorded, answered[0].Answers); diff != "" || answered[0].Allowed != (tt.got != nil) {
			t.Errorf("%q: recorded %+v (-want +got):\n%s", tt.given, answered[0], diff)
		}
		if text := fmt.Sprint(shown, string(journalOf(s))); strings.Contains(text, secretToken[4:]) {
			t.Errorf("the secret is shown or recorded: %s", text)
		}
	}
}

// journalOf returns the events that were recorded.
func journalOf(s *fixture) (all []byte) {
	for _, e := range s.recorder.appended {
		all = append(all, e.Data...)
	}
	return all
}

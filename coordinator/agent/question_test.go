package agent_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

const (
	claudeQuestions = `ask AskUserQuestion {"questions":[{"question":"Which wood?","header":"Wood","options":[` +
		`{"label":"oak","description":"hard"},{"label":"pine"}]},{"question":"For what?","multiSelect":true,` +
		`"options":[{"label":"a bed"},{"label":"a door, a gate"}]}],"more":1}`
	codexQuestions = `ask item/tool/requestUserInput {"itemId":"u1","questions":[{"id":"w","question":"Which wood?",` +
		`"header":"Wood","isOther":true,"options":[{"label":"oak","description":"hard"},{"label":"pine"}]},` +
		`{"id":"k","question":"Key?","isSecret":true}]}`
	formFields = `"message":"What shall it be?","requestedSchema":{"type":"object","required":["a_wood","b_n"],"properties":{` +
		`"a_wood":{"type":"string","title":"Which wood?","description":"of the door","oneOf":[{"const":"o","title":"oak"},` +
		`{"const":"p","title":"pine","description":"soft"}]},"a_wood_custom":{"type":"string"},` +
		`"b_n":{"type":"number","title":"How many?"},"c_sure":{"type":"boolean","title":"Sure?"},` +
		`"d_for":{"type":"array","title":"For what?","items":{"enum":["bed","door"]}}}}`
	codexForm = `ask mcpServer/elicitation/request {"serverName":"woods","mode":"form",` + formFields + "}"
	acpForm   = `use [["elicitation/create",{"mode":"form",` + formFields + "}]]"
)

func options(labels ...string) (all []agent.Option) {
	for _, text := range labels {
		label, description, _ := strings.Cut(text, ": ")
		all = append(all, agent.Option{Label: label, Description: description})
	}
	return all
}

var (
	claudeForm = "form {" + strings.Replace(formFields, "requestedSchema", "requested_schema", 1) + "}"

	wood          = agent.Question{Header: "Wood", Text: "Which wood?", Options: options("oak: hard", "pine"), Free: true}
	formQuestions = []agent.Question{
		{Header: "Which wood?", Text: "of the door", Options: options("oak", "pine: soft"), Free: true},
		{Text: "How many?", Free: true, Number: true},
		{Text: "Sure?", Options: options("Yes", "No"), Optional: true},
		{Text: "For what?", Options: options("bed", "door"), Several: true, Optional: true},
	}
)

// answers is a grant with answers.
func answers(all ...[]string) agent.Grant { return agent.Grant{Scope: agent.Once, Answers: all} }

// runAgent runs a turn with the stand-in of an agent.
func runAgent(t *testing.T, name, prompt string, permit func(context.Context, agent.Permission) agent.Grant) string {
	t.Helper()
	var e agent.Engine = patientClaude
	turn := claudeTurn(t)
	switch name {
	case "codex":
		e, turn = patientCodex, codexTurn(t, prompt)
	case "acp":
		e, turn = newACP(t), acpTurn(t, prompt)
	}
	turn.Prompt, turn.Permit = prompt, permit
	got, err := reply(within(t), e, turn)
	if err != nil {
		t.Errorf("%s, %s: %v", name, prompt, err)
	}
	return strings.TrimSpace(got)
}

func TestAgentsAskTheUser(t *testing.T) {
	for _, tt := range []struct {
		agent, prompt string
		asked         agent.Permission // without its Input
		grant         agent.Grant
		want          string
	}{
		{
			"claude", claudeQuestions, agent.Permission{
				ToolID: "t1", Tool: "AskUserQuestion", Title: "Which wood?", TakesReason: true, Questions: []agent.Question{
					wood, {Text: "For what?", Options: options("a bed", "a door, a gate"), Several: true, Free: true},
				},
			},
			answers([]string{"pine"}, []string{"a bed", "a door, a gate", "my dog"}),
			`"answers":{"For what?":"a bed, \"a door, a gate\", my dog","Which wood?":"pine"},"more":1`,
		},
		{
			"claude", claudeForm, agent.Permission{
				ToolID: "request request-1", Tool: "woods.elicitation", Title: "What shall it be?", Questions: formQuestions,
			},
			answers([]string{"pine"}, []string{"1.5"}, []string{"No"}, []string{"bed", "door"}),
			`{"action":"accept","content":{"a_wood":"p","b_n":1.5,"c_sure":false,"d_for":["bed","door"]}}`,
		},
		{
			"codex", codexQuestions, agent.Permission{
				ToolID: "u1", Tool: "request_user_input", Title: "Which wood?",
				Questions: []agent.Question{wood, {Text: "Key?", Free: true, Secret: true}},
			},
			answers([]string{"a birch"}, []string{"abc"}),
			`{"answers":{"k":{"answers":["user_note: abc"]},"w":{"answers":["user_note: a birch"]}}}`,
		},
		{
			"codex", codexForm, agent.Permission{
				ToolID: "request 1", Tool: "woods.elicitation", Title: "What shall it be?", Questions: formQuestions,
			},
			answers([]string{"elm"}, []string{"12"}, nil, nil), `{"action":"accept","content":{"a_wood_custom":"elm","b_n":12}}`,
		},
		{
			"acp", acpForm, agent.Permission{
				ToolID: `request "r1"`, Tool: "agent.elicitation", Title: "What shall it be?", Questions: formQuestions,
			},
			answers([]string{"oak"}, []string{"-3"}, []string{"Yes"}, nil),
			`{"action":"accept","content":{"a_wood":"o","b_n":-3,"c_sure":true}}`,
		},
	} {
		got := runAgent(t, tt.agent, tt.prompt, func(_ context.Context, p agent.Permission) agent.Grant {
			tt.asked.Input = p.Input
			if tt.agent == "acp" {
				tt.asked.ToolID = p.ToolID
			}
			if diff := cmp.Diff(tt.asked, p); diff != "" {
				t.Errorf("%s, %.50s (-want +got):\n%s", tt.agent, tt.prompt, diff)
			}
			return tt.grant
		})
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s, %.50s: the answer is\n%s, want\n%s", tt.agent, tt.prompt, got, tt.want)
		}
	}
}

// Answers that do not fit the questions are none, and neither is a permission without answers. Without -full, each answer
// is given to one of the agents at least.
func TestAnswersFitTheQuestions(t *testing.T) {
	denied := map[string]string{
		claudeQuestions: `"behavior":"deny"`, claudeForm: `"action":"decline"`, codexQuestions: `{"answers":{}}`,
		codexForm: `{"action":"decline"}`, acpForm: `{"action":"decline"}`,
	}
	agents := map[string]string{
		claudeQuestions: "claude", claudeForm: "claude", codexQuestions: "codex", codexForm: "codex", acpForm: "acp",
	}
	good := []string{"oak"}
	for i, prompt := range slices.Sorted(maps.Keys(denied)) {
		want := denied[prompt]
		for j, grant := range []agent.Grant{
			agent.Refused, agent.AllowedOnce, agent.AllowedForSession, agent.AllowedAlways, answers(), answers(good),
			answers(good, good, good, good, good), answers(nil, []string{"1"}, nil, nil), answers(nil, nil),
			answers([]string{"oak", "pine"}, []string{"1"}, nil, nil), answers([]string{"oak", "pine"}, []string{"a bed"}),
			answers([]string{strings.Repeat("x", 9000)}, []string{"1"}, nil, nil), answers([]string{""}, []string{"x"}),
			answers([]string{"\xff"}, []string{"1"}, nil, nil), answers([]string{"a", "b"}, []string{"x"}),
			answers(good, []string{"one"}, nil, nil), answers(good, []string{"NaN"}, nil, nil),
			answers(good, []string{"1e999"}, nil, nil), answers(good, []string{"1"}, []string{"Perhaps"}, nil),
			answers(good, []string{"1"}, nil, []string{"bed", "bed"}),
		} {
			if !sizetest.Full() && (i+j)%4 != 0 {
				continue
			}
			got := runAgent(t, agents[prompt], prompt, func(context.Context, agent.Permission) agent.Grant { return grant })
			if !strings.Contains(got, want) {
				t.Errorf("%.50s, %q: %s", prompt, grant.Answers, got)
			}
		}
	}
}

// Questions that cannot be shown as they are, and what is no form, are refused without the user.
func TestUnanswerableQuestionsAreRefused(t *testing.T) {
	form := func(properties string) string {
		return strings.Replace(codexForm, codexForm[strings.Index(codexForm, `"properties":`):], `"properties":{`+properties+"}}}", 1)
	}
	many := strings.Repeat(`,{"label":"x"}`, 60)
	for i := range 60 {
		many = strings.Replace(many, `"x"`, fmt.Sprintf(`"%d"`, i), 1)
	}
	fields := `"a":{"type":"string"}`
	for i := range 30 {
		fields += fmt.Sprintf(`,"a%d":{"type":"string"}`, i)
	}
	for _, tt := range [][2]string{
		{"claude", `ask AskUserQuestion {"questions":[{"question":"?","options":[{"label":"a"},{"label":"a"}]}]}`},
		{"claude", `ask AskUserQuestion {"questions":[{"question":"?","options":[{"label":""},{"label":"a"}]}]}`},
		{"claude", `ask AskUserQuestion {"questions":[{"question":"?","options":[{"label":"a"}` + many + `]}]}`},
		{"claude", `ask AskUserQuestion {"questions":[{"question":"` + strings.Repeat("?", 40_000) + `"}]}`},
		{"claude", strings.Replace(claudeForm, "form {", `form {"mode":"url","url":"https://example.org",`, 1)},
		{"codex", `ask item/tool/requestUserInput {"questions":[]}`},
		{"codex", `ask mcpServer/elicitation/request {"serverName":"woods","mode":"url","url":"https://example.org","message":"?"}`},
		{"codex", form(`"a":{"type":"object"}`)},
		{"codex", form(`"a":{"type":"array"}`)},
		{"codex", form(`"a":3`)},
		{"codex", form(fields)},
		{"acp", strings.Replace(acpForm, `"mode":"form"`, `"mode":"url","url":"https://example.org"`, 1)},
	} {
		got := runAgent(t, tt[0], tt[1], func(_ context.Context, p agent.Permission) agent.Grant {
			t.Errorf("%.100s: asked %+v", tt[1], p.Questions)
			return agent.Refused
		})
		if strings.Contains(got, "accept") || strings.Contains(got, "allow") || strings.Contains(got, `"answers":{"`) {
			t.Errorf("%.100s: %s", tt[1], got)
		}
	}
}

// A form without fields asks for consent.
func TestFormWithoutFields(t *testing.T) {
	const prompt = `ask mcpServer/elicitation/request {"serverName":"s","mode":"form","message":"Send it?","requestedSchema":{}}`
	got := runAgent(t, "codex", prompt, func(_ context.Context, p agent.Permission) agent.Grant {
		want := []agent.Question{{Text: "Send it?", Options: options("Accept")}}
		if diff := cmp.Diff(want, p.Questions); diff != "" {
			t.Error(diff)
		}
		return answers([]string{"Accept"})
	})
	if got != `{"action":"accept","content":{}}` {
		t.Error(got)
	}
}

// Open questions end with their turn.
func TestQuestionsEndWithTheTurn(t *testing.T) {
	for name, prompt := range map[string]string{"claude": claudeForm, "codex": codexForm, "acp": acpForm} {
		ctx, cancel := context.WithCancelCause(within(t))
		var e agent.Engine = patientClaude
		turn := claudeTurn(t)
		switch name {
		case "codex":
			e, turn = patientCodex, codexTurn(t, prompt)
		case "acp":
			e, turn = newACP(t), acpTurn(t, prompt)
		}
		turn.Prompt = prompt
		turn.Permit = func(asking context.Context, _ agent.Permission) agent.Grant {
			cancel(errCancelled)
			<-asking.Done()
			return answers([]string{"pine"}, []string{"1"}, nil, nil)
		}
		if got, _ := reply(ctx, e, turn); strings.Contains(got, "accept") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestACPWithdrawsRequest(t *testing.T) {
	turn := acpTurn(t, "withdraw")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	turn.Permit = func(asking context.Context, _ agent.Permission) agent.Grant {
		<-asking.Done()
		if ctx.Err() != nil {
			t.Error("the turn was over before")
		}
		cancel(errCancelled)
		return agent.AllowedOnce
	}
	if _, err := reply(ctx, newACP(t), turn); err == nil {
		t.Error("the turn was not cancelled")
	}
}

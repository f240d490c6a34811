package agent

import (
	"cmp"
	"context"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// A codexUserQuestion is what the tool request_user_input of Codex asks.
type codexUserQuestion struct {
	ID      string        `json:"id"`
	Header  string        `json:"header"`
	Text    string        `json:"question"`
	Other   bool          `json:"isOther"`
	Secret  bool          `json:"isSecret"`
	Options []codexOption `json:"options"`
}

type codexOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// codexOwn begins an answer that is none of the options.
const codexOwn = "user_note: "

// takeUserQuestions asks the user what request_user_input asks.
func (t *codexTurn) takeUserQuestions(m jsonrpc.Message, q codexQuestion) {
	if checkQuestions(q.userQuestions()) != nil || t.interrupted || !t.requests.takes(len(m.Params)) {
		t.answer(m, q, Refused)
		return
	}
	use, started := t.forms.add(cmp.Or(q.ItemID, formID(string(m.ID))), "request_user_input")
	t.emit(started)
	p := Permission{ToolID: use.id, Tool: use.name, Questions: q.userQuestions()}
	p.Title = questionTitle("", p.Questions)
	permit := func(ctx context.Context) Grant { return t.turn.permit(ctx, p) }
	t.requests.ask(string(m.ID), len(m.Params), use.permission, permit, func(grant Grant, inTime bool) {
		if inTime {
			t.answer(m, q, grant)
		}
	})
}

func (q codexQuestion) userQuestions() (all []Question) {
	for _, asked := range q.Questions {
		question := Question{Header: asked.Header, Text: asked.Text, Secret: asked.Secret}
		for _, o := range asked.Options {
			question.Options = append(question.Options, Option(o))
		}
		question.Free = asked.Other || len(asked.Options) == 0
		all = append(all, question)
	}
	return all
}

// answers returns the response to the questions of request_user_input. Refused ones have no answers.
func (q codexQuestion) answers(given [][]string) map[string]any {
	answers := map[string]any{}
	for i, texts := range given {
		asked := q.Questions[i]
		texts = slices.Clone(texts)
		for j, text := range texts {
			if !slices.ContainsFunc(asked.Options, func(o codexOption) bool { return o.Label == text }) {
				texts[j] = codexOwn + text
			}
		}
		answers[asked.ID] = map[string]any{"answers": texts}
	}
	return answers
}

// takeForm asks the user what a server asks.
func (t *codexTurn) takeForm(m jsonrpc.Message, q codexQuestion) {
	f, err := parseForm(q.Text, q.Schema)
	if err != nil || q.Mode != "form" || t.interrupted || !t.requests.takes(len(m.Params)) {
		t.Respond(m.ID, f.response(Refused))
		return
	}
	use, started := t.forms.add(formID(string(m.ID)), formName(q.Server))
	t.emit(started)
	permit := func(ctx context.Context) Grant { return t.turn.permit(ctx, f.permission(use, q.Text)) }
	t.requests.ask(string(m.ID), len(m.Params), use.permission, permit, func(grant Grant, inTime bool) {
		if inTime {
			t.Respond(m.ID, f.response(grant))
		}
	})
}

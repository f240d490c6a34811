package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// The requests of Claude Code for answers of the user: a tool of its own, and what a server asks.
const (
	claudeAsk  = "AskUserQuestion"
	claudeForm = "elicitation"
)

// questions returns what the tool claudeAsk asks. The user may always answer with a text.
func (r claudeRequest) questions() (all []Question) {
	var input struct {
		Questions []struct {
			Question string `json:"question"`
			Header   string `json:"header"`
			Several  bool   `json:"multiSelect"`
			Options  []struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			} `json:"options"`
		} `json:"questions"`
	}
	jsonlines.Decode(r.Input, &input)
	for _, asked := range input.Questions {
		q := Question{Header: asked.Header, Text: asked.Question, Several: asked.Several, Free: true}
		for _, o := range asked.Options {
			q.Options = append(q.Options, Option(o))
		}
		all = append(all, q)
	}
	return all
}

// answered returns the input of the tool claudeAsk with the answers to its questions.
func (r claudeRequest) answered(answers [][]string) map[string]any {
	input, texts := map[string]any{}, map[string]string{}
	_ = json.Unmarshal(r.Input, &input)
	for i, q := range r.questions() {
		texts[q.Text] = strings.Join(answers[i], ", ")
		if q.Several {
			texts[q.Text] = joined(answers[i])
		}
	}
	input["answers"] = texts
	return input
}

// joined returns several answers to a question, as the agent separates them.
func joined(answers []string) string {
	quoted := make([]string, len(answers))
	for i, a := range answers {
		if quoted[i] = a; strings.Contains(a, ", ") || strings.Contains(a, `"`) {
			text, _ := json.Marshal(a)
			quoted[i] = string(text)
		}
	}
	return strings.Join(quoted, ", ")
}

// takeForm asks the user what a server asks.
func (t *claudeTurn) takeForm(id string, r claudeRequest) {
	f, err := parseForm(r.Message, r.Schema)
	if err != nil || r.Mode != "form" || !t.requests.takes(len(r.Schema)) {
		t.respond(id, map[string]any{"action": "decline"})
		return
	}
	use, started := t.forms.add(formID(id), formName(r.Server))
	t.emit(started)
	permit := func(ctx context.Context) Grant { return t.turn.permit(ctx, f.permission(use, r.Message)) }
	t.requests.ask(id, len(r.Schema), use.permission, permit, func(grant Grant, inTime bool) {
		if inTime {
			t.respond(id, f.response(grant))
		}
	})
}

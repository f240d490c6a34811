package agent

import (
	"cmp"
	"context"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
)

// takeForm asks the user to fill in a form, for a use of a tool or without one.
func (t *acpTurn) takeForm(r acp.FormRequest) {
	f, err := parseForm(r.Message, r.Schema)
	if err != nil || t.over || !t.requests.takes(len(r.Schema)) {
		t.DismissForm(r)
		return
	}
	id := label(r.ToolID)
	tool := t.tools[id]
	if tool == nil || tool.ended {
		use, started := t.forms.add(formID(r.ID()), formName(""))
		t.emit(started)
		t.askForm(r, f, use)
		return
	}
	t.announce(id, tool)
	t.askForm(r, f, &formUse{id: id, name: cmp.Or(tool.name, "tool"), permission: &tool.permission})
}

// askForm asks Turn.Permit in the background and answers.
func (t *acpTurn) askForm(r acp.FormRequest, f form, use *formUse) {
	permit := func(ctx context.Context) Grant { return t.turn.permit(ctx, f.permission(use, r.Message)) }
	t.requests.ask(r.ID(), len(r.Schema), use.permission, permit, func(grant Grant, inTime bool) {
		if !inTime {
			t.DismissForm(r)
			return
		}
		t.AnswerForm(r, f.response(grant))
	})
}

package agent

import (
	"cmp"
	"errors"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
)

// errBreach is the error of relay when the agent has done what it must not do. acpTurn.breach says what.
var errBreach = errors.New("the agent has not asked for permission")

// checkBypass reports a tool that has changed something or run a command although the member's permissions or an
// answer do not allow it, and ends the turn. An agent that says nothing of what it does, or calls it something else, is
// not noticed.
func (t *acpTurn) checkBypass(id string, tool *acpTool, u acp.ToolUpdate) {
	tool.acts = tool.acts || u.Acts
	if !tool.acts || !u.Ended || u.Failed || tool.bypassed {
		return
	}
	state := tool.permission.Load()
	forbidden := t.turn.Member.Permissions == Deny || t.turn.Member.Permissions == ReadOnly
	if state == granted || state == notAsked && !forbidden {
		return
	}
	tool.bypassed = true
	name := cmp.Or(tool.name, "tool")
	t.emit(Bypassed{ToolID: id, Tool: name, Title: tool.did})
	if t.breach != nil {
		return
	}
	t.breach = t.bypassFailure(name, tool.did)
}

// bypassFailure returns the error of a turn in which a tool was used without the permission that it needs. title says
// what it did; "" is unknown.
func (p profile) bypassFailure(tool, title string) error {
	reason := "it used the tool " + tool + " without permission"
	if title != "" {
		reason += ": " + excerpt(title)
	}
	return p.failure(reason, Remedy{Advice: "it was stopped; check what it changed, and its own configuration"})
}

// takeModeChange ends the turn: in the new mode, the agent may not ask for permission.
func (t *acpTurn) takeModeChange(m acp.ModeChange) {
	if t.breach != nil {
		return
	}
	t.breach = t.failure("it changed its mode to “"+excerpt(m.Mode)+"”, in which it may not ask for permission",
		Remedy{"it was stopped; the next turn sets its mode again", retry})
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// The requests of Codex for permission.
const (
	codexAskCommand     = "item/commandExecution/requestApproval"
	codexAskFileChange  = "item/fileChange/requestApproval"
	codexAskPermissions = "item/permissions/requestApproval"
	codexAskForm        = "mcpServer/elicitation/request"
	codexAskUser        = "item/tool/requestUserInput"
)

// A codexQuestion is a request for permission.
type codexQuestion struct {
	Kind      string            `json:"kind"`       // command, or writeStdin for the input of a command that runs
	ID        string            `json:"approvalId"` // if an item has several requests
	ItemID    string            `json:"itemId"`
	Command   string            `json:"command"`
	Cwd       string            `json:"cwd"`
	Reason    string            `json:"reason"`
	Amendment []string          `json:"proposedExecpolicyAmendment"`
	Decisions []json.RawMessage `json:"availableDecisions"`
	Network   struct {
		Host     string `json:"host"`
		Protocol string `json:"protocol"`
	} `json:"networkApprovalContext"`
	Permissions json.RawMessage `json:"permissions"` // that are requested

	Questions []codexUserQuestion `json:"questions"`

	Server string          `json:"serverName"`
	Text   string          `json:"message"`
	Mode   string          `json:"mode"`
	Schema json.RawMessage `json:"requestedSchema"`
	Meta   struct {
		Kind    string          `json:"codex_approval_kind"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"tool_params"`
		Persist []string        `json:"persist"`
	} `json:"_meta"`
}

// offersAlways reports whether Codex offers to write a rule that allows the command.
func (q codexQuestion) offersAlways() bool {
	return len(q.Amendment) > 0 && slices.ContainsFunc(q.Decisions, func(d json.RawMessage) bool {
		var amend struct {
			Offered *struct{} `json:"acceptWithExecpolicyAmendment"`
		}
		return json.Unmarshal(d, &amend) == nil && amend.Offered != nil
	})
}

// takeRequest asks Turn.Permit in the background. Other requests are refused.
func (t *codexTurn) takeRequest(m jsonrpc.Message) {
	var q codexQuestion
	jsonlines.Decode(m.Params, &q)
	var p Permission
	switch m.Method {
	case codexAskCommand:
		p = t.commandPermission(q)
	case codexAskFileChange:
		p = t.changePermission(q)
	case codexAskPermissions:
		p = Permission{Tool: "request_permissions", Title: q.Reason, Input: q.Permissions, Session: true}
	case codexAskForm:
		if q.Meta.Kind != "mcp_tool_call" {
			t.takeForm(m, q)
			return
		}
		p = t.callPermission(q)
	case codexAskUser:
		t.takeUserQuestions(m, q)
		return
	default:
		t.Refuse(m)
		return
	}
	if p.ToolID == "" {
		p.ToolID = label("request " + string(m.ID))
	}
	tool := t.tools[p.ToolID]
	if tool == nil {
		tool = t.startItem(codexItem{ID: p.ToolID, Type: "dynamicToolCall", Tool: p.Tool, Arguments: p.Input})
	}
	if tool == nil || t.interrupted || !t.requests.takes(len(m.Params)) {
		t.answer(m, q, Refused)
		return
	}
	if q.ID != "" { // a refusal does not end the tool
		tool = &codexTool{}
	}
	t.ask(m, q, p, tool)
}

// ask asks Turn.Permit in the background and answers.
func (t *codexTurn) ask(m jsonrpc.Message, q codexQuestion, p Permission, tool *codexTool) {
	permit := func(ctx context.Context) Grant { return t.turn.permit(ctx, p.bounded()) }
	t.requests.ask(string(m.ID), len(m.Params), &tool.permission, permit, func(grant Grant, inTime bool) {
		if grant.Scope == Always && p.Always == "" || grant.Scope == ForSession && !p.Session {
			grant.Scope = Once
		}
		if inTime {
			t.answer(m, q, grant)
		}
	})
}

// answer answers a request for permission. Codex takes no reason of a refusal.
func (t *codexTurn) answer(m jsonrpc.Message, q codexQuestion, grant Grant) {
	yes := grant.Scope != Nothing
	switch m.Method {
	case codexAskPermissions:
		given, scope := json.RawMessage("{}"), "turn"
		if yes {
			given = q.Permissions
		}
		if grant.Scope == ForSession {
			scope = "session"
		}
		t.Respond(m.ID, map[string]any{"permissions": given, "scope": scope})
	case codexAskUser:
		t.Respond(m.ID, map[string]any{"answers": q.answers(grant.Answers)})
	case codexAskForm:
		result := map[string]any{"action": "decline", "content": nil}
		if yes {
			result = map[string]any{"action": "accept", "content": map[string]any{}}
		}
		if grant.Scope == ForSession {
			result["_meta"] = map[string]any{"persist": "session"}
		}
		t.Respond(m.ID, result)
	default:
		var decision any = "decline"
		switch grant.Scope {
		case Once:
			decision = "accept"
		case ForSession:
			decision = "acceptForSession"
		case Always:
			amendment := map[string]any{"execpolicy_amendment": q.Amendment}
			decision = map[string]any{"acceptWithExecpolicyAmendment": amendment}
		}
		t.Respond(m.ID, map[string]any{"decision": decision})
	}
}

// commandPermission is for a command, or for the access of one to the network.
func (t *codexTurn) commandPermission(q codexQuestion) Permission {
	input := map[string]any{"command": q.Command}
	for name, value := range map[string]string{"cwd": q.Cwd, "reason": q.Reason, "host": q.Network.Host} {
		if value != "" {
			input[name] = value
		}
	}
	title := q.Command
	if q.Network.Host != "" {
		title = q.Network.Protocol + "://" + q.Network.Host + " " + q.Command
	}
	p := Permission{
		ToolID: label(q.ItemID), Tool: "shell", Kind: KindExecute, Title: title, Input: jsonrpc.Encode(input),
		Session: true,
	}
	if q.offersAlways() && t.policy.obeysRules() {
		p.Always = t.rules
	}
	return p
}

// changePermission is for changes of files, which their item has.
func (t *codexTurn) changePermission(q codexQuestion) Permission {
	p := Permission{ToolID: label(q.ItemID), Tool: "file_change", Kind: KindEdit, Title: q.Reason, Session: true}
	tool := t.tools[p.ToolID]
	if tool == nil {
		return p
	}
	changes := changesIn(tool.changes)
	p.Title, p.Input = cmp.Or(changedPaths(changes), q.Reason), tool.changes
	all := make([]acp.Edit, len(changes))
	for i, c := range changes {
		all[i] = acp.Edit(c.edit())
	}
	p.Edits, p.Omitted = edits(all)
	return p
}

// callPermission is for a tool of an MCP server. The request does not name the item.
func (t *codexTurn) callPermission(q codexQuestion) Permission {
	name := label(q.Server + "." + q.Meta.Tool)
	p := Permission{Tool: name, Title: q.Text, Input: q.Meta.Input, Session: slices.Contains(q.Meta.Persist, "session")}
	for id, tool := range t.tools {
		if tool.running && tool.call == name && tool.permission.Load() == notAsked {
			p.ToolID = id
			break
		}
	}
	return p
}

// bounded returns the permission without what is too long to be kept.
func (p Permission) bounded() Permission {
	if long := len(p.Title) - maxReason; long > 0 {
		p.Title = runecut.Prefix(p.Title, maxReason)
		p.Omitted += long
	}
	if len(p.Input) > maxOutput {
		p.Omitted += len(p.Input)
		p.Input = nil
	}
	return p
}

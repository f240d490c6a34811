package acp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// A Message is what an agent sends in a turn: a [Chunk], [Notice], [ToolUpdate], [PermissionRequest], [FormRequest],
// [Withdrawal], [ServiceRequest], [ModeChange], [Plan], [Spent], [Retry], [SystemError], [OtherUpdate] or [Result].
type Message interface{ message() }

// A Chunk is a piece of the reply.
type Chunk struct {
	MessageID string // of the message that the piece belongs to; "" if the agent does not number them
	Text      string // of what is not text, its address or a placeholder
}

// A Notice is what the agent's program has to say, such as a warning. It is no part of the reply.
type Notice struct{ Text string }

// A ModeChange reports that the session is in a mode that is neither [Mode] nor stricter.
type ModeChange struct{ Mode string }

// A ToolUpdate is a change in the use of a tool. Its zero fields are unchanged.
type ToolUpdate struct {
	ID       string // the agent's id of this use of the tool
	Name     string
	Category string // such as "edit" or "execute"
	Title    string // what the tool does, such as the command that it runs
	Input    json.RawMessage

	Output         string
	OutputReplaced bool   // Output replaces what was put out before; otherwise Output is ""
	OutputAppended string // is added to that

	Started, Ended, Failed bool // Ended implies Started, Failed implies Ended

	// Acts is whether the tool changes files or runs a command, as far as its category and content say.
	Acts bool
}

// A PermissionRequest is a question whether the agent may use a tool. The agent may send other
// messages before it is answered.
type PermissionRequest struct {
	Tool  ToolUpdate // neither started nor ended
	Edits []Edit     // the changes of files that the tool would make

	id      json.RawMessage
	options []permissionOption
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// An Edit is a change of a file.
type Edit struct{ Path, Old, New string }

// OffersAlways reports whether the agent offers to remember that it is allowed. What an agent offers to remember of a
// change of its mode is a mode in which it asks less.
func (r PermissionRequest) OffersAlways() bool {
	if r.Tool.Category == string(sdk.ToolKindSwitchMode) {
		return false
	}
	return slices.ContainsFunc(r.options, func(o permissionOption) bool {
		return o.Kind == string(sdk.PermissionOptionKindAllowAlways) && o.ID != ""
	})
}

// A Plan is the agent's todo list as it stands.
type Plan []PlanEntry

// A PlanEntry is one item of a todo list, in the agent's words.
type PlanEntry struct {
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
}

// A Cost is what the session has cost so far.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// Spent is what the agent reports of its session while it works.
type Spent struct {
	Cost            *Cost // nil if it reports none
	Context, Window int64 // the tokens in the context window, and how many it holds; both 0 if unknown
}

// A Retry reports that a request to the model has failed and that the agent repeats it. The protocol has no
// such update: Codex and OpenCode send it as metadata of a session_info_update.
type Retry struct {
	Reason string
	At     time.Time // when the request is repeated; zero if unknown
}

// A SystemError announces that the chunks that follow are an error message. Codex sends it.
type SystemError struct{}

// An OtherUpdate is an update of another kind: the agent is at work.
type OtherUpdate struct{}

// A Result is the end of a turn.
type Result struct {
	StopReason sdk.StopReason
	Usage      Usage
	Err        error // a *RequestError if the agent could not take the prompt
}

// A Usage is what a turn has used, in tokens; 0 is unknown. With some agents Output includes Thought;
// Total counts each token once.
type Usage struct {
	Input       int64 `json:"inputTokens"`
	CachedRead  int64 `json:"cachedReadTokens"`
	CachedWrite int64 `json:"cachedWriteTokens"`
	Output      int64 `json:"outputTokens"`
	Thought     int64 `json:"thoughtTokens"`
	Total       int64 `json:"totalTokens"`
}

func (Chunk) message()             {}
func (Notice) message()            {}
func (ModeChange) message()        {}
func (ToolUpdate) message()        {}
func (PermissionRequest) message() {}
func (Plan) message()              {}
func (Spent) message()             {}
func (Retry) message()             {}
func (SystemError) message()       {}
func (OtherUpdate) message()       {}
func (Result) message()            {}

// An update is the params of session/update, and the tool of a request for permission. Agents send
// more than the protocol specifies, and not always in the form that it specifies.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Content json.RawMessage `json:"content"` // a block, or those of a tool

	MessageID string `json:"messageId"`

	ToolID    string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Name      string          `json:"name"`
	ToolKind  string          `json:"kind"`
	Status    string          `json:"status"`
	RawInput  json.RawMessage `json:"rawInput"`
	RawOutput json.RawMessage `json:"rawOutput"`

	Entries []PlanEntry `json:"entries"` // of a plan

	CurrentMode string          `json:"currentModeId"`
	Options     []sessionOption `json:"configOptions"`

	Description string `json:"description"` // of a notice, beside the title

	// Of a usage_update.
	Cost *Cost `json:"cost"`
	Used int64 `json:"used"`
	Size int64 `json:"size"`

	Meta struct {
		Claude struct {
			Kind string `json:"kind"`
		} `json:"claudeCode"`
		Terminal struct {
			Data string `json:"data"`
		} `json:"terminal_output_delta"` // of Codex
		Codex struct {
			Status struct {
				Type string `json:"type"`
			} `json:"threadStatus"`
			Error struct {
				Message   string `json:"message"`
				Details   string `json:"additionalDetails"`
				WillRetry bool   `json:"willRetry"`
			} `json:"error"`
		} `json:"codex"`
		OpenCode struct {
			At    string `json:"nextRetryAt"`
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		} `json:"opencode/retry"`
	} `json:"_meta"`
}

// retry returns the Retry of a session_info_update, if it reports one.
func (u update) retry() (Retry, bool) {
	codex, openCode := u.Meta.Codex.Error, u.Meta.OpenCode
	switch {
	case codex.WillRetry && codex.Details != "":
		return Retry{Reason: codex.Message + ": " + codex.Details}, true
	case codex.WillRetry:
		return Retry{Reason: codex.Message}, true
	}
	at, _ := time.Parse(time.RFC3339, openCode.At)
	return Retry{openCode.Error.Message, at}, openCode.Error.Message != ""
}

// updateOf decodes an update of the client's session.
func (c *Client) updateOf(m jsonrpc.Message) (Message, bool) {
	var params struct {
		SessionID sdk.SessionId `json:"sessionId"`
		Update    update        `json:"update"`
	}
	if !jsonlines.Decode(m.Params, &params) || params.SessionID != c.session {
		return nil, false
	}
	c.mode.note(params.Update)
	retry, isRetry := params.Update.retry()
	switch u := params.Update; {
	case u.Kind == "agent_message_chunk" && u.Meta.Claude.Kind == "informational":
		return Notice{contentText(u.Content)}, true
	case u.Kind == "agent_message_chunk":
		return Chunk{MessageID: u.MessageID, Text: contentText(u.Content)}, true
	case u.Kind == "notice":
		return Notice{u.notice()}, true
	case c.mode.violated() && (u.Kind == updateMode || u.Kind == updateOptions):
		return ModeChange{c.mode.reported}, true
	case u.Kind == "tool_call", u.Kind == "tool_call_update":
		return u.tool(), true
	case u.Kind == "plan":
		return Plan(u.Entries), true
	case u.Kind == "usage_update":
		return u.spent(), true
	case u.Kind == "session_info_update" && isRetry:
		return retry, true
	case u.Kind == "session_info_update" && u.Meta.Codex.Status.Type == "systemError":
		return SystemError{}, true
	}
	return OtherUpdate{}, true
}

// spent returns what a usage_update reports. A context of unknown size says nothing.
func (u update) spent() Spent {
	if u.Used <= 0 || u.Size <= 0 {
		return Spent{Cost: u.Cost}
	}
	return Spent{u.Cost, u.Used, u.Size}
}

func (u update) tool() ToolUpdate {
	t := ToolUpdate{
		ID: u.ToolID, Name: u.Name, Category: u.ToolKind, Title: u.Title,
		Output: u.output(), OutputAppended: u.Meta.Terminal.Data,
		Failed: u.Status == string(sdk.ToolCallStatusFailed),
	}
	if len(u.RawInput) > 0 && string(u.RawInput) != "{}" && string(u.RawInput) != "null" {
		t.Input = u.RawInput
	}
	if call := u.codexServerCall(); call.Tool != "" {
		t.Name, t.Input = call.Server+"."+call.Tool, call.Arguments
	}
	t.OutputReplaced = t.Output != "" || string(u.Content) == "[]"
	t.Ended = t.Failed || u.Status == string(sdk.ToolCallStatusCompleted)
	t.Started = t.Ended || u.Status == string(sdk.ToolCallStatusInProgress)
	t.Acts = u.acts()
	return t
}

// acts reports whether a tool changes files or runs a command.
func (u update) acts() bool {
	switch sdk.ToolKind(strings.ToLower(u.ToolKind)) {
	case sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove, sdk.ToolKindExecute:
		return true
	}
	var blocks []struct{ Type string }
	_ = json.Unmarshal(u.Content, &blocks) // of a tool that says something else of itself
	for _, b := range blocks {
		if b.Type == "diff" || b.Type == "terminal" {
			return true
		}
	}
	return false
}

// notice returns the text of a notice.
func (u update) notice() string {
	var content string
	if len(u.Content) > 0 {
		content = contentText(u.Content)
	}
	var texts []string
	for _, text := range []string{u.Title, u.Description, content} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ": ")
}

// codexServerCall returns the call of a tool of an MCP server, as Codex shows it.
func (u update) codexServerCall() (call struct {
	Server, Tool string
	Arguments    json.RawMessage
}) {
	jsonlines.Decode(u.RawInput, &call)
	if call.Server == "" || call.Arguments == nil {
		call.Tool = "" // the input of another tool
	}
	return call
}

// output returns what a tool has put out, as far as it is text.
func (u update) output() string {
	var text string
	if json.Unmarshal(u.RawOutput, &text) == nil && text != "" {
		return text
	}
	var blocks []struct {
		Content struct{ Text string }
	}
	_ = json.Unmarshal(u.Content, &blocks) // leaves out what does not fit
	var texts []string
	for _, b := range blocks {
		if b.Content.Text != "" {
			texts = append(texts, b.Content.Text)
		}
	}
	var called struct { // the result of a tool of an MCP server, of Codex
		Result struct{ Content []struct{ Text string } }
	}
	if len(texts) == 0 && json.Unmarshal(u.RawOutput, &called) == nil {
		for _, b := range called.Result.Content {
			if b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// permissionRequestOf decodes a request for permission. It dismisses one of another session, whose
// turn is over.
func (c *Client) permissionRequestOf(m jsonrpc.Message) (PermissionRequest, bool) {
	var params struct {
		SessionID sdk.SessionId      `json:"sessionId"`
		Tool      update             `json:"toolCall"`
		Options   []permissionOption `json:"options"`
	}
	r := PermissionRequest{id: m.ID}
	if !jsonlines.Decode(m.Params, &params) || params.SessionID != c.session {
		c.Dismiss(r)
		return r, false
	}
	r.Edits = params.Tool.edits()
	acts := params.Tool.acts()
	params.Tool.Status = ""   // the tool waits for the answer
	params.Tool.Content = nil // shows what the tool would do, not its output
	r.Tool, r.options = params.Tool.tool(), params.Options
	r.Tool.Acts = acts
	return r, true
}

// edits returns the changes of files in the content.
func (u update) edits() []Edit {
	var blocks []struct {
		Type, Path       string
		OldText, NewText *string
	}
	if json.Unmarshal(u.Content, &blocks) != nil {
		return nil
	}
	var edits []Edit
	for _, b := range blocks {
		if b.Type != "diff" || b.NewText == nil {
			continue
		}
		e := Edit{Path: b.Path, New: *b.NewText}
		if b.OldText != nil {
			e.Old = *b.OldText
		}
		edits = append(edits, e)
	}
	return edits
}

// Answer allows or refuses what the agent asks, this time if it has an option for that, otherwise
// always. With always it prefers to allow it always. It may be called concurrently with other methods.
func (c *Client) Answer(r PermissionRequest, allowed, always bool) {
	kinds := []sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways}
	if allowed {
		kinds = []sdk.PermissionOptionKind{sdk.PermissionOptionKindAllowOnce, sdk.PermissionOptionKindAllowAlways}
	}
	if allowed && always {
		slices.Reverse(kinds)
	}
	for _, kind := range kinds {
		for _, o := range r.options {
			if o.Kind == string(kind) && o.ID != "" {
				outcome := sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(o.ID))
				c.conn.Respond(r.id, sdk.RequestPermissionResponse{Outcome: outcome})
				return
			}
		}
	}
	c.Dismiss(r)
}

// Dismiss answers that the turn was cancelled. It may be called concurrently with other methods.
func (c *Client) Dismiss(r PermissionRequest) {
	c.conn.Respond(r.id, sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()})
}

// resultOf decodes the response to a prompt.
func resultOf(m jsonrpc.Message) Result {
	if refused := m.Refusal(); refused != nil {
		return Result{Err: requestError(refused)}
	}
	var end struct {
		Reason sdk.StopReason `json:"stopReason"`
		Usage  *Usage         `json:"usage"`
		Meta   struct {
			Quota struct {
				Tokens struct {
					Input  int64 `json:"input_tokens"` // of Gemini CLI
					Output int64 `json:"output_tokens"`
				} `json:"token_count"`
			} `json:"quota"`
		} `json:"_meta"`
	}
	jsonlines.Decode(bytes.TrimSpace(m.Result), &end)
	r := Result{StopReason: end.Reason}
	if end.Usage != nil {
		r.Usage = *end.Usage
	} else {
		r.Usage.Input, r.Usage.Output = end.Meta.Quota.Tokens.Input, end.Meta.Quota.Tokens.Output
	}
	return r
}

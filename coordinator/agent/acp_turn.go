package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/acp-go-sdk"
)

// An acpTurn is one turn of an agent that speaks the protocol.
type acpTurn struct {
	*resident
	turn   Turn
	yield  func(Event, error) bool
	left   bool             // the consumer wants no more
	before map[int]struct{} // processes of the agent, when the turn began
	sound  bool             // the agent can have another turn

	prose
	message string // the id of the message that is being said
	tools   map[string]*acpTool
	broken  bool            // the agent says that what it says is an error
	trouble strings.Builder // that error

	asking    sync.WaitGroup // for leave
	asks      context.Context
	stopAsks  context.CancelFunc
	cancelled bool // what is asked now is not answered any more
}

// An acpTool is a tool in use.
type acpTool struct {
	name    string
	title   string
	input   json.RawMessage
	output  []byte
	started bool // it was told
	ended   bool
	refused atomic.Bool
}

func newACPTurn(ctx context.Context, r *resident, turn Turn, yield func(Event, error) bool) *acpTurn {
	t := &acpTurn{resident: r, turn: turn, yield: yield, tools: map[string]*acpTool{}}
	// Whoever is asked may keep the consumer waiting, which then keeps us from noticing that ctx
	// is done: questions have to end with it by themselves.
	t.asks, t.stopAsks = context.WithCancel(ctx)
	return t
}

// run runs the turn. The error is nil when the consumer has left.
func (t *acpTurn) run(ctx context.Context, grace time.Duration) error {
	defer t.asking.Wait()
	defer t.stopAsks()
	t.before = t.process.company()
	if !t.tell(Session{string(t.session)}) {
		t.sound = true // nothing was asked
		t.close()
		return nil
	}
	id := t.request(acp.AgentMethodSessionPrompt, acp.PromptRequest{
		SessionId: t.session, Prompt: []acp.ContentBlock{acp.TextBlock(strings.ToValidUTF8(t.turn.Prompt, "\uFFFD"))},
	})
	answer, err := t.listen(ctx, id)
	switch {
	case err == nil && ctx.Err() == nil:
		t.sound = true
		t.close()
		return t.judge(answer)
	case err == nil: // it was quicker than we were with cancelling
		settling, stop := context.WithTimeout(context.Background(), grace)
		defer stop()
		t.settle(settling)
		return stopped(ctx)
	case ctx.Err() != nil || errors.Is(err, errLeft):
		t.cancel(id, grace)
		if t.left {
			return nil
		}
		return stopped(ctx)
	}
	return t.explain(ctx, err)
}

// errLeft: the consumer wants no more.
var errLeft = errors.New("nobody listens")

// listen passes on what the agent tells until it answers to the prompt.
func (t *acpTurn) listen(ctx context.Context, id string) (answer message, err error) {
	for {
		m, err := t.next(ctx)
		if err != nil || m.isAnswer(id) {
			return m, err
		}
		t.hear(m)
		if t.left && !t.cancelled {
			return m, errLeft
		}
	}
}

// cancel asks the agent to leave off. It stays if it has, with all that the turn has started.
func (t *acpTurn) cancel(id string, grace time.Duration) {
	t.cancelled = true
	t.stopAsks()
	t.notify(acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: t.session})
	ctx, stop := context.WithTimeout(context.Background(), grace)
	defer stop()
	if _, err := t.listen(ctx, id); err == nil {
		t.settle(ctx)
	}
}

// settle lets the agent stay behind a turn that was stopped, if nothing of the turn runs on.
func (t *acpTurn) settle(ctx context.Context) {
	t.close()
	t.sound = t.calm(ctx)
}

// calm waits until nothing of the agent runs that did not run before the turn.
func (t *acpTurn) calm(ctx context.Context) bool {
	for {
		now := t.process.company()
		if now == nil {
			return false // nobody can tell
		}
		for pid := range t.before {
			delete(now, pid)
		}
		if len(now) == 0 {
			return true
		}
		select {
		case <-time.After(10 * time.Millisecond): // the system gives no notice of a process's end
		case <-ctx.Done():
			return false
		}
	}
}

// tell tells the consumer, if there still is one, and is false when there is none.
func (t *acpTurn) tell(events ...Event) bool {
	for _, e := range events {
		if !t.left && !t.yield(e, nil) {
			t.left = true
		}
	}
	return !t.left
}

// hear takes in what the agent tells or asks in the middle of a turn.
func (t *acpTurn) hear(m message) {
	switch {
	case m.Method == acp.ClientMethodSessionUpdate:
		var n struct {
			SessionID acp.SessionId `json:"sessionId"`
			Update    acpUpdate     `json:"update"`
		}
		if decode(m.Params, &n) && n.SessionID == t.session {
			t.update(n.Update)
		}
	case m.Method == acp.ClientMethodSessionRequestPermission && m.isRequest():
		t.permission(m)
	case m.isRequest():
		t.refuse(m)
	}
}

// An acpUpdate is what an agent tells of its turn. What is not understood is left out: agents
// tell more than the protocol knows, and not always in the form that it knows.
type acpUpdate struct {
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

	Meta struct {
		Terminal struct {
			Data string `json:"data"`
		} `json:"terminal_output_delta"` // of Codex
		Codex struct {
			Status struct {
				Type string `json:"type"`
			} `json:"threadStatus"`
		} `json:"codex"`
	} `json:"_meta"`
}

func (t *acpTurn) update(u acpUpdate) {
	switch u.Kind {
	case "agent_message_chunk":
		t.chunk(u)
	case "tool_call", "tool_call_update":
		t.tool(u)
	case "session_info_update":
		t.broken = t.broken || u.Meta.Codex.Status.Type == "systemError"
	}
	t.tell(Alive{})
}

// chunk is a piece of what the agent says. Codex says its errors in the same way.
func (t *acpTurn) chunk(u acpUpdate) {
	var block struct{ Text string }
	decode(u.Content, &block)
	if t.broken {
		t.trouble.WriteString(block.Text)
		return
	}
	if u.MessageID != t.message {
		t.prose.end()
		t.message = u.MessageID
	}
	t.tell(t.say(block.Text)...)
}

// tool is news of a tool. It has started when it is known what it was given, at the latest
// when it works, ends or is asked about.
func (t *acpTurn) tool(u acpUpdate) *acpTool {
	tool := t.tools[u.ToolID]
	if tool == nil {
		tool = &acpTool{}
		t.tools[u.ToolID] = tool
		t.prose.end()
	}
	tool.name = cmp.Or(u.Name, tool.name, u.ToolKind)
	tool.title = cmp.Or(u.Title, tool.title)
	if len(u.RawInput) > 0 && string(u.RawInput) != "{}" && string(u.RawInput) != "null" {
		tool.input = u.RawInput
	}
	if output := u.output(); output != "" || string(u.Content) == "[]" { // what was there is replaced
		tool.output = append(tool.output[:0], output...)
	}
	tool.output = append(tool.output, u.Meta.Terminal.Data...)
	ended := u.Status == string(acp.ToolCallStatusCompleted) || u.Status == string(acp.ToolCallStatusFailed)
	if u.Status == string(acp.ToolCallStatusInProgress) || ended {
		t.started(u.ToolID, tool)
	}
	if ended && !tool.ended {
		tool.ended = true
		t.tell(completed(u.ToolID, tool.name, string(tool.output), u.Status == string(acp.ToolCallStatusFailed)))
		tool.output = nil
	}
	return tool
}

func (t *acpTurn) started(id string, tool *acpTool) {
	if tool.started {
		return
	}
	tool.started = true
	input := tool.input
	if input == nil && tool.title != "" {
		input = encode(map[string]string{"title": tool.title})
	}
	t.tell(ToolStarted{ID: id, Name: cmp.Or(tool.name, "tool"), Input: input})
}

// output is what a tool has put out, as far as it is text.
func (u acpUpdate) output() string {
	var text string
	if json.Unmarshal(u.RawOutput, &text) == nil && text != "" {
		return text
	}
	var blocks []struct {
		Content struct{ Text string }
	}
	if json.Unmarshal(u.Content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Content.Text != "" {
			texts = append(texts, b.Content.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// permission asks whether the agent may do what it asks leave for. The agent goes on telling
// meanwhile.
func (t *acpTurn) permission(m message) {
	var asked struct {
		SessionID acp.SessionId `json:"sessionId"`
		Tool      acpUpdate     `json:"toolCall"`
		Options   []option      `json:"options"`
	}
	if !decode(m.Params, &asked) || asked.SessionID != t.session {
		t.answer(m.ID, acp.RequestPermissionResponse{Outcome: outcomeOf("")}) // of a turn that is over
		return
	}
	asked.Tool.Status = ""   // whatever it is, it waits
	asked.Tool.Content = nil // which says what is asked for, not what came out
	tool := t.tool(asked.Tool)
	t.started(asked.Tool.ToolID, tool)
	question := Permission{ToolID: asked.Tool.ToolID, Tool: cmp.Or(tool.name, "tool"), Title: tool.title, Input: tool.input}
	t.asking.Go(func() {
		allowed := t.turn.Permit != nil && t.turn.Permit(t.asks, question)
		outcome := choose(asked.Options, allowed)
		if t.asks.Err() != nil {
			outcome = ""
		}
		tool.refused.Store(!allowed)
		t.answer(m.ID, acp.RequestPermissionResponse{Outcome: outcomeOf(outcome)})
	})
}

// An option is one of the answers that an agent takes.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// choose is the option that allows or refuses this one time, else for good; "" is none.
func choose(options []option, allowed bool) string {
	kinds := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	if allowed {
		kinds = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	}
	for _, kind := range kinds {
		for _, o := range options {
			if o.Kind == string(kind) {
				return o.ID
			}
		}
	}
	return ""
}

func outcomeOf(option string) acp.RequestPermissionOutcome {
	if option == "" {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	return acp.NewRequestPermissionOutcomeSelected(acp.PermissionOptionId(option))
}

// refused are the ids of the tools that were not allowed, in their order.
func (t *acpTurn) refused() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.tools)), func(id string) bool { return !t.tools[id].refused.Load() })
}

// endRefused tells the end of those of which the agent says nothing more.
func (t *acpTurn) endRefused() {
	for _, id := range t.refused() {
		if tool := t.tools[id]; !tool.ended {
			tool.ended = true
			t.tell(ToolCompleted{ID: id, Name: cmp.Or(tool.name, "tool"), Error: "it was not allowed"})
		}
	}
}

// judge is what the agent's answer makes of the turn.
func (t *acpTurn) judge(answer message) error {
	t.endRefused()
	if err := answer.refusal(); err != nil {
		return t.explain(context.Background(), err)
	}
	var end struct {
		Reason acp.StopReason `json:"stopReason"`
		Usage  *struct {
			Input   int64 `json:"inputTokens"`
			Output  int64 `json:"outputTokens"`
			Thought int64 `json:"thoughtTokens"`
			Total   int64 `json:"totalTokens"`
		} `json:"usage"`
		Meta struct {
			Quota struct {
				Tokens struct {
					Input  int64 `json:"input_tokens"` // of Gemini CLI
					Output int64 `json:"output_tokens"`
				} `json:"token_count"`
			} `json:"quota"`
		} `json:"_meta"`
	}
	decode(bytes.TrimSpace(answer.Result), &end)
	used := Usage{InputTokens: end.Meta.Quota.Tokens.Input, OutputTokens: end.Meta.Quota.Tokens.Output}
	if u := end.Usage; u != nil { // what came out of a cache is in the total alone
		used = Usage{InputTokens: max(u.Input, u.Total-u.Output-u.Thought), OutputTokens: u.Output}
	}
	if used != (Usage{}) && !t.tell(used) {
		return nil
	}
	if t.broken {
		says := cmp.Or(spoken(t.trouble.String()), "it does not say why")
		return t.failure(says, t.help(says))
	}
	silent := end.Reason == acp.StopReasonEndTurn && !t.said
	if len(t.refused()) > 0 && (silent || end.Reason == acp.StopReasonCancelled) { // OpenCode and Codex give up then
		return t.failure("it stopped, because it was not allowed to use a tool", "say what it shall do instead")
	}
	return t.stoppedBy(end.Reason)
}

// stoppedBy is what a reason to stop makes of the turn.
func (t *acpTurn) stoppedBy(reason acp.StopReason) error {
	switch reason {
	case acp.StopReasonEndTurn:
		return nil
	case acp.StopReasonMaxTokens:
		if !t.said {
			return t.failure("it has not said a word, and there is no more room for its model: the prompt may be too long", helpShorter)
		}
		return t.failure(finishedLength, finishes[finishedLength])
	case acp.StopReasonMaxTurnRequests:
		return t.failure("it has asked its model as often as it may in one turn", "say /retry, or ask for less at once")
	case acp.StopReasonRefusal:
		return t.failure("it refuses to answer", finishes[finishedFilter])
	case acp.StopReasonCancelled:
		return t.failure("it says that it was cancelled, and nobody here did", "to try again, type /retry")
	}
	return t.failure("it stopped for the reason “"+quote(string(reason))+"”", "to try again, type /retry")
}

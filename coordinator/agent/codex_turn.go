package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A codexTurn is one turn of a session of Codex.
type codexTurn struct {
	*codexSession
	turn  Turn
	yield func(Event, error) bool
	left  bool // the consumer has left the loop

	request     string // the id of the request that starts the turn
	id          string // Codex's id of the turn; "": it is not known yet
	interrupted bool   // the turn is to be interrupted
	over        bool
	status      string // of the turn that is over
	failureText string // why it failed

	reply
	streamed map[string]bool // messages of which pieces were received
	tools    map[string]*codexTool
	used     Usage
	warning  string // the reason of the last retry, or the last warning
	breach   error  // what Codex has done without permission; nil: nothing is known

	requests openRequests
	forms    formUses
}

// Steer implements Steerable.
func (s *codexSession) Steer(id, text string) bool {
	return s.checkLength(text) == nil && s.steered.add(id, text)
}

// Turn implements Session.
func (s *codexSession) Turn(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		switch {
		case ctx.Err() != nil:
			yield(nil, process.Stopped(ctx))
			return
		case !s.Alive():
			yield(nil, s.exitError(""))
			return
		}
		if err := s.checkLength(turn.Prompt); err != nil {
			yield(nil, err)
			return
		}
		t := &codexTurn{
			codexSession: s, turn: turn, yield: yield, streamed: map[string]bool{}, tools: map[string]*codexTool{},
		}
		// Turn.Permit may block until its context ends, with the turn or before.
		t.requests.begin(ctx)
		settled := false
		// Deferred, because the loop's body may also panic.
		defer func() {
			t.steered.stop()
			t.requests.end()
			if !settled {
				s.kill()
				return
			}
			s.Process.SetIdle(true)
		}()
		s.Process.SetIdle(false)
		var err error
		if settled, err = t.run(ctx); err != nil && !t.left {
			yield(nil, err)
		}
	}
}

// run runs the turn. It returns false if the program is to be ended.
func (t *codexTurn) run(ctx context.Context) (settled bool, err error) {
	t.emit(unsupportedServers(t.skipped)...)
	if !t.emit(SessionStarted{t.ID()}) {
		return true, nil // it has got no prompt
	}
	before := t.Process.Related()
	t.start()
	err = t.relay(ctx)
	switch {
	case errors.Is(err, errBreach):
		if !t.over {
			t.interrupt()
		}
		return false, t.breach
	case err == nil && ctx.Err() == nil:
		return true, t.finish()
	case err == nil || ctx.Err() != nil || errors.Is(err, errLeft):
		if !t.over {
			t.interrupt()
		}
		settled = t.over && t.settle(before)
		if t.left {
			return settled, nil
		}
		return settled, t.withWarning(process.Stopped(ctx), t.warning)
	case t.id == "" && !errors.Is(err, jsonrpc.ErrExited):
		if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
			reason := apiMessage(refused.Error())
			return true, t.failure(reason, t.remedy(reason))
		}
	}
	if errors.Is(err, jsonrpc.ErrExited) {
		return false, t.exitError(t.warning)
	}
	return false, t.explain(ctx, err)
}

// start sends the request that starts the turn.
func (t *codexTurn) start() {
	params := t.policy.forTurn(t.thread)
	params["threadId"], params["input"] = t.ID(), codexInput(t.turn.Prompt, t.turn.Images...)
	if t.effort != "" {
		params["effort"] = t.effort
	}
	t.request = t.Request("turn/start", params)
	t.listModels()
}

// codexInput returns a text and pictures as the input of a turn.
func codexInput(text string, images ...Image) []map[string]any {
	input := []map[string]any{{"type": "text", "text": strings.ToValidUTF8(text, "\uFFFD")}}
	for _, i := range images {
		input = append(input, map[string]any{"type": "text", "text": i.Label},
			map[string]any{"type": "image", "url": i.dataURL()})
	}
	return input
}

// relay emits the events of the turn until it is over.
func (t *codexTurn) relay(ctx context.Context) error {
	for !t.over {
		m, err := t.Receive(ctx)
		if err != nil {
			return err
		}
		if err := t.take(m); err != nil {
			return err
		}
		t.emit(t.forms.ended()...)
		switch {
		case t.interrupted:
		case t.left:
			return errLeft
		case t.breach != nil:
			return errBreach
		}
	}
	return nil
}

// take emits the events of a message. It returns the error of a turn that has not started.
func (t *codexTurn) take(m jsonrpc.Message) error {
	switch {
	case m.Responds(t.request):
		if refused := m.Refusal(); refused != nil {
			return refused
		}
		var started struct {
			Turn codexTurnState `json:"turn"`
		}
		jsonlines.Decode(m.Result, &started)
		t.begin(started.Turn.ID)
		if t.interrupted {
			t.sendInterrupt()
		}
	case m.Responds(t.listing):
		t.takeModels(m)
	case m.IsRequest():
		t.takeRequest(m)
	case m.Method != "":
		t.takeNotification(m)
	}
	return nil
}

// begin notes Codex's id of the turn, which can take messages from then on.
func (t *codexTurn) begin(id string) {
	if t.id != "" || id == "" {
		return
	}
	t.id = id
	if t.interrupted {
		return
	}
	t.steered.begin(func(uuid, text string) {
		t.Request("turn/steer", map[string]any{
			"threadId": t.ID(), "expectedTurnId": id, "clientUserMessageId": uuid, "input": codexInput(text),
		})
	})
}

// interrupt asks Codex to stop the turn, and waits for the grace period until it is over.
func (t *codexTurn) interrupt() {
	t.interrupted = true
	t.steered.stop()
	t.requests.stop()
	if t.id != "" {
		t.sendInterrupt()
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.grace)
	defer cancel()
	_ = t.relay(ctx) // if it fails, the program is ended
}

func (t *codexTurn) sendInterrupt() {
	t.Request("turn/interrupt", map[string]any{"threadId": t.ID(), "turnId": t.id})
}

// settle waits for the grace period until none of the processes that the turn has started is left, and reports whether
// none is.
func (t *codexTurn) settle(before map[int]struct{}) bool {
	expired := time.After(t.grace)
	for {
		now := t.Process.Related()
		if now == nil {
			return false // unknown
		}
		maps.DeleteFunc(now, func(pid int, _ struct{}) bool { _, old := before[pid]; return old })
		if len(now) == 0 {
			return true
		}
		select {
		case <-time.After(10 * time.Millisecond): // the system does not notify of a process's end
		case <-expired:
			return false
		}
	}
}

// emit yields events until the consumer has left the loop, and returns false if it has.
func (t *codexTurn) emit(events ...Event) bool {
	for _, e := range events {
		if !t.left && !t.yield(e, nil) {
			t.left = true
		}
	}
	return !t.left
}

// finish emits the last events and returns the turn's error.
func (t *codexTurn) finish() error {
	for _, id := range slices.Sorted(maps.Keys(t.tools)) { // Codex does not report the end of all of them
		if tool := t.tools[id]; tool.running && tool.permission.Load() == refused {
			t.emit(ToolCompleted{ID: id, Name: tool.name, Error: "permission denied"})
		}
	}
	if t.used != (Usage{}) {
		t.emit(t.used)
	}
	if t.id != "" {
		t.emit(Point{t.id})
	}
	switch t.status {
	case "completed":
		return nil
	case "interrupted":
		return t.failure("it reports a cancellation that was not requested", Remedy{Hint: retry})
	}
	reason := cmp.Or(apiMessage(t.failureText), t.warning, "it gives no reason")
	return t.failure(reason, t.remedy(reason))
}

// A codexTurnState is what Codex says of a turn.
type codexTurnState struct {
	ID     string     `json:"id"`
	Status string     `json:"status"`
	Error  codexError `json:"error"`
}

type codexError struct {
	Message string `json:"message"`
	Details string `json:"additionalDetails"`
}

func (e codexError) text() string {
	if e.Details == "" || strings.Contains(e.Message, e.Details) {
		return e.Message
	}
	return e.Message + " (" + e.Details + ")"
}

// A codexNote is what the notifications have that the engine uses.
type codexNote struct {
	ThreadID  string          `json:"threadId"`
	TurnID    string          `json:"turnId"`
	RequestID json.RawMessage `json:"requestId"`
	ItemID    string          `json:"itemId"`
	Delta     string          `json:"delta"`
	Item      codexItem       `json:"item"`
	Turn      codexTurnState  `json:"turn"`
	Message   string          `json:"message"`
	Error     codexError      `json:"error"`
	WillRetry bool            `json:"willRetry"`
	Tokens    codexTokens     `json:"tokenUsage"`
	Plan      []struct {
		Step   string `json:"step"`
		Status string `json:"status"`
	} `json:"plan"`
	Changes json.RawMessage `json:"changes"`
}

// takeNotification emits the events of a notification. Those of an earlier turn are ignored, and of other threads,
// which are those of subagents, only tools are reported.
func (t *codexTurn) takeNotification(m jsonrpc.Message) {
	var n codexNote
	jsonlines.Decode(m.Params, &n)
	own := n.ThreadID == t.ID() && (n.TurnID == t.id || n.TurnID == "")
	if n.ThreadID == t.ID() && !own {
		return
	}
	switch m.Method {
	case "item/started":
		t.startItem(n.Item)
	case "item/completed":
		t.completeItem(n.Item, own)
	case "item/fileChange/patchUpdated":
		if tool := t.tools[label(n.ItemID)]; tool != nil {
			tool.changes = n.Changes
		}
	case "serverRequest/resolved":
		t.requests.withdraw(string(n.RequestID))
		return
	case "warning":
		t.warning = abbreviate(n.Message, maxReason)
		return
	}
	if !own {
		return
	}
	switch m.Method {
	case "turn/started":
		t.begin(n.Turn.ID)
	case "item/agentMessage/delta":
		if n.Delta != "" {
			t.streamed[label(n.ItemID)] = true
			t.emit(t.text(n.Delta)...)
		}
	case "turn/plan/updated":
		t.takePlan(n)
	case "thread/tokenUsage/updated":
		t.takeTokens(n.Tokens)
	case "error":
		t.warning = abbreviate(apiMessage(n.Error.text()), maxReason)
		if n.WillRetry {
			t.emit(Retry{Reason: t.warning})
		}
		return
	case "turn/completed":
		if n.Turn.ID == t.id && t.id != "" {
			t.steered.stop()
			t.over, t.status, t.failureText = true, n.Turn.Status, n.Turn.Error.text()
		}
		return
	}
	if strings.HasPrefix(m.Method, "item/") || strings.HasPrefix(m.Method, "turn/") {
		t.emit(Alive{})
	}
}

// takePlan emits the todo list.
func (t *codexTurn) takePlan(n codexNote) {
	entries := []PlanEntry{}
	for _, p := range n.Plan {
		status := p.Status
		if status == "inProgress" {
			status = "in_progress"
		}
		entries = append(entries, PlanEntry{Content: p.Step, Status: status})
	}
	t.emit(Plan{entries})
}

// codexTokens are the tokens of a request.
type codexTokens struct {
	Last struct { // the input includes cached tokens
		Total       int64 `json:"totalTokens"`
		Input       int64 `json:"inputTokens"`
		CachedRead  int64 `json:"cachedInputTokens"`
		CachedWrite int64 `json:"cacheWriteInputTokens"`
		Output      int64 `json:"outputTokens"`
		Thought     int64 `json:"reasoningOutputTokens"`
	} `json:"last"`
	Window int64 `json:"modelContextWindow"`
}

// takeTokens adds the tokens of a request to those of the turn.
func (t *codexTurn) takeTokens(n codexTokens) {
	t.used.add(Usage{
		Input: max(0, n.Last.Input-n.Last.CachedRead-n.Last.CachedWrite), CachedRead: n.Last.CachedRead,
		CachedWrite: n.Last.CachedWrite, Output: n.Last.Output, Thought: n.Last.Thought,
	}.separate(0))
	if n.Window > 0 {
		t.context = n.Last.Total
		t.used.Context, t.used.Window = n.Last.Total, n.Window
	}
}

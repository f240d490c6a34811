package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// An acpTurn is one turn of an agent that speaks the Agent Client Protocol.
type acpTurn struct {
	*acpAgent
	turn     Turn
	yield    func(Event, error) bool
	left     bool             // the consumer has left the loop
	keeps    bool             // the session has other turns
	before   map[int]struct{} // the agent's processes at the beginning of the turn
	reusable bool             // the agent can run another turn

	reply
	messageID string // of the last chunk
	held      heldChunks
	tools     map[string]*acpTool
	broken    bool            // the agent's chunks are an error message
	complaint strings.Builder // that message
	spent     Usage           // the cost of the session, which is the turn's, and the context
	warning   string          // the reason of the last retry

	requests  openRequests
	forms     formUses
	cancelled bool
	over      bool  // the result has arrived
	breach    error // what the agent has done without permission; nil: nothing is known
	editor    editorUse
}

// An acpTool is a use of a tool.
type acpTool struct {
	name      string
	title     string
	input     json.RawMessage
	hidden    struct{ title, input int } // bytes that are too long to be kept
	output    []byte                     // at most maxOutput
	omitted   int64                      // bytes after output
	announced bool                       // there was a ToolStarted
	ended     bool

	permission atomic.Int32 // notAsked, asked, granted or refused
	acts       bool         // it changes files or runs a command
	did        string       // the title, which is kept when it has ended
	bypassed   bool
}

func newACPTurn(ctx context.Context, a *acpAgent, turn Turn, yield func(Event, error) bool) *acpTurn {
	t := &acpTurn{acpAgent: a, turn: turn, yield: yield, tools: map[string]*acpTool{}}
	// Turn.Permit may block until its context ends, with the turn or before.
	t.requests.begin(ctx)
	return t
}

// run runs the turn. The error is nil if the consumer has left the loop.
func (t *acpTurn) run(ctx context.Context, grace time.Duration) error {
	defer func() {
		t.requests.end()
		t.leaveEditor(grace)
	}()
	t.before = t.Process.Related()
	if t.noThinking {
		t.emit(unsupportedThinking)
	}
	t.emit(unsupportedServers(t.skipped)...)
	if len(t.turn.Images) > 0 && !t.TakesImages {
		t.emit(Unsupported{SettingImages})
	}
	if !t.emit(SessionStarted{t.SessionID()}) {
		t.reusable = true // it has got no prompt
		t.closeSession()
		return nil
	}
	t.Prompt(t.turn.Prompt, t.imageBlocks()...)
	result, err := t.relay(ctx)
	if err == nil {
		t.over = true
		err = t.takeLate(ctx)
	}
	t.settleHeld()
	switch {
	case errors.Is(err, errBreach):
		if !t.over {
			t.cancel(grace)
		}
		t.reusable = false // what is left of the agent is ended
		t.emitEditorUses()
		return t.breach
	case err == nil && ctx.Err() == nil:
		t.reusable = true
		t.closeSession()
		return t.finish(result)
	case err == nil: // it finished before it could be cancelled
		settling, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		t.settle(settling)
		return t.stopped(ctx)
	case ctx.Err() != nil || errors.Is(err, errLeft):
		t.cancel(grace)
		if t.left {
			return nil
		}
		return t.stopped(ctx)
	}
	return t.explain(ctx, err)
}

// closeSession closes the session unless it has other turns.
func (t *acpTurn) closeSession() {
	if !t.keeps {
		t.CloseSession()
	}
}

// stopped returns the error of a turn whose context is done.
func (t *acpTurn) stopped(ctx context.Context) error {
	return t.withWarning(process.Stopped(ctx), t.warning)
}

// errLeft is the error of relay when the consumer has left the loop.
var errLeft = errors.New("the consumer has left")

// relay emits the events of the turn until its result arrives.
func (t *acpTurn) relay(ctx context.Context) (acp.Result, error) {
	for {
		m, err := t.next(ctx)
		if err != nil {
			return acp.Result{}, err
		}
		if result, ok := m.(acp.Result); ok {
			return result, nil
		}
		if err := t.take(m); err != nil && !t.cancelled {
			return acp.Result{}, err
		}
	}
}

// What an agent sends right after the result belongs to the turn: some report the end of a turn before its last words.
const (
	lateTime    = 100 * time.Millisecond // is how long the agent has to be silent
	maxLateTime = time.Second
)

// takeLate emits what the agent sends right after the result.
func (t *acpTurn) takeLate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxLateTime)
	defer cancel()
	for {
		quiet, cancel := context.WithTimeout(ctx, lateTime)
		m, err := t.Next(quiet)
		cancel()
		if err != nil {
			return nil // of an agent that exits, the result counts
		}
		if err := t.take(m); err != nil {
			return err
		}
	}
}

// take emits the events of a message. It returns errLeft or errBreach if the turn has to end.
func (t *acpTurn) take(m acp.Message) error {
	switch m := m.(type) {
	case acp.Chunk:
		t.takeChunk(m)
		t.emit(Alive{})
	case acp.Notice:
		t.takeNotice(m.Text)
		t.emit(Alive{})
	case acp.ToolUpdate:
		t.takeTool(m)
		t.emit(Alive{})
	case acp.PermissionRequest:
		t.takePermissionRequest(m)
	case acp.FormRequest:
		t.takeForm(m)
	case acp.Withdrawal:
		t.requests.withdraw(m.RequestID)
		t.emit(Alive{})
	case acp.ServiceRequest:
		t.takeServiceRequest(m)
		t.emit(Alive{})
	case acp.ModeChange:
		t.takeModeChange(m)
	case acp.SystemError:
		t.broken = true
		t.emit(Alive{})
	case acp.Plan:
		entries := make([]PlanEntry, len(m))
		for i, e := range m {
			entries[i] = PlanEntry(e)
		}
		if !t.habits.numbered {
			t.settleHeld()
		}
		t.emit(Plan{entries})
	case acp.Spent:
		t.takeSpent(m)
		t.emit(Alive{})
	case acp.Retry:
		t.takeRetry(m)
	case acp.OtherUpdate:
		t.emit(Alive{})
	}
	t.emit(t.forms.ended()...)
	switch {
	case t.left:
		return errLeft
	case t.breach != nil:
		return errBreach
	}
	return nil
}

// cancel asks the agent to stop the turn. The agent is reusable if it does, with everything that
// the turn has started.
func (t *acpTurn) cancel(grace time.Duration) {
	t.cancelled = true
	t.requests.stop()
	t.Cancel()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if _, err := t.relay(ctx); err == nil {
		t.settle(ctx)
	}
}

// settle makes the agent reusable after a stopped turn when none of the turn's processes is left.
func (t *acpTurn) settle(ctx context.Context) {
	t.closeSession()
	for {
		now := t.Process.Related()
		if now == nil {
			return // unknown
		}
		for pid := range t.before {
			delete(now, pid)
		}
		if len(now) == 0 {
			t.reusable = true
			return
		}
		select {
		case <-time.After(10 * time.Millisecond): // the system does not notify of a process's end
		case <-ctx.Done():
			return
		}
	}
}

// emit yields events until the consumer has left the loop, and returns false if it has.
func (t *acpTurn) emit(events ...Event) bool {
	for _, e := range events {
		if !t.left && !t.yield(e, nil) {
			t.left = true
		}
	}
	return !t.left
}

// takeChunk emits a piece of the reply. Codex sends error messages as chunks, too.
func (t *acpTurn) takeChunk(c acp.Chunk) {
	if t.broken {
		if t.complaint.Len() < maxReason {
			t.complaint.WriteString(abbreviate(c.Text, maxReason))
		}
		return
	}
	if c.Text == "" || t.hold(c) {
		return
	}
	if c.MessageID != t.messageID {
		t.endMessage()
		t.messageID = c.MessageID
	}
	t.emit(t.text(c.Text)...)
}

// takeRetry emits a retry. Its reason is part of the error if the turn is stopped.
func (t *acpTurn) takeRetry(r acp.Retry) {
	t.warning = abbreviate(apiMessage(r.Reason), maxReason)
	e := Retry{Reason: t.warning}
	if !r.At.IsZero() {
		e.Wait = max(0, time.Until(r.At))
	}
	t.emit(e)
}

// takeTool merges an update of a tool. The tool's start is emitted as late as possible, when it
// runs, ends or needs permission: its input is known then. It returns nil if the turn has too many
// tools.
func (t *acpTurn) takeTool(u acp.ToolUpdate) *acpTool {
	u.ID = label(u.ID)
	tool := t.tools[u.ID]
	if !t.habits.numbered {
		t.settleHeld()
	}
	if tool == nil {
		if len(t.tools) >= maxTools {
			t.checkBypass(u.ID, &acpTool{name: label(cmp.Or(u.Name, toolNameIn(u)))}, u)
			return nil
		}
		tool = &acpTool{}
		t.tools[u.ID] = tool
		t.endMessage()
	}
	tool.name = label(cmp.Or(u.Name, tool.name, toolNameIn(u)))
	if u.Title != "" {
		tool.title = runecut.Prefix(u.Title, maxReason)
		tool.hidden.title, tool.did = len(u.Title)-len(tool.title), tool.title
	}
	if u.Input != nil && !tool.ended {
		tool.input, tool.hidden.input = u.Input, 0
		if len(u.Input) > maxOutput {
			tool.input, tool.hidden.input = nil, len(u.Input)
		}
	}
	tool.add(u)
	if u.Started {
		t.announce(u.ID, tool)
	}
	t.checkBypass(u.ID, tool, u)
	if u.Ended && !tool.ended {
		tool.ended = true
		done := completed(u.ID, tool.name, string(tool.output), u.Failed)
		done.Omitted = tool.omitted
		t.emit(done)
		tool.output, tool.input, tool.title = nil, nil, ""
	}
	return tool
}

// add adds the output of an update. Of a long one the beginning is kept.
func (tool *acpTool) add(u acp.ToolUpdate) {
	if tool.ended {
		return
	}
	if u.OutputReplaced {
		tool.output, tool.omitted = tool.output[:0], 0
	}
	for _, more := range []string{u.Output, u.OutputAppended} {
		kept := more[:min(len(more), maxOutput-len(tool.output))]
		tool.output = append(tool.output, kept...)
		tool.omitted += int64(len(more) - len(kept))
	}
}

// toolNameIn returns what is known of the name of a tool in an update without one. The category of a tool of an MCP
// server says nothing: its title is its name and that of the server.
func toolNameIn(u acp.ToolUpdate) string {
	if u.Category == string(sdk.ToolKindOther) {
		return cmp.Or(u.Title, u.Category)
	}
	return u.Category
}

// announce emits the ToolStarted of a tool, once.
func (t *acpTurn) announce(id string, tool *acpTool) {
	if tool.announced {
		return
	}
	tool.announced = true
	input := tool.input
	if input == nil && tool.title != "" {
		input = object("title", tool.title)
	}
	t.emit(ToolStarted{ID: id, Name: cmp.Or(tool.name, "tool"), Input: input})
}

// takePermissionRequest asks Turn.Permit in the background.
func (t *acpTurn) takePermissionRequest(r acp.PermissionRequest) {
	tool := t.takeTool(r.Tool)
	if tool == nil || t.over || !t.requests.takes(0) {
		t.Dismiss(r)
		return
	}
	id := label(r.Tool.ID)
	t.announce(id, tool)
	shown, omitted := edits(r.Edits)
	request := Permission{
		ToolID: id, Tool: cmp.Or(tool.name, "tool"), Kind: r.Tool.Category, Title: tool.title, Input: tool.input,
		Edits: shown, Omitted: omitted + tool.hidden.title + tool.hidden.input,
	}
	if r.OffersAlways() {
		request.Session, request.Always = t.habits.forgets, t.habits.rules
	}
	permit := func(ctx context.Context) Grant {
		grant := t.turn.permit(ctx, request)
		if grant.Scope != Nothing {
			t.editor.grant(request)
		}
		return grant
	}
	t.requests.ask(r.ID(), 0, &tool.permission, permit, func(grant Grant, inTime bool) {
		if !inTime {
			t.Dismiss(r)
			return
		}
		t.Answer(r, grant.Scope != Nothing, grant.Scope > Once)
	})
}

// takeSpent keeps the last cost and the last context that the agent reports.
func (t *acpTurn) takeSpent(m acp.Spent) {
	if m.Cost != nil {
		t.spent.Cost = &Cost{m.Cost.Amount, m.Cost.Currency}
	}
	if m.Window > 0 {
		t.spent.Context, t.spent.Window = m.Context, m.Window
	}
}

// finish emits the last events and returns the turn's error.
func (t *acpTurn) finish(result acp.Result) error {
	denied := slices.DeleteFunc(slices.Sorted(maps.Keys(t.tools)), func(id string) bool {
		return t.tools[id].permission.Load() != refused
	})
	for _, id := range denied { // agents do not report the end of all of them
		if tool := t.tools[id]; !tool.ended {
			t.emit(ToolCompleted{ID: id, Name: cmp.Or(tool.name, "tool"), Error: "permission denied"})
		}
	}
	t.emitEditorUses()
	if result.Err != nil {
		return t.explain(context.Background(), result.Err)
	}
	used := Usage{
		Input: result.Usage.Input, CachedRead: result.Usage.CachedRead, CachedWrite: result.Usage.CachedWrite,
		Output: result.Usage.Output, Thought: result.Usage.Thought,
	}.separate(result.Usage.Total)
	if t.keeps {
		used.Total = t.spent.Cost
	} else {
		used.Cost = t.spent.Cost
	}
	used.Context, used.Window = t.spent.Context, t.spent.Window
	if used != (Usage{}) && !t.emit(used) {
		return nil
	}
	if t.broken {
		reason := cmp.Or(apiMessage(t.complaint.String()), "it gives no reason")
		return t.failure(reason, t.remedy(reason))
	}
	empty := result.StopReason == sdk.StopReasonEndTurn && !t.started
	if len(denied) > 0 && (empty || result.StopReason == sdk.StopReasonCancelled) { // as OpenCode and Codex do
		return t.failure("it stopped because a permission was denied", Remedy{Advice: "tell it what to do instead"})
	}
	return t.stopError(result.StopReason)
}

// stopError returns the error of a turn that ended for the reason.
func (t *acpTurn) stopError(reason sdk.StopReason) error {
	switch reason {
	case sdk.StopReasonEndTurn:
		return nil
	case sdk.StopReasonMaxTokens:
		if !t.started {
			return t.failure("its context window is full before the reply; the prompt may be too long", remedyShorten)
		}
		return t.failure(incompleteLength, incompleteRemedies[incompleteLength])
	case sdk.StopReasonMaxTurnRequests:
		remedy := Remedy{"retry, or ask for less at once", retry}
		return t.failure("it reached its limit of model requests in one turn", remedy)
	case sdk.StopReasonRefusal:
		return t.failure("it refuses to answer", incompleteRemedies[incompleteFilter])
	case sdk.StopReasonCancelled:
		return t.failure("it reports a cancellation that was not requested", Remedy{Hint: retry})
	}
	return t.failure("it stopped for the reason “"+excerpt(string(reason))+"”", Remedy{Hint: retry})
}

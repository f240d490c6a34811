package agent

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A claudeTurn is one turn of a session.
type claudeTurn struct {
	*claudeSession
	turn   Turn
	prompt string // its UUID
	yield  func(Event, error) bool
	left   bool             // the consumer has left the loop
	before map[int]struct{} // the processes at the beginning of the turn

	parser  claudeParser
	verdict *verdict
	warning string // the last one
	uses    map[string]*claudeUse
	breach  error // what the agent has done without permission; nil: nothing is known
	stopped bool  // the turn was interrupted

	requests openRequests
	forms    formUses
}

// A claudeUse is a use of a tool.
type claudeUse struct {
	name, title string
	acts        bool         // it changes files or runs a command
	permission  atomic.Int32 // notAsked, asked, granted or refused
}

// Steer implements Steerable.
func (s *claudeSession) Steer(id, text string) bool { return s.steered.add(id, text) }

// Turn implements Session.
func (s *claudeSession) Turn(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		switch {
		case ctx.Err() != nil:
			yield(nil, process.Stopped(ctx))
			return
		case !s.Alive():
			yield(nil, s.failure("its program has ended", Remedy{Hint: retry}))
			return
		}
		s.process.SetIdle(false)
		t := &claudeTurn{
			claudeSession: s, turn: turn, yield: yield, parser: claudeParser{tools: toolNames{}},
			uses: map[string]*claudeUse{},
		}
		// Turn.Permit may block until its context ends, with the turn or before.
		t.requests.begin(ctx)
		finished := false
		// Deferred, because the loop's body may also panic.
		defer func() {
			t.steered.stop()
			t.requests.end()
			if !finished {
				s.kill()
			} else if s.Alive() {
				s.process.SetIdle(true)
			}
		}()
		err := t.run(ctx)
		finished = true
		if err != nil {
			yield(nil, err)
		}
	}
}

// run runs the turn. The error is nil if the consumer has left the loop.
func (t *claudeTurn) run(ctx context.Context) error {
	if err := t.prepare(ctx); err != nil {
		if ctx.Err() == nil { // otherwise it has got no prompt
			t.kill()
		}
		return t.explain(ctx, err)
	}
	t.turns++
	t.before = t.process.Related()
	t.prompt = newUUID()
	t.say(t.prompt, t.turn.Prompt, t.turn.Images...)
	err := t.relay(ctx)
	switch {
	case errors.Is(err, errBreach):
		t.interrupt()
		t.kill() // what is left of the agent is ended
		return t.breach
	case err == nil && ctx.Err() == nil:
		if !t.steered.stop() { // it would answer them by itself
			t.kill()
		}
		return t.verdictError(*t.verdict, t.warning)
	case err == nil, ctx.Err() != nil, errors.Is(err, errLeft):
		t.stop(err == nil)
		if t.left {
			return nil
		}
		return t.withWarning(process.Stopped(ctx), t.warning)
	case errors.Is(err, errClaudeExited):
		return t.exitError(t.warning)
	}
	t.kill()
	return t.explain(ctx, err)
}

// prepare ends what the agent does by itself since the last turn, and sets its mode.
func (t *claudeTurn) prepare(ctx context.Context) error {
	if t.turns == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, defaultClaudeStart, errClaudeStart)
	defer cancel()
	if err := t.call(ctx, map[string]any{"subtype": "interrupt"}, &struct{}{}); err != nil {
		return err
	}
	for t.busy {
		if _, err := t.receive(ctx); err != nil {
			return err
		}
	}
	return t.enterMode(ctx)
}

// say sends a message of the user. One that begins like a command of the agent is text.
func (s *claudeSession) say(uuid, text string, images ...Image) {
	text = strings.ToValidUTF8(text, "\uFFFD") // the agent rejects others
	if strings.HasPrefix(text, "/") {
		text = " " + text
	}
	content := any(text)
	if len(images) > 0 {
		content = claudeBlocks(text, images)
	}
	s.send(map[string]any{"type": "user", "uuid": uuid, "message": map[string]any{"role": "user", "content": content}})
}

// claudeBlocks returns a text and pictures as the blocks of a message. The last one is a text: in it, the agent looks
// for commands and instructions.
func claudeBlocks(text string, images []Image) []map[string]any {
	var blocks []map[string]any
	for _, i := range images {
		source := map[string]any{"type": "base64", "media_type": i.MediaType, "data": i.Data}
		blocks = append(blocks, map[string]any{"type": "text", "text": i.Label},
			map[string]any{"type": "image", "source": source})
	}
	return append(blocks, map[string]any{"type": "text", "text": text})
}

// relay emits the events of the turn until its verdict. It returns errLeft or errBreach if the turn has to end.
func (t *claudeTurn) relay(ctx context.Context) error {
	for t.verdict == nil {
		line, err := t.receive(ctx)
		if err != nil {
			return err
		}
		t.take(line)
		for _, e := range t.forms.ended() {
			t.emit(e)
		}
		switch {
		case t.stopped:
		case t.left:
			return errLeft
		case t.breach != nil:
			return errBreach
		}
	}
	return nil
}

// take emits the events of a line.
func (t *claudeTurn) take(line claudeLine) {
	switch line.Type {
	case "control_request":
		t.takeRequest(line.RequestID, line.Request)
		return
	case "control_cancel_request":
		t.requests.withdraw(line.RequestID)
		return
	case "control_response":
		return
	case "system":
		t.checkMode(line.Mode)
		if t.stopped && line.Subtype == "init" { // it was interrupted before it had begun
			t.request(map[string]any{"subtype": "interrupt"})
		}
	case "user", "assistant":
		defer t.checkUses(line)
	}
	events := t.parser.take(line)
	switch {
	case line.Type != "command_lifecycle" || line.State != "started":
	case line.Sent == t.prompt && !t.stopped:
		t.steered.begin(func(uuid, text string) { t.say(uuid, text) })
	default:
		events = t.steered.take(line.Sent)
	}
	if len(events) == 0 {
		events = append(events, Alive{})
	}
	for _, e := range events {
		switch e := e.(type) {
		case verdict:
			if e.failed || t.stopped || t.steered.end() { // otherwise it answers another message
				t.verdict = &e
			}
			continue
		case Retry:
			t.warning = e.warning()
		}
		t.emit(e)
	}
}

// emit yields an event, unless the consumer has left the loop.
func (t *claudeTurn) emit(e Event) { t.left = t.left || !t.yield(e, nil) }

// stop stops the turn. The program is ended, unless it has stopped with everything that the turn has started.
func (t *claudeTurn) stop(over bool) {
	ctx, cancel := context.WithTimeout(context.Background(), t.grace)
	defer cancel()
	all := t.steered.stop() // it would answer others by itself
	if !over && !t.interrupt() || !all || !t.settle(ctx) {
		t.kill()
	}
}

// interrupt stops the turn in the protocol, and reports whether it has ended.
func (t *claudeTurn) interrupt() bool {
	ctx, cancel := context.WithTimeout(context.Background(), t.grace)
	defer cancel()
	t.stopped = true
	t.requests.stop()
	t.request(map[string]any{"subtype": "interrupt"})
	return t.relay(ctx) == nil
}

// settle reports whether none of the turn's processes is left.
func (t *claudeTurn) settle(ctx context.Context) bool {
	for {
		now := t.process.Related()
		for pid := range t.before {
			delete(now, pid)
		}
		switch {
		case t.before == nil:
			return false // unknown
		case len(now) == 0:
			return true
		}
		select {
		case <-time.After(10 * time.Millisecond): // the system does not notify of a process's end
		case <-ctx.Done():
			return false
		}
	}
}

// use returns the use of a tool, or nil if the turn has too many.
func (t *claudeTurn) use(id string) *claudeUse {
	use := t.uses[id]
	if use == nil && len(t.uses) < maxTools {
		use = &claudeUse{}
		t.uses[id] = use
	}
	return use
}

// takeRequest asks Turn.Permit in the background.
func (t *claudeTurn) takeRequest(id string, r claudeRequest) {
	switch {
	case r.Subtype == claudeForm && len(id) <= maxLabel:
		t.takeForm(id, r)
		return
	case r.Subtype != claudePermission || len(id) > maxLabel:
		t.refuse(label(id))
		return
	}
	asking := r.permission()
	use, size := t.use(asking.ToolID), len(r.Input)
	if use == nil || !t.requests.takes(size) {
		t.respond(id, claudeRefused("too many requests wait for an answer"))
		return
	}
	permit := func(ctx context.Context) Grant { return t.turn.permit(ctx, asking) }
	t.requests.ask(id, size, &use.permission, permit, func(grant Grant, inTime bool) {
		switch {
		case !inTime:
		case grant.Scope == Nothing:
			t.respond(id, claudeRefused(grant.Reason))
		default:
			t.respond(id, r.allowed(grant))
		}
	})
}

// checkMode ends the turn if the agent is in a mode in which it may not ask for permission.
func (t *claudeTurn) checkMode(mode string) {
	if t.breach == nil && !t.allowsMode(mode) {
		t.breach = t.failure("it changed its mode to “"+excerpt(mode)+"”, in which it may not ask for permission",
			Remedy{"it was stopped; the next turn sets its mode again", retry})
	}
}

// checkUses reports tools that have changed something although the member's permissions or an answer do not allow it,
// and ends the turn. An agent that says nothing of what it does, or calls it something else, is not noticed.
func (t *claudeTurn) checkUses(line claudeLine) {
	for _, b := range blocksOf(line.Message.Content) {
		switch b.Type {
		case "tool_use":
			if use := t.use(label(b.ID)); use != nil && use.name == "" {
				r := claudeRequest{Tool: b.Name, Input: b.Input}
				kind := claudeKinds[b.Name]
				use.name, use.title = label(b.Name), abbreviate(r.title(), maxReason)
				// Planning, the agent runs commands that it knows to change nothing.
				use.acts = kind == KindEdit || kind == KindExecute && t.member.Permissions != ReadOnly
			}
		case "tool_result":
			if use := t.uses[label(b.ToolUseID)]; use != nil && !b.IsError {
				t.checkUse(label(b.ToolUseID), use)
			}
			delete(t.uses, label(b.ToolUseID))
		}
	}
}

// checkUse checks a use that has succeeded.
func (t *claudeTurn) checkUse(id string, use *claudeUse) {
	state := use.permission.Load()
	forbidden := t.member.Permissions == Deny || t.member.Permissions == ReadOnly
	if state == granted || state == notAsked && !(forbidden && use.acts) {
		return
	}
	name := cmp.Or(use.name, "tool")
	t.emit(Bypassed{ToolID: id, Tool: name, Title: use.title})
	if t.breach != nil {
		return
	}
	t.breach = t.bypassFailure(name, use.title)
}

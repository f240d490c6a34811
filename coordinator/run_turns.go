package coordinator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// runTurns runs turns at the same time, until all have ended, and records their events. more is false if a person is
// next. A turn that fails ends no other.
//
// The agents run on goroutines of their own. What they do is handled one step after another on this goroutine, which
// alone changes the conversation.
func (c *Coordinator) runTurns(ctx context.Context, next []item) (more bool, err error) {
	if ctx.Err() != nil {
		err := context.Cause(ctx)
		return false, &TurnError{
			Member: next[0].member, Reason: projection.Cancelled, Message: err.Error(), Detail: err.Error(), Err: err,
		}
	}
	if err := c.conv.full(); err != nil {
		return false, err
	}
	turns, err := c.startTurns(next)
	if err != nil {
		return false, err
	}
	defer c.notifyRedacted()
	c.turns = turns
	for _, t := range turns {
		t.ctx, t.cancel = context.WithCancelCause(ctx)
		defer t.cancel(nil)
	}
	c.running.Store(&turns)
	defer c.running.Store(nil)
	failures := c.makeWorktrees(turns)
	for i, t := range turns {
		if failures[i] == nil {
			t.files = t.beginFiles(t.ctx)
		}
	}
	for i, t := range turns { // all prompts are built before an agent starts
		if failures[i] == nil {
			failures[i] = t.prepare("")
		}
	}
	steps := make(chan step)
	for i, t := range turns {
		go t.converse(steps, failures[i])
	}
	for open := len(turns); open > 0; {
		s := <-steps
		if !s.ended {
			s.result <- cmp.Or(s.handle(), c.conv.full())
			continue
		}
		if s.turn.sessionIsGone(s.failure) {
			gone := s.turn.attached.resident.session.ID() // which only the prompt showed
			s.turn.detach()
			go s.turn.converse(steps, s.turn.prepare(gone))
			continue
		}
		open--
		continues, failure := s.turn.end(s.failure)
		more, err = more || continues, errors.Join(err, failure)
	}
	return more && err == nil, err
}

// startTurns records the start of turns in one batch.
func (c *Coordinator) startTurns(next []item) (turns []*turn, err error) {
	payloads := c.queueChanges()
	panel, again := newID(), next[0].seen > 0
	if again {
		panel = next[0].panel
	}
	for i, item := range next {
		c.notifyRounds(item.member)
		t := &turn{
			c: c, item: item, id: newID(), started: time.Now(), text: c.secrets.Stream(),
			requests: make(chan permissionRequest), questions: newQuestions(),
			steering: steering{requests: make(chan steerRequest)}, over: make(chan struct{}),
		}
		turns = append(turns, t)
		started := projection.TurnStarted{
			TurnID: t.id, MemberID: item.member.ID, AgentType: item.member.AgentType, Model: item.member.Model,
			TriggerMessageID: item.trigger.id, Round: c.roundsBegun() + 1 + i,
		}
		if len(next) > 1 || again {
			started.Panel = &projection.Panel{ID: panel, Index: i + 1, Of: len(next)}
		}
		payloads = append(payloads, started)
	}
	c.setPhase(Active)
	if err := c.conv.record(c.records(payloads...)...); err != nil {
		return nil, err
	}
	for _, t := range turns {
		t.seen, t.sum = t.item.seen, t.item.sum
		if t.seen == 0 {
			t.seen, t.sum = c.conv.state.LastMessage, c.conv.state.History
		}
	}
	c.save() // before an agent can do anything
	c.rounds += len(turns)
	return turns, nil
}

// end records the end of a turn, and what it has changed in files. It reports whether the queue continues.
func (t *turn) end(failure error) (more bool, err error) {
	t.detach()
	close(t.over)
	more, err = t.finish(t.ctx, failure)
	t.files.finish(t.ctx)
	t.c.turns = slices.DeleteFunc(slices.Clone(t.c.turns), func(other *turn) bool { return other == t })
	t.c.spend(1, t.usage)
	return more, err
}

// prepare builds the prompt of the turn, after it has started or continued the session of the agent if that keeps one.
// gone is the id of a session that was found not to exist any more.
func (t *turn) prepare(gone string) error {
	name := t.item.member.EngineName()
	engine, ok := t.c.o.Engines[name]
	if !ok {
		return fmt.Errorf("unknown engine %q", name)
	}
	input, next, err := t.input()
	if err != nil {
		return err
	}
	keeps, ok := engine.(agent.SessionEngine)
	if !ok || t.item.member.Memory == team.MemoryWindow {
		prompt, h := t.c.promptFor(engine, next)
		t.c.notifyWindow(t.item.member, "", h.len()+1)
		input.Prompt, t.pictures = prompt, t.images(h.all(t.trigger()))
		t.ready, t.run = t.prompted(input), engine.Run
		return nil
	}
	t.c.loadHomeKey()
	input.Ephemeral = t.c.ephemeral
	if input.Prompt, err = t.attach(t.ctx, keeps, input, next, gone); err != nil {
		return err
	}
	t.ready, t.run, t.gone = t.prompted(input), t.attached.resident.session.Turn, gone
	return nil
}

// sessionIsGone reports whether the turn can be prepared again, with a new session, since its agent's was found not to
// exist any more.
func (t *turn) sessionIsGone(failure error) bool {
	return errors.Is(failure, agent.ErrGone) && t.attached != nil && t.gone == "" && t.reply.Len() == 0
}

// prompted notes the prompt of the turn, which is about to be sent.
func (t *turn) prompted(input agent.Turn) agent.Turn {
	t.prompt = fmt.Sprintf("%x", sha256.Sum256([]byte(input.Prompt)))
	t.c.notify(Prompt{t.item.member, input.Prompt})
	input.Images = t.pictures
	return input
}

// A step is what a turn does next. The goroutine of the Coordinator handles it.
type step struct {
	turn    *turn
	handle  func() error
	result  chan<- error // gets the error of handle, or of a full conversation
	ended   bool         // the agent has ended, with failure; there is nothing to handle
	failure error
}

// converse runs the agent until it has ended, unless the turn could not be prepared.
func (t *turn) converse(steps chan<- step, failure error) {
	if failure == nil {
		failure = t.consume(t.ctx, func(handle func() error) error {
			result := make(chan error)
			steps <- step{turn: t, handle: handle, result: result}
			return <-result
		})
	}
	steps <- step{turn: t, ended: true, failure: failure}
}

// output is one element of an engine's sequence.
type output struct {
	event agent.Event
	err   error
}

// consume runs the agent, records what it does until it has ended, and decides requests for permission. It stops the
// agent at the first error. do runs a function on the goroutine of the Coordinator.
func (t *turn) consume(ctx context.Context, do func(func() error) error) (failure error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t.ready.Permit = t.permit
	outputs := make(chan output)
	go func() { // ends when the agent does, which this method waits for; stop ends the agent
		defer close(outputs)
		for e, err := range t.run(ctx, t.ready) {
			outputs <- output{e, err}
		}
	}()
	m := t.item.member
	flush := time.NewTicker(textInterval)
	defer flush.Stop()
	t.idle = newIdleTimeout(m.MaxAgentIdleTime)
	defer t.idle.stop()
	limit := t.c.team.MaxAgentResponseTime
	t.timeout = newTurnTimeout(limit)
	defer t.timeout.stop()
	for {
		var err error
		select {
		case o, ok := <-outputs:
			if !ok {
				stop(nil)
				return cmp.Or(failure, t.withdraw(ctx, do))
			}
			t.idle.restart(o.event)
			if err = o.err; err == nil && failure == nil {
				err = do(func() error {
					defer t.sendSteered()
					return t.handle(o.event)
				})
			}
		case r := <-t.requests:
			t.idle.restart(nil)
			err = do(func() error { return t.request(ctx, r) })
		case a := <-t.questions.answers:
			err = do(func() error { return t.answer(ctx, a) })
		case r := <-t.steering.requests:
			err = do(func() error {
				taken, err := t.steer(r)
				r.taken <- taken
				return err
			})
		// The engine ends with an error that wraps the cause and may say what it waited for.
		case <-t.timeout.expired:
			stop(&timeoutError{responseTimeSetting, limit})
		case <-t.idle.expired:
			stop(&timeoutError{idleTimeSetting, m.MaxAgentIdleTime})
		case <-flush.C:
			err = do(t.flush)
		}
		if err != nil && failure == nil {
			failure = err
			stop(err)
		}
	}
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// maxACPSessionID is how long the id of a session may be that is passed to an agent, in bytes.
const maxACPSessionID = 128

// isACPSessionID reports whether an id may be passed to an agent. A regular expression with such a repetition takes
// more time to compile than any other part of the start of the program.
func isACPSessionID(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return id != "" && len(id) <= maxACPSessionID && strings.Contains(letters, id[:1]) &&
		strings.Trim(id, letters+"_.:-") == ""
}

// Open implements SessionEngine. The protocol has no points in a session: none can be forked at one, and a session that
// something else has continued is not noticed.
func (e *ACP) Open(ctx context.Context, turn Turn, origin Origin) (Session, error) {
	if ctx.Err() != nil {
		return nil, process.Stopped(ctx)
	}
	turn.Member = e.member(turn.Member)
	p, _ := acpProfile(turn.Member)
	switch {
	case origin.Way == Fork, origin.Way == Resume && acpHabitsFor(turn.Member).residentOnly:
		return nil, fmt.Errorf("%s: %w", p.name, ErrUnsupported)
	case origin.Way == Resume && !isACPSessionID(origin.ID):
		return nil, fmt.Errorf("%s: invalid id of a session: %w", p.name, ErrGone)
	}
	a, err := e.start(ctx, turn)
	if err != nil {
		return nil, err
	}
	if origin.Way == New {
		err = a.newSession(ctx, turn)
	} else {
		err = a.begin(turn, func(wanted acp.Session) error { return a.ResumeSession(ctx, origin.ID, wanted) })
	}
	if err != nil {
		a.kill()
		return nil, a.explainResume(ctx, err)
	}
	a.Process.SetIdle(true)
	return &acpSession{acpAgent: a, grace: cmp.Or(e.Grace, defaultACPGrace), alive: true}, nil
}

// explainResume returns the error of Open.
func (a *acpAgent) explainResume(ctx context.Context, err error) error {
	refusal, refused := errors.AsType[*acp.NotResumedError](err)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, acp.ErrNoResume):
		return fmt.Errorf("%s: %w", a.name, ErrUnsupported)
	case refused && refusal.Busy:
		return fmt.Errorf("%s: %w: %w", a.name, ErrBusy, refusal)
	case refused:
		return fmt.Errorf("%s: %w: %w", a.name, ErrGone, refusal)
	}
	return a.explain(ctx, err)
}

// An acpSession is a session whose agent runs until Close.
type acpSession struct {
	*acpAgent
	grace time.Duration
	alive bool
}

// ID implements Session.
func (s *acpSession) ID() string { return s.SessionID() }

// Turn implements Session.
func (s *acpSession) Turn(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		switch {
		case ctx.Err() != nil:
			yield(nil, process.Stopped(ctx))
			return
		case s.excess(turn.Prompt) > 0:
			yield(nil, s.checkLength(turn.Prompt))
			return
		}
		s.Process.SetIdle(false)
		t := newACPTurn(ctx, s.acpAgent, turn, yield)
		t.keeps = true
		// Deferred, because the loop's body may also panic.
		defer func() {
			if s.alive = t.reusable; s.alive {
				s.Process.SetIdle(true)
			} else {
				s.kill()
			}
		}()
		if err := t.run(ctx, s.grace); err != nil {
			yield(nil, err)
		}
	}
}

// Alive implements Session.
func (s *acpSession) Alive() bool {
	select {
	case <-s.Process.Exited():
		return false
	default:
		return s.alive
	}
}

// Close implements Session.
func (s *acpSession) Close() { s.close(s.grace) }

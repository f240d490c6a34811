package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// An agySession is a conversation of the Antigravity CLI. It implements Session.
type agySession struct {
	turn  Turn   // of Open
	id    string // "": it is new
	grace time.Duration
}

// ID implements Session.
func (s *agySession) ID() string { return s.id }

// Alive implements Session: the program has ended with its turn.
func (s *agySession) Alive() bool { return false }

// Close implements Session. Nothing runs between turns.
func (s *agySession) Close() {}

// An agyTurn is one turn, and its program.
type agyTurn struct {
	*agySession
	resumed  bool // the conversation is not new
	process  *process.Process
	yield    func(Event, error) bool
	lines    jsonlines.Splitter
	parser   agyParser
	verdict  *verdict
	unparsed string // an excerpt of the first line that is no JSON
	left     bool   // the consumer has left the loop
	failure  error  // why the turn is stopped; nil: it is not
}

// Turn implements Session.
func (s *agySession) Turn(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, process.Stopped(ctx))
			return
		}
		if s.turn.Member.Thinking != nil && !yield(unsupportedThinking, nil) {
			return
		}
		if !yieldUnsupportedServers(s.turn.MCPServers, yield) {
			return
		}
		t := &agyTurn{agySession: s, resumed: s.id != "", yield: yield, parser: agyParser{tools: toolNames{}}}
		if err := t.run(ctx, turn); err != nil && !t.left {
			yield(nil, err)
		}
	}
}

// run runs the program.
func (t *agyTurn) run(ctx context.Context, turn Turn) error {
	program := t.turn.program()
	args, err := agyTurnArguments(t.turn, t.id)
	if err != nil {
		return agyProfile.failure(err.Error(), Remedy{})
	}
	program.TurnID, program.Command, program.Args = turn.ID, cmp.Or(program.Command, agyProfile.program), args
	over := make(chan struct{})
	t.process, err = process.Start(program, func(stdin io.Writer) {
		_, _ = io.WriteString(stdin, agyPrompt(turn.Prompt)) // it has exited
		<-over                                               // the end of its input might end the turn
	})
	if err != nil {
		close(over)
		return agyProfile.withInstall(err)
	}
	defer t.process.Supervise(ctx, t.grace)() // deferred, because the loop's body may also panic
	err = t.relay(ctx)
	close(over)
	if err != nil || t.left {
		return err
	}
	return t.finish(ctx)
}

// relay yields the events of the turn until its verdict, or until the program has closed its output.
func (t *agyTurn) relay(ctx context.Context) error {
	for t.verdict == nil && !t.left && t.failure == nil {
		text, open := "", false
		select {
		case text, open = <-t.process.Texts():
		case <-ctx.Done():
			return process.Stopped(ctx)
		}
		if !open {
			t.takeLine(t.lines.Rest())
			break
		}
		t.lines.Take(text, t.takeLine)
		if t.lines.TooLong() {
			return agyProfile.failure(jsonlines.ErrTooLong.Error(), remedyAskLess)
		}
	}
	return t.failure
}

// takeLine yields the events of a line. It returns false after the last one that counts.
func (t *agyTurn) takeLine(raw []byte) bool {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return true
	}
	for object := range jsonlines.Objects(raw) {
		var line agyLine
		if !jsonlines.Decode(object, &line) {
			t.unparsed = cmp.Or(t.unparsed, excerpt(string(object)))
			continue
		}
		if t.check(line); t.failure != nil {
			return false
		}
		t.emit(t.parser.take(line))
	}
	return t.verdict == nil && !t.left && t.failure == nil
}

// emit yields events, and keeps a verdict.
func (t *agyTurn) emit(events []Event) {
	if len(events) == 0 {
		events = []Event{Alive{}}
	}
	for _, e := range events {
		switch e := e.(type) {
		case verdict:
			t.verdict = &e
			continue
		case SessionStarted:
			t.id = e.ID
		case Bypassed:
			if !t.forbids() {
				continue
			}
			t.failure = agyProfile.bypassFailure(e.Tool, e.Title)
		}
		t.left = t.left || !t.yield(e, nil)
	}
}

// forbids reports whether the agent must not change anything.
func (t *agyTurn) forbids() bool {
	return t.turn.Member.Permissions == Deny || t.turn.Member.Permissions == ReadOnly
}

// check ends a turn that is not in the conversation, or not in the mode, that it is to have.
func (t *agyTurn) check(line agyLine) {
	switch {
	case line.Event != "init":
	case t.resumed && !strings.EqualFold(line.Conversation, t.id):
		t.failure = fmt.Errorf("%w: it has begun another conversation", ErrGone)
	case line.Init.Mode == agySkips && (t.forbids() || t.turn.Member.Permissions == Edit):
		advice := `check its settings and the member's command and args, or set "permissions" to allow`
		t.failure = agyProfile.failure("it skips all checks of permissions, although the member's are "+
			t.turn.Member.Permissions, Remedy{Advice: advice})
	}
}

// finish waits for the program's exit, and returns the error of the turn.
func (t *agyTurn) finish(ctx context.Context) error {
	exited := t.drain()
	switch {
	case ctx.Err() != nil:
		return process.Stopped(ctx)
	case !exited && t.verdict != nil:
		return t.verdictError("")
	case !exited:
		return agyProfile.failure("it closed its output before its turn was finished", Remedy{Hint: retry})
	}
	err := t.process.Wait(ctx)
	said := t.process.Stderr()
	switch {
	case ctx.Err() != nil:
		return err
	case t.verdict != nil:
		return t.verdictError(said)
	case t.resumed && !t.parser.started && isAgyGone(said):
		return fmt.Errorf("%w: %s", ErrGone, excerpt(said))
	}
	exit, _ := errors.AsType[*process.ExitError](err)
	return agyProfile.unfinished(exit, said, "", t.unparsed)
}

// drain discards what the program still prints, and reports whether it has exited within the grace period.
func (t *agyTurn) drain() bool {
	expired := time.After(t.grace)
	for {
		select {
		case _, open := <-t.process.Texts():
			if open {
				continue
			}
		case <-expired:
			return false
		}
		select {
		case <-t.process.Done():
			return true
		case <-expired:
			return false
		}
	}
}

// verdictError returns the error of a turn with a verdict. stderr has what the verdict conceals.
func (t *agyTurn) verdictError(stderr string) error {
	switch {
	case t.verdict.failed && t.resumed && !t.parser.started && isAgyGone(t.verdict.message):
		return fmt.Errorf("%w: %s", ErrGone, excerpt(t.verdict.message))
	case strings.HasPrefix(t.verdict.message, textAgyDenied):
		advice := `change the member's "permissions", or its settings`
		return agyProfile.failure(t.verdict.message, Remedy{Advice: advice})
	case !t.verdict.failed && strings.Contains(stderr, "print timeout after"):
		return agyProfile.failure("it stopped at a time limit of its own; the reply is incomplete", Remedy{Hint: retry})
	}
	return agyProfile.verdictError(*t.verdict, "")
}

// isAgyGone reports whether an error message says that there is no such conversation.
func isAgyGone(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "conversation") &&
		(strings.Contains(message, "not found") || strings.Contains(message, "does not exist"))
}

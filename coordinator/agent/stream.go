package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A parser parses the lines of one turn. Its events depend on the lines alone.
type parser interface {
	// parse returns the events of the next line: those for the consumer, and verdict, warning and
	// unparsed for the engine.
	parse(line []byte) []Event
}

// A verdict is the agent's own report of the end of the turn. The last one of a turn counts.
type verdict struct {
	failed  bool
	message string // why it failed
}

// A warning is an error that may be the reason why the turn fails later.
type warning string

// An unparsed is a line that is not in the agent's format.
type unparsedLine string

func (verdict) event()      {}
func (warning) event()      {}
func (unparsedLine) event() {}

// A stream is the output of an agent that prints JSON lines, in one turn.
type stream struct {
	profile
	process *process.Process
	parser  parser
	linger  time.Duration

	lines    jsonlines.Splitter
	verdict  *verdict
	overdue  <-chan time.Time // receives when the agent should have exited after its verdict
	late     bool             // it has not exited then
	warning  string           // the last one
	unparsed string           // an excerpt of the first one
}

// relay yields the events until the output ends, or the agent is late. It returns false if the
// consumer has left the loop.
func (s *stream) relay(yield func(Event, error) bool) bool {
	for {
		select {
		case text, ok := <-s.process.Texts():
			if !ok {
				return s.relayLine(s.lines.Rest(), yield)
			}
			if !s.lines.Take(text, func(line []byte) bool { return s.relayLine(line, yield) }) {
				return false
			}
			if s.lines.TooLong() {
				return true
			}
		case <-s.overdue:
			s.late = true
			return true
		}
	}
}

func (s *stream) relayLine(line []byte, yield func(Event, error) bool) bool {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return true
	}
	for object := range jsonlines.Objects(line) {
		if !s.relayObject(object, yield) {
			return false
		}
	}
	return true
}

func (s *stream) relayObject(object []byte, yield func(Event, error) bool) bool {
	events := s.parser.parse(object)
	if len(events) == 0 {
		events = append(events, Alive{})
	}
	for _, e := range events {
		switch e := e.(type) {
		case verdict:
			s.verdict, s.overdue = &e, time.After(s.linger)
		case warning:
			s.warning = abbreviate(string(e), maxReason)
		case Retry:
			s.warning = e.warning()
			if !yield(e, nil) {
				return false
			}
		case unparsedLine:
			s.unparsed = cmp.Or(s.unparsed, excerpt(string(e)))
		default:
			if !yield(e, nil) {
				return false
			}
		}
	}
	return true
}

// warning returns why a turn that fails later may have failed.
func (r Retry) warning() string {
	reason := abbreviate(r.Reason, maxReason)
	if r.Try > 0 {
		return fmt.Sprintf("try %d of %d failed: %s", r.Try, r.Max, reason)
	}
	return reason
}

// result waits for the agent's exit, unless it is late, and returns the turn's error.
func (s *stream) result(ctx context.Context) error {
	switch {
	case s.late:
		return s.verdictError()
	case s.lines.TooLong():
		return s.failure(jsonlines.ErrTooLong.Error(), remedyAskLess)
	}
	select {
	case <-s.overdue: // blocks for ever without a verdict
		return s.verdictError()
	case <-s.process.Done():
	}
	err := s.process.Wait(ctx)
	exit, exited := errors.AsType[*process.ExitError](err)
	switch {
	case err != nil && !exited:
		return s.withWarning(err, s.warning)
	case s.verdict != nil:
		return s.verdictError()
	}
	return s.profile.unfinished(exit, s.process.Stderr(), s.warning, s.unparsed)
}

// withWarning adds the last warning of the agent to an error; "" is none.
func (p profile) withWarning(err error, warning string) error {
	if warning == "" {
		return err
	}
	return fmt.Errorf("%w; last warning of %s: %s", err, p.name, warning)
}

func (s *stream) verdictError() error { return s.profile.verdictError(*s.verdict, s.warning) }

// verdictError returns the error of a turn with a verdict, after the last warning; "" is none.
func (p profile) verdictError(v verdict, warning string) error {
	if !v.failed {
		return nil
	}
	reason := cmp.Or(apiMessage(v.message), warning, "it gives no reason")
	return p.failure(reason, p.remedy(reason))
}

// unfinished returns the error of an agent that exited without a verdict; a nil exit is exit code
// 0. unparsed is an excerpt of the first line that is not in the agent's format.
func (p profile) unfinished(exit *process.ExitError, stderr, warning, unparsed string) error {
	reason := "it exited with code 0"
	if exit != nil {
		reason = "it " + exit.Status()
	}
	reason += " before its turn was finished"
	switch {
	case warning != "":
		reason += ": " + warning
	case unparsed != "" && (exit == nil || stderr == ""):
		reason = fmt.Sprintf("%s, and printed “%s”, which is not the expected format", reason, unparsed)
		return p.failure(reason, remedyCommand)
	case stderr != "":
		reason += ": " + stderr
	}
	return p.failure(reason, p.remedy(reason))
}

package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A hearing is what is heard of one turn of an agent that tells it in lines.
type hearing struct {
	dialect
	process *process
	parser  parser
	linger  time.Duration

	lines lineSplitter

	verdict *verdict
	overdue <-chan time.Time // when the agent should have ended after its verdict; told once
	late    bool             // it has not, and is not listened to any more
	trouble string           // the last
	noise   string           // the first
}

// listen passes on what the agent tells, until it has told everything. It is false when the
// consumer wants no more.
func (h *hearing) listen(yield func(Event, error) bool) bool {
	for {
		select {
		case text, ok := <-h.process.texts:
			if !ok {
				return h.hear(h.lines.rest(), yield)
			}
			if !h.lines.take(text, func(line []byte) bool { return h.hear(line, yield) }) {
				return false
			}
			if h.lines.tooLong {
				return true
			}
		case <-h.overdue:
			h.late = true
			return true
		}
	}
}

// hear takes in a line, and passes on what the consumer has a use for.
func (h *hearing) hear(line []byte, yield func(Event, error) bool) bool {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return true
	}
	events := h.parser.parse(line)
	if len(events) == 0 {
		events = append(events, Alive{})
	}
	for _, e := range events {
		switch e := e.(type) {
		case verdict:
			h.verdict, h.overdue = &e, time.After(h.linger)
		case trouble:
			h.trouble = string(e)
		case noise:
			h.noise = cmp.Or(h.noise, quote(string(e)))
		default:
			if !yield(e, nil) {
				return false
			}
		}
	}
	return true
}

// result waits for the agent's end and says how the turn went.
func (h *hearing) result(ctx context.Context) error {
	switch {
	case h.late:
		return h.judged()
	case h.lines.tooLong:
		return h.failure(fmt.Sprintf("it printed a line of more than %d bytes", lineLimit), "ask for less at once, or for a file instead")
	}
	select {
	case <-h.overdue: // never, without a verdict
		return h.judged()
	case <-h.process.over:
	}
	err := h.process.result(ctx)
	exit, exited := errors.AsType[*ExitError](err)
	switch {
	case err != nil && !exited && h.trouble != "":
		return fmt.Errorf("%w; the last that %s said: %s", err, h.name, h.trouble)
	case err != nil && !exited:
		return err
	case h.verdict != nil:
		return h.judged()
	}
	return h.unfinished(exit)
}

// judged is what the agent's verdict makes of the turn.
func (h *hearing) judged() error {
	if !h.verdict.failed {
		return nil
	}
	says := cmp.Or(spoken(h.verdict.says), h.trouble, "it does not say why")
	return h.failure(says, h.help(says))
}

// unfinished says what is known of a turn that has no verdict. exit is nil when the program
// took it for a success.
func (h *hearing) unfinished(exit *ExitError) error {
	how := "it ended with exit code 0"
	if exit != nil {
		how = "it " + exit.how()
	}
	how += " before its turn was over"
	stderr := h.process.tail.text()
	switch {
	case h.trouble != "":
		how += ": " + h.trouble
	case h.noise != "" && (exit == nil || stderr == ""):
		return h.failure(fmt.Sprintf("%s, and printed “%s”, which is not how it tells a turn", how, h.noise),
			`check the member's command and args; for another program, set the member's "engine" to "command"`)
	case stderr != "":
		how += ": " + stderr
	}
	return h.failure(how, h.help(how))
}

// decode reads a line as far as it is understood. It is false when the line is no object.
func decode(line []byte, into any) bool {
	if !bytes.HasPrefix(line, []byte("{")) {
		return false
	}
	err := json.Unmarshal(line, into)
	mismatch := (*json.UnmarshalTypeError)(nil)
	return err == nil || errors.As(err, &mismatch) // a field of another type is left out
}

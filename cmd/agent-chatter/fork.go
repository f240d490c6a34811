package main

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

type sessionsFork struct {
	ID string `arg:"" help:"The session."`
	At string `help:"Copy it up to there: the number of an event, a time, or turn:N; without it, all." placeholder:"X"`
}

// Help shows examples first.
func (sessionsFork) Help() string {
	return `Examples:
  agent-chatter sessions fork latest
  agent-chatter sessions fork 7QN3 --at turn:2
  agent-chatter chat --resume $(agent-chatter sessions fork 7QN3 --at 12)`
}

// Run implements the command. It prints the id of the copy.
func (cmd *sessionsFork) Run(a *app) error {
	upTo, err := parseSpan("", "", cmd.At)
	if err != nil {
		return err
	}
	c := a.catalog()
	s, err := a.find(c, cmd.ID)
	if err != nil {
		return err
	}
	r := a.replayOf(c, s)
	seq, err := r.lastSeq(upTo)
	if err != nil {
		return err
	}
	if seq == 0 && cmd.At != "" {
		return &exitError{exitFailed, notReachedText(r.id, cmd.At)}
	}
	fork, err := a.fork(r.team, r.id, seq)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, fork)
	return err
}

// lastSeq is the number of the last event of a span; 0 when it has no end, or
// ends before the session begins or behind its last turn.
func (r *replay) lastSeq(part span) (seq uint64, err error) {
	switch {
	case part.to == nil:
		return 0, nil
	case part.to.seq > 0:
		return part.to.seq, nil
	}
	var l locator
	for e, err := range r.events() {
		if err != nil {
			return 0, err
		}
		if l.beyond(*part.to, e) {
			return seq, nil
		}
		seq = e.Seq
	}
	if part.to.turn > l.turns {
		return 0, nil
	}
	return seq, nil
}

// fork makes a copy of a session of the team, up to the event of that number or
// all of it, says so, and returns its id.
func (a *app) fork(team *catalog.Dir, id string, upTo uint64) (string, error) {
	fork, err := sessioncopy.Fork(context.TODO(), team, id, upTo)
	if err == nil {
		a.notice(forkedText(id, fork))
	}
	return fork, err
}

package coordinator

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// conversation is the session that goes on: its log, what it amounts to, and
// what could not be written yet.
type conversation struct {
	log    store.Log
	state  *projection.State
	events Events
	failed func(error) // is told when the journal could not be written

	// While the journal has less than the conversation:
	saved   *projection.State // what the journal amounts to; nil: it has everything
	pending []journal.Record  // what is missing and the log does not keep by itself, in order
}

func newConversation(log store.Log, state *projection.State, events Events, failed func(error)) *conversation {
	return &conversation{log: log, state: state, events: events, failed: failed}
}

// unsaved reports whether something is only in memory.
func (c *conversation) unsaved() bool { return c.saved != nil }

// record makes a batch part of the conversation. When the journal cannot be
// written, the batch is kept in memory; only what no journal could hold is
// refused, with an error such as journal.ErrTooLong.
func (c *conversation) record(batch ...journal.Record) error {
	if c.unsaved() {
		return c.hold(batch)
	}
	events, err := c.log.Append(batch...)
	switch {
	case err == nil:
		c.applied(c.state, events)
		return nil
	case errors.Is(err, journal.ErrTooLong):
		return err
	}
	saved := c.state.Clone()
	if err := c.apply(batch); err != nil {
		return err
	}
	if !errors.Is(err, journal.ErrPoisoned) { // else the log keeps the batch
		c.pending = batch
	}
	c.saved = saved
	c.failed(err)
	return nil
}

// hold makes a batch part of the conversation in memory alone. What could never
// be appended would keep everything behind it from the disk, too.
func (c *conversation) hold(batch []journal.Record) error {
	if err := c.log.Fits(batch...); err != nil {
		return err
	}
	if err := c.apply(batch); err != nil {
		return err
	}
	c.pending = append(c.pending, batch...)
	return nil
}

// apply folds events that have no place in the journal yet.
func (c *conversation) apply(batch []journal.Record) error {
	at := journal.Position{Seq: c.state.Seq}
	var events []journal.Event
	for _, r := range batch {
		e, next, err := at.Next(r)
		if err != nil {
			return err
		}
		events, at = append(events, e), next
	}
	for _, e := range events {
		c.state.Apply(e)
	}
	return nil
}

func (c *conversation) applied(to *projection.State, events []journal.Event) {
	for _, e := range events {
		to.Apply(e)
		c.events.Appended(e)
	}
}

// save brings everything to the disk, and what is only in memory first.
func (c *conversation) save() error {
	if err := c.catchUp(); err != nil {
		return err
	}
	if err := c.log.Save(c.state); err != nil {
		c.saved = c.state.Clone()
		return err
	}
	return nil
}

// catchUp appends what is only in memory.
func (c *conversation) catchUp() error {
	if !c.unsaved() {
		return nil
	}
	events, err := c.log.Recover(context.Background()) // saving continues when a turn is cancelled
	if err != nil {
		return err
	}
	c.applied(c.saved, events)
	batch := c.pending
	events, err = c.log.Append(batch...)
	if err == nil || errors.Is(err, journal.ErrPoisoned) {
		c.pending = nil // appended, or kept by the log
	}
	if err != nil {
		return err
	}
	c.applied(c.saved, events)
	c.state, c.saved = c.saved, nil
	return nil
}

// close saves and gives the session up, whether saving worked or not.
func (c *conversation) close() error {
	if err := c.save(); err != nil {
		c.log.Close(c.state)
		return err
	}
	return c.log.Close(c.state)
}

package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// openSession is an open session: its log, its state, and the events that are not written yet.
type openSession struct {
	log      store.Log
	state    *projection.State
	listener Listener
	failed   func(error) // called if the journal could not be written
	manual   bool        // Options.ManualSave: only flush writes to the journal

	// Set while the journal lacks events:
	saved   *projection.State // the state of the journal; nil: it has all events
	pending []journal.Record  // the missing events that log does not keep by itself, in order
	held    int               // the size of pending, in bytes

	files     map[string][]byte // of messages, by their SHA-256, that are only in memory
	heldFiles int               // their size, in bytes
	maxHeld   int               // in bytes, of events that are only in memory
}

// maxHeld is how many bytes of events may be only in memory before turns end.
const maxHeld = 32 << 20

// HeldError is the error of Say, Retry and SetTask, and of a turn, when too many events are only in memory.
// They remain there.
type HeldError struct {
	Limit int  // in bytes
	Saves bool // saving writes them to the disk; otherwise the Store has none
}

func (e *HeldError) Error() string {
	if e.Saves {
		return fmt.Sprintf("more than %d bytes of the session are not saved; they are kept in memory, and the session "+
			"continues once they are saved", e.Limit)
	}
	return fmt.Sprintf("a session that is not saved has at most %d bytes; its messages and partial replies are kept",
		e.Limit)
}

// Hint returns the command that saves.
func (e *HeldError) Hint() hint.Hint {
	if !e.Saves {
		return hint.Hint{}
	}
	return hint.Hint{Kind: hint.Slash, Argv: []string{"save"}}
}

// full returns a *HeldError if too many events are only in memory.
func (c *openSession) full() error {
	inMemory := c.log.Held()
	if c.held+inMemory <= c.maxHeld {
		return nil
	}
	return &HeldError{Limit: c.maxHeld, Saves: inMemory == 0}
}

// unsaved reports whether events are only in memory.
func (c *openSession) unsaved() bool { return c.saved != nil }

// record appends a batch. If the journal cannot be written, the batch is kept in memory. An error,
// such as journal.ErrTooLong, means that no journal can hold the batch.
func (c *openSession) record(batch ...journal.Record) error {
	if c.manual && !c.unsaved() {
		c.saved = c.state.Clone()
	}
	if c.unsaved() {
		// A batch that can never be appended would block all that follow.
		if err := c.log.Fits(batch...); err != nil {
			return err
		}
		return c.hold(batch, nil)
	}
	events, err := c.log.Append(batch...)
	switch {
	case err == nil:
		for _, e := range events {
			c.deliver(e, false)
		}
		return nil
	case errors.Is(err, journal.ErrTooLong):
		return err
	}
	return c.hold(batch, err)
}

// hold adds a batch to the conversation in memory. failure is why the journal lacks the batch, nil
// if it lacks earlier ones.
func (c *openSession) hold(batch []journal.Record, failure error) error {
	at := journal.Position{Seq: c.state.Seq}
	var events []journal.Event
	for _, r := range batch {
		e, next, err := at.Next(r)
		if err != nil {
			return err
		}
		events, at = append(events, e), next
	}
	if !errors.Is(failure, journal.ErrPoisoned) { // otherwise the log keeps the batch
		c.pending = append(c.pending, batch...)
		for _, r := range batch {
			c.held += store.Size(r.Data)
		}
	}
	if failure != nil {
		c.saved = c.state.Clone()
		c.failed(failure)
	}
	for _, e := range events {
		c.deliver(e, true)
	}
	return nil
}

func (c *openSession) deliver(e journal.Event, unsaved bool) {
	decoded := projection.DecodeEvent(e)
	c.state.ApplyEvent(decoded)
	c.listener.Event(Event{Event: decoded, Unsaved: unsaved})
}

// save makes all events durable, unless they are kept in memory on purpose.
func (c *openSession) save() error {
	if c.manual {
		return nil
	}
	return c.flush()
}

// flush makes all events durable, those in memory first.
func (c *openSession) flush() error {
	if err := c.writePending(); err != nil {
		return err
	}
	if err := c.log.Save(c.state); err != nil {
		c.saved = c.state.Clone()
		return err
	}
	return nil
}

// writePending appends the events that are only in memory.
func (c *openSession) writePending() error {
	if !c.unsaved() {
		return nil
	}
	events, err := c.log.Recover(context.Background()) // saving continues when a turn is cancelled
	if err != nil {
		return err
	}
	c.written(events)
	if err := c.writeFiles(); err != nil {
		return err
	}
	for len(c.pending) > 0 {
		if err := c.writeBatch(); err != nil {
			return err
		}
	}
	c.state, c.saved = c.saved, nil
	return nil
}

// writeBatch appends a part of the events that are only in memory, and saves if there are others: the log keeps
// in memory what is not saved.
func (c *openSession) writeBatch() error {
	n, size := 0, 0
	for ; n < len(c.pending) && size < c.maxHeld/4; n++ {
		size += store.Size(c.pending[n].Data)
	}
	events, err := c.log.Append(c.pending[:n]...)
	if err == nil || errors.Is(err, journal.ErrPoisoned) { // appended, or kept by the log
		clear(c.pending[:n])
		c.pending = c.pending[n:]
		c.held -= size
	}
	if err != nil {
		return err
	}
	c.written(events)
	if len(c.pending) == 0 {
		return nil
	}
	return c.log.Save(c.saved)
}

// written applies events to the state of the journal. All but journal.recovered, which the journal
// adds, have been delivered before.
func (c *openSession) written(events []journal.Event) {
	var held []journal.Event
	flush := func() {
		if len(held) > 0 {
			c.listener.Notice(Written{held})
		}
		held = nil
	}
	for _, e := range events {
		decoded := projection.DecodeEvent(e)
		c.saved.ApplyEvent(decoded)
		if e.Type != journal.TypeRecovered {
			held = append(held, e)
			continue
		}
		flush()
		c.listener.Event(Event{Event: decoded})
	}
	flush()
}

// close saves and closes the log, even if saving fails: then what is not saved is set aside, and lost says where it is.
func (c *openSession) close() (lost *NotSaved, err error) {
	if err := c.flush(); err != nil {
		aside, asideErr := c.log.SetAside(c.pending...)
		if aside.Path != "" || asideErr != nil {
			lost = &NotSaved{File: aside.Path, Events: aside.Events, Whole: aside.Whole, Err: asideErr}
		}
		c.log.Close(c.state)
		return lost, err
	}
	return nil, c.log.Close(c.state)
}

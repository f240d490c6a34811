package console

import (
	"errors"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// Enter queues a line that was entered on another device, as if it had been typed here.
func (c *Console) Enter(line tty.Line) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case line.Text == endOfInput:
		return errors.New("the text is a control character")
	case len(c.model.Queued) >= maxQueued:
		return live.ErrFull
	}
	c.enter(line)
	notify(c.drawNow)
	return nil
}

// maxQueued is how many lines wait when another device enters one.
const maxQueued = 100

// TakeBack removes a line of another device from the queue, unless an agent has got it. If it is being given to one, it
// waits for the answer.
func (c *Console) TakeBack(id string) (line tty.Line, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.steering && len(c.model.Queued) > 0 && c.model.Queued[0].ID == id {
		c.steered.Wait()
	}
	i := slices.IndexFunc(c.model.Queued, func(l tty.Line) bool { return l.ID == id })
	if id == "" || i < 0 {
		return line, false
	}
	line = c.model.Queued[i]
	c.model.Queued = slices.Delete(c.model.Queued, i, i+1)
	notify(c.drawNow)
	return line, true
}

// takeSharedBack makes what was queued last in the process that hosts the conversation text to edit, unless it was
// sent. The lock is held.
func (c *Console) takeSharedBack() {
	last := len(c.model.Shared) - 1
	if last < 0 || c.model.TakeShared == nil {
		return
	}
	id, take := c.model.Shared[last].ID, c.model.TakeShared
	go func() {
		if text, ok := take(id); ok {
			c.Change(func(m *Model) { m.Return([]string{text}) })
		}
	}()
}

// Cancel cancels the turn of a member, or all if it is "", for another device.
func (c *Console) Cancel(member string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if member == "" {
		c.cancel()
	} else if c.escape != nil {
		c.escape(member)
	}
}

// reportQueue calls Options.Queue if the queue has changed.
func (c *Console) reportQueue() {
	if c.o.Queue == nil {
		return
	}
	c.mu.Lock()
	changed := !slices.Equal(c.model.Queued, c.queue)
	if changed {
		c.queue = slices.Clone(c.model.Queued)
	}
	now := c.queue
	c.mu.Unlock()
	if changed {
		c.o.Queue(now)
	}
}

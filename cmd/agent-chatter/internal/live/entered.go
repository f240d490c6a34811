package live

import (
	"slices"
	"sync"
)

// maxEntered is how many inputs a conversation remembers.
const maxEntered = 1000

// An entered remembers the inputs of devices: one that a device repeats, since it got no answer, is entered once. The
// journal has the messages among them, but no commands, and a message only when it is sent.
type entered struct {
	mu  sync.Mutex // is held while an input is entered
	ids []string   // the newest last
}

// once calls enter unless an input with the ID was entered.
func (e *entered) once(id string, enter func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id != "" && slices.Contains(e.ids, id) {
		return nil
	}
	err := enter()
	if err == nil && id != "" {
		e.ids = append(e.ids, id)
		e.ids = slices.Delete(e.ids, 0, max(0, len(e.ids)-maxEntered))
	}
	return err
}

// Enter enters an input, unless one with its ID was entered before.
func (c *Conversation) Enter(in Input) error {
	c.mu.Lock()
	ended, sent := c.ended, in.ID != "" && slices.Contains(c.state.Sent, in.ID)
	c.mu.Unlock()
	switch {
	case ended:
		return ErrEnded
	case sent:
		return nil
	}
	return c.entered.once(in.ID, func() error { return c.inbox.Enter(in) })
}

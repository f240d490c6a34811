package live

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/attach"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
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

// maxText is how long an input may be, in bytes: all front ends are shown it while it waits.
const maxText = 1 << 20

// check checks an input on its own.
func (in Input) check() error {
	switch {
	case !in.Role.Permits(web.RoleAnswer):
		return errors.New("this device may only read")
	case len(in.Text) > maxText:
		return errors.New("the message is too long: attach what is in a file with @PATH")
	case strings.TrimSpace(in.Text) == "" && len(in.Files) == 0:
		return errors.New("the message is empty")
	case HasControl(in.Text):
		return errors.New("the message has control characters")
	}
	return nil
}

// Enter enters an input, unless one with its ID was entered before.
func (c *Conversation) Enter(in Input) error {
	if err := in.check(); err != nil {
		return err
	}
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

// Line returns the line of an input. The pictures are kept in pasted, under labels in the text.
func (in Input) Line(pasted *attach.Pasted) (tty.Line, error) {
	text := in.Text
	for _, f := range in.Files {
		label, ok := pasted.Add(f.Name, f.Data)
		if !ok {
			return tty.Line{}, errors.New("an attached file is no picture that agents take")
		}
		text = strings.TrimSpace(label + " " + text)
	}
	return tty.Line{ID: in.ID, Text: text, Device: in.From, Role: string(in.Role)}, nil
}

// DeviceOf returns the device on which a line was entered.
func DeviceOf(l tty.Line) coordinator.Device {
	return coordinator.Device{Name: l.Device, InputID: l.ID}
}

package coordinator

import (
	"errors"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// ErrNoSession is the error of methods that need a session before the first message.
var ErrNoSession = errors.New("no session")

// SetTask sets the task of the team; "" removes it. It may begin the session.
func (c *Coordinator) SetTask(task string) error {
	if c.team == nil {
		return ErrNoTeam
	}
	return c.change(c.taskSet(task))
}

// maxTask is the maximum length of a task, in bytes.
const maxTask = 5 << 10

// taskSet returns the event of a new task, truncated to maxTask; "" is none.
func (c *Coordinator) taskSet(task string) projection.TaskSet {
	task = c.secrets.Text(task) // before truncating: part of a secret is not recognized
	if task == "" {
		return projection.TaskSet{}
	}
	if len(task) > maxTask {
		task = runecut.Prefix(task, maxTask)
		c.notify(TaskTruncated{maxTask})
	}
	return projection.TaskSet{Task: &task}
}

// Rename sets the title of the session.
func (c *Coordinator) Rename(title string) error {
	if c.conv == nil {
		return ErrNoSession
	}
	return c.change(projection.SessionRenamed{Title: title})
}

// Pin protects the session from being archived or deleted automatically, or stops doing so.
func (c *Coordinator) Pin(pinned bool) error {
	if c.conv == nil {
		return ErrNoSession
	}
	return c.change(projection.SessionPinned{Pinned: pinned})
}

// beginSession records the opening events of a run, if there are any.
func (c *Coordinator) beginSession() error {
	opening, err := c.openingEvents()
	if err != nil || len(opening) == 0 {
		return err
	}
	if err := c.conv.record(c.records(opening...)...); err != nil {
		return err
	}
	c.resumed = false
	return nil
}

// RecordRestore records and saves the events of a FileRestore of the session.
func (c *Coordinator) RecordRestore(events ...projection.Payload) error {
	if c.conv == nil {
		return ErrNoSession
	}
	return c.change(events...)
}

// change records and saves a change of the session.
func (c *Coordinator) change(p ...projection.Payload) error {
	c.reported = false
	opening, err := c.openingEvents()
	if err != nil {
		return err
	}
	if err := c.conv.record(c.records(append(opening, p...)...)...); err != nil {
		return err
	}
	c.notifyRedacted()
	c.resumed = false
	c.savePoint()
	return nil
}

package coordinator

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

var (
	// ErrNoSession: nothing was said yet.
	ErrNoSession = errors.New("the conversation has not begun")
	// ErrNothingToRetry: the last turn ended well, or there was none.
	ErrNothingToRetry = errors.New("no turn was interrupted")
)

// SetTask changes the task of the team; "" removes it. It may begin the
// session.
func (c *Coordinator) SetTask(task string) error {
	if c.team == nil {
		return ErrNoTeam
	}
	return c.change(c.taskSet(task))
}

// maxTask is how much of a team task counts, in bytes.
const maxTask = 5 << 10

// taskSet is a new task; "" is none. Of one that is too long the rest is left out, and that is
// said.
func (c *Coordinator) taskSet(task string) projection.TaskSet {
	task = c.secrets.Text(task) // half of one would not be known
	if task == "" {
		return projection.TaskSet{}
	}
	if len(task) > maxTask {
		task = runecut.Prefix(task, maxTask)
		c.o.Events.Notice(Notice{Kind: TaskCut, Limit: maxTask})
	}
	return projection.TaskSet{Task: &task}
}

// Rename gives the session a title, by which it can be named.
func (c *Coordinator) Rename(title string) error {
	if c.conv == nil {
		return ErrNoSession
	}
	if err := c.change(projection.SessionRenamed{Title: title}); err != nil {
		return err
	}
	c.title = ""
	return nil
}

// change records what somebody decided about the session, and saves it.
func (c *Coordinator) change(p projection.Payload) error {
	c.told = false
	opening, err := c.opening()
	if err != nil {
		return err
	}
	if err := c.conv.record(c.records(append(opening, p)...)...); err != nil {
		return err
	}
	c.sayReplaced()
	c.resumed = false
	c.savePoint()
	return nil
}

// Retry asks again the agent whose turn did not end well: it failed, was
// cancelled, or the program died in it. It returns when a human is next, as
// Say does.
func (c *Coordinator) Retry(ctx context.Context) error {
	if c.conv == nil {
		return ErrNothingToRetry
	}
	c.told = false
	again, err := c.interruptedItem()
	if err != nil {
		return err
	}
	opening, err := c.opening()
	if err != nil {
		return err
	}
	if len(opening) > 0 {
		if err := c.conv.record(c.records(opening...)...); err != nil {
			return err
		}
	}
	c.resumed = false
	c.queue = queue{items: []item{again}}
	return c.run(ctx)
}

// interruptedItem is the turn that did not end well: who was asked, and what.
func (c *Coordinator) interruptedItem() (item, error) {
	memberID, messageID := unfinished(c.conv.state)
	member, ok := c.team.Member(memberID)
	if !ok || messageID == "" {
		return item{}, ErrNothingToRetry
	}
	if m := c.message(messageID); m != nil {
		return c.again(member, *m), nil
	}
	return item{}, ErrNothingToRetry
}

// unfinished names the member and the message of the last turn without a
// reply.
func unfinished(s *projection.State) (memberID, messageID string) {
	if n := len(s.OpenTurns); n > 0 {
		return s.OpenTurns[n-1].MemberID, s.OpenTurns[n-1].TriggerMessageID
	}
	if s.LastTurn != nil && s.LastTurn.FinishReason != projection.Done {
		return s.LastTurn.MemberID, s.LastTrigger
	}
	return "", ""
}

// again asks a member anew what a message asked.
func (c *Coordinator) again(member team.Member, m projection.Message) item {
	t := triggerFrom(m)
	if m.Speaker.Type == projection.TypeAI {
		t.answers = c.answeredBy(m.ID)
	}
	return item{member: member, trigger: t, intent: marker.Reply, since: c.o.Now()}
}

// answeredBy is the message to which an agent's message is a reply, as the
// journal has it: the turn that the message stands in says so.
func (c *Coordinator) answeredBy(messageID string) string {
	found := false
	for e, err := range c.conv.log.Backward() {
		if err != nil {
			return ""
		}
		switch p, _ := projection.Decode(e); p := p.(type) {
		case projection.MessageAppended:
			found = found || p.Message.ID == messageID
		case projection.TurnStarted:
			if found {
				return p.TriggerMessageID
			}
		}
	}
	return ""
}

func triggerFrom(m projection.Message) trigger {
	return trigger{id: m.ID, speaker: m.Speaker.DisplayName, text: m.Content}
}

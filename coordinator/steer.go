package coordinator

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// maxSteered is how many messages a turn takes while it runs.
const maxSteered = 50

// steering is what a turn has of the messages that it takes while it runs.
type steering struct {
	requests chan steerRequest
	unsent   []projection.Message
	untaken  []projection.Message // of all, those that the agent has not taken
	count    int
}

type steerRequest struct {
	device     Device
	name, text string
	taken      chan<- bool
}

// Steer gives a message of the human with the given name, or of the only one if name is "", to the member whose turn
// runs, and returns true. The message is recorded; if the agent does not take it in the turn, the member has another
// one. Steer returns false, and does nothing, if no turn runs or several were started at the same time, if its agent
// takes no messages, or if the message addresses another member or has markers of its own: it can be sent by Say. Other
// than the other methods, it may be called while Say runs, from any goroutine. It blocks while the agent starts.
func (c *Coordinator) Steer(name, text string) bool { return c.SteerOn(Device{}, name, text) }

// SteerOn is Steer for a message that was entered on a device, which is recorded.
func (c *Coordinator) SteerOn(device Device, name, text string) bool {
	running := c.running.Load()
	if running == nil || len(*running) > 1 {
		return false
	}
	t := (*running)[0]
	taken := make(chan bool, 1)
	select {
	case t.steering.requests <- steerRequest{device, name, text, taken}:
		return <-taken
	case <-t.over:
		return false
	}
}

// steer records a message to the running agent, and sends it.
func (t *turn) steer(r steerRequest) (taken bool, err error) {
	c := t.c
	if t.attached == nil || t.steering.count >= maxSteered || strings.TrimSpace(r.text) == "" {
		return false, nil
	}
	if _, ok := t.attached.resident.session.(agent.Steerable); !ok {
		return false, nil
	}
	m := c.parse(c.secrets.Text(r.text))
	human, ok := c.steerer(r.name)
	if !ok || !t.isAddressed(&m) {
		return false, nil
	}
	said := projection.NewMessage(newID(), time.Now(), speaker(human), m.Content, c.routing(m))
	if c.conv.log.Fits(c.records(said)...) != nil {
		return false, nil
	}
	err = t.record(said)
	for _, p := range r.device.received(said.Message.ID) {
		err = errors.Join(err, t.record(p))
	}
	if err != nil {
		return true, err
	}
	c.save() // before the agent can do anything
	c.last = said.Message.ID
	c.notifyRedacted()
	t.steering.count++
	t.steering.unsent = append(t.steering.unsent, said.Message)
	t.steering.untaken = append(t.steering.untaken, said.Message)
	t.sendSteered()
	return true, nil
}

// steerer returns the human who speaks while an agent does.
func (c *Coordinator) steerer(name string) (team.Member, bool) {
	if name == "" && len(c.team.Humans()) != 1 {
		return team.Member{}, false
	}
	if name == "" {
		return c.team.FirstHuman()
	}
	m, ok := c.team.Match(name)
	return m, ok && m.Type == team.Human
}

// isAddressed reports whether a message is for the agent of the turn alone, and adds the members that it mentions.
func (t *turn) isAddressed(m *marker.Message) bool {
	if m.From != "" || m.HasTask || m.DropAll || len(m.Drop) > 0 {
		return false
	}
	if len(m.Next) == 0 {
		if unknown := t.c.addMentions(m); len(unknown) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(m.Next, func(target marker.Target) bool {
		member, ok := t.c.team.Match(target.Identifier)
		return !ok || member.ID != t.item.member.ID
	})
}

// sendSteered sends the messages that the agent could not take yet.
func (t *turn) sendSteered() {
	for len(t.steering.unsent) > 0 {
		first := t.steering.unsent[0]
		text := joined([]string{t.c.triggerSection(newTrigger(projection.Entry{Message: first}), true)})
		if !t.attached.resident.session.(agent.Steerable).Steer(first.ID, text) {
			return
		}
		t.steering.unsent = t.steering.unsent[1:]
	}
}

// take records that the agent has taken a message.
func (t *turn) take(messageID string) error {
	of := func(m projection.Message) bool { return m.ID == messageID }
	if !slices.ContainsFunc(t.steering.untaken, of) {
		return nil
	}
	t.steering.untaken = slices.DeleteFunc(t.steering.untaken, of)
	return errors.Join(t.endText(), t.record(projection.TurnSteered{TurnID: t.id, MessageID: messageID}))
}

// requeue queues the member for the messages that its agent has not taken, and reports whether there are any.
func (t *turn) requeue() bool {
	for _, m := range t.steering.untaken {
		trigger := newTrigger(projection.Entry{Message: m})
		change := t.c.queue.add(item{member: t.item.member, trigger: trigger, intent: marker.Interrupt})
		if change != nil {
			t.c.noteChanges(*change)
		}
	}
	return len(t.steering.untaken) > 0
}

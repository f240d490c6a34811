package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// ErrNotDelivered is the error of Say if the text addresses only names that no member has. The names are in
// an UnknownNames notice. The message is recorded.
var ErrNotDelivered = errors.New("no member received the message")

var (
	errEmptyMessage = errors.New("the message is empty")
	errNoSuchHuman  = errors.New("no such human in the team")
)

// maxUnknown limits the names after "@" in an UnknownNames notice: text may contain any number of them.
const maxUnknown = 10

// WhoSpeaksError is the error of Say if the team has several humans, none of them is next, and the
// text has no FROM marker.
type WhoSpeaksError struct {
	Humans []string // their IDs
}

func (e *WhoSpeaksError) Error() string {
	return "who speaks? The humans are " + strings.Join(e.Humans, ", ")
}

// Say appends a message of the human with the given name and runs the turns of the agents that it
// leads to, one after another. If name is "", it is a message of the human who is next. A text that
// starts with "@ada" and has no NEXT marker addresses ada. Say returns when a human is next. Canceling
// ctx ends the running turn and clears the queue.
//
// The files are attached to the message: they are durable before it is recorded, unless the session is kept in memory.
//
// Errors are the one of an unknown name, a *TurnError for a turn that failed or was canceled, a
// *WhoSpeaksError, ErrNotDelivered, journal.ErrTooLong, a *HeldError, a *FileError, and the one of an empty message.
// That the session cannot be saved is not an error of Say but a SaveFailed notice.
func (c *Coordinator) Say(ctx context.Context, name, text string, files ...File) error {
	return c.SayOn(ctx, Device{}, name, text, files...)
}

// A Device is where a message was entered. The zero Device is the terminal of the conversation.
type Device struct {
	Name    string
	InputID string // what it calls the message, so that it is not sent twice; "": it has no name for it
}

// received returns the event that records where a message was entered; none for the terminal.
func (d Device) received(messageID string) (events []projection.Payload) {
	if d.Name != "" {
		received := projection.InputReceived{MessageID: messageID, Device: d.Name, InputID: d.InputID}
		events = []projection.Payload{received}
	}
	return events
}

// SayOn is Say for a message that was entered on a device, which is recorded.
func (c *Coordinator) SayOn(ctx context.Context, device Device, name, text string, files ...File) error {
	if c.team == nil {
		return ErrNoTeam
	}
	if m, ok := c.team.Match(name); name != "" && (!ok || m.Type != team.Human) {
		return fmt.Errorf("%w: %q", errNoSuchHuman, name)
	}
	if strings.TrimSpace(text) == "" {
		return errEmptyMessage
	}
	c.reported = false
	m := c.parse(c.secrets.Text(text))
	human, err := c.human(cmp.Or(name, m.From))
	if err != nil {
		return err
	}
	files, err = c.checkFiles(files)
	if err != nil {
		return err
	}
	if len(m.Next) == 0 {
		isFile := func(name string) bool {
			return slices.ContainsFunc(files, func(f File) bool { return f.Name == name })
		}
		if unknown := slices.DeleteFunc(c.addMentions(&m), isFile); len(unknown) > 0 {
			c.notify(UnknownNames{unknown})
		}
	}
	maps.DeleteFunc(c.budgetNotices, func(key string, _ bool) bool { return strings.Contains(key, team.PerMessage) })
	said, err := c.appendHuman(device, human, m, files)
	c.notifyRedacted()
	if err != nil {
		return err
	}
	if !c.routeHuman(m, said) {
		c.waiting = human.ID
		c.pause()
		if len(m.Next) > 0 {
			return ErrNotDelivered
		}
		return nil
	}
	return c.runQueue(ctx)
}

// addMentions adds the members that a message names at its start, as in "@ada, @bob: hello", to those that it
// addresses. It returns the names that no member has, which stay text.
func (c *Coordinator) addMentions(m *marker.Message) (unknown []string) {
	rest := strings.TrimSpace(marker.Strip(m.Content))
	for strings.HasPrefix(rest, "@") {
		word := rest[:cmp.Or(strings.IndexFunc(rest, unicode.IsSpace)+1, len(rest)+1)-1]
		rest = strings.TrimSpace(rest[len(word):])
		name := strings.TrimRight(word[1:], ",:;.!?")
		if member, ok := c.team.Match(name); ok {
			m.Next = append(m.Next, marker.ParseTarget(member.Name))
			m.RawNext = append(m.RawNext, member.Name)
			continue
		}
		isPath := strings.ContainsAny(name, "./\\")
		if name != "" && !isPath && len(unknown) < maxUnknown {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// parse parses the markers of a message. Removing them may join the parts of a secret.
func (c *Coordinator) parse(text string) marker.Message {
	m := marker.Parse(text)
	m.Content = c.secrets.Text(m.Content)
	return m
}

// human returns the human who speaks: the one named in the message, the one who is next, or the
// only one.
func (c *Coordinator) human(from string) (team.Member, error) {
	if from != "" {
		m, ok := c.team.Match(from)
		if ok && m.Type == team.Human {
			return m, nil
		}
		c.notify(UnknownNames{[]string{from}})
	}
	if m, ok := c.team.Member(c.waiting); ok {
		return m, nil
	}
	if humans := c.team.Humans(); len(humans) > 1 {
		return team.Member{}, &WhoSpeaksError{humans}
	}
	m, _ := c.team.FirstHuman()
	return m, nil
}

// appendHuman appends a human's message with its files, preceded by the opening events of the run.
func (c *Coordinator) appendHuman(
	device Device, human team.Member, m marker.Message, files []File,
) (said projection.MessageAppended, err error) {
	opening, err := c.openingEvents()
	if err != nil {
		return said, err
	}
	if len(opening) > 0 && len(files) > 0 {
		// Crash here leaves a session without the message. Files without a journal would stay.
		if err := c.appendFirst(opening); err != nil {
			return said, err
		}
		opening = nil
	}
	attached, err := c.attach(files)
	if err != nil {
		return said, err
	}
	said = projection.NewMessage(newID(), time.Now(), speaker(human), m.Content, c.routing(m))
	said.Attachments = attached
	payloads := append(append(opening, said), device.received(said.Message.ID)...)
	if m.HasTask {
		payloads = append(payloads, c.taskSet(m.Task))
	}
	if err := c.appendFirst(payloads); err != nil {
		return said, err
	}
	c.last, c.changes = said.Message.ID, nil
	return said, nil
}

// appendFirst records events that may be the first of the session. If it fails, there is no session.
func (c *Coordinator) appendFirst(payloads []projection.Payload) error {
	if err := c.conv.record(c.records(payloads...)...); err != nil {
		if c.conv.state.Seq == 0 {
			c.conv.log.Close(c.conv.state)
			c.conv = nil
		}
		return err
	}
	c.resumed = false
	return nil
}

func speaker(m team.Member) projection.Speaker {
	return projection.Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type}
}

// routing returns the addressees of a message; nil without NEXT markers.
func (c *Coordinator) routing(m marker.Message) *projection.Routing {
	if len(m.Next) == 0 {
		return nil
	}
	r := &projection.Routing{RawNextMarkers: m.RawNext, ResolvedAddressees: []projection.Addressee{}}
	for _, target := range m.Next {
		addressee := projection.Addressee{Identifier: target.Identifier}
		if member, ok := c.team.Match(target.Identifier); ok {
			addressee.MemberID, addressee.MemberName = &member.ID, &member.Name
		}
		r.ResolvedAddressees = append(r.ResolvedAddressees, addressee)
	}
	return r
}

// routeHuman queues the members that a human's message addresses. Without addressees the queue
// continues, or the first agent is queued. It returns false if a human is next: no addressee is
// known, or the message has only markers and the queue is empty.
func (c *Coordinator) routeHuman(m marker.Message, said projection.MessageAppended) bool {
	t := newTrigger(entryOf(said))
	addressed := c.enqueue(m, t)
	if len(m.Next) > 0 {
		return addressed > 0
	}
	if c.queue.empty() && strings.TrimSpace(m.Content) == "" {
		return false
	}
	if first, ok := c.team.FirstAI(); ok && c.queue.empty() {
		c.queue.add(item{member: first, trigger: t, intent: marker.Reply})
	}
	return true
}

// enqueue applies the DROP and NEXT markers of a message and returns how many members it addresses.
func (c *Coordinator) enqueue(m marker.Message, t trigger) (addressed int) {
	unknown := c.drop(m)
	var changes []projection.QueueChange
	panels := c.panelsOf(m)
	for i, target := range m.Next {
		member, ok := c.team.Match(target.Identifier)
		if !ok {
			unknown = append(unknown, target.Identifier)
			continue
		}
		addressed++
		next := item{member: member, trigger: t, intent: target.Intent}
		if place := panels[i]; place > 0 {
			next.panel, next.place = fmt.Sprintf("%s/%d", t.id, target.Panel), place
		}
		change := c.queue.add(next)
		if change != nil {
			changes = append(changes, *change)
		}
	}
	if len(unknown) > 0 {
		c.notify(UnknownNames{unknown})
	}
	c.noteChanges(changes...)
	if skipped := c.changed(changes, projection.QueueSkipped); len(skipped) > 0 {
		c.notify(QueueFull{skipped, maxQueued})
	}
	if demoted := c.changed(changes, projection.QueueDemoted); len(demoted) > 0 {
		c.notify(QueueDemoted{demoted, maxAddressed})
	}
	return addressed
}

// changed returns the members with a change of the given action, each once.
func (c *Coordinator) changed(changes []projection.QueueChange, action projection.QueueAction) []team.Member {
	var members []team.Member
	for _, change := range changes {
		m, _ := c.team.Member(change.MemberID)
		known := slices.ContainsFunc(members, func(other team.Member) bool { return other.ID == m.ID })
		if change.Action == action && !known {
			members = append(members, m)
		}
	}
	return members
}

// drop applies the DROP markers of a message and returns the unknown names.
func (c *Coordinator) drop(m marker.Message) (unknown []string) {
	const reason = "DROP marker"
	if m.DropAll {
		c.noteChanges(c.queue.drop(everyone, reason)...)
	}
	for _, name := range m.Drop {
		member, ok := c.team.Match(name)
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		c.noteChanges(c.queue.drop(func(i item) bool { return i.member.ID == member.ID }, reason)...)
	}
	return unknown
}

// runQueue runs the turns of the queued agents until a human is next.
func (c *Coordinator) runQueue(ctx context.Context) error {
	for !c.queue.empty() && !c.limitReached() {
		if ctx.Err() == nil && c.agentIsNext() {
			if err := c.beginSpending(ctx, c.nextTurns()); err != nil {
				c.clearQueue("the budget is used up")
				c.pause()
				return err
			}
		}
		next, change := c.queue.takeAll(c.last)
		if change != nil {
			c.noteChanges(*change)
		}
		if next[0].member.Type == team.Human {
			c.waiting = next[0].member.ID
			break
		}
		more, err := c.runTurns(ctx, next)
		if err != nil {
			c.clearQueue(fmt.Sprintf("the turn of %s did not finish", failedName(err, next[0].member)))
			c.pause()
			return err
		}
		for _, i := range next {
			c.summarizeLeftOut(ctx, i.member)
		}
		if !more {
			break
		}
	}
	c.pause()
	return nil
}

// failedName names the member whose turn failed.
func failedName(err error, next team.Member) string {
	if failed, ok := errors.AsType[*TurnError](err); ok {
		next = failed.Member
	}
	return next.DisplayName
}

// pause saves the session and waits for the human who is next, or the first one.
func (c *Coordinator) pause() {
	if changes := c.queueChanges(); changes != nil { // that no other batch recorded
		c.reportFailure(c.conv.record(c.records(changes...)...))
	}
	c.savePoint()
	if first, ok := c.team.FirstHuman(); ok && c.waiting == "" {
		c.waiting = first.ID
	}
	c.setPhase(Paused)
}

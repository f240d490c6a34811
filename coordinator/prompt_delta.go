package coordinator

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// textStopped begins the prompt after a turn that an agent did not finish.
const textStopped = "Your last turn was stopped before its reply was complete; the reply is not part of the " +
	"conversation, what its tools did may have happened."

// firstPrompt returns the prompt of a session that has seen nothing, and the seq of its first message. A reason says
// why the session is new; "" is none.
func (t *turn) firstPrompt(engine agent.Engine, next instructed, reason string) (prompt string, from uint64) {
	prompt, h := t.c.promptFor(engine, next)
	t.pictures = t.images(h.all(t.trigger()))
	t.c.notifyWindow(next.member, reason, h.len()+1)
	if len(h.entries) > 0 {
		return prompt, h.entries[0].Seq
	}
	return prompt, t.c.conv.state.LastMessage
}

// deltaPrompt returns the prompt of a session that is continued: what has changed since its last turn, and the
// triggering message.
func (c *Coordinator) deltaPrompt(next instructed, use continuation, basis projection.Basis) string {
	var sections []string
	if use.repeated {
		sections = append(sections, textStopped)
	}
	if use.untold {
		sections = append(sections, next.member.SystemInstruction, next.ofTeam, next.ofMember)
	}
	if use.base.Team != basis.Team {
		sections = append(sections, c.roster(next.member))
	}
	if task := c.conv.state.Task; task != nil && use.base.Task != basis.Task {
		sections = append(sections, section("Task of the team", indentRest(c.secrets.Text(*task))))
	} else if task == nil && use.base.Task != "" {
		sections = append(sections, "The team has no task any more.")
	}
	var b strings.Builder
	isNew := false
	for _, e := range use.entries {
		if e.ID == next.trigger.id {
			isNew = true
			continue
		}
		said := c.withFiles(e.Content, e.Attachments, nil)
		fmt.Fprintf(&b, "%s: %s\n", c.name(heading(e.Message)), indentRest(said))
	}
	sections = append(sections, section("Since your last turn", b.String()),
		c.restoredFiles(next.member, c.restoresAfter(use.base.Restore)),
		c.judgement(next, c.conv.state.Recent), c.triggerSection(next.trigger, isNew))
	return joined(sections)
}

// maxQuoted is how much of a message is repeated that an agent has seen, in bytes.
const maxQuoted = 200

// triggerSection returns the section of the triggering message. One that the agent has seen is only named.
func (c *Coordinator) triggerSection(t trigger, isNew bool) string {
	if isNew {
		said := c.withFiles(t.text, t.files, nil)
		return section("Message from "+c.name(t.speaker), body(t.speakerType, said))
	}
	quoted := runecut.Prefix(t.text, maxQuoted)
	if len(quoted) < len(t.text) {
		quoted += "…"
	}
	return section(fmt.Sprintf("Reply now to the message from %s that begins", c.name(t.speaker)),
		body(projection.TypeAI, quoted))
}

// joined returns the sections of a prompt, without the empty ones.
func joined(sections []string) string {
	var b strings.Builder
	for _, s := range sections {
		if s = strings.Trim(s, "\n"); s != "" {
			b.WriteString(s + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

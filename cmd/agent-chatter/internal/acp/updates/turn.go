package updates

import (
	"cmp"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// say adds text of the member whose turn it is.
func (t *Translator) say(m meta, text string) {
	if text == "" {
		return
	}
	if !t.headed {
		t.headed = true
		t.addHeading(m, m.TurnID)
	}
	t.addAgentText(m, m.TurnID, text)
}

// addHeading adds the name of a speaker, and a blank line if a text precedes it.
func (t *Translator) addHeading(m meta, message string) {
	heading := "**" + cmp.Or(markdown.Escape(m.Name), "?") + "**\n\n"
	if t.spoken {
		heading = "\n\n" + heading
	}
	t.spoken = true
	m.Added = true
	t.addAgentText(m, message, heading)
}

// closeFence adds the fence that closes the code in which a message ends: otherwise the next heading would be code for
// clients that join the texts.
func (t *Translator) closeFence(m meta, message, content string) {
	if fence := markdown.OpenFence(content); fence != "" {
		m.Added = true
		t.addAgentText(m, message, "\n"+fence)
	}
}

// reply adds the message of a turn: what it has after the text so far, or all of it.
func (t *Translator) reply(m meta, d conversation.Replied, seen bool) {
	if seen && !d.Whole {
		t.say(m, d.Rest)
		t.closeFence(m, m.TurnID, d.Message.Content)
		return
	}
	if seen {
		streamed := m
		streamed.Seq = 0
		t.closeFence(streamed, m.TurnID, d.Turn.Shown())
	}
	t.addMessage(m, d.Message, d.Time)
}

// addMessage adds a whole message.
func (t *Translator) addMessage(m meta, said projection.Message, at time.Time) {
	m.Member, m.Name = said.Speaker.ID, displayName(said.Speaker)
	if said.Speaker.Type == projection.TypeHuman {
		t.spoken = false
		if t.replayed {
			t.addUserText(m, said.ID, said.Content)
		}
		if t.title == "" && !t.renamed {
			t.updateTitle(m, projection.Title(said.Content), at)
		}
		return
	}
	t.addHeading(m, said.ID)
	t.addAgentText(m, said.ID, said.Content)
	t.closeFence(m, said.ID, said.Content)
	t.addNotices(nil)
}

// end adds the rest of a reply without a message, the results that tools lack, why the turn failed, and what it used.
func (t *Translator) end(m meta, d conversation.Ended, seen bool) {
	if d.End != nil && d.End.Usage != nil {
		t.totals.Add(*d.End.Usage)
	}
	if !seen {
		return
	}
	if !d.Turn.Replied() {
		t.say(m, d.Rest)
		t.closeFence(m, m.TurnID, d.Turn.Shown()+d.Rest)
	}
	t.endTools(m, d)
	if text := failure(m.Name, d.End, d.Turn.Replied()); text != "" {
		added := m
		added.Added = true
		t.addQuote(added, m.TurnID, text)
	}
	t.headed = false
	t.addNotices(d.Turn)
	if d.End != nil {
		t.updateUsage(m, *d.End, d.Time)
	}
}

// failure says why a turn has no reply, in one or more lines; "" if it has one.
func failure(name string, end *projection.TurnEnded, replied bool) string {
	name = tty.SafeLine(name)
	switch {
	case end == nil && replied:
		return ""
	case end == nil || end.FinishReason == projection.Interrupted:
		return "The reply of " + name + " is unfinished: the program ended."
	case end.FinishReason == projection.Done:
		return ""
	case end.FinishReason == projection.Cancelled:
		return name + " was interrupted."
	}
	reason := tty.Safe(cmp.Or(end.Error, string(end.FinishReason)))
	if strings.HasPrefix(reason, name+" ") {
		return reason
	}
	return name + " did not answer: " + reason
}

// displayName returns the name of a speaker in headings.
func displayName(s projection.Speaker) string {
	return cmp.Or(strings.TrimSpace(tty.SafeLine(s.DisplayName)), tty.SafeLine(s.ID))
}

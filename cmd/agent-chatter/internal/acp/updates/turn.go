package updates

import (
	"cmp"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// An openTurn is the turn of the member that speaks.
type openTurn struct {
	id       string
	by       projection.Speaker
	reply    reply
	calls    map[string]toolCall // those without a result, by the id of the tool
	streamed bool                // by Text: the text of the events is the same
	headed   bool                // its heading was sent
	replied  bool                // its message was appended
	finished bool                // by EndReplay
}

// say adds text of the member whose turn it is.
func (t *Translator) say(text string, seq uint64) {
	turn := t.turn
	if text == "" {
		return
	}
	m := meta{Member: turn.by.ID, Name: displayName(turn.by), TurnID: turn.id, Seq: seq}
	if !turn.headed {
		turn.headed = true
		t.addHeading(m, turn.id)
	}
	t.addAgentText(m, turn.id, text)
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

// appendMessage adds a message: the rest of a reply, or all of it.
func (t *Translator) appendMessage(said projection.Message, e journal.Event, replayed bool) {
	if said.Speaker.Type == projection.TypeHuman {
		t.endTurn(nil, e) // no turn is open after it
		t.spoken = false
		if replayed {
			m := meta{Member: said.Speaker.ID, Name: displayName(said.Speaker), Seq: e.Seq}
			t.addUserText(m, said.ID, said.Content)
		}
		return
	}
	turn := t.turn
	if turn != nil && !turn.replied && turn.by.ID == said.Speaker.ID {
		turn.replied = true
		if rest, ok := turn.reply.rest(said.Content); ok {
			t.say(rest, e.Seq)
			m := meta{Member: turn.by.ID, Name: displayName(turn.by), TurnID: turn.id, Seq: e.Seq}
			t.closeFence(m, turn.id, said.Content)
			return
		}
		t.closeFence(meta{Member: turn.by.ID, Name: displayName(turn.by), TurnID: turn.id}, turn.id, turn.reply.text())
	}
	t.addMessage(said, e.Seq)
}

// addMessage adds a whole message.
func (t *Translator) addMessage(said projection.Message, seq uint64) {
	m := meta{Member: said.Speaker.ID, Name: displayName(said.Speaker), Seq: seq}
	if t.turn != nil && t.turn.by.ID == said.Speaker.ID {
		m.TurnID = t.turn.id
	}
	t.addHeading(m, said.ID)
	t.addAgentText(m, said.ID, said.Content)
	t.closeFence(m, said.ID, said.Content)
	t.addNotices()
}

// endTurn ends the turn, if there is one. end is nil if the journal lacks it.
func (t *Translator) endTurn(end *projection.TurnEnded, e journal.Event) {
	turn := t.turn
	if turn == nil || end != nil && end.TurnID != turn.id {
		return
	}
	t.finish(end, e.Seq)
	t.turn = nil
	t.addNotices()
	if end != nil {
		t.updateUsage(turn, *end, e)
	}
}

// finish adds the rest of an unfinished reply, the results that tools lack, and why the turn failed.
func (t *Translator) finish(end *projection.TurnEnded, seq uint64) {
	turn := t.turn
	m := meta{Member: turn.by.ID, Name: displayName(turn.by), TurnID: turn.id, Seq: seq}
	if !turn.replied && !turn.finished {
		rest, ok := "", false
		if end != nil {
			rest, ok = turn.reply.rest(strings.TrimRight(end.Partial, blanks))
		}
		if !ok {
			rest = strings.TrimRight(turn.reply.held(), blanks)
		}
		t.say(rest, seq)
		t.closeFence(m, turn.id, turn.reply.text()+rest)
	}
	t.endTools(end, seq)
	if text := failure(displayName(turn.by), end, turn.replied); text != "" && !turn.finished {
		m.Added = true
		t.addQuote(m, turn.id, text)
	}
	turn.finished = true
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

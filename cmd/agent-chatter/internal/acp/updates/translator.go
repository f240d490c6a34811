package updates

import (
	"maps"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A Translator turns the events of a session into updates. [New] makes one.
type Translator struct {
	o            Options
	conversation *conversation.Conversation
	sequence     conversation.Sequence // clients join the texts
	replayed     bool                  // the events are those of a journal
	unsaved      uint64                // Seq of the first event since which none was saved; 0: all were

	cwd     string             // of the newest run
	title   string             // the client has
	renamed bool               // title does not follow the first message
	totals  projection.Totals  // of the turns so far
	headed  bool               // the turn that speaks has its heading
	spoken  bool               // text was sent since the last message of a person
	said    projection.Message // the newest
	notices []notice
	newest  *conversation.Turn // of the newest event; nil: it has none
	out     []sdk.SessionUpdate
}

// Options are the surroundings of a Translator.
type Options struct {
	// Team names the members that the journal does not name yet.
	Team *team.Team
	// Command returns a hint as the user can type it, as App.CommandLine does; "" if it cannot be typed. nil leaves
	// commands out.
	Command func(hint.Hint) string
}

// New returns the Translator of a session without events.
func New(o Options) *Translator {
	return &Translator{o: o, conversation: new(conversation.Conversation)}
}

// Resume returns the Translator of a session whose events the client has, or does not want. It does not keep the state.
func Resume(o Options, state *projection.State) *Translator {
	t := &Translator{o: o, conversation: conversation.Continued(state.Members())}
	t.addTeam()
	t.cwd, t.title, t.renamed, t.totals = state.CWD, state.Row.Title, state.Row.Renamed, state.Stats.Usage
	t.totals.Costs = maps.Clone(t.totals.Costs)
	return t
}

// addTeam names the members that the journal does not name. Names of the journal come first, so that a replay has the
// same headings after the team has changed.
func (t *Translator) addTeam() {
	for _, m := range t.o.Team.Members {
		t.conversation.AddMember(projection.Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
}

// Event returns the updates for an event that was appended. There are none for the message of a person, which the
// client itself shows, until an event says that it was entered elsewhere.
func (t *Translator) Event(e coordinator.Event) []sdk.SessionUpdate {
	switch {
	case !e.Unsaved:
		t.unsaved = 0
	case t.unsaved == 0:
		t.unsaved = e.Seq
	}
	t.replayed, t.newest = false, nil
	deltas := t.conversation.Apply(e.Event)
	for _, d := range deltas {
		t.newest = conversation.TurnOf(d)
	}
	all := t.updates(deltas)
	switch p := e.Payload.(type) {
	case projection.MessageAppended:
		t.said = p.Message
	case projection.InputReceived:
		if p.MessageID == t.said.ID {
			t.addUserText(meta{Member: t.said.Speaker.ID, Name: displayName(t.said.Speaker)}, t.said.ID, t.said.Content)
			all, t.out = append(all, t.out...), nil
		}
	}
	return all
}

// Text returns the updates for text that streams in a turn. The events that record it later add nothing.
func (t *Translator) Text(turnID, text string) []sdk.SessionUpdate {
	t.replayed = false
	return t.updates(t.conversation.Stream(turnID, text))
}

// Replay returns the updates for an event of a journal. It does not keep its data.
func (t *Translator) Replay(e journal.Event) []sdk.SessionUpdate {
	t.replayed = true
	return t.updates(t.conversation.Apply(projection.DecodeEvent(e)))
}

// EndReplay returns the updates for the end of a journal: those of turns that have no end. Events that follow add
// nothing to them.
func (t *Translator) EndReplay() []sdk.SessionUpdate {
	all := t.updates(t.conversation.Close())
	t.conversation = conversation.Continued(t.conversation.Members())
	return all
}

// updates returns the updates for deltas.
func (t *Translator) updates(deltas []conversation.Delta) []sdk.SessionUpdate {
	for _, d := range t.sequence.Next(deltas) {
		t.add(d)
	}
	out := t.out
	t.out = nil
	return out
}

// add adds the updates for a delta. Of a turn whose start the client does not have, there are only messages.
func (t *Translator) add(d conversation.Delta) {
	m := meta{Seq: conversation.SourceOf(d).Seq}
	if t.unsaved > 0 && m.Seq >= t.unsaved {
		m.Seq = 0 // it is not final
	}
	turn := conversation.TurnOf(d)
	seen := turn != nil && turn.Began > 0
	if seen {
		m.Member, m.Name, m.TurnID = turn.Speaker.ID, displayName(turn.Speaker), turn.ID
	}
	switch d := d.(type) {
	case conversation.Changed:
		t.change(m, d)
	case conversation.Said:
		d.Message.Content = d.Text()
		t.addMessage(m, d.Message, d.Time)
	case conversation.Replied:
		t.reply(m, d, seen)
	case conversation.Ended:
		t.end(m, d, seen)
	}
	if !seen {
		return
	}
	switch d := d.(type) {
	case conversation.Text:
		t.say(m, d.Text)
	case conversation.Called:
		t.startTool(m, d.Call)
	case conversation.Completed:
		t.completeTool(m, d.Call)
	case conversation.Planned:
		t.updatePlan(m, d.Plan)
	}
}

func (t *Translator) change(m meta, d conversation.Changed) {
	switch p := d.Payload.(type) {
	case projection.SessionCreated:
		t.cwd = p.CWD
		t.addTeam()
	case projection.SessionResumed:
		t.cwd = p.CWD
	case projection.SessionRenamed:
		t.renamed = true
		t.updateTitle(m, p.Title, d.Time)
	}
}

// updateTitle adds the title of the session if it has changed.
func (t *Translator) updateTitle(m meta, title string, at time.Time) {
	if title == t.title {
		return
	}
	t.title = title
	shown := tty.SafeLine(title)
	t.out = append(t.out, sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{
		Title: &shown, UpdatedAt: timestamp(at), Meta: meta{Seq: m.Seq}.values(),
	}})
}

func timestamp(at time.Time) *string {
	text := projection.FormatTime(at)
	return &text
}

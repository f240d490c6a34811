package updates

import (
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	sdk "github.com/coder/acp-go-sdk"
)

// A Translator turns the events of a session into updates. [New] makes one.
type Translator struct {
	o       Options
	state   projection.State // of the events so far
	cwd     string           // of the newest run
	title   string           // the client has
	turn    *openTurn        // nil: no agent speaks
	spoken  bool             // text was sent since the last message of a person
	notices []string         // as Markdown, that wait for the end of a message
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
func New(o Options) *Translator { return &Translator{o: o} }

// Resume returns the Translator of a session whose events the client has, or does not want. It does not keep the state.
func Resume(o Options, state *projection.State) *Translator {
	return &Translator{o: o, state: *state.Clone(), cwd: state.CWD, title: state.Row.Title}
}

// Event returns the updates for an event that was appended. There are none for the message of a person, which the
// client itself shows.
func (t *Translator) Event(e coordinator.Event) []sdk.SessionUpdate {
	appended := e.Event
	if e.Unsaved {
		appended.Seq = 0 // it is not final
	}
	t.apply(appended, false)
	return t.take()
}

// Text returns the updates for text that streams in a turn. The events that record it later add nothing.
func (t *Translator) Text(turnID, text string) []sdk.SessionUpdate {
	if t.turn != nil && t.turn.id == turnID && !t.turn.replied {
		t.turn.streamed = true
		t.say(t.turn.reply.pass(text), 0)
	}
	return t.take()
}

// Replay returns the updates for an event of a journal. It does not keep its data.
func (t *Translator) Replay(e journal.Event) []sdk.SessionUpdate {
	t.apply(projection.DecodeEvent(e), true)
	return t.take()
}

// EndReplay returns the updates for the end of a journal: those of a turn that has no end.
func (t *Translator) EndReplay() []sdk.SessionUpdate {
	if t.turn != nil {
		t.finish(nil, 0)
	}
	return t.take()
}

// take returns and forgets the updates.
func (t *Translator) take() []sdk.SessionUpdate {
	out := t.out
	t.out = nil
	return out
}

// apply adds the updates for an event.
func (t *Translator) apply(decoded projection.Event, replayed bool) {
	t.state.ApplyEvent(decoded)
	e := decoded.Event
	switch p := decoded.Payload.(type) {
	case projection.SessionCreated:
		t.cwd = p.CWD
	case projection.SessionResumed:
		t.cwd = p.CWD
	case projection.TurnStarted:
		t.endTurn(nil, e)
		t.turn = &openTurn{id: p.TurnID, by: t.speaker(p.MemberID), calls: map[string]toolCall{}}
	case projection.TurnText:
		if t.turn != nil && t.turn.id == p.TurnID && !t.turn.streamed && !t.turn.replied {
			t.say(t.turn.reply.pass(p.Text), e.Seq)
		}
	case projection.ToolStarted:
		t.startTool(p, e.Seq)
	case projection.ToolCompleted:
		t.completeTool(p, e.Seq)
	case projection.PlanUpdated:
		t.updatePlan(p, e.Seq)
	case projection.MessageAppended:
		t.appendMessage(p.Message, e, replayed)
	case projection.TurnEnded:
		t.endTurn(&p, e)
	}
	t.updateTitle(e)
}

// speaker returns the member with an id, as the journal names it, or else the team. Names of the journal come first,
// so that a replay has the same headings after the team has changed.
func (t *Translator) speaker(memberID string) projection.Speaker {
	known := slices.ContainsFunc(t.state.Team.Members, func(m projection.Member) bool { return m.ID == memberID }) ||
		slices.ContainsFunc(t.state.Speakers, func(s projection.Speaker) bool { return s.ID == memberID })
	if m, ok := t.o.Team.Member(memberID); ok && !known {
		return projection.Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type}
	}
	return t.state.Speaker(memberID)
}

// updateTitle adds the title of the session if it has changed.
func (t *Translator) updateTitle(e journal.Event) {
	title := t.state.Row.Title
	if title == t.title {
		return
	}
	t.title = title
	shown := tty.SafeLine(title)
	t.out = append(t.out, sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{
		Title: &shown, UpdatedAt: timestamp(e.Time), Meta: meta{Seq: e.Seq}.values(),
	}})
}

func timestamp(at time.Time) *string {
	text := projection.FormatTime(at)
	return &text
}

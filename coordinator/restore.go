package coordinator

import (
	"cmp"
	"context"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// restore opens an earlier session. It starts no agent and writes nothing. It ends the processes
// that agents left running when the program was killed.
func (c *Coordinator) restore(ctx context.Context, sessionID string) error {
	if c.team == nil {
		return ErrNoTeam
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	log, state, err := c.o.Store.Open(ctx, c.team.ID, sessionID)
	if err != nil {
		return err
	}
	c.endOrphans(log, state)
	var ignored []ChangeIgnored
	c.team, ignored = c.overlay(state.Changes)
	c.checkMembers(state)
	c.conv = c.newConversation(log, state)
	c.resumed = true
	if first, ok := c.team.FirstHuman(); ok {
		c.waiting = first.ID
	}
	c.setPhase(Paused)
	c.notify(Restored{sessionID, state.Row.MessageCount, state.Row.Invalid, state.Row.FirstInvalid})
	c.notifyChanges(state.Changes, ignored)
	c.notifyLimits(c.limited(state))
	return nil
}

func (c *Coordinator) newConversation(log store.Log, state *projection.State) *openSession {
	return &openSession{
		log: log, state: state, listener: c.o.Listener, failed: c.reportFailure, manual: c.o.ManualSave,
		maxHeld: cmp.Or(c.o.maxHeld, maxHeld),
	}
}

// checkMembers notifies the listener of speakers that are not in the team, and of members that have
// changed.
func (c *Coordinator) checkMembers(state *projection.State) {
	for _, s := range state.Speakers {
		_, ok := c.team.Member(s.ID)
		if !ok && !state.Removed(s.ID) && s.ID != "system" && s.Type != projection.TypeSystem {
			c.missing = append(c.missing, projection.MemberRef{ID: s.ID, Name: s.Name})
		}
	}
	if len(c.missing) > 0 {
		c.notify(MembersMissing{c.missing})
	}
	for _, changed := range changedMembers(c.team, state.Team) {
		m, _ := c.team.Member(changed.ID)
		c.notify(MemberChanged{Member: m, Agent: changed.AgentType, Model: changed.Model})
	}
}

// openingEvents returns the events that precede the first one of a run: the creation of the session,
// or its resumption and the ends of interrupted turns. It returns a *HeldError if too many events are only in
// memory and cannot be saved.
func (c *Coordinator) openingEvents() ([]projection.Payload, error) {
	if c.conv == nil {
		log, err := c.o.Store.Create(c.team.ID, c.sessionID)
		if err != nil {
			return nil, err
		}
		c.conv = c.newConversation(log, &projection.State{})
	}
	if c.conv.full() != nil {
		c.save()
	}
	if err := c.conv.full(); err != nil {
		return nil, err
	}
	state := c.conv.state
	switch {
	case state.Seq == 0:
		return []projection.Payload{projection.SessionCreated{
			Format: projection.Format, SessionID: c.conv.log.SessionID(), Team: recordedTeam(c.team),
			CWD: c.o.CWD, App: c.o.App, Parent: c.parent, Limits: c.limits(),
		}}, nil
	case c.resumed:
		ends := interruptedTurns(state)
		c.interrupted = nil
		for _, p := range ends {
			if end, ok := p.(projection.TurnEnded); ok {
				c.interrupted = append(c.interrupted, end)
			}
		}
		return append([]projection.Payload{c.resumption(state)}, ends...), nil
	}
	return nil, nil
}

// recordedTeam returns what a session records of a team, which excludes the members' environment.
func recordedTeam(t *team.Team) projection.Team {
	recorded := projection.Team{ID: t.ID, Name: t.Name, Source: recordedSource(t)}
	for _, m := range t.Members {
		recorded.Members = append(recorded.Members, recordedMember(m))
	}
	return recorded
}

func recordedMember(m team.Member) projection.Member {
	return projection.Member{
		ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type, AgentType: m.AgentType, Model: m.Model,
	}
}

func recordedSource(t *team.Team) *projection.Source {
	if t.Source == nil {
		return nil
	}
	return &projection.Source{Path: t.Source.Path, SHA256: t.Source.SHA256}
}

func (c *Coordinator) resumption(state *projection.State) projection.SessionResumed {
	p := projection.SessionResumed{
		App: c.o.App, CWD: c.o.CWD, Missing: c.missing, Changed: changedMembers(c.team, state.Team),
		Limits: c.limits(),
	}
	before := state.Team.Source
	if source := recordedSource(c.team); source != nil && (before == nil || *source != *before) {
		p.Source = source
	}
	return p
}

// changedMembers returns the members whose agent or model differs from the recorded one.
func changedMembers(t *team.Team, recorded projection.Team) []projection.MemberChange {
	var changed []projection.MemberChange
	for _, old := range recorded.Members {
		m, ok := t.Member(old.ID)
		if ok && (m.AgentType != old.AgentType || m.Model != old.Model) {
			changed = append(changed, projection.MemberChange{
				MemberRef: projection.MemberRef{ID: m.ID, Name: m.Name},
				AgentType: difference(old.AgentType, m.AgentType), Model: difference(old.Model, m.Model),
			})
		}
	}
	return changed
}

// difference returns nil for equal values.
func difference(from, to string) *projection.Change {
	if from == to {
		return nil
	}
	return &projection.Change{From: from, To: to}
}

// interruptedTurns returns the ends of the turns and tools that were running when the program was
// killed.
func interruptedTurns(state *projection.State) []projection.Payload {
	var ends []projection.Payload
	for _, t := range state.OpenTurns {
		for _, tool := range t.Tools {
			ends = append(ends, projection.ToolCompleted{
				TurnID: t.TurnID, ToolID: tool.ToolID, Name: tool.Name, Error: "interrupted",
			})
		}
		end := projection.TurnEnded{
			TurnID: t.TurnID, MemberID: t.MemberID, FinishReason: projection.Interrupted,
			DurationMS: t.Running(t.StartedAt, state.Row.UpdatedAt).Milliseconds(), Partial: t.Text,
		}
		if t.TextBytes > int64(len(t.Text)) {
			end.PartialBytes = t.TextBytes
		}
		if t.Message > 0 { // only the end is missing
			end.FinishReason = projection.Done
		}
		ends = append(ends, end)
	}
	return ends
}

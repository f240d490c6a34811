package coordinator

import (
	"context"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// restore takes up an earlier session. No agent starts, nothing is written; what agents have
// left running when the program died is ended.
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
	conv := newConversation(log, state, c.o.Events, c.reportFailure)
	c.endOrphans(log, conv.state)
	c.checkMembers(conv.state)
	c.sayChanged(conv.state)
	c.conv, c.resumed = conv, true
	c.title = "Restored - " + conv.state.Row.UpdatedAt.Local().Format("Jan 2, 03:04 PM")
	c.waitForHuman()
	c.o.Events.SessionRestored(sessionID, conv.state.Row.MessageCount)
	return nil
}

// checkMembers names the speakers of the history that the team has no more.
func (c *Coordinator) checkMembers(state *projection.State) {
	c.missing = missingMembers(c.team, state.Speakers)
	if len(c.missing) > 0 {
		c.o.Events.MembersMissing(c.missing)
	}
}

func missingMembers(team *team.Team, speakers []projection.Speaker) []projection.MemberRef {
	var missing []projection.MemberRef
	for _, s := range speakers {
		if _, ok := team.Member(s.ID); !ok && s.ID != "system" && s.Type != projection.TypeSystem {
			missing = append(missing, projection.MemberRef{ID: s.ID, Name: s.Name})
		}
	}
	return missing
}

// opening is what comes before the first message of a run: the session's
// creation, or the end of what a crash left open.
func (c *Coordinator) opening() ([]projection.Payload, error) {
	if c.conv == nil {
		log, err := c.o.Store.Create(c.team.ID)
		if err != nil {
			return nil, err
		}
		c.conv = newConversation(log, &projection.State{}, c.o.Events, c.reportFailure)
	}
	state := c.conv.state
	switch {
	case state.Seq == 0:
		return []projection.Payload{c.created()}, nil
	case c.resumed:
		return append([]projection.Payload{c.resumption(state)}, interrupted(state)...), nil
	}
	return nil, nil
}

func (c *Coordinator) created() projection.SessionCreated {
	return projection.SessionCreated{
		Format: projection.Format, SessionID: c.conv.log.SessionID(), Team: remembered(c.team),
		CWD: c.o.CWD, App: c.o.App,
	}
}

// remembered is what a session keeps of a team: never what its members get as
// environment.
func remembered(t *team.Team) projection.Team {
	team := projection.Team{ID: t.ID, Name: t.Name, Source: sourceOf(t)}
	for _, m := range t.Members {
		team.Members = append(team.Members, projection.Member{
			ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type, AgentType: m.AgentType, Model: m.Model,
		})
	}
	return team
}

func sourceOf(t *team.Team) *projection.Source {
	if t.Source == nil {
		return nil
	}
	return &projection.Source{Path: t.Source.Path, SHA256: t.Source.SHA256}
}

func (c *Coordinator) resumption(state *projection.State) projection.SessionResumed {
	p := projection.SessionResumed{App: c.o.App, CWD: c.o.CWD, Missing: c.missing, Changed: changedMembers(c.team, state.Team)}
	if source := sourceOf(c.team); source != nil && (state.Team.Source == nil || *source != *state.Team.Source) {
		p.Source = source
	}
	return p
}

// changedMembers are those whose agent or model is another one than the
// session was made with.
func changedMembers(team *team.Team, before projection.Team) []projection.MemberChange {
	var changed []projection.MemberChange
	for _, old := range before.Members {
		m, ok := team.Member(old.ID)
		if ok && (m.AgentType != old.AgentType || m.Model != old.Model) {
			changed = append(changed, projection.MemberChange{
				MemberRef: projection.MemberRef{ID: m.ID, Name: m.Name},
				AgentType: change(old.AgentType, m.AgentType), Model: change(old.Model, m.Model),
			})
		}
	}
	return changed
}

// change is nil when nothing changed.
func change(from, to string) *projection.Change {
	if from == to {
		return nil
	}
	return &projection.Change{From: from, To: to}
}

// sayChanged tells of the members that are not what the session was made with.
func (c *Coordinator) sayChanged(state *projection.State) {
	for _, changed := range changedMembers(c.team, state.Team) {
		member, _ := c.team.Member(changed.ID)
		if was := changed.AgentType; was != nil {
			c.o.Events.Notice(Notice{Kind: AgentChanged, Names: []string{member.DisplayName, was.From, was.To}})
		}
		if was := changed.Model; was != nil {
			c.o.Events.Notice(Notice{Kind: ModelChanged, Names: []string{member.DisplayName, was.From, was.To}})
		}
	}
}

// interrupted ends the turns and tools that the program died in.
func interrupted(state *projection.State) []projection.Payload {
	var ends []projection.Payload
	for _, t := range state.OpenTurns {
		for _, tool := range t.Tools {
			ends = append(ends, projection.ToolCompleted{TurnID: t.TurnID, ToolID: tool.ToolID, Name: tool.Name, Error: "interrupted"})
		}
		end := projection.TurnEnded{
			TurnID: t.TurnID, MemberID: t.MemberID, FinishReason: projection.Interrupted,
			DurationMS: state.Row.UpdatedAt.Sub(t.StartedAt).Milliseconds(), Partial: t.Text,
		}
		if t.TextBytes > int64(len(t.Text)) {
			end.PartialBytes = t.TextBytes
		}
		ends = append(ends, end)
	}
	return ends
}

package acp

import (
	"context"
	"errors"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// LoadSession implements sdk.AgentLoader. It sends the whole history before it returns.
func (s *server) LoadSession(ctx context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	o, err := s.open(ctx, r.SessionId, r.Cwd, false)
	if err == nil {
		err = o.replay(ctx)
	}
	return sdk.LoadSessionResponse{}, s.failure(err)
}

// ResumeSession implements sdk.Agent.
func (s *server) ResumeSession(ctx context.Context, r sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	_, err := s.open(ctx, r.SessionId, r.Cwd, false)
	return sdk.ResumeSessionResponse{}, s.failure(err)
}

// open opens a session of the store. One that the client has opened already stays as it is.
func (s *server) open(ctx context.Context, id sdk.SessionId, cwd string, isNew bool) (*session, error) {
	if open, err := s.session(id); err == nil {
		return open, nil
	}
	cwd, err := directory(cwd)
	if err != nil {
		return nil, err
	}
	o := s.prepare(string(id), cwd)
	found, err := find(ctx, o.app, id)
	if err != nil {
		return nil, err
	}
	if o.team, err = o.recorded(ctx, found); err != nil {
		return nil, err
	}
	if err := o.resume(ctx, found); err != nil {
		return nil, err
	}
	if err := s.add(o, isNew); err != nil {
		return nil, errors.Join(err, o.close(""))
	}
	return o, nil
}

// recorded returns the team of a session of the store.
func (o *session) recorded(ctx context.Context, found catalog.Session) (*team.Team, error) {
	if found.Damaged != "" { // the loader reads the journal and returns the error
		return o.teams().Of(ctx, o.app.Catalog.At(found.Dir()), found.ID)
	}
	if found.Truncated {
		o.app.Notice(app.TruncatedText(found))
	}
	return o.teams().Recorded(ctx, found.ID, found.TeamID, found.Source)
}

// resume opens the journal of a session.
func (o *session) resume(ctx context.Context, found catalog.Session) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	o.begun, o.saved = true, true
	o.listener.Begin(o.team)
	return o.c.SetTeam(ctx, o.team, coordinator.SetTeamOptions{ResumeSessionID: found.ID})
}

// replay sends the history to the client.
func (o *session) replay(ctx context.Context) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	if o.closed {
		return errClosed
	}
	if o.c.Session() == nil {
		return nil
	}
	dir := o.app.Catalog.Team(o.c.Team().ID)
	for e, err := range dir.Events(ctx, o.id) {
		if err != nil {
			return err
		}
		if payload, err := projection.Decode(e); err == nil {
			o.listener.replay(payload)
		}
	}
	return nil
}

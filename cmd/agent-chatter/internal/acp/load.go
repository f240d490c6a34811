package acp

import (
	"context"
	"errors"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// LoadSession implements sdk.AgentLoader. It sends the whole history before it returns.
func (s *server) LoadSession(ctx context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	o, err := s.open(ctx, opening{id: r.SessionId, cwd: r.Cwd, servers: r.McpServers})
	if err == nil {
		err = o.replay(ctx)
	}
	if err != nil {
		return sdk.LoadSessionResponse{}, s.failure(err)
	}
	o.announce()
	return sdk.LoadSessionResponse{ConfigOptions: o.options()}, nil
}

// ResumeSession implements sdk.Agent.
func (s *server) ResumeSession(ctx context.Context, r sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	o, err := s.open(ctx, opening{id: r.SessionId, cwd: r.Cwd, servers: r.McpServers})
	if err != nil {
		return sdk.ResumeSessionResponse{}, s.failure(err)
	}
	o.announce()
	return sdk.ResumeSessionResponse{ConfigOptions: o.options()}, nil
}

// An opening says how to open a session of the store.
type opening struct {
	id      sdk.SessionId
	cwd     string
	servers []sdk.McpServer
	isNew   bool // the client does not know the id
}

// open opens a session of the store. One that the client has opened already stays as it is.
func (s *server) open(ctx context.Context, by opening) (*session, error) {
	if open, err := s.session(by.id); err == nil {
		return open, nil
	}
	cwd, err := directory(by.cwd)
	if err != nil {
		return nil, err
	}
	o := s.prepare(string(by.id), cwd, by.servers)
	found, err := find(ctx, o.app, by.id)
	if err != nil {
		return nil, err
	}
	t, err := o.recorded(ctx, found)
	if err != nil {
		return nil, err
	}
	o.setTeam(t.Name, t)
	o.warn()
	if err := o.resume(ctx); err != nil {
		return nil, err
	}
	if err := s.add(o, by.isNew); err != nil {
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

// resume opens the journal of the session. The client has, or does not want, what is in it.
func (o *session) resume(ctx context.Context) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	o.begun, o.saved = true, true
	o.listener.Begin(o.team)
	if err := o.apply(ctx, o.team, coordinator.SetTeamOptions{ResumeSessionID: o.id}); err != nil {
		return err
	}
	state, _, err := o.dir().Load(ctx, o.id)
	if err != nil {
		return errors.Join(err, o.c.Stop(""))
	}
	o.listener.begin(o.team, state)
	o.setKey()
	inputs := o.c.Session().Inputs
	o.live.Set(func(s *live.State) { s.Sent = inputs })
	o.live.ShowNext(o.c, true)
	return nil
}

// dir is where the journal of the session is.
func (o *session) dir() *catalog.Dir { return o.app.Catalog.Team(o.team.ID) }

// replay sends the history to the client.
func (o *session) replay(ctx context.Context) error {
	if !o.turn.TryLock() {
		return app.Exit(app.ExitFailed, promptRunsText(o.id))
	}
	defer o.turn.Unlock()
	switch {
	case o.closed:
		return errClosed
	case !o.saved:
		return nil
	}
	o.listener.begin(o.team, nil)
	for e, err := range o.dir().Events(ctx, o.id) {
		if err != nil {
			return err
		}
		o.listener.replay(e)
	}
	o.listener.endReplay()
	return nil
}

func promptRunsText(id string) app.Message {
	return app.Text("A prompt runs in session %s. Load it after that, or cancel it with session/cancel.", id)
}

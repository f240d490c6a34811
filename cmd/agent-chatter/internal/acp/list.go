package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// pageSize is how many sessions a page of the list has.
const pageSize = 100

// ListSessions implements sdk.Agent. It lists what can be loaded, the most recently updated first.
func (s *server) ListSessions(ctx context.Context, r sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	q := catalog.Query{Damaged: catalog.Without, Limit: pageSize}
	if r.Cwd != nil {
		q.CWD = filepath.Clean(*r.Cwd)
	}
	if r.Cursor != nil {
		q.After = *r.Cursor
	}
	var err error
	if q.Elsewhere, err = s.app.Remote.Elsewhere(ctx, s.app.Catalog); err != nil {
		s.app.Log.Warn("sessions of the hub are not listed", "error", err)
	}
	page, err := s.app.Catalog.List(ctx, q)
	if err != nil && ctx.Err() == nil && r.Cursor != nil {
		err = app.Exit(app.ExitUsage, cursorText(err))
	}
	if err != nil {
		return sdk.ListSessionsResponse{}, s.failure(err)
	}
	list := sdk.ListSessionsResponse{Sessions: make([]sdk.SessionInfo, len(page.Sessions))}
	for i, found := range page.Sessions {
		list.Sessions[i] = sdk.SessionInfo{
			SessionId: sdk.SessionId(found.ID), Title: titleOf(tty.SafeLine(found.Title)),
			Cwd: cmp.Or(found.CWD, s.app.Cwd), UpdatedAt: sdk.Ptr(found.UpdatedAt.UTC().Format(time.RFC3339Nano)),
		}
	}
	if page.Next != "" {
		list.NextCursor = &page.Next
	}
	return list, nil
}

func titleOf(title string) *string {
	if title == "" {
		return nil
	}
	return &title
}

// find returns a session of the store by its whole id.
func find(ctx context.Context, a *app.App, id sdk.SessionId) (catalog.Session, error) {
	if !journal.ValidID(string(id)) {
		return catalog.Session{}, app.Exit(app.ExitNotFound, noSessionText(string(id)))
	}
	return a.Find(ctx, string(id))
}

// UnstableDeleteSession moves a session to the trash.
func (s *server) UnstableDeleteSession(
	ctx context.Context, r sdk.UnstableDeleteSessionRequest,
) (sdk.UnstableDeleteSessionResponse, error) {
	return sdk.UnstableDeleteSessionResponse{}, s.failure(s.delete(ctx, r.SessionId))
}

func (s *server) delete(ctx context.Context, id sdk.SessionId) error {
	if open, err := s.session(id); err == nil {
		if err := s.closeSession(open, "deleted"); err != nil {
			return err
		}
		if !open.saved {
			return nil
		}
	}
	found, err := find(ctx, s.app, id)
	if err != nil {
		return err
	}
	return sessions.TrashSession(ctx, s.app, found)
}

// UnstableForkSession opens a copy of a session.
func (s *server) UnstableForkSession(
	ctx context.Context, r sdk.UnstableForkSessionRequest,
) (response sdk.UnstableForkSessionResponse, err error) {
	o, err := s.fork(ctx, r)
	if err == nil {
		response.SessionId = sdk.SessionId(o.id)
		err = convert(o.options(), &response.ConfigOptions)
	}
	return response, s.failure(err)
}

func (s *server) fork(ctx context.Context, r sdk.UnstableForkSessionRequest) (*session, error) {
	by := opening{cwd: r.Cwd, isNew: true}
	if err := convert(r.McpServers, &by.servers); err != nil {
		return nil, err
	}
	cwd, err := directory(r.Cwd)
	if err != nil {
		return nil, err
	}
	found, err := find(ctx, s.app, r.SessionId)
	if err != nil {
		return nil, err
	}
	if _, err := s.prepare("", cwd, nil).recorded(ctx, found); err != nil {
		return nil, err // there would be a copy that cannot be opened
	}
	fork, err := sessions.ForkSession(ctx, s.app, found, "")
	if err != nil {
		return nil, err
	}
	by.id = sdk.SessionId(fork)
	return s.open(ctx, by)
}

// convert converts a value to the same type of the unstable protocol, or from it.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

func noSessionText(id string) app.Message {
	return app.Text("There is no session %.100q. Its whole id is needed.", id)
}

func cursorText(err error) app.Message {
	return app.Text("The cursor is none that session/list has returned, or the sessions cannot be listed: %s",
		app.Sentence(err))
}

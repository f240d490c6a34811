package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// exitWait bounds how long the end of a chat waits for the hub: for its own session, then for the others.
const exitWait = 5 * time.Second

// Hub is the hub of a chat. A nil Hub is none.
type Hub struct {
	Store *store.Replicated

	app *app.App
}

// NewHub returns the hub of the configuration, nil if there is none. With --offline it ships nothing, and tells so.
// takeOver ends the claim of another machine on the first session that is resumed.
func NewHub(a *app.App, settings home.HubSettings, takeOver bool) *Hub {
	connection, err := a.Remote.Configured()
	if err != nil || len(connection.URLs) == 0 {
		return nil
	}
	wait := time.Duration(0)
	if settings.Sync() {
		wait = settings.Wait()
		if wait == 0 {
			wait = jetstream.DefaultTimeout
		}
	}
	h := &Hub{app: a}
	h.Store = &store.Replicated{
		Files: store.NewFiles(a.Catalog), Connect: a.Remote.Hub, Ships: settings.Ships,
		AskTimeout: home.AskTimeout, SyncWait: wait, ExitWait: exitWait, TakeOver: takeOver,
		Fetching: func() func() { return a.Begin("Fetching the session from the hub") },
		Shipping: h.beginShipping,
	}
	return h
}

// noticeAfter is how long a close waits for the hub before it is reported.
const noticeAfter = time.Second

// beginShipping prints a notice if a close still waits for the hub when noticeAfter has passed. The line of a.Begin
// would be in the way of the prompt, which is there until the chat has ended.
func (h *Hub) beginShipping() (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-stop:
		case <-time.After(noticeAfter):
			h.app.Notice(fmt.Sprintf("Shipping the session to the hub, for at most %s …", exitWait))
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// ShowState prints, before a prompt, what the hub lacks, and that the session is not claimed.
func (h *Hub) ShowState() {
	if h == nil {
		return
	}
	status, ok := h.Store.Status()
	if !ok {
		return
	}
	h.app.Show(stateText(status, h.Store.SyncWait > 0))
}

// Short says in a few words whether the session is saved, and on the hub if there is one.
func (h *Hub) Short() string {
	if h == nil {
		return "saved"
	}
	switch status, ok := h.Store.Status(); {
	case !ok:
		return ""
	case status.Lag == 0 && status.Err == nil:
		return "on the hub"
	case status.Lag == 0:
		return "only here"
	default:
		return app.Count(int(status.Lag), "event") + " not on the hub"
	}
}

// stateText is for a session that is not on the hub as it is here; the zero Message: it is, or the user knows.
func stateText(s store.ReplicaStatus, sync bool) app.Message {
	plain := (*hub.PlainError)(nil)
	switch {
	case s.Err == nil && (s.Lag == 0 || !sync):
		return app.Message{}
	case errors.Is(s.Err, hub.ErrPurged):
		return app.Text("Only here: the session was purged from the hub.")
	case errors.As(s.Err, &plain) && plain.Copy:
		return app.Text("Only here: what you write is not shipped. %s", app.Explain(s.Err).Text)
	case !s.Claimed && s.Err != nil && s.Origin == store.OnTheHub:
		return app.Text("Unclaimed: what you write may become a fork. %s", app.Explain(s.Err).Text)
	case !s.Claimed && s.Err != nil && s.Origin == store.Resumed:
		return app.Text("Unclaimed: what you write may become a fork if the hub has this session. %s",
			app.Explain(s.Err).Text)
	case sync:
		return app.Text("Not replicated: %s. %s", app.Count(int(s.Lag), "event"), reasonText(s.Err))
	case errors.Is(s.Err, home.ErrOffline):
		return app.Message{}
	}
	return app.Text("Not on the hub yet: %s. %s", app.Count(int(s.Lag), "event"), reasonText(s.Err))
}

func reasonText(err error) string {
	if err == nil {
		return "The hub has not answered."
	}
	return app.Explain(err).Text
}

// Final returns the state of the session if it cannot be continued: another machine has taken it over, or it diverged.
func (h *Hub) Final() (store.ReplicaStatus, bool) {
	if h == nil {
		return store.ReplicaStatus{}, false
	}
	status, ok := h.Store.Status()
	return status, ok && status.Final() && !errors.Is(status.Err, hub.ErrPurged)
}

// Split makes a fork of a session that Final has returned and that was closed since. It returns "" if the session
// has not diverged.
func (h *Hub) Split(ctx context.Context, s store.ReplicaStatus) (fork string, err error) {
	return h.Store.Split(ctx, s.TeamID, s.SessionID)
}

// End reports what was left when the session was closed, makes a fork of it if it diverged, ships the other sessions of
// the team that the hub has, and ends the connection.
func (h *Hub) End(ctx context.Context) {
	if h == nil {
		return
	}
	defer h.app.Remote.Close()
	status, ok := h.Store.Status()
	switch {
	case !ok:
		return
	case status.Final() && !errors.Is(status.Err, hub.ErrPurged):
		fork, err := h.Split(ctx, status)
		h.app.Show(app.Explain(status.Err))
		if err != nil {
			h.app.Show(app.Explain(err))
		} else if fork != "" {
			h.app.Show(forkText(fork))
		}
	case status.Lag > 0 && !errors.Is(status.Err, hub.ErrPurged):
		h.app.Show(leftText(status))
	case status.Err != nil:
		h.app.Show(app.Explain(status.Err))
	}
	if status.Err == nil {
		h.shipBacklog(ctx, status.TeamID, exitWait-status.Waited)
	}
}

// leftText is for a chat that ends before everything was shipped.
func leftText(s store.ReplicaStatus) app.Message {
	m := app.Text("Not on the hub yet: %s. %s", app.Count(int(s.Lag), "event"), reasonText(s.Err))
	switch {
	case hub.TakeOverHelps(s.Err):
		return m.With(app.To("ship them after what is valid there", "hub", "push", s.SessionID, "--take-over"))
	case hub.IsDamage(s.Err): // a push fails, too
		return m.With(app.Explain(s.Err).Help...)
	}
	return m.With(app.To("ship them", "hub", "push", s.SessionID))
}

// forkText is for the fork with what was written here.
func forkText(fork string) app.Message {
	return app.Text("What was written here is session %s.", fork).With(app.To("resume it", "chat", "--resume", fork))
}

// shipBacklog ships the other sessions of a team that grew here since they were shipped, and reports what it could not
// ship within a limit.
func (h *Hub) shipBacklog(ctx context.Context, teamID string, limit time.Duration) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	connected, err := h.app.Remote.Hub(ctx)
	if err != nil {
		return
	}
	dir := h.app.Catalog.Team(teamID)
	list, err := dir.List(ctx, catalog.Query{Damaged: catalog.Without})
	if err != nil {
		return
	}
	shipped, left := 0, 0
	for _, s := range list.Sessions {
		r := replica.Replica{Hub: connected, Dir: dir, ID: s.ID}
		if mark := r.Mark(); mark.Revision == 0 || mark.At.Seq >= s.End.Seq {
			continue
		}
		events, err := r.Push(ctx, false)
		switch {
		case err == nil && events > 0:
			shipped++
		case err != nil && !errors.Is(err, journal.ErrLocked): // the process that has it open ships it
			left++
		}
	}
	team := filepath.Base(dir.Journals().Path())
	if shipped > 0 {
		h.app.Notice(backlogText(shipped, team))
	}
	if left > 0 {
		h.app.Show(backlogLeftText(left, team))
	}
}

// backlogText is for sessions that were shipped at the end of a chat.
func backlogText(n int, team string) string {
	return fmt.Sprintf("Shipped %s of team %s.", app.Count(n, "other session"), team)
}

// backlogLeftText is for sessions that could not be shipped at the end of a chat.
func backlogLeftText(n int, team string) app.Message {
	return app.Text("Not on the hub yet: events of %s of team %s.", app.Count(n, "other session"), team).
		With(app.To("ship them", "hub", "push"))
}

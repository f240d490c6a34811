package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// The budget of the pass at the end of a chat, which must not delay the exit noticeably.
// The next chat or the compact command continues.
const (
	passSessions = 16
	passBytes    = 32 << 20

	stopTimeout = 100 * time.Millisecond // for a pass in the background
)

// Retention applies the retention policy to the teams to which the chat saved. Listing a
// large team takes long, so its pass starts in the background with the first save, and
// the exit does not wait for it. A pass may be killed at any time.
type Retention struct {
	app    *app.App
	policy catalog.Policy
	ctx    context.Context // of the passes in the background
	stop   context.CancelFunc

	background sync.WaitGroup
	seen       map[string]bool // team IDs
	atEnd      []string        // the teams whose pass runs at the end
}

// NewRetention returns the Retention of one chat.
func NewRetention(a *app.App, p catalog.Policy) *Retention {
	r := &Retention{app: a, policy: p, seen: map[string]bool{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Saved records that the chat saved to a team. A nil Retention does nothing.
func (r *Retention) Saved(teamID string) {
	if r == nil || r.seen[teamID] {
		return
	}
	r.seen[teamID] = true
	if !r.app.Catalog.Team(teamID).Large() {
		r.atEnd = append(r.atEnd, teamID)
		return
	}
	r.background.Go(func() { r.pass(teamID, catalog.Budget{}) })
}

func (r *Retention) pass(teamID string, budget catalog.Budget) {
	err := r.app.Catalog.Team(teamID).ApplyRetention(r.ctx, r.policy, time.Now(), budget)
	if err != nil && !errors.Is(err, context.Canceled) {
		r.app.Log.Warn("retention failed", "team", teamID, "error", err)
	}
}

// Close runs the passes of the end and stops those in the background. A nil Retention
// does nothing.
func (r *Retention) Close() {
	if r == nil {
		return
	}
	for _, teamID := range r.atEnd {
		r.pass(teamID, catalog.Budget{Sessions: passSessions, Bytes: passBytes})
	}
	r.stop()
	stopped := make(chan struct{})
	go func() {
		r.background.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(stopTimeout):
		// Exit here leaves what a crash during the pass would leave.
	}
}

package main

import (
	"context"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// tidyTime is how long the end of a chat waits for retention at most.
const tidyTime = 250 * time.Millisecond

// tidying is the quiet pass of the retention policy over the teams to which a
// chat wrote, at its end. To list a large team takes a moment, so that its pass
// begins with the first message that is saved, while agents think. What cannot
// be done in time the next chat does, or compact: the program may be killed at
// any moment of a pass.
type tidying struct {
	app    *app
	policy catalog.Policy
	ctx    context.Context
	stop   context.CancelFunc

	begun sync.WaitGroup
	seen  map[string]bool // teams
	later []string        // those of them whose pass is at the end
}

func (a *app) newTidying(p catalog.Policy) *tidying {
	t := &tidying{app: a, policy: p, seen: map[string]bool{}}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t
}

// use notes that something of a team was saved.
func (t *tidying) use(teamID string) {
	if t == nil || t.seen[teamID] {
		return
	}
	t.seen[teamID] = true
	if !t.app.catalog().Team(teamID).Large() {
		t.later = append(t.later, teamID)
		return
	}
	t.begun.Go(func() { t.tidy(teamID) })
}

func (t *tidying) tidy(teamID string) {
	err := t.app.catalog().Team(teamID).Tidy(t.ctx, t.policy, now())
	t.app.log.Debug("retention", "team", teamID, "error", err)
}

// end returns when all is done, after tidyTime at the latest.
func (t *tidying) end() {
	if t == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, teamID := range t.later {
			t.tidy(teamID)
		}
		t.begun.Wait()
	}()
	select {
	case <-done:
	case <-time.After(tidyTime):
	}
	t.stop()
}

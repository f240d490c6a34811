package chat

import (
	"context"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// What a chat does for retention at its end: what takes about as long as saying
// good-bye. The rest is for the next chat, or for compact.
const (
	tidySessions = 16
	tidyBytes    = 32 << 20

	stopWithin = 100 * time.Millisecond // the pass over a large team
)

// tidying is the quiet pass of the retention policy over the teams to which a
// chat wrote, at its end. To list a large team takes a moment, so that its pass
// begins with the first message that is saved, while agents think, and is not
// waited for: the program may end at any moment of a pass.
type tidying struct {
	app    *app.App
	policy catalog.Policy
	ctx    context.Context
	stop   context.CancelFunc

	begun sync.WaitGroup
	seen  map[string]bool // teams
	later []string        // those of them whose pass is at the end
}

func newTidying(a *app.App, p catalog.Policy) *tidying {
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
	if !t.app.Catalog.Team(teamID).Large() {
		t.later = append(t.later, teamID)
		return
	}
	t.begun.Go(func() { t.tidy(teamID, catalog.Budget{}) })
}

func (t *tidying) tidy(teamID string, most catalog.Budget) {
	err := t.app.Catalog.Team(teamID).ApplyRetention(t.ctx, t.policy, time.Now(), most)
	t.app.Log.Debug("retention", "team", teamID, "error", err)
}

// end does what is left to do.
func (t *tidying) end() {
	if t == nil {
		return
	}
	for _, teamID := range t.later {
		t.tidy(teamID, catalog.Budget{Sessions: tidySessions, Bytes: tidyBytes})
	}
	t.stop()
	stopped := make(chan struct{})
	go func() {
		t.begun.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(stopWithin):
		// The program ends here in the middle of a session, as if killed.
	}
}

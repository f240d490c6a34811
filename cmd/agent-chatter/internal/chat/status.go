package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A status is what commands that change nothing show of a conversation.
type status struct {
	Session    *coordinator.Session // nil before the first message
	Status     coordinator.Status
	Speaking   []string // the names of the members whose turns run
	Queued     []coordinator.Queued
	Changes    []projection.QueueChange
	Had, Limit int          // agent turns, as Coordinator.Rounds
	Bounds     []team.Bound // of what the turns use
}

// statusCache keeps the status of a conversation while its turns run: the Coordinator cannot be called then from the
// goroutine of a command.
type statusCache struct {
	mu   sync.Mutex
	last *status // nil: no turn runs
}

// statusOf returns the status of a conversation.
func statusOf(c *coordinator.Coordinator) *status {
	l := &status{
		Session: c.Session(), Status: c.Status(),
		Queued: slices.Clone(c.Queued()), Changes: slices.Clone(c.QueueChanges()),
	}
	if l.Session != nil {
		l.Session.Stats.Usage.Costs = maps.Clone(l.Session.Stats.Usage.Costs)
	}
	if l.Session != nil && l.Status.Phase == coordinator.Active {
		for _, id := range l.Session.Speaking {
			member, _ := c.Team().Member(id)
			l.Speaking = append(l.Speaking, member.Name)
		}
	}
	l.Had, l.Limit = c.Rounds()
	l.Bounds = c.Bounds()
	return l
}

// Refresh replaces the status while turns run.
func (k *statusCache) Refresh(now *status) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil {
		k.last = now
	}
}

// Set replaces the status; nil: no turn runs any more.
func (k *statusCache) Set(now *status) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = now
}

// Last returns the newest status; nil: no turn runs.
func (k *statusCache) Last() *status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// statusText describes a session, a fact in each line. Those that are unknown are left out. entered is what the user
// has queued.
func statusText(now status, entered []string) string {
	s := now.Session
	var lines, next []string
	for _, q := range now.Queued {
		next = append(next, tty.SafeLine(q.Member.Name))
	}
	if now.Status.Waiting != "" {
		next = append(next, tty.SafeLine(now.Status.Waiting))
	}
	queued := ""
	if len(entered) > 0 {
		queued = tty.SafeLine(queuedPreview(entered[0]))
	}
	if len(entered) > 1 {
		queued += fmt.Sprintf(", and %d more", len(entered)-1)
	}
	for _, fact := range [][2]string{
		{"Session", fmt.Sprintf("%s, %s", s.ID, now.Status.Phase)},
		{"Title", tty.SafeLine(s.Title)},
		{"Team", tty.SafeLine(s.TeamName)},
		{"So far", app.Count(s.Stats.Messages, "message") + ", " + app.Count(s.Stats.Turns, "agent turn")},
		{"Speaking", tty.SafeLine(strings.Join(now.Speaking, ", "))},
		{"Next", strings.Join(next, ", ")},
		{"Queued", queued},
		{"Tokens", view.TokensText(s.Stats.Usage)},
		{"Cost", view.CostText(s.Stats.Usage)},
	} {
		if fact[1] != "" {
			lines = append(lines, fmt.Sprintf("%-9s%s", fact[0], fact[1]))
		}
	}
	return strings.Join(lines, "\n")
}

// status returns that of the conversation, during a turn as of its newest event.
func (r *repl) status() status {
	if last := r.statuses.Last(); last != nil {
		return *last
	}
	return *statusOf(r.c)
}

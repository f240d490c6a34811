package coordinator

import (
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// idleTimeout limits the time without an event of the agent. The time in which a tool runs, or the user is
// asked, does not count.
type idleTimeout struct {
	limit   time.Duration
	timer   *time.Timer
	expired <-chan time.Time // nil if there is no limit
	tools   map[string]bool  // the running ones, by ID
	held    bool
}

// maxRunning is how many tools are known to run at once.
const maxRunning = 10_000

// newIdleTimeout starts a timeout; 0 is no limit.
func newIdleTimeout(limit time.Duration) *idleTimeout {
	t := &idleTimeout{limit: limit, tools: map[string]bool{}}
	if limit > 0 {
		t.timer = time.NewTimer(limit)
		t.expired = t.timer.C
	}
	return t
}

// restart restarts the timeout after an event; nil is another sign of life. A retry is none.
func (t *idleTimeout) restart(e agent.Event) {
	switch e := e.(type) {
	case agent.Retry:
		return
	case agent.ToolStarted:
		if len(t.tools) < maxRunning {
			t.tools[e.ID] = true
		}
	case agent.ToolCompleted:
		delete(t.tools, e.ID)
	}
	if t.stop(); t.timer != nil && len(t.tools) == 0 && !t.held {
		t.timer.Reset(t.limit)
	}
}

// hold stops the timeout until release, whatever events there are.
func (t *idleTimeout) hold() {
	t.held = true
	t.stop()
}

func (t *idleTimeout) release() {
	t.held = false
	t.restart(nil)
}

func (t *idleTimeout) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

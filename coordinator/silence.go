package coordinator

import (
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A silence measures for how long nothing was heard of an agent. While one of its tools runs,
// nothing has to be heard.
type silence struct {
	limit   time.Duration
	timer   *time.Timer
	tooLong <-chan time.Time // nil when there is no limit
	tools   map[string]bool  // that run, by their ids
}

// newSilence begins to measure; 0 is no limit.
func newSilence(limit time.Duration) *silence {
	s := &silence{limit: limit, tools: map[string]bool{}}
	if limit > 0 {
		s.timer = time.NewTimer(limit)
		s.tooLong = s.timer.C
	}
	return s
}

// heard begins anew; nil is something that is no event.
func (s *silence) heard(e agent.Event) {
	switch e := e.(type) {
	case agent.ToolStarted:
		s.tools[e.ID] = true
	case agent.ToolCompleted:
		delete(s.tools, e.ID)
	}
	if s.stop(); s.timer != nil && len(s.tools) == 0 {
		s.timer.Reset(s.limit)
	}
}

func (s *silence) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

package coordinator

import (
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

func TestDurationOfInterruptedTurnLacksWaits(t *testing.T) {
	began := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	state := &projection.State{
		Row: projection.Row{UpdatedAt: began.Add(100 * time.Second)},
		OpenTurns: []projection.OpenTurn{{
			TurnStarted: projection.TurnStarted{TurnID: "t1"}, StartedAt: began, Waits: projection.Waits{WaitedMS: 85_000},
		}},
	}
	ended := interruptedTurns(state)[0].(projection.TurnEnded)
	if ended.DurationMS != 15_000 {
		t.Errorf("the turn took %d ms", ended.DurationMS)
	}
}

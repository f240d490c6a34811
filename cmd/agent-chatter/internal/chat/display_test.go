package chat

import (
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// While files are captured before a turn, the status row counts them; then it says again what the member does.
func TestStatusRowCountsCapturedFiles(t *testing.T) {
	for timer, after := range map[bool]string{true: "Ada thinks", false: ""} {
		of := &team.Team{
			Members:           []team.Member{{ID: "ada", DisplayName: "Ada", Type: team.AI}},
			ShowThinkingTimer: timer,
		}
		d := &display{Reporter: &view.Reporter{Team: of}}
		m := &console.Model{Transcript: view.NewTranscript(of)}
		m.Transcript.Apply(projection.DecodeEvent(event(t, projection.TurnStarted{TurnID: "t", MemberID: "ada"})))
		for _, step := range []struct {
			files int
			want  string
		}{{0, ""}, {1000, "capturing files: 1,000"}, {12_000, "capturing files: 12,000"}, {0, after}} {
			if d.showCapture(m, step.files); m.Status.Doing != step.want {
				t.Errorf("with a timer %t, after %d files: %q, want %q", timer, step.files, m.Status.Doing, step.want)
			}
		}
	}
}

func event(t *testing.T, p projection.Payload) journal.Event {
	t.Helper()
	e, _, err := journal.Position{}.Next(projection.Record(time.Unix(0, 0), p))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

package coordinator

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// textEvents collects the streamed text that is appended to the journal.
type textEvents struct {
	silent
	texts []string
}

func (t *textEvents) Event(e Event) {
	if text, ok := e.Payload.(projection.TurnText); ok {
		t.texts = append(t.texts, text.Text)
	}
}

// Text is recorded while it streams, which may be in the middle of a secret.
func TestPartialSecretIsNotRecorded(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", "shell-token-4711")
	const said = "it is shell-token-4711, ok"
	for cut := 1; cut < len(said); cut++ {
		w := &textEvents{}
		c := New(Options{Store: &store.Memory{}, Listener: w,
			Engines: map[string]agent.Engine{agent.DemoEngine: agent.Demo{}}})
		demo := team.Demo()
		if err := c.SetTeam(t.Context(), demo, SetTeamOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.Say(t.Context(), "", "hello"); err != nil {
			t.Fatal(err)
		}
		turn := &turn{c: c, id: "t", item: item{member: demo.Members[0]}, text: c.secrets.Stream()}
		for _, part := range []string{said[:cut], said[cut:]} {
			if err := turn.handle(agent.Text{Text: part}); err != nil {
				t.Fatal(err)
			}
			if err := turn.flush(); err != nil {
				t.Fatal(err)
			}
			for _, text := range w.texts {
				if strings.Contains(text, "shell") || strings.Contains(text, "4711") {
					t.Fatalf("cut at %d, %q was recorded", cut, w.texts)
				}
			}
		}
		if got := strings.Join(w.texts, ""); got != "it is [REDACTED:DEPLOY_TOKEN], ok" {
			t.Fatalf("cut at %d, %q was recorded", cut, got)
		}
	}
}

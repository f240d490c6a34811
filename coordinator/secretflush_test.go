package coordinator

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// written notes the text that reaches the journal while an agent speaks.
type written struct {
	NoEvents
	texts []string
}

func (w *written) Appended(e journal.Event) {
	if p, err := projection.Decode(e); err == nil {
		if text, ok := p.(projection.TurnText); ok {
			w.texts = append(w.texts, text.Text)
		}
	}
}

// A reply is written while it comes, and the moment may be in the middle of a secret: a program
// that is killed then leaves none of it.
func TestASecretThatIsStillComingIsNotWritten(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", "shell-token-4711")
	const said = "it is shell-token-4711, ok"
	for cut := 1; cut < len(said); cut++ {
		w := &written{}
		c := New(Options{Store: &store.Memory{}, Events: w, Engines: map[string]agent.Engine{team.EngineDemo: agent.Demo{}}})
		team := team.Demo()
		if err := c.SetTeam(t.Context(), team, SetTeamOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.Say(t.Context(), "hello"); err != nil {
			t.Fatal(err)
		}
		turn := &turn{c: c, id: "t", item: item{member: team.Members[0]}, text: c.secrets.Stream()}
		for _, part := range []string{said[:cut], said[cut:]} {
			if err := turn.hear(agent.Text{Text: part}); err != nil {
				t.Fatal(err)
			}
			if err := turn.flush(); err != nil {
				t.Fatal(err)
			}
			for _, text := range w.texts {
				if strings.Contains(text, "shell") || strings.Contains(text, "4711") {
					t.Fatalf("cut at %d, %q was written", cut, w.texts)
				}
			}
		}
		if got := strings.Join(w.texts, ""); got != "it is [REDACTED:DEPLOY_TOKEN], ok" {
			t.Fatalf("cut at %d, %q was written", cut, got)
		}
	}
}

package view

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The first line of a reason is left out if the transcript has shown it.
func TestReasonOfATurnErrorIsShownOnce(t *testing.T) {
	for _, tt := range []struct{ detail, shown, want string }{
		{"it failed\nwith more", "", "Ada did not answer: it failed\n  | with more"},
		{"it failed\nwith more", "codex: it failed", "  | with more"},
		{"it failed\nwith more", "codex: it failed\nwith more", "  | with more"},
		{"it failed\nwith more", "codex: it stopped", "Ada did not answer: it failed\n  | with more"},
		{"it failed", "it failed", ""},
	} {
		err := &coordinator.TurnError{Member: team.Member{DisplayName: "Ada"}, Reason: projection.Failed, Detail: tt.detail}
		if got := turnErrorText(err, tt.shown).Text; got != tt.want {
			t.Errorf("%q after %q: %q, want %q", tt.detail, tt.shown, got, tt.want)
		}
	}
}

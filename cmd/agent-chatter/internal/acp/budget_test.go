package acp

import (
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

func TestBudgetEndsAPrompt(t *testing.T) {
	home := t.TempDir()
	config := `{"budget": {"session": {"turns": 1}, "day": {"turns": 7}}}`
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	e := start(t, home, fakeTeam(t, home, "ada"))
	id := e.begin()
	e.say(id, "say x", sdk.StopReasonEndTurn)
	_, err := e.Prompt(t.Context(), promptOf(id, "say y"))
	if !refused(err, -32603, "No turn is started: 1 of 1 turns used in this session (budget.session.turns)\n") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(home, "usage-day.json")); err != nil {
		t.Error(err)
	}
}

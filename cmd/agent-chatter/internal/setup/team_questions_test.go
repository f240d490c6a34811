package setup

import (
	"os"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// answering returns an App whose user enters a text, and what it prints.
func answering(t *testing.T, text string) (*app.App, *strings.Builder) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.WriteString(text); err != nil {
		t.Fatal(err)
	}
	out.Close()
	t.Cleanup(func() { in.Close() })
	var shown strings.Builder
	a, err := app.New(app.IO{Stdin: in, Stdout: &shown, Stderr: &shown}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return a, &shown
}

func TestQuestionsAboutTheTeam(t *testing.T) {
	for _, tt := range []struct {
		name, answers string
		want          string // the description, the agents, the permissions, the name, the rounds
		complaint     string
		refused       bool
	}{
		{"empty answers", "\n\n\n\n\n", "a team|claude|ask|you|5", "", false},
		{"answers", "review\ncodex, claude\nedit\nmia\n3\n", "review|codex claude|edit|mia|3", "", false},
		{"no limit of rounds", "\n\n\n\n0\n", "a team|claude|ask|you|0", "", false},
		{"fewer than no rounds", "\n\n\n\n-1\n7\n", "a team|claude|ask|you|7", textRounds, false},
		{"rounds that are no number", "\n\n\n\nmany\n7\n", "a team|claude|ask|you|7", textRounds, false},
		{"a name with a blank", "\n\n\nmia b\nmia\n\n", "a team|claude|ask|mia|5", textPlainName, false},
		{"an unknown agent", "\neve\ncodex\n\n\n\n", "a team|codex|ask|you|5", "eve", false},
		{"an agent twice", "\ncodex codex\ncodex\n\n\n\n", "a team|codex|ask|you|5", "the name codex", false},
		{"unknown permissions", "\n\nbypass\nallow\n\n\n", "a team|claude|allow|you|5", textPermissions, false},
		{"no agent with permissions", "\ndemo\n\n\n", "a team|demo|ask|you|5", "", false},
		{"input that ends", "review\n", "", textNothingWritten, true},
	} {
		a, shown := answering(t, tt.answers)
		d := &draft{description: "a team", agents: []string{"claude"}, human: "you", maxRounds: 5, permissions: "ask"}
		err := askUser(a, d, choices{found: []string{"claude"}, more: []string{"codex", "demo"}}, true)
		if err != nil {
			shown.WriteString(err.Error())
		}
		if (err != nil) != tt.refused || !strings.Contains(shown.String(), tt.complaint) {
			t.Errorf("%s: %v; it shows\n%s", tt.name, err, shown)
		}
		if got := strings.Join([]string{d.description, strings.Join(d.agents, " "), d.permissions, d.human, string(rune('0' + d.maxRounds))}, "|"); got != tt.want && err == nil {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

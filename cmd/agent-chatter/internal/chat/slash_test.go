package chat

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/clipperhouse/displaywidth"
)

func TestHelpFitsEightyColumns(t *testing.T) {
	var shown bytes.Buffer
	if err := (&repl{app: &app.App{IO: app.IO{Stderr: &shown}}}).slashHelp(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(shown.String()) {
		if displaywidth.String(line) > 80 {
			t.Errorf("more than 80 columns: %s", line)
		}
	}
}

func TestHumansAreTheLastMembersThatAreCompleted(t *testing.T) {
	var names []string
	for _, c := range members(&team.Team{Members: []team.Member{
		{Name: "hugo", Type: team.Human}, {Name: "ada"}, {Name: "eva", Type: team.Human}, {Name: "bea"},
	}}) {
		names = append(names, c.Text)
	}
	if got := strings.Join(names, " "); got != "@ada @bea @hugo @eva" {
		t.Errorf("the members are %s", got)
	}
}

// TestCommandsDuringATurn names commands that are answered at once, and lines that wait for the end of the turn.
func TestCommandsDuringATurn(t *testing.T) {
	for line, want := range map[string]bool{
		"/status": true, " /STATUS ": true, "/queue": true, "/help": true,
		"/task": true, "/task Repair it": false, "/fork": false, "/unknown": false, "hello": false, "": false,
	} {
		if got := onlyLooks(line); got != want {
			t.Errorf("%q looks: %t", line, got)
		}
	}
}

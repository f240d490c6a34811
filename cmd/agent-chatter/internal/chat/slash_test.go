package chat

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestHelpFitsTheScreen(t *testing.T) {
	for _, plain := range []bool{false, true} {
		var shown bytes.Buffer
		r := &repl{app: &app.App{Printer: app.Printer{IO: app.IO{Stderr: &shown, Plain: plain}}}}
		if err := r.inChat().slashHelp(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		text := shown.String()
		for _, s := range slashCommands() {
			if !strings.Contains(text, s.name) {
				t.Errorf("it lacks %s", s.name)
			}
		}
		if n := strings.Count(text, "\n"); n > 22 {
			t.Errorf("it has %d lines", n)
		}
		for line := range strings.Lines(text) {
			if displaywidth.String(strings.TrimSuffix(line, "\n")) > 79 { // tty.Fold leaves the last column empty
				t.Errorf("more than 79 columns: %s", line)
			}
		}
		for _, key := range []string{"Ctrl+C", "Ctrl+D"} {
			if !strings.Contains(text, key) {
				t.Errorf("plain %t: it lacks %s", plain, key)
			}
		}
		for _, key := range []string{"Escape", "Ctrl+C: clear", "/keys lists"} {
			if strings.Contains(text, key) == plain {
				t.Errorf("plain %t: %s", plain, key)
			}
		}
	}
}

func TestHumansAreTheLastMembersThatAreCompleted(t *testing.T) {
	var names []string
	for _, c := range live.Members(&team.Team{Members: []team.Member{
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
		if got := readOnly(line); got != want {
			t.Errorf("%q readOnly: %t", line, got)
		}
	}
}

package acp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A person's own commands are messages; those of the directory are if they were confirmed in a chat.
func TestOwnCommands(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, "")
	here := filepath.Join(e.cwd, ".agent-chatter", "commands")
	write := func(dir, name, text string) (path string) {
		t.Helper()
		path = filepath.Join(dir, name+".md")
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(filepath.Join(home, "commands"), "greet", "---\ndescription: Greet a member\n---\nGreet $1: $ARGUMENTS")
	write(filepath.Join(home, "commands"), "members", "no")
	write(here, "theirs", "Theirs.")
	ours := write(here, "ours", "# Ours")
	chat := newApp(t, home)
	chat.Cwd = e.cwd
	confirm := teams.Loader{App: chat, Ask: func(string) (bool, error) { return true, nil }}
	if err := confirm.AdmitPrompt(t.Context(), "/ours", ours, "# Ours"); err != nil {
		t.Fatal(err)
	}
	id := e.begin()
	var listed []string
	e.await(func(updates []sdk.SessionNotification) bool {
		for _, n := range updates {
			if u := n.Update.AvailableCommandsUpdate; u != nil {
				for _, c := range u.AvailableCommands[len(commands()):] {
					listed = append(listed, c.Name+": "+c.Description)
				}
				return true
			}
		}
		return false
	})
	if !slices.Equal(listed, []string{"greet: Greet a member", "ours: Ours"}) {
		t.Errorf("the commands are %q", listed)
	}
	e.say(id, "/greet Bea twice", sdk.StopReasonEndTurn)
	e.say(id, "/ours\nnow", sdk.StopReasonEndTurn)
	e.say(id, "/members", sdk.StopReasonEndTurn)
	write(here, "ours", "Theirs now.")
	for _, text := range []string{"/theirs x", "/ours"} {
		if _, err := e.Prompt(t.Context(), promptOf(id, text)); err == nil || !strings.Contains(err.Error(), "was not run") {
			t.Errorf("%s: %v", text, err)
		}
	}
	e.end()
	var said []string
	for _, p := range payloads(t, home, id) {
		if p, ok := p.(projection.MessageAppended); ok && p.Message.Speaker.Type == projection.TypeHuman {
			said = append(said, p.Message.Content)
		}
	}
	if !slices.Equal(said, []string{"Greet Bea: Bea twice", "# Ours\n\nnow"}) {
		t.Errorf("the messages are %q", said)
	}
}

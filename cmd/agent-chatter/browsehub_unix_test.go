//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// browsingHub starts the browser in an empty home that uses a hub with two sessions.
func browsingHub(t *testing.T) *ttytest.Tmux {
	programtest.Path(t, "bash")
	url, stop, err := natstest.Start(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	there, here := t.TempDir(), t.TempDir()
	for _, home := range []string{there, here} {
		config := fmt.Sprintf(`{"hub": {"urls": [%q], "teams": ["*"]}}`, url)
		if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	printed(t, there, "hub", "init")
	for _, message := range []string{"the first kettle", "a garden"} {
		printed(t, there, "chat", "-m", message)
	}
	m := ttytest.Start(t, 80, 24,
		fmt.Sprintf("cd %s; AGENT_CHATTER_HOME=%s PS1='shell$ ' exec bash --norc --noprofile", there, here))
	m.Expect("shell$ ")
	m.Press("agent-chatter browse", "Enter")
	m.Expect("a garden")
	return m
}

func TestBrowserFetchesTheSelectedSession(t *testing.T) {
	m := browsingHub(t)
	m.Expect("○ the first kettle")
	m.Expect("Fetched from the hub: a garden") // it was selected for a while
	m.Expect("▸   a garden")
	m.Press("j", "t")
	m.Expect("Timeline  the first kettle") // it was fetched for that
	m.Press("t")
	m.Expect("Sessions  2 sessions")
	m.Press("q")
	m.ExpectTimes("shell$ ", 2)
}

func TestBrowserResumesFromTheHub(t *testing.T) {
	m := browsingHub(t)
	m.Press("/", "kettle")
	m.Expect("/kettle   1 session")
	m.Press("Enter", "Enter") // whether it is being fetched or not
	m.Expect("(3 messages loaded)")
	m.Expect("you> ")
	m.Press("C-d")
	m.ExpectTimes("shell$ ", 2)
}

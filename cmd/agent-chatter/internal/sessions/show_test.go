package sessions

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestShowEscapesNamesFromTheJournal(t *testing.T) {
	d := detailsJSON{Unknown: map[string]int{apptest.Hostile: 1}}
	d.Stats.MessagesByRole = map[string]int{apptest.Hostile: 1}
	var shown strings.Builder
	err := d.print(&app.App{Printer: app.Printer{IO: app.IO{Stdout: &shown}}})
	if err != nil || !strings.Contains(shown.String(), "unknown ") || strings.Contains(shown.String(), "\x1b") {
		t.Errorf("%q, %v", shown.String(), err)
	}
}

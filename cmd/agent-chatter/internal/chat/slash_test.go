package chat

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/clipperhouse/displaywidth"
)

func TestHelpFitsEightyColumns(t *testing.T) {
	var shown bytes.Buffer
	if err := (&talk{app: &app.App{IO: app.IO{Stderr: &shown}}}).slashHelp(""); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(shown.String()) {
		if displaywidth.String(line) > 80 {
			t.Errorf("too long: %s", line)
		}
	}
}

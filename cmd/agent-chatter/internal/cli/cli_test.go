package cli

import (
	"io"
	"os"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

func TestPanicIsNoExit(t *testing.T) {
	defer func() {
		if reason := recover(); reason != "a defect" {
			t.Errorf("Run panics with %v", reason)
		}
	}()
	defect := func(string) string { panic("a defect") }
	code := Run([]string{"--home", t.TempDir(), "chat", "-m", "hello"}, app.IO{
		Stdin: os.Stdin, Stdout: io.Discard, Stderr: io.Discard, NetworkFS: defect,
	})
	t.Errorf("Run returns %d", code)
}

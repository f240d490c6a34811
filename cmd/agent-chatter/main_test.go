package main

import (
	"io"
	"os"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

func TestPanicIsNoExit(t *testing.T) {
	defer func() {
		if reason := recover(); reason != "a defect" {
			t.Errorf("run panics with %v", reason)
		}
	}()
	defect := func(string) string { panic("a defect") }
	code := run([]string{"--home", t.TempDir(), "chat", "-m", "hello"}, app.IO{
		Stdin: os.Stdin, Stdout: io.Discard, Stderr: io.Discard, NetworkFS: defect,
	})
	t.Errorf("run returns %d", code)
}

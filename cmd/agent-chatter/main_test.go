package main

import (
	"io"
	"os"
	"testing"
)

func TestAPanicIsNotTakenForAnEnd(t *testing.T) {
	defer func() {
		if reason := recover(); reason != "a defect" {
			t.Errorf("run panics with %v", reason)
		}
	}()
	defect := func(string) string { panic("a defect") }
	code := run([]string{"--home", t.TempDir(), "chat", "-m", "hello"}, &app{
		stdin: os.Stdin, stdout: io.Discard, stderr: io.Discard, networkFS: defect,
	})
	t.Errorf("run returns %d", code)
}

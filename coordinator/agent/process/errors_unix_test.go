//go:build unix

package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

func TestStartErrorSaysWhatHelps(t *testing.T) {
	dir := t.TempDir()
	plain, script := filepath.Join(dir, "plain"), filepath.Join(dir, "script")
	for path, mode := range map[string]os.FileMode{plain: 0o600, script: 0o700} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		program process.Program
		advice  string
		hint    []string
	}{
		"no command":              {process.Program{}, "install it", nil},
		"not in PATH":             {process.Program{Command: "no-such-program"}, "install it", []string{"command", "-v", "no-such-program"}},
		"like an option":          {process.Program{Command: "-x"}, "install it", []string{"command", "-v", "--", "-x"}},
		"not executable":          {process.Program{Command: plain}, "must be an executable file", []string{"chmod", "+x", plain}},
		"not executable, in PATH": {process.Program{Command: "plain", Env: map[string]string{"PATH": dir}}, "must be an executable file", nil},
		"missing":                 {process.Program{Command: plain + "er"}, "check the command", nil},
		"no directory":            {process.Program{Command: script, Dir: dir + "er"}, "create the directory", nil},
		"a file as directory":     {process.Program{Command: script, Dir: plain}, "create the directory", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := process.Find(tt.program)
			var failure *process.StartError
			if !errors.As(err, &failure) {
				t.Fatalf("got %v, want a StartError", err)
			}
			if got := failure.Advice(); !strings.Contains(got, tt.advice) {
				t.Errorf("the advice is %q, want %q", got, tt.advice)
			}
			if got := failure.Hint().Argv; !slices.Equal(got, tt.hint) {
				t.Errorf("the hint is %q, want %q", got, tt.hint)
			}
		})
	}
	if path, err := process.Find(process.Program{Command: "script", Env: map[string]string{"PATH": dir}}); err != nil || path != script {
		t.Errorf("Find returns %q, %v", path, err)
	}
}

//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCLIThinking(t *testing.T) {
	const report = claudeStart + `printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"text","text":"'$MAX_THINKING_TOKENS'"}]}}' ` +
		`'{"type":"result","subtype":"success"}'`
	on, off := true, false
	for _, tt := range []struct {
		thinking *bool
		env      map[string]string
		want     string
	}{
		{&on, nil, "31999"}, {&off, nil, "0"}, {&on, map[string]string{"MAX_THINKING_TOKENS": "5000"}, "5000"},
	} {
		turn := scriptedCLI(t, report)
		turn.Member.Thinking = tt.thinking
		for name, value := range tt.env {
			turn.Member.Env[name] = value
		}
		if settings, text := unsupported(t, claude, turn); text != tt.want || settings != nil {
			t.Errorf("Claude got %q, want %q; reported %q", text, tt.want, settings)
		}
	}
	bare := scriptedCLI(t, "") // a member without variables of its own
	bare.Member.Env, bare.Member.Command, bare.Member.Thinking = nil, filepath.Join(bare.Dir, "claude"), &on
	if err := os.WriteFile(bare.Member.Command, []byte("#!/bin/sh\n"+report), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, text := unsupported(t, claude, bare); text != "31999" {
		t.Errorf("without variables Claude got %q", text)
	}
	turn := script(t, "echo hi")
	turn.Member.Thinking = &on
	if settings, text := unsupported(t, graceful, turn); !slices.Equal(settings, []string{"thinking"}) || text != "hi\n" {
		t.Errorf("a program reported %q", settings)
	}
}

// An event after the loop was left would panic.
func TestLoopCanBeLeftAtUnsupported(t *testing.T) {
	on := true
	turn := script(t, `echo hi > ran`)
	turn.Member.Thinking = &on
	for event, err := range graceful.Run(within(t), turn) {
		if event == nil {
			t.Error(err)
		}
		break
	}
	if _, err := os.Stat(filepath.Join(turn.Dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

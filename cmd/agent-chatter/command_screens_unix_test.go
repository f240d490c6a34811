//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// commandScreens are commands that print and end.
var commandScreens = []struct {
	name    string
	command string
	setUp   func(t *testing.T, dir string)
}{
	{"guide", "agent-chatter guide", nil},
	{"guide_page", "agent-chatter guide platforms", nil},
	{"agents_verify", "agent-chatter agents verify", addAgents},
}

// addAgents registers an agent that works, one that is not logged in, and one whose program is missing.
func addAgents(t *testing.T, dir string) {
	for name, script := range map[string]string{
		"claude": `case "$1" in
--version) echo '2.1.329 (Claude Code)' ;;
auth) echo '{"loggedIn": true}' ;;
*)
	cat >/dev/null
	echo '{"type":"system","subtype":"init","session_id":"s"}'
	echo '{"type":"assistant","message":{"content":[{"type":"text","text":"OK"}]}}'
	echo '{"type":"result","subtype":"success","result":"OK"}' ;;
esac`,
		"codex": `case "$1" in
--version) echo 'codex-cli 0.169.0' ;;
login) exit 1 ;;
*)
	cat >/dev/null
	echo '{"type":"turn.failed","error":{"message":"401 Unauthorized"}}'
	exit 1 ;;
esac`,
		"gemini": "",
	} {
		path := filepath.Join(dir, name)
		err := team.Register(t.Context(), filepath.Join(dir, "home"), team.Agent{Name: name, Command: path})
		if script != "" {
			err = errors.Join(err, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCommandScreens compares what commands print on a terminal with golden files, and draws it.
func TestCommandScreens(t *testing.T) {
	for _, s := range commandScreens {
		t.Run(s.name, func(t *testing.T) {
			apptest.Screens(t, filepath.Join("testdata", "screens", s.name), s.command, func(dir string) {
				if s.setUp != nil {
					s.setUp(t, dir)
				}
			})
		})
	}
}

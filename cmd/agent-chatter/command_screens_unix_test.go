//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// commandScreens are commands that print and end.
var commandScreens = []struct {
	name    string
	command string
	setUp   func(dir string)
}{
	{"guide", "agent-chatter guide", nil},
	{"guide_page", "agent-chatter guide platforms", nil},
}

// TestCommandScreens compares what commands print on a terminal with golden files, and draws it.
func TestCommandScreens(t *testing.T) {
	for _, s := range commandScreens {
		t.Run(s.name, func(t *testing.T) {
			apptest.Screens(t, filepath.Join("testdata", "screens", s.name), s.command, s.setUp)
		})
	}
}

package main

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/cli"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// Short names for what most tests of the program use.
const (
	exitDone        = app.ExitDone
	exitFailed      = app.ExitFailed
	exitNotFound    = app.ExitNotFound
	exitLocked      = app.ExitLocked
	exitDamaged     = app.ExitDamaged
	exitInterrupted = app.ExitInterrupted

	textNotSaved = app.TextNotSaved

	aliceID = apptest.AliceID
)

var (
	run            = cli.Run
	acting         = apptest.Acting
	crashedSession = apptest.CrashedSession
)

type (
	sessionJSON = sessions.SessionJSON
	promptJSON  = view.PromptJSON
)

// verdict is what `verify --output json` prints for a session.
type verdict struct {
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Events  uint64 `json:"events"`
	Problem string `json:"problem"`
	Line    int64  `json:"line"`
	Offset  int64  `json:"offset"`
}

package agents

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestNoAnswerIsNotReportedAsLoggedOut(t *testing.T) {
	apptest.Silent(t, "codex")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v := &verification{App: &app.App{}, ctx: ctx}
	f := v.authentication(target{team.Member{Name: "codex", AgentType: "codex", Engine: "codex"}, nil})
	if f.State != app.StateNote || !strings.Contains(f.What, "did not report whether it is logged in") {
		t.Errorf("%+v", f)
	}
}

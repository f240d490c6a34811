package acp

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

func TestMain(m *testing.M) {
	if process.Guarded() {
		return
	}
	agenttest.Play()
	m.Run()
}

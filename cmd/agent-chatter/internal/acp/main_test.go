package acp

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

func TestMain(m *testing.M) {
	agenttest.Play()
	m.Run()
}

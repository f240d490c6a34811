package memory

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/cli"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// TestMain makes this test binary run as agent-chatter and as an agent: neither needs more memory than in a binary of
// its own.
func TestMain(m *testing.M) {
	// By default, the race detector delays the exit of every program by a second.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	agenttest.Play()
	testscript.Main(m, map[string]func(){"agent-chatter": cli.Main, "acp-agent": agenttest.PlayACP})
}

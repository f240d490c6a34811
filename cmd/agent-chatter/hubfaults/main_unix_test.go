//go:build unix

package hubfaults

import (
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/cli"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

// testTimeout is the longest time that a test waits for an event.
const testTimeout = time.Minute

// TestMain makes this test binary run as agent-chatter and as a server of the hub.
func TestMain(m *testing.M) {
	// By default, the race detector delays the exit of every program by a second.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	testscript.Main(m, map[string]func(){"agent-chatter": cli.Main, "nats-node": natstest.Main})
}

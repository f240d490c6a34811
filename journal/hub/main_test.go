package hub_test

import (
	"os"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

func TestMain(m *testing.M) {
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

func TestMemory(t *testing.T) {
	memory := &hubtest.Memory{Limit: 8 << 10}
	hubtest.Test(t, func(*testing.T) hub.Engine { return memory })
}

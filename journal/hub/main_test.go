package hub_test

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
)

func TestMemory(t *testing.T) {
	memory := &hubtest.Memory{Limit: 8 << 10}
	hubtest.Test(t, func(*testing.T) hub.Engine { return memory })
}

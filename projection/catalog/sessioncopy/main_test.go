package sessioncopy_test

import (
	"os"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

func TestMain(m *testing.M) {
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

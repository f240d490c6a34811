package coordinator_test

import (
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/storetest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestFileStoreIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) coordinator.Store {
		return coordinator.NewFileStore(catalog.New(filepath.Join(t.TempDir(), "sessions"), journal.Options{}))
	})
}

func TestOneDirectoryForAllTeamsIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) coordinator.Store {
		return coordinator.NewDirStore(catalog.New(t.TempDir(), journal.Options{}).At(filepath.Join(t.TempDir(), "shared")))
	})
}

// The twin in memory behaves as the one on the disk does in everything.
func TestMemoryStoreIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) coordinator.Store { return &coordinator.MemoryStore{} })
}

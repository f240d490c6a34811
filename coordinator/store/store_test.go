package store_test

import (
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/store/storetest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestFileStoreIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return store.NewFiles(catalog.New(filepath.Join(t.TempDir(), "sessions"), journal.Options{}))
	})
}

func TestOneDirectoryForAllTeamsIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return store.NewDir(catalog.New(t.TempDir(), journal.Options{}).At(filepath.Join(t.TempDir(), "shared")))
	})
}

// The twin in memory behaves as the one on the disk does in everything.
func TestMemoryStoreIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return &store.Memory{} })
}

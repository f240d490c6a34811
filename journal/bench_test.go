package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// BenchmarkAppendAndSync measures a save point, compared to a bare file to which
// the same number of bytes is written and synced.
func BenchmarkAppendAndSync(b *testing.B) {
	record := counted(1, 2000)
	b.Run("journal", func(b *testing.B) {
		dir := journal.NewDir(filepath.Join(b.TempDir(), "journals"), journal.Options{})
		l := mustCreate(b, dir)
		for b.Loop() {
			mustAppend(b, l, record)
			must(b, l.Sync())
		}
	})
	b.Run("bare file", func(b *testing.B) {
		f, err := vfs.OS.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		must(b, err)
		defer f.Close()
		line := make([]byte, len(record.Data)+100)
		for b.Loop() {
			_, err := f.Write(line)
			must(b, err)
			must(b, f.Sync())
		}
	})
}

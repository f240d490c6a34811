//go:build !windows

package journal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
)

// It changes the umask of the process, so it is not parallel.
func TestFilesArePrivateWhateverTheUmask(t *testing.T) {
	home := t.TempDir()
	defer syscall.Umask(syscall.Umask(0))
	dir := journal.NewDir(filepath.Join(home, "a", "b"), journal.Options{})
	id := newJournal(t, dir, 0)
	appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("half"))
	must(t, dir.Archive(t.Context(), id))
	mustAppend(t, mustOpen(t, dir, id), counted(17, 0))
	must(t, dir.Archive(t.Context(), newJournal(t, dir, 0)))
	must(t, trash.Of(dir).Move(t.Context(), newJournal(t, dir, 0)))
	must(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == home {
			return err
		}
		info, err := os.Stat(path)
		must(t, err)
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	}))
}

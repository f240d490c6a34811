package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// probe returns the path of a temporary file that only this run uses.
func (d *doctor) probe(kind string) string {
	return filepath.Join(d.Home, fmt.Sprintf(".doctor-%08x-%s.tmp", d.run, kind))
}

// checkLocks takes a lock and checks that it cannot be taken again.
func (d *doctor) checkLocks() []app.Finding {
	path := d.probe("lock")
	defer d.fs.Remove(path)
	lock, err := vfs.LockFile(d.fs, path)
	if err != nil {
		return []app.Finding{noLockText(err)}
	}
	defer lock.Close()
	second, err := vfs.LockFile(d.fs, path)
	switch {
	case err == nil:
		second.Close()
		return []app.Finding{notExclusiveText(d.Home)}
	case !errors.Is(err, journal.ErrLocked):
		return []app.Finding{untestedLockText(err)}
	}
	return []app.Finding{app.Fine(textExclusive)}
}

// checkDisk checks that a file can be written, synced, renamed and removed.
func (d *doctor) checkDisk() []app.Finding {
	from, to := d.probe("old"), d.probe("new")
	caseSensitive, err := d.tryDisk(from, to)
	for _, path := range []string{from, to} {
		if e := d.fs.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return []app.Finding{diskFailedText(err)}
	}
	return []app.Finding{diskText(caseSensitive)}
}

// tryDisk writes, syncs and renames a file, and syncs the home. It reports whether file
// names are case-sensitive.
func (d *doctor) tryDisk(from, to string) (caseSensitive bool, err error) {
	f, err := d.fs.OpenFile(from, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.Write([]byte("written by agent-chatter doctor\n"))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	// Crash here, or after the rename, leaves a *.tmp that is never read.
	if err := d.fs.Rename(from, to); err != nil {
		return false, err
	}
	if err := d.fs.SyncDir(d.Home); err != nil {
		return false, err
	}
	_, err = d.fs.Stat(filepath.Join(d.Home, strings.ToUpper(filepath.Base(to))))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// Limits of free space: below min* is wrong, below low* is a note.
const (
	minBytes, lowBytes   = 100 << 20, 1 << 30
	minInodes, lowInodes = 1_000, 10_000
)

func (d *doctor) checkSpace() []app.Finding {
	bytes, inodes, err := freeSpace(d.existing)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return []app.Finding{unknownSpaceText(err)}
	}
	return []app.Finding{spaceFinding(bytes, inodes)}
}

func spaceFinding(bytes, inodes uint64) app.Finding {
	free := spaceText(bytes, inodes)
	makeRoom := []app.Help{
		app.To("archive old sessions", "compact"),
		app.To("list what emptying the trash would delete", "sessions", "clean", "--trash", "--dry-run"),
	}
	switch {
	case bytes < minBytes || inodes < minInodes:
		return app.Wrong(free, "", makeRoom...)
	case bytes < lowBytes || inodes < lowInodes:
		return app.Note(free, "", makeRoom...)
	}
	return app.Fine(free)
}

const textExclusive = "they are exclusive; the system releases those of a crashed program"

func noLockText(err error) app.Finding {
	return app.Wrong("no lock can be taken, so nothing can be saved: "+tty.SafeLine(err.Error()), lockHelp(err))
}

// untestedLockText is for a lock that was taken, and whose second attempt failed otherwise
// than expected.
func untestedLockText(err error) app.Finding {
	return app.Wrong("whether locks are exclusive is unknown: "+tty.SafeLine(err.Error()), lockHelp(err))
}

func lockHelp(err error) string {
	return cmp.Or(strings.TrimSpace(app.Remedy(err)),
		"Keep the sessions on a file system with locks, with --home DIR.")
}

// notExclusiveText is for a file system on which one process can take a lock twice.
func notExclusiveText(home string) app.Finding {
	return app.Wrong("a lock can be taken twice, so two programs may write to one session",
		fmt.Sprintf("Use a session of %s in one program at a time, or keep the sessions elsewhere with --home DIR.",
			tty.SafeLine(home)))
}

func diskFailedText(err error) app.Finding {
	help := cmp.Or(strings.TrimSpace(app.Remedy(err)), "Check the disk, or use another directory with --home DIR.")
	return app.Wrong("a file cannot be written, synced, renamed and removed: "+tty.SafeLine(err.Error()), help)
}

func diskText(caseSensitive bool) app.Finding {
	names := "case-sensitive"
	if !caseSensitive {
		names = "not case-sensitive, which is enough for sessions"
	}
	return app.Fine("files can be written, synced and renamed; their names are " + names)
}

func spaceText(bytes, inodes uint64) string {
	free := app.Bytes(bytes) + " are free"
	if inodes != math.MaxUint64 {
		free += fmt.Sprintf(", and %d inodes", inodes)
	}
	return free
}

func unknownSpaceText(err error) app.Finding {
	return app.Note("the free space is unknown: "+tty.SafeLine(err.Error()), "")
}

package journal

import (
	"context"
	"path/filepath"
	"strings"
)

// RemoveLeftovers removes the temporary files that killed writers of journals left in the
// directory and its archive. Those of a journal that has a writer stay: the next Append
// removes them. Errors of single files are ignored.
func (d *Dir) RemoveLeftovers(ctx context.Context) {
	for _, place := range []struct{ dir, suffix string }{
		{d.path, logSuffix + tmpSuffix},
		{filepath.Join(d.path, archiveDir), archiveSuffix + tmpSuffix},
	} {
		entries, err := d.fs.ReadDir(place.dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			id, isLeftover := strings.CutSuffix(entry.Name(), place.suffix)
			if ctx.Err() != nil {
				return
			}
			if isLeftover && entry.Type().IsRegular() {
				d.removeLeftover(ctx, id, filepath.Join(place.dir, entry.Name()))
			}
		}
	}
}

func (d *Dir) removeLeftover(ctx context.Context, id, path string) {
	f, err := d.Files(id)
	if err != nil {
		return
	}
	if _, err := f.stat(d.fs); err == nil {
		// Without the lock, a writer could be using the file.
		held, err := f.acquireLock(ctx, d.fs, d.now())
		if err != nil {
			return
		}
		defer held.Close()
	}
	d.fs.Remove(path)
}

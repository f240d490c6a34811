package journal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// setAside moves a torn tail out of the journal into a file of its own. It
// returns the payload of the event that records this.
func (f Files) setAside(fsys vfs.FS, log vfs.File, torn Torn) (Recovered, error) {
	name, err := f.copyAside(fsys, io.NewSectionReader(log, torn.Offset, torn.Bytes))
	if err != nil {
		return Recovered{}, fmt.Errorf("set aside the torn tail: %w", err)
	}
	// Crash here leaves the tail in both files: the next writer sets it aside
	// again.
	if err := log.Truncate(torn.Offset); err != nil {
		return Recovered{}, err
	}
	// Crash here leaves a valid journal and a file that no event mentions.
	return Recovered{
		Reason: torn.Reason, Aside: name, Offset: torn.Offset, Bytes: torn.Bytes,
		FirstSeq: torn.FirstSeq, LastSeq: torn.LastSeq,
	}, nil
}

// copyAside writes bytes to a new file, durably, and returns its name.
func (f Files) copyAside(fsys vfs.FS, content io.Reader) (name string, err error) {
	aside, n, err := f.createAside(fsys)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(aside, content)
	if err == nil {
		err = aside.Sync()
	}
	if closeErr := aside.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = fsys.SyncDir(f.Dir)
	}
	if err != nil {
		fsys.Remove(f.Aside(n))
		return "", err
	}
	return fmt.Sprintf("%s%s%d", f.ID, asideInfix, n), nil
}

func (f Files) createAside(fsys vfs.FS) (vfs.File, int, error) {
	for n := 1; ; n++ {
		aside, err := fsys.OpenFile(f.Aside(n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, vfs.NewFileMode(fsys, f.Dir))
		if errors.Is(err, os.ErrExist) {
			continue
		}
		return aside, n, err
	}
}

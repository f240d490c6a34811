package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// turnSuffix ends the name of the file of a running turn, which is locked by its process. It has the ids of the turns
// that began while it ran, each on a line.
const turnSuffix = ".turn"

// Running is a turn that runs in the directory.
type Running struct {
	w      *Workspace
	id     string
	file   vfs.File
	before []string // turns that ran already when it began
	above  *Running // the same turn in the directory that contains this one; nil: none
}

// Begin registers a turn that begins in the directory, until End. It waits for the lock of the store.
func (w *Workspace) Begin(ctx context.Context, turnID string) (*Running, error) {
	if w.above == nil {
		return w.begin(ctx, turnID)
	}
	above, err := w.above.begin(ctx, turnID)
	if err != nil {
		return nil, err
	}
	r, err := w.begin(ctx, turnID)
	if err != nil {
		return nil, errors.Join(err, above.End())
	}
	r.above = above
	return r, nil
}

// begin is Begin for the directory alone.
func (w *Workspace) begin(ctx context.Context, turnID string) (*Running, error) {
	release, err := w.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	others, err := w.running()
	if err != nil {
		return nil, err
	}
	r := &Running{w: w, id: turnID, before: others}
	if r.file, err = vfs.LockFile(vfs.OS, w.turnFile(turnID)); err != nil {
		return nil, err
	}
	for _, other := range others {
		err = errors.Join(err, appendLine(w.turnFile(other), turnID))
	}
	if err != nil {
		r.file.Close()
		return nil, errors.Join(err, os.Remove(w.turnFile(turnID)))
	}
	return r, nil
}

// BeginAlone is Begin in a directory in which no turn runs. Otherwise the error is a *BusyError.
func (w *Workspace) BeginAlone(ctx context.Context, id string) (*Running, error) {
	running, err := w.Begin(ctx, id)
	if err != nil {
		return nil, err
	}
	if with, err := running.With(); err != nil || len(with) > 0 {
		return nil, errors.Join(err, &BusyError{w.root}, running.End())
	}
	return running, nil
}

func (w *Workspace) turnFile(turnID string) string { return filepath.Join(w.dir, turnID+turnSuffix) }

func appendLine(name, line string) error {
	f, err := vfs.OS.OpenFile(name, os.O_WRONLY|os.O_APPEND|vfs.NoLink, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// running returns the turns that run in the directory, and removes the files of those whose process has died. The
// caller holds the lock of the store.
func (w *Workspace) running() (ids []string, err error) {
	entries, err := vfs.OS.ReadDir(w.dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, isTurn := strings.CutSuffix(entry.Name(), turnSuffix)
		if !isTurn {
			continue
		}
		f, err := vfs.LockFile(vfs.OS, w.turnFile(id))
		if errors.Is(err, vfs.ErrLocked) {
			ids = append(ids, id)
			continue
		}
		if err != nil {
			return nil, err
		}
		err = os.Remove(w.turnFile(id))
		if closeErr := f.Close(); err != nil || closeErr != nil {
			return nil, errors.Join(err, closeErr)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// With returns the other turns that have run in the directory since this one began, of any session, without duplicates.
func (r *Running) With() ([]string, error) {
	data, err := vfs.ReadFile(vfs.OS, r.w.turnFile(r.id), 1<<20)
	ids := append(slices.Clone(r.before), strings.Fields(string(data))...)
	if r.above != nil {
		others, aboveErr := r.above.With()
		ids, err = append(ids, others...), errors.Join(err, aboveErr)
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// End removes the turn from those that run. A process that dies ends its turns, too.
func (r *Running) End() error {
	err := errors.Join(os.Remove(r.w.turnFile(r.id)), r.file.Close())
	if r.above != nil {
		err = errors.Join(err, r.above.End())
	}
	return err
}

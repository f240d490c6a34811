package replica

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
)

// markToShip returns the mark with which to ship the session. A session that the hub may not have yet counts as sealed
// if one whose events it has is sealed: a fork, a merge, the import of a copy, or a rerun.
func (r Replica) markToShip(ctx context.Context) (hub.Mark, error) {
	mark := r.Mark()
	if mark.Sealed || mark.Revision > 0 || !r.Hub.RefusesPlain() {
		return mark, nil
	}
	sealed, err := r.copiesSealed(ctx)
	if err != nil || !sealed {
		return mark, err
	}
	mark.Sealed = true
	r.Keep(mark) // the session that it copies may be deleted
	return mark, nil
}

// copiesSealed reports whether the session has events of one that is sealed on the hub, directly or through others.
func (r Replica) copiesSealed(ctx context.Context) (bool, error) {
	seen := map[string]bool{}
	for next := []string{r.ID}; len(next) > 0; next = next[1:] {
		id := next[0]
		if seen[id] || !journal.ValidID(id) {
			continue
		}
		seen[id] = true
		dirs := []*journal.Dir{r.Dir.Journals()}
		if id != r.ID {
			dirs = r.dirsOf(id)
		}
		for _, dir := range dirs {
			mark := hub.ReadMark(vfs.OS, dir, id)
			sealed := mark.Sealed
			if !sealed && id != r.ID {
				var err error
				sealed, err = r.Hub.Sealed(ctx, hub.Session{Team: filepath.Base(dir.Path()), ID: id})
				if err != nil {
					return false, err
				}
			}
			if sealed {
				return true, nil
			}
			parent, err := parentOf(dir, id)
			if err != nil {
				return false, err
			}
			next = append(append(next, parent), mark.Copies...)
		}
	}
	return false, nil
}

// dirsOf returns the directories that have a session, and that of r: a session may be a copy for another team.
func (r Replica) dirsOf(id string) []*journal.Dir {
	own := r.Dir.Journals()
	dirs := []*journal.Dir{own}
	root := filepath.Dir(own.Path())
	entries, _ := vfs.OS.ReadDir(root)
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		if !e.IsDir() || path == own.Path() {
			continue
		}
		other := journal.NewDir(path, journal.Options{})
		if _, err := other.Stat(id); err == nil {
			dirs = append(dirs, other)
		}
	}
	return dirs
}

// parentOf returns the id of the session that a journal names as its parent; "": none, or there is no journal.
func parentOf(dir *journal.Dir, id string) (string, error) {
	reader, err := dir.Reader(id, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer reader.Close()
	for e, err := range reader.Scan() {
		if err != nil {
			return "", err
		}
		switch p, _ := projection.Decode(e); p := p.(type) {
		case projection.SessionCreated:
			if p.Parent != nil {
				return p.Parent.SessionID, nil
			}
			return "", nil
		}
	}
	return "", nil
}

package workspace

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	maxCounted    = 1 << 20  // the size of the largest file whose lines are counted
	maxCountedAll = 16 << 20 // the size of all of them
	maxNames      = 32 << 10 // the length of all paths of an event, in bytes
)

// Changes returns what is known to differ between two trees, without the turn, the directory and the trees. Its errors
// are those of Compare.
func (w *Workspace) Changes(before, after objects.Hash) (projection.FilesChanged, error) {
	var changed projection.FilesChanged
	counted, names := int64(0), 0
	for c, err := range w.Compare(before, after) {
		if err != nil {
			return changed, err
		}
		kind := KindOf(c)
		switch kind {
		case projection.FileAdded:
			changed.Added++
		case projection.FileDeleted:
			changed.Deleted++
		default:
			changed.Modified++
		}
		names += len(c.Path)
		if len(changed.Changes) == projection.MaxFileChanges || names > maxNames {
			changed.More++
			continue
		}
		change := projection.FileChange{Path: projection.FilePath(c.Path), Kind: kind}
		if counted += c.Before.Size + c.After.Size; counted <= maxCountedAll {
			if plus, minus, ok := w.countLines(c); ok {
				change.Plus, change.Minus = &plus, &minus
			}
		}
		changed.Changes = append(changed.Changes, change)
	}
	return changed, nil
}

// KindOf returns how a path differs.
func KindOf(c objects.Change) projection.FileChangeKind {
	switch {
	case c.Before.IsZero():
		return projection.FileAdded
	case c.After.IsZero():
		return projection.FileDeleted
	case c.Before.Type() != c.After.Type() && c.Before.Stored() && c.After.Stored():
		return projection.FileType
	case c.Before.Hash == c.After.Hash:
		return projection.FileMode
	}
	return projection.FileModified
}

// countLines returns how many lines of a text file were added and removed. ok is false for other files, and if the
// content is not stored.
func (w *Workspace) countLines(c objects.Change) (plus, minus int, ok bool) {
	var sides [2][]byte
	for i, e := range []objects.Entry{c.Before, c.After} {
		if e.IsZero() {
			continue
		}
		if e.Type() != objects.ModeFile || e.Size > maxCounted {
			return 0, 0, false
		}
		content, err := w.store.Read(e.Hash)
		if err != nil || bytes.IndexByte(content, 0) >= 0 {
			return 0, 0, false
		}
		sides[i] = content
	}
	_, hunks, _ := bytes.Cut(diff.Diff("a", sides[0], "b", sides[1]), []byte("\n+++ b\n"))
	for line := range bytes.Lines(hunks) {
		switch line[0] {
		case '+':
			plus++
		case '-':
			minus++
		}
	}
	return plus, minus, true
}

package workspace

import (
	"context"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// Edit stores a tree that is another one with a new content of a file, and returns it with the entry of the file. The
// file exists, and keeps its mode. id names the pack; nothing in the directory is written.
func (w *Workspace) Edit(
	ctx context.Context, id string, tree objects.Hash, path string, content []byte,
) (edited objects.Hash, entry objects.Entry, err error) {
	release, err := w.lock(ctx)
	if err != nil {
		return edited, entry, err
	}
	defer release()
	files, err := w.store.Files(tree)
	if err != nil {
		return edited, entry, err
	}
	err = w.store.Write(id, func(out *objects.Writer) error {
		entry = files[path]
		entry.Size = int64(len(content))
		if entry.Hash, err = out.Put(content); err != nil {
			return err
		}
		files[path] = entry
		edited, err = putTree(w.store, tree, files, out)
		return err
	})
	return edited, entry, err
}

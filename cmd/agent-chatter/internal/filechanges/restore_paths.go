package filechanges

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// pathsBelow returns the paths below the directory of a restore that the names mean: in the working directory if there
// is, or was, such a file there, else in the directory.
func (cmd *Restore) pathsBelow(a *app.App, id, at string, r *coordinator.FileRestore) (paths []string, err error) {
	if len(cmd.Paths) == 0 || cmd.exact {
		return cmd.Paths, nil
	}
	files := map[string]objects.Entry{}
	for _, seq := range []uint64{r.Seq, math.MaxUint64} {
		tree, err := r.Workspace.Store().Files(r.History.At(seq))
		if err != nil {
			return nil, err
		}
		maps.Copy(files, tree)
	}
	known := func(path string) bool {
		if _, err := os.Lstat(filepath.Join(r.History.Dir, filepath.FromSlash(path))); err == nil {
			return true
		}
		_, ok := files[path]
		for name := range files {
			ok = ok || strings.HasPrefix(name, path+"/")
		}
		return ok
	}
	for _, name := range cmd.Paths {
		candidates := namesIn(r.History.Dir, a.Cwd, name)
		if name == "" || len(candidates) == 0 {
			return nil, &coordinator.PathError{Path: name}
		}
		i := slices.IndexFunc(candidates, known)
		if i < 0 && !cmd.Undo { // what is undone may have removed it
			return nil, app.Exit(app.ExitFailed, noPathText(id, name, at))
		}
		paths = append(paths, candidates[max(i, 0)])
	}
	return paths, nil
}

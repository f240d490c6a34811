package journal

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// NetworkFS names the kind of file system that path is on, or will be, when its
// files may be on another machine: "NFS", for example. It is "" on a local one,
// and where that is not known. Between machines a lock may keep nobody out.
func NetworkFS(path string) string { return networkFS(path, fsKind) }

// networkFS asks kind about the path, or the nearest one above that exists.
func networkFS(path string, kind func(string) (string, error)) string {
	for {
		name, err := kind(path)
		if above := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && above != path {
			path = above
			continue
		}
		return name
	}
}

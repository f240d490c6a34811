package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// NetworkFS returns the kind of the file system of path if its files may be on
// another machine, such as "NFS". A path that does not exist counts as its nearest
// existing parent. It returns "" for a local file system, and if the kind is
// unknown. On a network file system, locks may not work between machines.
func NetworkFS(path string) string { return networkFS(path, fsKind) }

// networkFS is NetworkFS with a replaceable kind function.
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

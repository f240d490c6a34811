package vfs

import (
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestNetworkFSIsThatOfTheNearestExistingPath(t *testing.T) {
	root := filepath.Join(t.TempDir(), "mounted")
	for _, tt := range []struct {
		path  string
		err   error // of an existing path
		want  string
		asked []string
	}{
		{root, nil, "NFS", []string{root}},
		{filepath.Join(root, "a", "b"), nil, "NFS",
			[]string{filepath.Join(root, "a", "b"), filepath.Join(root, "a"), root}},
		{root, syscall.EACCES, "", []string{root}},
	} {
		var asked []string
		got := networkFS(tt.path, func(path string) (string, error) {
			asked = append(asked, path)
			switch {
			case path != root:
				return "", &fs.PathError{Op: "statfs", Path: path, Err: syscall.ENOENT}
			case tt.err != nil:
				return "", tt.err
			}
			return "NFS", nil
		})
		if got != tt.want || !slices.Equal(asked, tt.asked) {
			t.Errorf("%s is on %q, after %q; want %q, after %q", tt.path, got, asked, tt.want, tt.asked)
		}
	}
	if got := networkFS("/", func(string) (string, error) { return "", fs.ErrNotExist }); got != "" {
		t.Errorf("a root that does not exist is on %q", got)
	}
}

package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// maxIndex is the size of the largest index that is read. An entry takes about 100 bytes.
const maxIndex = 64 << 20

// gitTracks reports whether the repository that dir, an absolute path, is in tracks a file below it. Of an index that
// cannot be read it reports false, as of a directory outside of a repository.
func gitTracks(dir string) bool {
	for root := filepath.Dir(dir); ; root = filepath.Dir(root) {
		index, found := indexOf(root)
		if found {
			path, err := filepath.Rel(root, dir)
			return err == nil && contains(index, filepath.ToSlash(path)+"/")
		}
		if root == filepath.Dir(root) {
			return false
		}
	}
}

// Branch returns the branch that is checked out in the repository around dir, an absolute path, or the beginning of the
// commit; "": none.
func Branch(dir string) string {
	for root := dir; ; root = filepath.Dir(root) {
		index, found := indexOf(root)
		if !found && root != filepath.Dir(root) {
			continue
		}
		head, err := regularfile.Read(filepath.Join(filepath.Dir(index), "HEAD"), 4<<10)
		if !found || err != nil {
			return ""
		}
		text := strings.TrimSpace(string(head))
		if branch, ok := strings.CutPrefix(text, "ref: refs/heads/"); ok {
			return branch
		}
		return text[:min(len(text), 8)]
	}
}

// indexOf returns the path of the index if root is the top directory of a work tree.
func indexOf(root string) (path string, found bool) {
	git := filepath.Join(root, ".git")
	info, err := os.Lstat(git)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return filepath.Join(git, "index"), true
	}
	text, err := regularfile.Read(git, 4<<10) // of a linked work tree or a submodule
	if err != nil {
		return "", false
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	elsewhere := strings.HasPrefix(filepath.VolumeName(dir), `\\`) // reading it would log in to another machine
	return filepath.Join(dir, "index"), ok && !elsewhere
}

// contains reports whether an entry of the index starts with a path. An entry of version 4 may lack the beginning
// that it shares with the one before, so only the first entry below a directory is sure to be found.
func contains(index, path string) bool {
	content, err := regularfile.Read(index, maxIndex)
	return err == nil && bytes.HasPrefix(content, []byte("DIRC")) && bytes.Contains(content, []byte(path))
}

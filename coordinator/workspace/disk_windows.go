package workspace

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// disk is the directory on the disk. No method follows a symbolic link below it, as far as links are not made while it
// runs.
type disk struct {
	root string
	real map[string]bool // whether a path is a directory that no link is part of
}

func openDisk(root string) (*disk, error) {
	_, err := os.Stat(root)
	return &disk{root, map[string]bool{".": true}}, err
}

func (d *disk) close() {}

func (d *disk) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// lstat describes a file, link or directory. It returns an error that matches fs.ErrNotExist also for a name below a
// link or a file.
func (d *disk) lstat(name string) (stat, error) {
	if !d.isDir(path.Dir(name)) {
		return stat{}, fs.ErrNotExist
	}
	info, err := os.Lstat(d.path(name))
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// isDir reports whether a path is a directory and has no link in it. The answer is kept.
func (d *disk) isDir(name string) bool {
	if is, ok := d.real[name]; ok {
		return is
	}
	st, err := d.lstat(name)
	is := err == nil && st.mode == objects.ModeDir
	d.real[name] = is
	return is
}

// open opens a regular file for reading.
func (d *disk) open(name string) (*os.File, error) {
	return regularfile.OpenFile(d.path(name), os.O_RDONLY|regularfile.NoFollow, 0)
}

// readlink returns the text of a link.
func (d *disk) readlink(name string) (string, error) { return os.Readlink(d.path(name)) }

// statFile describes an open file.
func statFile(f *os.File) (stat, error) {
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// statOf has no time of the last change of the metadata, and no inode.
func statOf(info fs.FileInfo) stat {
	mode := uint32(objects.ModeFile) | uint32(info.Mode().Perm())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		mode = objects.ModeLink
	case info.IsDir():
		mode = objects.ModeDir
	case !info.Mode().IsRegular():
		mode = 0
	}
	return stat{mode: mode, size: info.Size(), mtime: info.ModTime().UnixNano(), ctime: info.ModTime().UnixNano()}
}

// isOwn is true: no owner is known.
func isOwn(fs.FileInfo) bool { return true }

// freeBytes returns the free space of a file system for this user.
func freeBytes(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

//go:build unix

package workspace

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// A dir is an open directory. The names that its methods take are those of files in it; they follow no links.
type dir struct{ fd int }

// openDir opens the directory name below the root, as directory does.
func openDir(root, name string, create bool) (*dir, error) {
	fd, err := open(unix.AT_FDCWD, root, openFlags|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, pathError("open", root, err)
	}
	d := &dir{fd}
	defer d.close()
	return d.directory(name, create)
}

// directory opens the directory name below this one, part by part, so that no link is followed. With create, it makes
// the directories that are missing. The error of a part that is no directory is errNoDirectory.
func (d *dir) directory(name string, create bool) (*dir, error) {
	at := d
	for part := range strings.SplitSeq(name, "/") {
		below, err := at.below(part, create)
		if at != d {
			at.close()
		}
		if err != nil {
			return nil, err
		}
		at = below
	}
	return at, nil
}

// below opens a directory of the directory.
func (d *dir) below(name string, create bool) (*dir, error) {
	if name == ".." || strings.EqualFold(name, ".git") {
		return nil, errNoDirectory
	}
	fd, err := open(d.fd, name, openFlags|unix.O_DIRECTORY, 0)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := unix.Mkdirat(d.fd, name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, pathError("mkdir", name, err)
		}
		if err := d.sync(); err != nil {
			return nil, err
		}
		fd, err = open(d.fd, name, openFlags|unix.O_DIRECTORY, 0)
	}
	if err == nil {
		return &dir{fd}, nil
	}
	if st, statErr := d.stat(name); statErr == nil && uint32(st.Mode)&objects.ModeType != objects.ModeDir {
		return nil, errNoDirectory
	}
	return nil, pathError("open", name, err)
}

func pathError(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: operation, Path: name, Err: err}
}

func (d *dir) close() { unix.Close(d.fd) }

// sync makes the entries of the directory durable.
func (d *dir) sync() error {
	err := unix.Fsync(d.fd)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // this file system cannot sync directories
	}
	return pathError("fsync", ".", err)
}

func (d *dir) stat(name string) (st unix.Stat_t, err error) {
	err = unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return st, err
}

// has reports whether a name has exactly the mode and the content of an entry. For the zero entry, it reports whether
// the name is absent. It opens nothing but a regular file of the size that is wanted.
func (d *dir) has(name string, want objects.Entry) bool {
	st, err := d.stat(name)
	if want.IsZero() || err != nil {
		return want.IsZero() && errors.Is(err, fs.ErrNotExist)
	}
	mode := uint32(st.Mode)
	switch {
	case want.Type() != mode&objects.ModeType:
		return false
	case want.Type() == objects.ModeLink:
		text, err := d.readLink(name)
		return err == nil && objects.HashOf([]byte(text)) == want.Hash
	}
	return want.Mode == mode && want.Size == st.Size && d.hash(name, st) == want.Hash
}

// readLink returns the text of a link.
func (d *dir) readLink(name string) (string, error) {
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd, name, text)
	if err != nil {
		return "", err
	}
	return string(text[:n]), nil
}

// hash returns the hash of a regular file; zero: it cannot be read, or changes.
func (d *dir) hash(name string, st unix.Stat_t) objects.Hash {
	fd, err := open(d.fd, name, openFlags|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return objects.Hash{}
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	var opened unix.Stat_t
	if err := unix.Fstat(fd, &opened); err != nil || opened.Ino != st.Ino || opened.Mode != st.Mode {
		return objects.Hash{}
	}
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, st.Size+1)); err != nil || n != st.Size {
		return objects.Hash{}
	}
	return objects.Hash(sum.Sum(nil))
}

// create creates a file or link that must not exist. With sync, its content survives a power cut once the directory is
// synced.
func (d *dir) create(name string, e objects.Entry, content []byte, sync bool) error {
	if e.Type() == objects.ModeLink {
		return pathError("symlink", name, unix.Symlinkat(string(content), d.fd, name))
	}
	fd, err := open(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return pathError("create", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(content)
	if err == nil {
		err = pathError("chmod", name, unix.Fchmod(fd, e.Mode&^objects.ModeType))
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// rename renames a file. It replaces a file that has the new name.
func (d *dir) rename(from, to string) error {
	return pathError("rename", from, unix.Renameat(d.fd, from, d.fd, to))
}

// renameNew renames a file that no other program uses. The error of a name that is in use matches fs.ErrExist.
func (d *dir) renameNew(from, to string) error {
	err := renameNew(d.fd, from, to)
	if isUnsupported(err) {
		return d.renameByLink(from, to)
	}
	return pathError("rename", from, err)
}

func (d *dir) renameByLink(from, to string) error {
	if err := d.link(from, to); err != nil {
		return err
	}
	return d.remove(from)
}

// exchange gives each of two files the name of the other at once. It returns errNoExchange if the file system cannot.
func (d *dir) exchange(a, b string) error {
	err := exchange(d.fd, a, b)
	if isUnsupported(err) {
		return errNoExchange
	}
	return pathError("exchange", b, err)
}

func isUnsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}

// link gives a file or link a second name, which must not be in use.
func (d *dir) link(from, to string) error {
	return pathError("link", to, unix.Linkat(d.fd, from, d.fd, to, 0))
}

func (d *dir) remove(name string) error {
	return pathError("remove", name, unix.Unlinkat(d.fd, name, 0))
}

// names returns the names in the directory.
func (d *dir) names() ([]string, error) {
	fd, err := open(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	return f.Readdirnames(-1)
}

// removeDir removes an empty directory.
func (d *dir) removeDir(name string) error {
	return pathError("remove", name, unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR))
}

package workspace

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// A dir is an open directory. The names that its methods take are those of files in it; they follow no links.
type dir struct{ root *os.Root }

// openDir opens the directory name below the root, part by part. With create, it makes the directories that are
// missing. The error of a part that is no directory is errNoDirectory. A link that replaces a directory during the call
// leads at most to another directory beside it.
func openDir(root, name string, create bool) (*dir, error) {
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	d := &dir{opened}
	for part := range strings.SplitSeq(name, "/") {
		below, err := d.below(part, create)
		d.close()
		if err != nil {
			return nil, err
		}
		d = below
	}
	return d, nil
}

// below opens a directory of the directory.
func (d *dir) below(name string, create bool) (*dir, error) {
	if name == ".." || strings.EqualFold(name, ".git") {
		return nil, errNoDirectory
	}
	info, err := d.root.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := d.root.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = d.root.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNoDirectory
	}
	below, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &dir{below}, nil
}

func (d *dir) close() { d.root.Close() }

// sync does nothing: Windows cannot sync directories.
func (d *dir) sync() error { return nil }

// has reports whether a name has exactly the content of an entry, and is read-only if that is. For the zero entry, it
// reports whether the name is absent.
func (d *dir) has(name string, want objects.Entry) bool {
	info, err := d.root.Lstat(name)
	if want.IsZero() || err != nil {
		return want.IsZero() && errors.Is(err, fs.ErrNotExist)
	}
	if want.Type() == objects.ModeLink {
		text, err := d.root.Readlink(name)
		return err == nil && objects.HashOf([]byte(text)) == want.Hash
	}
	readOnly := func(mode uint32) bool { return mode&0o200 == 0 }
	return info.Mode().IsRegular() && readOnly(want.Mode) == readOnly(uint32(info.Mode())) &&
		info.Size() == want.Size && d.hash(name, want.Size) == want.Hash
}

// hash returns the hash of a regular file; zero: it cannot be read, or changes.
func (d *dir) hash(name string, size int64) objects.Hash {
	f, err := regularfile.OpenFile(filepath.Join(d.root.Name(), name), os.O_RDONLY|regularfile.NoFollow, 0)
	if err != nil {
		return objects.Hash{}
	}
	defer f.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, size+1)); err != nil || n != size {
		return objects.Hash{}
	}
	return objects.Hash(sum.Sum(nil))
}

// create creates a file or link that must not exist. With sync, its content survives a power cut.
func (d *dir) create(name string, e objects.Entry, content []byte, sync bool) error {
	if e.Type() == objects.ModeLink {
		return d.root.Symlink(string(content), name)
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(content); err == nil && sync {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = d.root.Chmod(name, fs.FileMode(e.Mode).Perm())
	}
	return err
}

// rename renames a file. It replaces a file that has the new name.
func (d *dir) rename(from, to string) error { return d.root.Rename(from, to) }

// renameNew renames a file of the restore. The error of a name that is in use matches fs.ErrExist.
func (d *dir) renameNew(from, to string) error {
	if err := d.root.Link(from, to); err != nil {
		return err
	}
	return d.root.Remove(from)
}

// exchange returns errNoExchange.
func (d *dir) exchange(string, string) error { return errNoExchange }

// link gives a file or link a second name, which must not be in use.
func (d *dir) link(from, to string) error { return d.root.Link(from, to) }

func (d *dir) remove(name string) error { return d.root.Remove(name) }

// names returns the names in the directory.
func (d *dir) names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// removeDir removes an empty directory.
func (d *dir) removeDir(name string) error {
	info, err := d.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "remove", Path: name, Err: fs.ErrExist}
	}
	if err != nil {
		return err
	}
	return d.root.Remove(name)
}

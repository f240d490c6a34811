package attachment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// MaxBytes is the size of the largest attachment.
const MaxBytes = 20 << 20

// TooLargeError is the error of content that is larger than an attachment may be.
type TooLargeError struct{ Bytes int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("it has %d bytes; an attachment has at most %d", e.Bytes, MaxBytes)
}

// DamagedError is the error of an attachment that does not have the content under whose name it is kept.
type DamagedError struct {
	Path   string
	Reason string
}

func (e *DamagedError) Error() string { return e.Path + ": " + e.Reason }

// Dir is the directory with the attachments of one journal. It need not exist before the first Write.
type Dir struct {
	fs   vfs.FS
	path string
}

// Of returns the directory of a journal's attachments, or an error if id cannot be a part of a file name. It does not
// touch the disk.
func Of(journals *journal.Dir, id string) (Dir, error) {
	f, err := journals.Files(id)
	if err != nil {
		return Dir{}, err
	}
	return Dir{journals.Options().FS, f.Attachments()}, nil
}

// Sum returns the name of content: its SHA-256, in hex.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ValidSum reports whether a text is a name that Sum returns.
func ValidSum(sum string) bool {
	return len(sum) == 2*sha256.Size && strings.Trim(sum, "0123456789abcdef") == ""
}

// Path returns the path of an attachment, whose name is valid.
func (d Dir) Path(sum string) string { return filepath.Join(d.path, sum) }

// Write keeps content and returns its name. When it returns nil, the content survives a power cut. Content that is kept
// already is not written again, unless it is damaged. More than MaxBytes is a *TooLargeError.
func (d Dir) Write(data []byte) (sum string, err error) {
	if len(data) > MaxBytes {
		return "", &TooLargeError{int64(len(data))}
	}
	sum = Sum(data)
	changed, err := vfs.MkdirAll(d.fs, d.path)
	if err != nil {
		return "", err
	}
	if _, err := d.Read(sum, int64(len(data))); err != nil {
		err := vfs.Replace(d.fs, d.Path(sum), vfs.NewFileMode(d.fs, d.path), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return sum, d.syncDirs(append(changed, d.path, filepath.Dir(d.path)))
}

// syncDirs makes the entries of directories durable. An earlier call may have died before it did.
func (d Dir) syncDirs(dirs []string) error {
	for _, dir := range dirs {
		if err := d.fs.SyncDir(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return nil
}

// Read returns the content with a name and a size in bytes. The error matches fs.ErrNotExist if it is missing, and is a
// *DamagedError if the file has another size or other content, or is no regular file.
func (d Dir) Read(sum string, size int64) ([]byte, error) {
	if !ValidSum(sum) || size < 0 || size > MaxBytes {
		return nil, &DamagedError{d.path, fmt.Sprintf("no attachment is named %.80q or has %d bytes", sum, size)}
	}
	path := d.Path(sum)
	f, err := d.fs.OpenFile(path, os.O_RDONLY|vfs.NoLink, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, size+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) != size:
		return nil, &DamagedError{path, fmt.Sprintf("its size is not the %d bytes that it had", size)}
	case Sum(data) != sum:
		return nil, &DamagedError{path, "its content is not the one that it had: the SHA-256 differs"}
	}
	return data, nil
}

// A linker is an FS with hard links.
type linker interface {
	Link(oldname, newname string) error
}

// CopyFrom keeps an attachment of another directory here, too: as a link to the same file if the file system has links.
// The errors are those of Read and Write.
func (d Dir) CopyFrom(other Dir, sum string, size int64) error {
	data, err := other.Read(sum, size)
	if err != nil {
		return err
	}
	if links, ok := d.fs.(linker); ok {
		if changed, err := vfs.MkdirAll(d.fs, d.path); err == nil && links.Link(other.Path(sum), d.Path(sum)) == nil {
			return d.syncDirs(append(changed, d.path, filepath.Dir(d.path)))
		}
	}
	_, err = d.Write(data)
	return err
}

// Remove removes the directory with everything in it. It need not exist.
func (d Dir) Remove() error {
	entries, err := d.fs.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := vfs.RemoveAll(d.fs, d.Path(entry.Name())); err != nil {
			return err
		}
	}
	return vfs.RemoveAll(d.fs, d.path)
}

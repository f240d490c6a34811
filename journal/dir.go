package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/oklog/ulid/v2"
)

const (
	logSuffix     = ".jsonl"
	lockSuffix    = ".lock"
	asideInfix    = ".aside-"
	tmpSuffix     = ".tmp"
	archiveDir    = "archive"
	zstSuffix     = ".zst"
	archiveSuffix = logSuffix + zstSuffix
	trashDir      = "trash"
	attachSuffix  = ".attachments"
)

// Options configure a Dir. The zero Options suffice for most programs.
type Options struct {
	FS      vfs.FS           // nil: the operating system's
	Now     func() time.Time // nil: time.Now
	MaxLine int              // longest line in bytes; 0: DefaultMaxLine; at least MinMaxLine
	Watch   *Watch           // notifies followers; nil: one for this Dir alone

	// Progress is called repeatedly while a journal is archived, and while the
	// first Append unarchives one. It runs in the goroutine of that call and must
	// return quickly. nil: progress is not reported.
	Progress func(Progress)
}

// Progress is how much of a journal has been archived or unarchived. Unless that
// fails, the last Progress has Done equal to Total.
type Progress struct {
	ID          string
	Unarchive   bool  // the journal is unarchived
	Done, Total int64 // in bytes; when archiving, each byte counts twice: written, and read back
}

// Dir is a directory of journals, one file each. It need not exist before the
// first Append. A Dir keeps no file open, except for its followers, and may be
// used by several goroutines.
type Dir struct {
	path     string
	fs       vfs.FS
	now      func() time.Time
	maxLine  int
	watch    *Watch
	progress func(Progress)

	frameSize int64 // of an archive, in bytes; 0: the default of package archive
}

// NewDir returns the Dir of the directory path. It does not touch the disk.
func NewDir(path string, o Options) *Dir {
	d := &Dir{
		path: filepath.Clean(path), fs: o.FS, now: o.Now, maxLine: lineLimit(o.MaxLine),
		watch: o.Watch, progress: o.Progress,
	}
	if d.fs == nil {
		d.fs = vfs.OS
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.watch == nil {
		d.watch = &Watch{}
	}
	return d
}

// lineLimit returns the limit that an Options.MaxLine stands for.
func lineLimit(maxLine int) int {
	if maxLine == 0 {
		return DefaultMaxLine
	}
	return max(maxLine, MinMaxLine)
}

// Options returns the options of the Dir, without zero values except Progress.
func (d *Dir) Options() Options {
	return Options{FS: d.fs, Now: d.now, MaxLine: d.maxLine, Watch: d.watch, Progress: d.progress}
}

// Path returns the directory's path.
func (d *Dir) Path() string { return d.path }

// NewID returns the name for a new journal: a ULID, which sorts by time. Nothing
// relies on that order; the events have their own times.
func (d *Dir) NewID() string {
	return ulid.MustNew(ulid.Timestamp(d.now()), ulid.DefaultEntropy()).String()
}

// Info describes the file of a journal.
type Info struct {
	ID       string
	Dir      string // path of the directory of the journals, for archived ones too
	Archived bool
	Size     int64 // of the file, in bytes; compressed if archived
	ModTime  time.Time
	Inode    uint64 // 0 if the system has none
	Err      error  // from List: why the file could not be described; else nil
}

// Path returns the path of the file.
func (i Info) Path() string {
	f := Files{i.Dir, i.ID}
	if i.Archived {
		return f.Archive()
	}
	return f.Live()
}

// Stat describes one journal without opening it. It returns ErrNotFound if it
// does not exist.
func (d *Dir) Stat(id string) (Info, error) {
	f, err := d.Files(id)
	if err != nil {
		return Info{}, err
	}
	return f.stat(d.fs)
}

// ValidID reports whether id is a ULID in its canonical spelling: 26 digits of
// Crockford's base 32, in upper case, with a value of 128 bits.
func ValidID(id string) bool {
	if len(id) != ulid.EncodedSize || id[0] > '7' {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z' || c == 'I' || c == 'L' || c == 'O' || c == 'U') {
			return false
		}
	}
	return true
}

// Files are the paths of the files of one journal. They need not exist.
type Files struct{ Dir, ID string }

// Files returns the paths of the files of a journal, or an error if id cannot be a part of a
// file name.
func (d *Dir) Files(id string) (Files, error) {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\\\x00") {
		return Files{}, fmt.Errorf("journal %q: not a file name", id)
	}
	return Files{d.path, id}, nil
}

// Live returns the path of the journal itself.
func (f Files) Live() string { return filepath.Join(f.Dir, f.ID+logSuffix) }

// Archive returns the path of the archived journal.
func (f Files) Archive() string { return filepath.Join(f.Dir, archiveDir, f.ID+archiveSuffix) }

// Lock returns the path of the lock file.
func (f Files) Lock() string { return filepath.Join(f.Dir, f.ID+lockSuffix) }

// Aside returns the path of the n-th file that was set aside from the journal.
func (f Files) Aside(n int) string { return f.AsidePrefix() + strconv.Itoa(n) }

// AsidePrefix returns what the paths of the files that were set aside begin with.
func (f Files) AsidePrefix() string { return filepath.Join(f.Dir, f.ID+asideInfix) }

// Attachments returns the path of the directory in which package attachment keeps what belongs to the
// journal. That of an archived journal is the same.
func (f Files) Attachments() string { return filepath.Join(f.Dir, f.ID+attachSuffix) }

// Trash returns the path of the directory to which package trash moves journals.
func (f Files) Trash() string { return filepath.Join(f.Dir, trashDir) }

// locateTries is how often both paths of a journal, live and archived, are tried: an
// archived one may be unarchived between the two attempts.
const locateTries = 8

func (f Files) stat(fsys vfs.FS) (Info, error) {
	for range locateTries {
		for _, archived := range []bool{false, true} {
			found := Info{ID: f.ID, Dir: f.Dir, Archived: archived}
			info, err := fsys.Stat(found.Path())
			if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
				// Opening a pipe would block.
				err := &regularfile.KindError{Mode: info.Mode()}
				return Info{}, &fs.PathError{Op: "open", Path: found.Path(), Err: err}
			}
			if err == nil {
				found.Size, found.ModTime = info.Size(), info.ModTime()
				found.Inode = vfs.NewFileStat(f.ID, info, nil).Inode
				return found, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return Info{}, err
			}
		}
	}
	return Info{}, fmt.Errorf("%s: %w", f.Live(), ErrNotFound)
}

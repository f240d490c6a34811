package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600

	logSuffix     = ".jsonl"
	lockSuffix    = ".lock"
	asideInfix    = ".aside-"
	tmpSuffix     = ".tmp"
	archiveDir    = "archive"
	zstSuffix     = ".zst"
	archiveSuffix = logSuffix + zstSuffix
	trashDir      = "trash"
)

// Options change how a Dir works. The zero Options are what programs want.
type Options struct {
	FS      FS               // nil: the operating system's
	Now     func() time.Time // nil: time.Now
	MaxLine int              // longest line in bytes; 0: DefaultMaxLine, fewer than MinMaxLine: that
	Watch   *Watch           // wakes followers; nil: one for this Dir alone

	// Progress is told, again and again, how far a journal has come on its way
	// to the archive, or back with its first Append. It is called by the goroutine
	// that archives or appends, and must not take long. nil: nobody is told.
	Progress func(Progress)
}

// Progress is how far a journal has come. It ends with Done at Total, unless it
// fails.
type Progress struct {
	ID          string
	Back        bool  // from the archive, not to it
	Done, Total int64 // in bytes; on the way to the archive each counts twice, written and read back
}

// Dir is a directory of journals, one file each. It need not exist before the
// first Append. A Dir holds nothing open, except for its followers, and may be used from many goroutines.
type Dir struct {
	path     string
	fs       FS
	now      func() time.Time
	maxLine  int
	watch    *Watch
	progress func(Progress)

	frameSize int64 // of what is archived, in bytes
}

// NewDir names the directory path. It touches nothing on the disk.
func NewDir(path string, o Options) *Dir {
	d := &Dir{path: filepath.Clean(path), fs: o.FS, now: o.Now, maxLine: lineLimit(o.MaxLine), watch: o.Watch, progress: o.Progress, frameSize: maxFrame}
	if d.fs == nil {
		d.fs = OS
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.watch == nil {
		d.watch = &Watch{}
	}
	return d
}

// lineLimit is what an Options.MaxLine stands for.
func lineLimit(maxLine int) int {
	if maxLine == 0 {
		return DefaultMaxLine
	}
	return max(maxLine, MinMaxLine)
}

// Path is the directory's path.
func (d *Dir) Path() string { return d.path }

// NewID mints the name of a new journal: a ULID, which sorts by time. Nothing
// relies on that: what happened when is in the journal.
func (d *Dir) NewID() string {
	return ulid.MustNew(ulid.Timestamp(d.now()), ulid.DefaultEntropy()).String()
}

// Info describes the file of a journal without opening it.
type Info struct {
	ID       string
	Dir      string // path of the directory of the journals, also of archived ones
	Archived bool
	Size     int64 // of the file, in bytes; compressed when archived
	ModTime  time.Time
	Inode    uint64 // 0 where there is none
	Err      error  // of a List: why the file could not be described; else nil
}

// Path is where the file is.
func (i Info) Path() string {
	f := files{i.Dir, i.ID}
	if i.Archived {
		return f.archivePath()
	}
	return f.path()
}

// Stat describes one journal, or returns ErrNotFound.
func (d *Dir) Stat(id string) (Info, error) {
	f, err := d.files(id)
	if err != nil {
		return Info{}, err
	}
	return f.stat(d.fs)
}

// ValidID reports whether id is a ULID in its canonical spelling: 26 digits of
// Crockford's base 32, in capitals, with a value of 128 bits.
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

// files names the files of one journal.
type files struct{ dir, id string }

func (d *Dir) files(id string) (files, error) {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\\\x00") {
		return files{}, fmt.Errorf("journal %q: not a file name", id)
	}
	return files{d.path, id}, nil
}

func (f files) path() string        { return filepath.Join(f.dir, f.id+logSuffix) }
func (f files) lockPath() string    { return filepath.Join(f.dir, f.id+lockSuffix) }
func (f files) archivePath() string { return filepath.Join(f.dir, archiveDir, f.id+archiveSuffix) }
func (f files) asidePath(n int) string {
	return filepath.Join(f.dir, fmt.Sprintf("%s%s%d", f.id, asideInfix, n))
}

// looks is how often a journal is looked for where it is live and where it is
// archived: between two looks it may have moved to where the last one was.
const looks = 8

func (f files) stat(fsys FS) (Info, error) {
	for range looks {
		for _, archived := range []bool{false, true} {
			found := Info{ID: f.id, Dir: f.dir, Archived: archived}
			info, err := fsys.Stat(found.Path())
			if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
				return Info{}, &fs.PathError{Op: "open", Path: found.Path(), Err: errNoFile} // to open a pipe is to wait
			}
			if err == nil {
				found.Size, found.ModTime, found.Inode = info.Size(), info.ModTime(), inode(info)
				return found, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return Info{}, err
			}
		}
	}
	return Info{}, fmt.Errorf("%s: %w", f.path(), ErrNotFound)
}

// longestName is how many characters a directory's name has at most.
const longestName = 64

var (
	plainName = regexp.MustCompile(`^[a-z0-9_-]+$`)
	hashTail  = regexp.MustCompile(`-[0-9a-f]{8}$`)
	device    = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
	unsafe    = regexp.MustCompile(`[^A-Za-z0-9_-]`)
)

// DirName turns any identifier into the name of a directory. Two identifiers
// never share one, not even where case does not count, and none leads
// elsewhere: what is not plain gets a hash of the identifier at its end, and
// what is plain does not end like that.
func DirName(id string) string {
	if len(id) <= longestName && plainName.MatchString(id) && !hashTail.MatchString(id) && !device.MatchString(id) {
		return id
	}
	safe := unsafe.ReplaceAllString(id, "_")
	sum := sha256.Sum256([]byte(id))
	return safe[:min(len(safe), 48)] + "-" + hex.EncodeToString(sum[:4])
}

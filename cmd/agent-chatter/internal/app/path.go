package app

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// IsJournal reports whether a path has the name of a journal or an archived one.
func IsJournal(path string) bool { return filepath.Ext(path) == ".jsonl" || IsArchive(path) }

// IsArchive reports whether a path has the name of an archived journal.
func IsArchive(path string) bool { return strings.HasSuffix(path, ArchiveSuffix) }

// InArchive reports whether a file is in an archive directory.
func InArchive(path string) bool {
	whole, err := filepath.Abs(path)
	return err == nil && filepath.Base(filepath.Dir(whole)) == "archive"
}

// ArchiveSuffix ends the name of an archived journal.
const ArchiveSuffix = ".jsonl.zst"

// FileError is an error about a journal that the user named by its path. Suggested
// commands name it by that path, too.
type FileError struct {
	path string
	err  error
}

func (e *FileError) Error() string { return e.err.Error() }

func (e *FileError) Unwrap() error { return e.err }

// Name returns how a command names the session: by the path if the user did, else by
// its id. A nil FileError stands for an id.
func (e *FileError) Name(id string) string {
	if e == nil {
		return id
	}
	return e.path
}

// ByPath returns a FileError without an error for a journal named by its path, or nil if
// name is not a path.
func ByPath(name string) *FileError {
	if !IsJournal(name) {
		return nil
	}
	return &FileError{path: name}
}

// MissingFileText is for a session file that does not exist.
func MissingFileText(what, path string) Message {
	return Text("There is no %s %s.", what, tty.SafeLine(path)).With(To("list the sessions", "sessions"))
}

// WriteAtomically replaces the file at path, or leaves it unchanged if write fails.
func WriteAtomically(path string, write func(io.Writer) error) error {
	if err := checkDirectory(path); err != nil {
		return err
	}
	return vfs.Replace(vfs.OS, path, 0o600, write)
}

// CreateFile writes a new file. The error of a name that is in use, even by a link to nothing, matches fs.ErrExist.
// If write fails, there is no file.
func CreateFile(path string, write func(io.Writer) error) error {
	if err := checkDirectory(path); err != nil {
		return err
	}
	return vfs.Create(vfs.OS, path, 0o600, write)
}

// checkDirectory returns an error if the directory of a file does not exist.
func checkDirectory(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return Exit(ExitFailed, noDirectoryText(filepath.Dir(path)))
	}
	return nil
}

// IsDirectory reports whether path is a directory or ends in a separator.
func IsDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator))
}

// archiveElsewhereText is for an archived journal outside of an archive directory.
func archiveElsewhereText(path string) Message {
	if filepath.Base(filepath.Dir(path)) == "trash" {
		return Text("%s was deleted.", tty.SafeLine(path)).
			With(To("restore it", "sessions", "restore", strings.TrimSuffix(filepath.Base(path), ArchiveSuffix)))
	}
	return Text("%s is an archived journal outside of a directory called archive.", tty.SafeLine(path)).
		With(ToRun("decompress it", "zstd", "-d", path))
}

func noDirectoryText(dir string) Message {
	return Text("There is no directory %s; nothing was written.", tty.SafeLine(dir)).
		With(ToRun("create it", "mkdir", "-p", dir))
}

// noLogDirectoryText is for a log file in a directory that does not exist.
func noLogDirectoryText(dir string) Message {
	return Text("There is no directory %s for the log file.", tty.SafeLine(dir)).
		With(ToRun("create it", "mkdir", "-p", dir))
}

// ShortPath returns a path with ~ for the home directory of the user, for people to read.
func ShortPath(path string) string {
	dir, err := os.UserHomeDir()
	rest, ok := strings.CutPrefix(path, dir)
	if err != nil || !ok || dir == "" || rest == "" || !os.IsPathSeparator(rest[0]) {
		return path
	}
	return "~" + rest
}

package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/atomicfile"
)

// isJournal reports whether a path is named like a journal, or an archived one.
func IsJournal(path string) bool { return filepath.Ext(path) == ".jsonl" || IsArchive(path) }

func IsArchive(path string) bool { return strings.HasSuffix(path, ArchiveSuffix) }

// inArchive reports whether a file is where archived journals are.
func InArchive(path string) bool {
	whole, err := filepath.Abs(path)
	return err == nil && filepath.Base(filepath.Dir(whole)) == "archive"
}

const ArchiveSuffix = ".jsonl.zst"

// fileError is an error about a journal that was named by its path, and has to
// be named by it in whatever helps.
type FileError struct {
	path string
	err  error
}

func (e *FileError) Error() string { return e.err.Error() }

func (e *FileError) Unwrap() error { return e.err }

// typed is a session as it is typed: by its id, unless it was named by its path.
func (e *FileError) Typed(id string) string {
	if e == nil {
		return tty.SafeLine(id)
	}
	return hint.Quote(e.path)
}

// byPath is for what is said of a journal that may have been named by its path;
// nil when it was not.
func ByPath(name string) *FileError {
	if !IsJournal(name) {
		return nil
	}
	return &FileError{path: name}
}

// missingFileText says that there is no session in the file that was named.
func MissingFileText(what, path string) string {
	return fmt.Sprintf("There is no %s %s.\nTo see which sessions there are, type: agent-chatter sessions", what, tty.SafeLine(path))
}

func WriteAtomically(path string, write func(io.Writer) error) error {
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return &ExitError{ExitFailed, noDirectoryText(filepath.Dir(path))}
	}
	return atomicfile.Replace(journal.OS, path, 0o600, write)
}

// isDirectory reports whether a path is one, or is written like one.
func IsDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator))
}

// archiveElsewhereText is said of an archived journal that somebody moved.
func archiveElsewhereText(path string) string {
	if filepath.Base(filepath.Dir(path)) == "trash" {
		return fmt.Sprintf("%s was deleted. To take it back, type: agent-chatter sessions restore %s", tty.SafeLine(path), hint.Quote(strings.TrimSuffix(filepath.Base(path), ArchiveSuffix)))
	}
	return fmt.Sprintf("%s is an archived journal that is not in a directory called archive. To have the journal itself, type: zstd -d %s", tty.SafeLine(path), hint.Quote(path))
}

func noDirectoryText(dir string) string {
	return fmt.Sprintf("There is no directory %s, and nothing was written. To have it made, write a / behind it: the file gets a name of its own in it.", tty.SafeLine(dir))
}

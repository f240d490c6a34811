package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// isJournal reports whether a path is named like a journal, or an archived one.
func isJournal(path string) bool { return filepath.Ext(path) == ".jsonl" || isArchive(path) }

func isArchive(path string) bool { return strings.HasSuffix(path, archiveSuffix) }

// inArchive reports whether a file is where archived journals are.
func inArchive(path string) bool {
	whole, err := filepath.Abs(path)
	return err == nil && filepath.Base(filepath.Dir(whole)) == "archive"
}

const archiveSuffix = ".jsonl.zst"

// findOrOpen finds a session by its name, or, where there is a file of that
// name, is the journal in it.
func (a *app) findOrOpen(c *catalog.Catalog, name string) (catalog.Session, error) {
	if _, err := os.Stat(name); err != nil || !isJournal(name) {
		return a.find(c, name)
	}
	t, id, err := a.journalAt(name)
	if err != nil {
		return catalog.Session{}, err
	}
	return t.Session(id)
}

// fileError is an error about a journal that was named by its path, and has to
// be named by it in whatever helps.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// typed is a session as it is typed: by its id, unless it was named by its path.
func (e *fileError) typed(id string) string {
	if e == nil {
		return safeLine(id)
	}
	return hint.Quote(e.path)
}

// byPath is for what is said of a journal that may have been named by its path;
// nil when it was not.
func byPath(name string) *fileError {
	if !isJournal(name) {
		return nil
	}
	return &fileError{path: name}
}

// named is an error about what was named so.
func named(name string, err error) error {
	if err == nil || !isJournal(name) {
		return err
	}
	return &fileError{name, err}
}

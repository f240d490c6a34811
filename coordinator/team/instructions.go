package team

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// The maximum sizes of the files that a configuration consists of, in bytes.
const (
	maxFile         = 4 << 20 // a team file, the registry of agents, trust.json
	maxInstructions = 1 << 20 // an instruction file
)

// elsewhereError is the error of Instructions for a file that is, after resolving links, outside of
// the directories of the team and that the user has not confirmed.
type elsewhereError struct {
	Path     string // as in the configuration
	Resolved string
}

func (e *elsewhereError) Error() string {
	if e.Path == e.Resolved {
		return fmt.Sprintf("instruction file %s is outside of the directories of the team", e.Path)
	}
	return fmt.Sprintf("instruction file %s is a link to %s, outside of the directories of the team",
		e.Path, e.Resolved)
}

// Instructions returns the content of the team's instruction file and of the member's; "" for one
// that is missing. A file that is no regular file or too large is an error that names it. A team that
// was loaded from a file has its instructions below that file's directory, the member's directory or
// the home; any other file is an *elsewhereError unless t.ReadElsewhere is set.
func (t *Team) Instructions(m Member) (ofTeam, ofMember string, err error) {
	if ofTeam, err = t.readInstructions(t.InstructionFile, ""); err != nil {
		return "", "", err
	}
	if ofMember, err = t.readInstructions(m.InstructionFile, m.BaseDir); err != nil {
		return "", "", err
	}
	return ofTeam, ofMember, nil
}

func (t *Team) readInstructions(path, baseDir string) (string, error) {
	if path == "" {
		return "", nil
	}
	f, err := regularfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = fmt.Errorf("%s: %w", e.Path, e.Err) // without the name of the system call
	}
	if err != nil {
		return "", fmt.Errorf("instruction file %w", err)
	}
	defer f.Close()
	if err := t.checkPlace(f, path, baseDir); err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.LimitReader(f, maxInstructions+1))
	if err == nil && len(content) > maxInstructions {
		err = &regularfile.SizeError{Limit: maxInstructions}
	}
	if err != nil {
		return "", fmt.Errorf("instruction file %s: %w", path, err)
	}
	return string(content), nil
}

// checkPlace checks that the open file is in one of the places from which the team may read. The
// check is about the open file: a name that is replaced meanwhile is not trusted again.
func (t *Team) checkPlace(f *os.File, path, baseDir string) error {
	if t.Source == nil && baseDir == "" {
		return nil // nothing was read to get here
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	var found fs.FileInfo
	if dir, rel, ok := t.place(resolved, baseDir); ok {
		// A Root follows no link out of its directory, even one that was just created.
		found = lstatBelow(dir, rel)
	} else if t.ReadElsewhere && slices.Contains(t.Elsewhere, resolved) {
		found, _ = os.Lstat(resolved)
	}
	if !os.SameFile(found, opened) {
		return &elsewhereError{path, resolved}
	}
	return nil
}

// lstatBelow describes a file below dir; nil is one that is not there.
func lstatBelow(dir, rel string) fs.FileInfo {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	info, _ := root.Lstat(rel)
	return info
}

// place returns the directory of the team that a file without links is in, and its path there.
func (t *Team) place(resolved, baseDir string) (dir, rel string, ok bool) {
	source := cmp.Or(t.Source, &Source{})
	if home, rel, ok := below(source.Home, resolved); ok {
		first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		// Configuration, such as another team, may have secrets.
		return home, rel, !slices.Contains(private, first) && !strings.EqualFold(filepath.Ext(rel), ".json")
	}
	dirs := []string{baseDir}
	if source.Path != "" {
		dirs = append(dirs, filepath.Dir(source.Path))
	}
	for _, dir := range dirs {
		if dir, rel, ok := below(dir, resolved); ok {
			return dir, rel, true
		}
	}
	return "", "", false
}

// private are the directories and files of the home that have no instructions: conversations, logs, and
// private keys.
var private = []string{"sessions", "logs", "identities", "tls", "id"}

// below returns dir without links and the path of a file in it; ok is false if it is not there.
func below(dir, resolved string) (real, rel string, ok bool) {
	if dir == "" {
		return "", "", false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", "", false
	}
	rel, err = filepath.Rel(real, resolved)
	return real, rel, err == nil && filepath.IsLocal(rel)
}

// elsewhere returns the instruction files outside of the team's directories, without links, sorted.
// What is no file is left out: Instructions refuses it, or it is missing.
func (t *Team) elsewhere() []string {
	var found []string
	add := func(path, baseDir string) {
		if path == "" {
			return
		}
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil {
			return
		}
		if info, err := os.Lstat(resolved); err != nil || !info.Mode().IsRegular() {
			return
		}
		if _, _, ok := t.place(resolved, baseDir); !ok {
			found = append(found, resolved)
		}
	}
	add(t.InstructionFile, "")
	for _, m := range t.Members {
		if m.Type == AI {
			add(m.InstructionFile, m.BaseDir)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

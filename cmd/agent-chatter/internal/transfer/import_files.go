package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A file is one to import.
type file struct {
	path  string
	name  string // as it was named, if path is where its decrypted content is
	found bool   // in a directory: it is skipped if it is no session
}

// findFiles replaces directories by the session files in them. It returns an Imported
// for each directory that cannot be read.
func findFiles(paths []string) (files []file, unreadable []Imported, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: missingText(path)})
		}
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, file{path: path})
			continue
		}
		if !info.IsDir() {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: notRegularText(path)})
		}
		inside, closed := sessionFiles(path)
		if len(inside)+len(closed) == 0 {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: noSessionsText(path)})
		}
		files, unreadable = append(files, inside...), append(unreadable, closed...)
	}
	return files, unreadable, nil
}

// sessionFiles returns the files below a directory whose names are those of session
// files, except in a trash, and an Imported for each directory that cannot be read. Each directory is searched once:
// a symbolic link to it is followed if nothing else leads there.
func sessionFiles(dir string) (files []file, unreadable []Imported) {
	s := fileSearch{}
	s.walk(dir)
	for len(s.links) > 0 {
		link := s.links[0]
		s.links = s.links[1:]
		if info, err := os.Stat(link); err != nil || !info.IsDir() || s.isVisited(info) {
			continue
		}
		if leadsUp(link) {
			up := Imported{Path: link, Action: "skipped", Error: "it leads to a directory above it"}
			s.unreadable = append(s.unreadable, up)
			continue
		}
		s.isLinked = true
		s.walk(link)
	}
	return s.files, s.unreadable
}

// fileSearch searches directories for the files of sessions.
type fileSearch struct {
	files      []file
	unreadable []Imported
	visited    []fs.FileInfo // directories
	links      []string      // to follow after what is below the directory
	isLinked   bool          // a link is followed: directories may be visited already
}

func (s *fileSearch) isVisited(dir fs.FileInfo) bool {
	return slices.ContainsFunc(s.visited, func(other fs.FileInfo) bool { return os.SameFile(dir, other) })
}

func (s *fileSearch) walk(dir string) {
	root := dir + string(filepath.Separator) // follows dir if it is a symbolic link
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			s.unreadable = append(s.unreadable, failed(path, err))
			return fs.SkipDir
		case entry.IsDir():
			return s.enter(path, path == root)
		case entry.Type()&fs.ModeSymlink != 0 && isDir(path):
			s.links = append(s.links, path)
		case mayBeSession(path):
			s.files = append(s.files, file{path: path, found: true})
		}
		return nil
	})
}

// enter notes a directory. It returns fs.SkipDir for a trash, and for a directory that was visited.
func (s *fileSearch) enter(path string, isRoot bool) error {
	if !isRoot && isTrash(path) {
		return fs.SkipDir
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // reading it returns the error
	}
	if s.isLinked && s.isVisited(info) {
		return fs.SkipDir
	}
	s.visited = append(s.visited, info)
	return nil
}

// leadsUp reports whether a symbolic link leads to a directory that it is in: most of that is not meant.
func leadsUp(link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return true
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(link))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	absolute, absErr := filepath.Abs(target)
	inside, relErr := filepath.Rel(absolute, dir)
	return err != nil || absErr != nil || relErr != nil || inside == "." || filepath.IsLocal(inside)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isTrash reports whether a directory has the deleted sessions of a team: sessions/TEAM/trash.
func isTrash(path string) bool {
	absolute, err := filepath.Abs(path)
	return err == nil && filepath.Base(absolute) == "trash" &&
		filepath.Base(filepath.Dir(filepath.Dir(absolute))) == "sessions"
}

// mayBeSession reports whether a file of a directory is named like a session and not
// like the other files that programs write next to sessions.
func mayBeSession(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonl", ".bundle":
		// A pipe would block.
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return false
		}
		switch name := filepath.Base(path); name {
		case "sessions.json", "sessions-index.json", "current.json", "retention.jsonl":
			return false
		default:
			return !strings.HasSuffix(name, ".checkpoint.json")
		}
	}
	if !app.IsArchive(path) {
		return false
	}
	// Codex compresses old rollouts. If it is interrupted, both files exist.
	plain, err := os.Stat(strings.TrimSuffix(path, ".zst"))
	return err != nil || !plain.Mode().IsRegular()
}

// notRegularText is for a file whose format cannot be detected without consuming it.
func notRegularText(path string) string {
	return fmt.Sprintf(
		"%s is a pipe or a device, which cannot be read twice. Write its output to a file and import that.",
		tty.SafeLine(path),
	)
}

func missingText(path string) string {
	return fmt.Sprintf("There is no file or directory %s. "+
		"Name files or directories with sessions of agent-chatter or another program.", tty.SafeLine(path))
}

func noSessionsText(dir string) string {
	return fmt.Sprintf("There are no files with sessions in %s or its subdirectories: "+
		"their names end in .json, .jsonl, .jsonl.zst or .bundle.", tty.SafeLine(dir))
}

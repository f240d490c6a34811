package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

type sessionsImport struct {
	Path   []string `arg:"" help:"Files, or directories with files in them or below."`
	Format string   `help:"What they are: ${enum}." enum:"auto,journal,bundle,snapshot,claude,codex,gemini,claude-master,synapse" default:"auto"`
	Team   string   `complete:"team-id" help:"The id of the team that transcripts of other programs become sessions of; without it, claude, codex or gemini." placeholder:"ID"`
	Output string   `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (sessionsImport) Help() string {
	return `Examples:
  agent-chatter sessions import 1732700400000-session-abc.json
  agent-chatter sessions import ~/.agent-chatter.old/sessions/review/
  agent-chatter sessions import everything.bundle 01KAJ0000000000000000000AA.jsonl
  agent-chatter sessions import ~/.claude/projects/ --team review`
}

// imported is what import says of one file.
type imported struct {
	Path   string `json:"path"`
	ID     string `json:"id"`
	Action string `json:"action"` // imported, extended, unchanged or failed
	Taken  int    `json:"taken"`  // messages that were new
	Total  int    `json:"total"`  // messages in the file
	// Skipped is how many lines or entries of the file were not understood or are no part
	// of the conversation.
	Skipped int    `json:"skipped,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Run implements the command.
func (cmd *sessionsImport) Run(a *app) error {
	files, all, err := filesIn(cmd.Path)
	if err != nil {
		return err
	}
	var snapshots []string
	for _, path := range files {
		format := cmd.formatOf(path)
		if cmd.Team != "" && !isTranscript(format) {
			a.notice(keepsTeamText(path))
		}
		switch {
		case isTranscript(format):
			all = append(all, a.takeTranscript(format, path, cmd.Team))
		case format == formatBundle:
			all = append(all, a.takeBundle(path)...)
		case format == formatJournal:
			all = append(all, a.takeJournal(path))
		default:
			snapshots = append(snapshots, path)
		}
	}
	for _, path := range oldestFirst(snapshots) {
		all = append(all, a.takeSnapshot(path))
	}
	return cmd.report(a, all)
}

// report says what became of each.
func (cmd *sessionsImport) report(a *app, all []imported) error {
	failures := 0
	for _, done := range all {
		if done.Action == "failed" {
			failures++
		}
		if err := cmd.print(a, done); err != nil {
			return err
		}
	}
	if failures > 0 {
		return &exitError{code: exitFailed, text: fmt.Sprintf("Not imported: %d of %s.", failures, count(len(all), "file"))}
	}
	return nil
}

// filesIn replaces directories by the sessions in them, as far as they can be
// looked into.
func filesIn(paths []string) (files []string, unread []imported, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, &exitError{exitFailed, noFileText(path)}
		}
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, path)
			continue
		}
		if !info.IsDir() {
			return nil, nil, &exitError{exitFailed, pipeText(path)}
		}
		inside, closed := sessionsBelow(path)
		if len(inside)+len(closed) == 0 {
			return nil, nil, &exitError{exitFailed, nothingInText(path)}
		}
		files, unread = append(files, inside...), append(unread, closed...)
	}
	return files, unread, nil
}

// sessionsBelow are the files of a directory, and of those in it, that look like
// sessions, and which directories could not be read. What somebody deleted is not
// taken.
func sessionsBelow(dir string) (files []string, unread []imported) {
	root := dir + string(filepath.Separator) // also where a link leads
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unread = append(unread, imported{Path: path, Action: "failed", Error: err.Error()})
			return fs.SkipDir
		case entry.IsDir() && entry.Name() == "trash" && path != root:
			return fs.SkipDir
		case !entry.IsDir() && looksLikeSession(path):
			files = append(files, path)
		}
		return nil
	})
	return files, unread
}

// looksLikeSession reports whether a file is named like one that has a session.
func looksLikeSession(path string) bool {
	switch filepath.Ext(path) {
	case ".json", ".jsonl", ".bundle":
		return !noSession(path)
	}
	return isArchive(path) && inArchive(path)
}

// noSession reports whether what is in a directory is none that anybody means: a
// pipe, or a file that programs keep beside their sessions, such as an index.
func noSession(path string) bool {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return true
	}
	name := filepath.Base(path)
	return name == "sessions.json" || name == "sessions-index.json" || name == "current.json" || name == "retention.jsonl" || strings.HasSuffix(name, ".checkpoint.json")
}

// oldestFirst sorts snapshots so that several saves of one session become one
// session. Of each only the time is kept: all together may be long.
func oldestFirst(files []string) []string {
	if len(files) < 2 {
		return files
	}
	updated := make(map[string]time.Time, len(files))
	for _, path := range files {
		updated[path] = updatedAt(path)
	}
	return slices.SortedStableFunc(slices.Values(files), func(x, y string) int { return updated[x].Compare(updated[y]) })
}

// updatedAt is the time of a snapshot; zero when it has none, which is said when it
// is read.
func updatedAt(path string) time.Time {
	data, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}
	}
	var s struct{ UpdatedAt time.Time }
	if json.Unmarshal(data, &s) != nil {
		return time.Time{}
	}
	return s.UpdatedAt
}

func (a *app) takeSnapshot(path string) imported {
	s, err := a.readSnapshot(path)
	if err != nil {
		return imported{Path: path, Action: "failed", Error: err.Error()}
	}
	return a.take(s)
}

func (a *app) readSnapshot(path string) (*interchange.Session, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s, err := interchange.Snapshot(data, whole, a.identity())
	if err != nil && isTeam(data) {
		return nil, &exitError{exitFailed, aTeamText(path)}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// isTeam reports whether a file is the configuration of a team.
func isTeam(data []byte) bool {
	var file struct{ Team, SessionID json.RawMessage }
	return json.Unmarshal(data, &file) == nil && file.Team != nil && file.SessionID == nil
}

func (a *app) take(s *interchange.Session) imported {
	a.takeSecrets(s)
	done := imported{Path: s.Imported.Path, ID: s.ID, Total: len(s.Messages)}
	var err error
	done.Taken, err = sessioncopy.Import(context.TODO(), a.catalog().Team(s.TeamID), s)
	done.judge(err)
	return done
}

// judge says what was done.
func (done *imported) judge(err error) {
	switch {
	case err != nil:
		done.Action, done.Error = "failed", err.Error()
	case done.Taken == 0:
		done.Action = "unchanged"
	case done.Taken == done.Total:
		done.Action = "imported"
	default:
		done.Action = "extended"
	}
}

func (cmd *sessionsImport) print(a *app, done imported) error {
	if cmd.Output == "json" {
		return writeJSON(a.stdout, done)
	}
	if done.Error != "" {
		a.notice(safe(done.Error))
		return nil
	}
	skipped := ""
	if done.Skipped > 0 {
		skipped = fmt.Sprintf(", %s skipped", count(done.Skipped, "line"))
	}
	_, err := fmt.Fprintf(a.stdout, "%s  %s  %d of %s%s  %s\n", done.ID, done.Action, done.Taken, count(done.Total, "message"), skipped, safeLine(done.Path))
	return err
}

package transfer

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

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

type Import struct {
	Path   []string `arg:"" help:"Files, or directories with files in them or below."`
	Format string   `help:"What they are: ${enum}." enum:"auto,journal,bundle,snapshot,claude,codex,gemini,claude-master,synapse" default:"auto"`
	Team   string   `complete:"team-id" help:"The id of the team that transcripts of other programs become sessions of; without it, claude, codex or gemini." placeholder:"ID"`
	Output string   `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Import) Help() string {
	return `Examples:
  agent-chatter sessions import 1732700400000-session-abc.json
  agent-chatter sessions import ~/.agent-chatter.old/sessions/review/
  agent-chatter sessions import everything.bundle 01KAJ0000000000000000000AA.jsonl
  agent-chatter sessions import ~/.claude/projects/ --team review`
}

// imported is what import says of one file.
type Imported struct {
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
func (cmd *Import) Run(a *app.App) error {
	files, all, err := filesIn(cmd.Path)
	if err != nil {
		return err
	}
	var snapshots []string
	for _, path := range files {
		format := cmd.formatOf(path)
		if cmd.Team != "" && !isTranscript(format) {
			a.Notice(keepsTeamText(path))
		}
		switch {
		case isTranscript(format):
			all = append(all, takeTranscript(a, format, path, cmd.Team))
		case format == FormatBundle:
			all = append(all, TakeBundle(a, path)...)
		case format == FormatJournal:
			all = append(all, takeJournal(a, path))
		default:
			snapshots = append(snapshots, path)
		}
	}
	for _, path := range oldestFirst(snapshots) {
		all = append(all, takeSnapshot(a, path))
	}
	return cmd.report(a, all)
}

// report says what became of each.
func (cmd *Import) report(a *app.App, all []Imported) error {
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
		return app.Exit(app.ExitFailed, app.Message{Text: fmt.Sprintf("Not imported: %d of %s.", failures, app.Count(len(all), "file"))})
	}
	return nil
}

// filesIn replaces directories by the sessions in them, as far as they can be
// looked into.
func filesIn(paths []string) (files []string, unread []Imported, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: noFileText(path)})
		}
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, path)
			continue
		}
		if !info.IsDir() {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: pipeText(path)})
		}
		inside, closed := sessionsBelow(path)
		if len(inside)+len(closed) == 0 {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: nothingInText(path)})
		}
		files, unread = append(files, inside...), append(unread, closed...)
	}
	return files, unread, nil
}

// sessionsBelow are the files of a directory, and of those in it, that look like
// sessions, and which directories could not be read. What somebody deleted is not
// taken.
func sessionsBelow(dir string) (files []string, unread []Imported) {
	root := dir + string(filepath.Separator) // also where a link leads
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unread = append(unread, Imported{Path: path, Action: "failed", Error: err.Error()})
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
	return app.IsArchive(path) && app.InArchive(path)
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

func takeSnapshot(a *app.App, path string) Imported {
	s, err := ReadSnapshot(a, path)
	if err != nil {
		return Imported{Path: path, Action: "failed", Error: err.Error()}
	}
	return Take(a, s)
}

func ReadSnapshot(a *app.App, path string) (*interchange.Session, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s, err := interchange.Snapshot(data, whole, a.Identity())
	if err != nil && isTeam(data) {
		return nil, app.Exit(app.ExitFailed, app.Message{Text: aTeamText(path)})
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

func Take(a *app.App, s *interchange.Session) Imported {
	a.RedactImport(s)
	done := Imported{Path: s.Imported.Path, ID: s.ID, Total: len(s.Messages)}
	var err error
	done.Taken, err = sessioncopy.Import(context.Background(), a.Catalog.Team(s.TeamID), s)
	done.judge(err)
	return done
}

// judge says what was done.
func (done *Imported) judge(err error) {
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

func (cmd *Import) print(a *app.App, done Imported) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, done)
	}
	if done.Error != "" {
		a.Notice(tty.Safe(done.Error))
		return nil
	}
	skipped := ""
	if done.Skipped > 0 {
		skipped = fmt.Sprintf(", %s skipped", app.Count(done.Skipped, "line"))
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s  %d of %s%s  %s\n", done.ID, done.Action, done.Taken, app.Count(done.Total, "message"), skipped, tty.SafeLine(done.Path))
	return err
}

// keepsTeamText says that a file tells itself whose session it has.
func keepsTeamText(path string) string {
	return fmt.Sprintf("%s says itself which team its sessions are of: --team is for transcripts of other programs.", tty.SafeLine(path))
}

// pipeText says that what is to be imported cannot be read twice.
func pipeText(path string) string {
	return fmt.Sprintf("%s is no file, but a pipe or a device, which cannot be read twice. Write what comes out of it to a file, and import that.", tty.SafeLine(path))
}

// aTeamText is said of a file that holds no session.
func aTeamText(path string) string {
	return fmt.Sprintf("%s is the configuration of a team, not a session. To talk to the team, type: agent-chatter chat -t %s", tty.SafeLine(path), hint.Quote(path))
}

func noFileText(path string) string {
	return fmt.Sprintf("There is no file or directory %s. Name sessions that agent-chatter or another program has written, or directories of them.", tty.SafeLine(path))
}

// nothingInText says what is looked for in a directory.
func nothingInText(dir string) string {
	return fmt.Sprintf("There is no session in %s, or in the directories below it: none of their files ends in .json, .jsonl, .jsonl.zst or .bundle.", tty.SafeLine(dir))
}

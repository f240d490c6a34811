package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// Import is the command that imports sessions from files.
type Import struct {
	Path   []string `arg:"" help:"Files, or directories to search for files."`
	Format string   `help:"Input format: ${enum}." enum:"auto,${importable}" default:"auto"`
	Team   string   `complete:"team-id" help:"The team of transcripts (default: the program's name)." placeholder:"ID"`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`

	Branches bool `help:"Import rewound branches of transcripts as forks."`
	AsNew    bool `help:"Import diverged sessions as new ones."`
}

// Help shows examples.
func (Import) Help() string {
	return `Examples:
  agent-chatter sessions import 1732700400000-session-abc.json
  agent-chatter sessions import ~/.agent-chatter.old/sessions/review/
  agent-chatter sessions import everything.bundle 01KAJ0000000000000000000AA.jsonl
  agent-chatter sessions import ~/.claude/projects/ --team review --branches
  agent-chatter sessions import old.json --as-new`
}

// Imported is the result of importing a session.
type Imported struct {
	Path   string `json:"path"`
	ID     string `json:"id"`
	Action string `json:"action"` // imported, extended, unchanged, skipped or failed
	Taken  int    `json:"taken"`  // new messages
	Total  int    `json:"total"`  // messages in the source
	// Skipped counts the lines or entries of the source that are unknown or not part of the
	// conversation.
	Skipped  int `json:"skipped,omitempty"`
	Late     int `json:"late,omitempty"`     // tool calls and results, and texts, that earlier messages got
	Branches int `json:"branches,omitempty"` // of the source that were not imported
	// BranchMessages counts the messages that only those branches have.
	BranchMessages int    `json:"branchMessages,omitempty"`
	Error          string `json:"error,omitempty"`

	Err error `json:"-"` // why Action is failed or skipped
}

// Log logs the result.
func (r Imported) Log(a *app.App) {
	if r.Action == "failed" {
		a.Log.Warn("import failed", "path", r.Path)
		return
	}
	a.Log.Info("file imported", "session", r.ID, "path", r.Path,
		"action", r.Action, "taken", r.Taken, "of", r.Total, "skipped", r.Skipped)
}

// failed returns the Imported of a file that could not be imported.
func failed(path string, err error) Imported {
	r := Imported{Path: path}
	r.setAction(err)
	return r
}

// setAction sets Action for an import that ended with err.
func (r *Imported) setAction(err error) {
	if limit := (*interchange.LimitError)(nil); errors.As(err, &limit) {
		err = app.Exit(app.ExitFailed, app.Message{Text: tooLargeText(r.Path, limit)})
	}
	if locked := (*journal.LockedError)(nil); errors.As(err, &locked) {
		err = app.Exit(app.ExitFailed, app.Explain(err))
	}
	switch unknown := (*interchange.UnknownLinesError)(nil); {
	case errors.Is(err, interchange.ErrNoMessages), errors.Is(err, interchange.ErrSubagent), errors.As(err, &unknown):
		r.Action, r.Error, r.Err = "skipped", err.Error(), err
	case err != nil:
		r.Action, r.Error, r.Err = "failed", err.Error(), err
	case r.Taken+r.Late == 0:
		r.Action = "unchanged"
	case r.Taken > 0 && r.Taken == r.Total:
		r.Action = "imported"
	default:
		r.Action = "extended"
	}
}

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (*Import) Writes() bool { return true }

// Run implements the command.
func (cmd *Import) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	files, results, err := findFiles(cmd.Path)
	if err != nil {
		return err
	}
	for i, file := range files {
		opened, err := openSealed(a, file.path)
		if err != nil {
			results = append(results, failed(file.path, err))
			files[i].path = ""
			continue
		}
		defer opened.Close()
		files[i].name, files[i].path = file.path, opened.Path
	}
	files = slices.DeleteFunc(files, func(f file) bool { return f.path == "" })
	results = append(results, cmd.importFiles(ctx, a, files)...)
	failures, onTerminal := 0, cmd.Output == "text" && tty.IsTerminal(a.Stdout)
	var skipped skippedFiles
	var listed []Imported
	for _, r := range results {
		if errors.Is(r.Err, context.Canceled) {
			continue
		}
		switch r.Action {
		case "failed":
			failures++
		case "skipped":
			skipped.add(r)
		}
		if onTerminal && r.Error == "" {
			r.Log(a)
			listed = append(listed, r)
		} else if err := cmd.print(a, r); err != nil {
			return err
		}
	}
	if style := view.OutputStyle(a); onTerminal {
		if err := importedTable(listed).Write(a.Stdout, style.Width, style.Profile); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if skipped.total() > 0 {
		a.Notice(skippedText(skipped))
	}
	if n := skipped.unknown + skipped.unread; n > 0 && n == len(results) {
		return app.Exit(app.ExitFailed, app.Message{Text: noSessionsText(strings.Join(cmd.Path, ", "))})
	}
	if failures > 0 {
		return app.Exit(app.ExitFailed, app.Message{Text: notImportedText(failures, len(results)-skipped.total())})
	}
	return nil
}

// skippedFiles counts the files that were skipped, by reason.
type skippedFiles struct{ unknown, subagents, empty, unread, lines int }

func (s *skippedFiles) add(r Imported) {
	switch unknown := (*interchange.UnknownLinesError)(nil); {
	case errors.As(r.Err, &unknown):
		s.unread, s.lines = s.unread+1, s.lines+unknown.Lines
	case errors.Is(r.Err, interchange.ErrSubagent):
		s.subagents++
	case r.Err != nil:
		s.empty++
	default:
		s.unknown++
	}
}

func (s skippedFiles) total() int { return s.unknown + s.subagents + s.empty + s.unread }

// importFiles imports files until ctx is done. Snapshots come last, the oldest first.
func (cmd *Import) importFiles(ctx context.Context, a *app.App, files []file) (results []Imported) {
	var snapshots []string
	names := map[string]string{} // of the snapshots
	for _, file := range files {
		if ctx.Err() != nil {
			return results
		}
		path, name, format, err := file.path, cmp.Or(file.name, file.path), cmd.Format, error(nil)
		if format == "auto" {
			format, err = DetectFormat(path)
		}
		isSession := err == nil && format != "" && format != interchange.TeamFile && format != interchange.ExportFormat
		if cmd.Team != "" && isSession && !isTranscript(format) {
			a.Notice(teamIgnoredText(name))
		}
		switch {
		case err != nil:
			results = append(results, failed(name, err))
		case !isSession && file.found:
			results = append(results, Imported{Path: name, Action: "skipped", Error: "no session"})
		case format == "":
			results = append(results, failed(name, app.Exit(app.ExitFailed, UnknownFormatText(name))))
		case format == interchange.TeamFile:
			results = append(results, failed(name, app.Exit(app.ExitFailed, TeamFileText(name))))
		case format == interchange.ExportFormat:
			results = append(results, failed(name, app.Exit(app.ExitFailed, ExportText(name))))
		case isTranscript(format):
			options := Options{Team: cmd.Team, Branches: cmd.Branches, AsNew: cmd.AsNew}
			imported := importTranscript(ctx, a, format, path, name, options)
			if unknown := (*interchange.UnknownLinesError)(nil); !file.found && errors.As(imported[0].Err, &unknown) {
				imported[0] = failed(name, app.Exit(app.ExitFailed, unknownLinesText(name, unknown)))
			}
			if cmd.Format != "auto" && !file.found && errors.Is(imported[0].Err, interchange.ErrNoMessages) {
				imported[0].Action = "failed" // it may be in another format
			}
			results = append(results, imported...)
		case format == interchange.BundleFormat:
			results = append(results, importBundle(ctx, a, path, name, cmd.AsNew)...)
		case format == interchange.JournalFormat:
			results = append(results, importJournal(ctx, a, path, name, cmd.AsNew))
		default:
			snapshots = append(snapshots, path)
			names[path] = name
		}
	}
	for _, path := range oldestFirst(snapshots) {
		if ctx.Err() != nil {
			return results
		}
		s, err := readSnapshot(a, path, names[path])
		if err != nil {
			results = append(results, failed(names[path], err))
		} else {
			results = append(results, ImportSession(ctx, a, s, cmd.AsNew))
		}
	}
	return results
}

func (cmd *Import) print(a *app.App, r Imported) error {
	if r.Action != "skipped" {
		r.Log(a)
	}
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, r)
	}
	var exit *app.ExitError
	switch {
	case r.Action == "skipped":
		return nil
	case errors.As(r.Err, &exit):
		a.Show(exit.Message)
		return nil
	case r.Err != nil:
		a.Notice(app.Reason(r.Err))
		return nil
	}
	note := r.note()
	if note != "" {
		note = ", " + note
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s  %d of %s%s  %s\n",
		r.ID, r.Action, r.Taken, app.Count(r.Total, "message"), note, tty.SafeLine(r.Path))
	return err
}

// note says what of the source was not imported; "": nothing is left out.
func (r Imported) note() string {
	var notes []string
	if r.Skipped > 0 {
		notes = append(notes, app.Count(r.Skipped, "other line")+" skipped")
	}
	if r.Late > 0 {
		notes = append(notes, app.Count(r.Late, "late step")+" added")
	}
	branches := app.Count(r.Branches, "branch")
	if r.Branches > 1 {
		branches = fmt.Sprintf("%d branches", r.Branches)
	}
	switch {
	case r.Branches > 0 && r.BranchMessages > 0:
		notes = append(notes, fmt.Sprintf("%s with %s not imported", branches, app.Count(r.BranchMessages, "message")))
	case r.Branches > 0:
		notes = append(notes, branches+" not imported")
	}
	return strings.Join(notes, ", ")
}

// importedTable returns what a terminal shows of the files that were imported.
func importedTable(results []Imported) *ansi.Table {
	t := &ansi.Table{Columns: []ansi.Column{
		{Name: "FILE", Path: true, Least: 10}, {Name: "RESULT"}, {Name: "MESSAGES", Right: true, Rank: 1},
		{Name: "NOTE", Least: 16, Rank: 2}, {Name: "ID"},
	}}
	for _, r := range results {
		action := ansi.Style{Color: ansi.Green}
		if r.Action == "unchanged" {
			action = ansi.Style{Dim: true}
		}
		t.Add(ansi.Text(app.ShortPath(r.Path), ansi.Style{}), ansi.Text(r.Action, action),
			ansi.Text(fmt.Sprintf("%d of %d", r.Taken, r.Total), ansi.Style{}),
			ansi.Text(r.note(), ansi.Style{Dim: true}), ansi.Text(r.ID, ansi.Style{Color: ansi.Cyan}))
	}
	return t
}

func notImportedText(n, of int) string {
	return fmt.Sprintf("Not imported: %d of %s.", n, app.Count(of, "session"))
}

func skippedText(s skippedFiles) string {
	var parts []string
	if s.unknown > 0 {
		parts = append(parts, app.Count(s.unknown, "file")+" without a session")
	}
	if s.subagents > 0 {
		parts = append(parts, app.Count(s.subagents, "transcript")+" of subagents")
	}
	if s.unread > 0 {
		parts = append(parts, fmt.Sprintf("%s in an unknown format (%s)",
			app.Count(s.unread, "file"), app.Count(s.lines, "line")))
	}
	if s.empty > 0 {
		parts = append(parts, app.Count(s.empty, "session")+" without messages")
	}
	return "Skipped " + strings.Join(parts, ", ") + "."
}

// teamIgnoredText is for a file that records the team of its sessions.
func teamIgnoredText(path string) string {
	return fmt.Sprintf("--team is ignored for %s, which records its own team.",
		tty.SafeLine(path))
}

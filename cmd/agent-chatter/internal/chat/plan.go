package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// importedText says what became of a file that is gone on with.
func importedText(done transfer.Imported) string {
	return fmt.Sprintf("Session %s: %s, %d of %s from %s", done.ID, done.Action, done.Taken, app.Count(done.Total, "message"), tty.SafeLine(done.Path))
}

// importFirstText is for a transcript of another program.
func importFirstText(path, format string) app.Message {
	return app.Text("%s is a transcript of %s.", tty.SafeLine(path), format).
		With(app.To("import it", "sessions", "import", path, "--team", "ID"))
}

// severalInBundleText is for a bundle of several sessions, of which one can be resumed.
func severalInBundleText(path string, n int) app.Message {
	return app.Text("%s has %s. All were imported.", tty.SafeLine(path), app.Count(n, "session")).
		With(app.To("resume one of them", "chat", "--resume", "ID"))
}

// plan is what a chat begins with.
type plan struct {
	team   *team.Team
	config app.Config
	store  store.Store
	resume string // the session to go on with; "": a new one
}

func (cmd *Command) plan(a *app.App) (plan, error) {
	if err := cmd.check(); err != nil {
		return plan{}, err
	}
	named, err := cmd.team(a)
	if err != nil {
		return plan{}, err
	}
	switch {
	case cmd.SessionFile != nil:
		return planFile(a, named, *cmd.SessionFile)
	case cmd.resumes():
		return cmd.planResume(a, named)
	}
	if named == nil {
		named = team.Demo()
	}
	p := plan{team: named, store: store.NewFiles(a.Catalog)}
	if cmd.NoSave {
		p.store = &store.Memory{}
	}
	return p, nil
}

// team is the one that was named; nil: none was.
func (cmd *Command) team(a *app.App) (*team.Team, error) {
	if cmd.Team == "" {
		return nil, nil
	}
	return a.LoadTeam(cmd.Team)
}

// name is what the session to go on with is called; "": the latest.
func (cmd *Command) name() string {
	if cmd.Session != nil {
		return *cmd.Session
	}
	return cmd.Resume.id
}

// planResume goes on with a session, or with a copy of it.
func (cmd *Command) planResume(a *app.App, team *team.Team) (plan, error) {
	p, err := planResume(a, team, cmd.name())
	if err != nil || !cmd.Fork {
		return p, err
	}
	p.resume, err = sessions.ForkSession(context.Background(), a, a.Catalog.Team(p.team.ID), p.resume, 0)
	return p, err
}

func (cmd *Command) resumes() bool {
	return cmd.Resume.set || cmd.Continue || cmd.Session != nil
}

// check refuses flags that contradict each other.
func (cmd *Command) check() error {
	named := 0
	for _, set := range []bool{cmd.Resume.id != "", cmd.Session != nil, cmd.SessionFile != nil} {
		if set {
			named++
		}
	}
	switch {
	case named > 1 || named == 1 && cmd.Continue:
		return app.UsageError("Specify only one session to resume.")
	case cmd.NoSave && (cmd.resumes() || cmd.SessionFile != nil):
		return app.UsageError("%s", textNoSaveNoResume)
	case cmd.Fork && (!cmd.resumes() || cmd.SessionFile != nil):
		return app.UsageError("--fork resumes a copy of a session: name the session with --resume ID.")
	case cmd.Session != nil && *cmd.Session == "" || cmd.SessionFile != nil && *cmd.SessionFile == "":
		return app.UsageError("The name of the session is empty. --resume alone resumes the latest.")
	case cmd.Follow && (len(cmd.Message) > 0 || cmd.Fork || cmd.NoSave || cmd.MaxRounds != 0 || cmd.ShowPrompt):
		return app.UsageError("--follow only watches a session: it excludes -m, --fork, --no-save, --max-rounds and --show-prompt.")
	case cmd.MaxRounds < 0:
		return app.UsageError("--max-rounds takes a number of turns, 0 for no limit.")
	}
	return nil
}

// planResume goes on with the session of that name, or the latest.
func planResume(a *app.App, team *team.Team, name string) (plan, error) {
	c := a.Catalog
	session, err := a.FindToResume(context.Background(), team, name)
	if err != nil {
		return plan{}, err
	}
	switch {
	case team != nil:
	case session.Damaged != "": // for its error
		team, err = a.TeamOf(context.Background(), c.At(session.Dir()), session.ID)
	default:
		team, err = a.RecordedTeam(session.ID, session.TeamID, session.Source)
	}
	if err != nil {
		return plan{}, err
	}
	if session.Truncated {
		a.Notice(app.TruncatedText(session))
	}
	return plan{team: team, store: store.NewFiles(c), resume: session.ID}, nil
}

// planFile goes on with a journal that lies anywhere.
func planFile(a *app.App, team *team.Team, path string) (plan, error) {
	if app.IsArchive(path) {
		return plan{}, app.Exit(app.ExitUsage, archivedFileText(path))
	}
	switch format := transfer.DetectFormat(path); {
	case format == transfer.FormatBundle:
		return planBundle(a, team, path)
	case format != "" && format != transfer.FormatJournal:
		return plan{}, app.Exit(app.ExitUsage, importFirstText(path, format))
	case !app.IsJournal(path):
		return planSnapshot(a, team, path)
	}
	t, id, err := a.JournalAt(path)
	if err != nil {
		return plan{}, err
	}
	if team == nil {
		if team, err = a.TeamOf(context.Background(), t, id); err != nil {
			return plan{}, err
		}
	}
	return plan{team: team, store: store.NewDir(t), resume: id}, nil
}

// planBundle imports the session of a bundle and goes on with it.
func planBundle(a *app.App, team *team.Team, path string) (plan, error) {
	all := transfer.ImportBundle(context.Background(), a, path)
	switch last := all[len(all)-1]; {
	case last.Action == "failed":
		return plan{}, errors.New(last.Error)
	case len(all) > 1:
		return plan{}, app.Exit(app.ExitUsage, severalInBundleText(path, len(all)))
	default:
		a.Notice(importedText(last))
		return planResume(a, team, last.ID)
	}
}

// planSnapshot imports a snapshot and goes on with what became of it.
func planSnapshot(a *app.App, team *team.Team, path string) (plan, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return plan{}, app.Exit(app.ExitFailed, directoryText(path))
	}
	s, err := transfer.ReadSnapshot(a, path)
	if errors.Is(err, fs.ErrNotExist) {
		return plan{}, app.Exit(app.ExitNotFound, app.MissingFileText("file", path))
	}
	if err != nil {
		return plan{}, err
	}
	done := transfer.ImportSession(context.Background(), a, s)
	if done.Action == "failed" {
		return plan{}, errors.New(done.Error)
	}
	done.Path = path
	a.Notice(importedText(done))
	return planResume(a, team, s.ID)
}

func directoryText(path string) app.Message {
	return app.Text("%s is a directory: name a journal in it, which ends in .jsonl, or a snapshot.", tty.SafeLine(path))
}

const textNoSaveNoResume = "--no-save keeps nothing, so it excludes --resume."

// archivedFileText is for an archived journal named as a file: its directory is not
// the one that the session belongs to.
func archivedFileText(path string) app.Message {
	return app.Text("%s is an archived journal.", tty.SafeLine(path)).With(
		app.To("resume it in its own home", "chat", "--resume", strings.TrimSuffix(filepath.Base(path), app.ArchiveSuffix)),
		app.To("import it elsewhere", "sessions", "import", path))
}

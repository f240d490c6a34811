package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// importedText reports a file that was imported as a session.
func importedText(done transfer.Imported) string {
	return fmt.Sprintf("Session %s: %s, %d of %s from %s",
		done.ID, done.Action, done.Taken, app.Count(done.Total, "message"), tty.SafeLine(done.Path))
}

// severalInBundleText reports that a bundle contained n sessions. All are imported, and
// the user chooses the one to resume.
func severalInBundleText(path string, n int) app.Message {
	return app.Text("%s contains %s. All were imported.", tty.SafeLine(path), app.Count(n, "session")).
		With(app.To("resume one of them", "chat", "--resume", "ID"))
}

func directoryText(path string) app.Message {
	return app.Text("%s is a directory: name a snapshot or a .jsonl journal in it.", tty.SafeLine(path))
}

// archivedFileText reports that path is an archived journal. An archive cannot be resumed
// by its path, only by its session's id in the home that contains it.
func archivedFileText(path string) app.Message {
	id := strings.TrimSuffix(filepath.Base(path), app.ArchiveSuffix)
	return app.Text("%s is an archived journal.", tty.SafeLine(path)).With(
		app.To("resume it in its own home", "chat", "--resume", id),
		app.To("import it elsewhere", "sessions", "import", path))
}

// An opening is a team, a store, and the session in it that is resumed.
type opening struct {
	team   *team.Team
	chosen coordinator.Chosen
	store  store.Store
	resume string // the session's id; "" for a new session
	id     string // of a new session; "": any
	file   string // absolute path of the journal, unless it is in the team's directory of the home
}

// start begins the conversation that the flags select.
func (cmd *Command) start(ctx context.Context, r *repl) error {
	name, err := cmd.name(ctx, r.app)
	if err != nil {
		return err
	}
	var t *team.Team
	if cmd.Team != "" {
		if t, err = r.teams(ctx).Load(ctx, cmd.Team); err != nil {
			return err
		}
	}
	switch {
	case cmd.SessionFile != nil:
		return r.startFile(ctx, t, *cmd.SessionFile)
	case cmd.resumes():
		_, err := cmd.find(ctx, r.app, t, name, func(s catalog.Session) error {
			if cmd.Files {
				if err := cmd.setFilesBack(ctx, r, s); err != nil {
					return err
				}
			}
			return r.startSession(ctx, t, s, cmd.Fork, cmd.At)
		})
		if app.CodeOf(err) == app.ExitNotFound && strings.ContainsFunc(name, unicode.IsSpace) {
			m := app.Explain(err)
			err = app.Exit(app.ExitNotFound, m.With(app.To("send it as a message", "chat", "--resume", "-m", name)))
		}
		return err
	case t == nil:
		if t, err = cmd.firstTeam(ctx, r); err != nil {
			return err
		}
	}
	return r.begin(ctx, opening{team: t, store: r.newStore()})
}

// firstTeam returns the team of a chat that names none: the demo, unless the user wants a team of the installed
// agents.
func (cmd *Command) firstTeam(ctx context.Context, r *repl) (*team.Team, error) {
	if !r.scripted && !r.noSave && cmd.Output == "text" {
		return setup.FirstTeam(ctx, r.app)
	}
	return team.Demo(), nil
}

// teams returns the loader of teams. While the user types in a chat, the answer is a key.
func (r *repl) teams(ctx context.Context) teams.Loader {
	l := teams.Loader{App: r.app, Forget: r.noSave}
	if r.input != nil && !r.noKeys() {
		l.Ask = teams.ByKey(r.app.Stdout, func() (rune, error) { return r.readKey(ctx) })
	}
	return l
}

// newStore returns the store for new sessions.
func (r *repl) newStore() store.Store {
	if r.noSave {
		return &store.Memory{}
	}
	return r.savedIn()
}

// savedIn returns the store of the home. If a hub is configured, its sessions are shipped.
func (r *repl) savedIn() store.Store {
	if r.hub == nil {
		return store.NewFiles(r.app.Catalog)
	}
	return r.hub.Store
}

// startSession resumes a session, or a fork of it up to the point at. If t is not nil, it overrides the recorded team.
func (r *repl) startSession(ctx context.Context, t *team.Team, s catalog.Session, fork bool, at string) error {
	c, err := r.resumable(ctx, t, s, fork, at)
	if err != nil {
		return err
	}
	return r.begin(ctx, c)
}

// fork makes a conversation that would resume s resume a fork of it up to the point at.
func (r *repl) fork(ctx context.Context, c *opening, s catalog.Session, at string) (err error) {
	if c.team.ID != s.TeamID {
		return &store.TeamMismatchError{SessionID: s.ID, Want: s.TeamID, Got: c.team.ID}
	}
	s.Truncated = false // that was reported
	if c.resume, err = sessions.ForkSession(ctx, r.app, s, at); err != nil {
		return err
	}
	if c.file != "" {
		c.file = filepath.Join(s.Dir(), c.resume+".jsonl")
	}
	r.app.Notice(sessions.ForkedText(s.ID, c.resume))
	return nil
}

// resumable returns the conversation that resumes s, or a fork of it up to the point at. Its team is t or, if t is
// nil, the recorded team. The journal is read only if the session is damaged or forked.
func (r *repl) resumable(
	ctx context.Context, t *team.Team, s catalog.Session, fork bool, at string,
) (c opening, err error) {
	switch {
	case t != nil:
	case s.Damaged != "": // Of reads the journal and returns the error
		t, err = r.teams(ctx).Of(ctx, r.app.Catalog.At(s.Dir()), s.ID)
	default:
		t, err = r.teams(ctx).Recorded(ctx, s.ID, s.TeamID, s.Source)
	}
	if err != nil {
		return c, err
	}
	if s.Truncated {
		r.app.Notice(app.TruncatedText(s))
	}
	c = opening{team: t, store: r.savedIn(), resume: s.ID}
	if t.ID == s.TeamID && s.Dir() != r.app.Catalog.Team(t.ID).Journals().Path() {
		c.store, c.file = store.NewDir(r.app.Catalog.At(s.Dir())), s.Path()
	}
	if fork {
		err = r.fork(ctx, &c, s, at)
	}
	return c, err
}

// startFile resumes a journal in place, or imports another file and resumes the session.
func (r *repl) startFile(ctx context.Context, t *team.Team, path string) error {
	if app.IsArchive(path) && app.InArchive(path) {
		return app.Exit(app.ExitUsage, archivedFileText(path))
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind := "file"
		if app.IsJournal(path) {
			kind = "journal"
		}
		return app.Exit(app.ExitNotFound, app.MissingFileText(kind, path))
	case err == nil && info.IsDir():
		return app.Exit(app.ExitFailed, directoryText(path))
	}
	switch format, err := transfer.DetectFormat(path); {
	case err != nil:
		return err
	case format == interchange.JournalFormat && app.IsJournal(path):
		return r.startJournal(ctx, t, path)
	case format == interchange.JournalFormat:
		return r.startImported(ctx, t, path, transfer.ImportJournal(ctx, r.app, path, false))
	case format == interchange.BundleFormat:
		return r.startBundle(ctx, t, path)
	case format == interchange.SnapshotFormat:
		return r.startSnapshot(ctx, t, path)
	case format == interchange.TeamFile:
		return app.Exit(app.ExitFailed, transfer.TeamFileText(path))
	case format == interchange.ExportFormat:
		return app.Exit(app.ExitFailed, transfer.ExportText(path))
	case format == "":
		return app.Exit(app.ExitFailed, transfer.UnknownFormatText(path))
	default:
		if t == nil {
			t = team.Demo() // a transcript records no team
		}
		imported := transfer.ImportTranscript(ctx, r.app, format, path, transfer.Options{Team: t.ID})
		return r.startImported(ctx, t, path, imported[0])
	}
}

func (r *repl) startJournal(ctx context.Context, t *team.Team, path string) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	r.sessionFile = whole
	dir, id, err := r.app.JournalAt(path)
	if err != nil {
		return err
	}
	if t == nil {
		if t, err = r.teams(ctx).Of(ctx, dir, id); err != nil {
			return err
		}
	}
	return r.begin(ctx, opening{team: t, store: store.NewDir(dir), resume: id, file: whole})
}

// startImported resumes a session that was imported from path.
func (r *repl) startImported(ctx context.Context, t *team.Team, path string, done transfer.Imported) error {
	done.Log(r.app)
	if done.Err != nil {
		return done.Err
	}
	done.Path = path
	r.app.Notice(importedText(done))
	_, err := r.app.FindToResume(ctx, t, done.ID, func(s catalog.Session) error {
		return r.startSession(ctx, t, s, false, "")
	})
	return err
}

func (r *repl) startBundle(ctx context.Context, t *team.Team, path string) error {
	all := transfer.ImportBundle(ctx, r.app, path, false)
	if len(all) > 1 {
		for _, one := range all {
			one.Log(r.app)
			if one.Action == "failed" {
				return one.Err
			}
		}
		return app.Exit(app.ExitUsage, severalInBundleText(path, len(all)))
	}
	return r.startImported(ctx, t, path, all[0])
}

func (r *repl) startSnapshot(ctx context.Context, t *team.Team, path string) error {
	s, err := transfer.ReadSnapshot(r.app, path)
	if err != nil {
		return err
	}
	return r.startImported(ctx, t, path, transfer.ImportSession(ctx, r.app, s, false))
}

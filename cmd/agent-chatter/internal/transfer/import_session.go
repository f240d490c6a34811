package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// Options of importing a transcript.
type Options struct {
	Team     string // "": the one called like the program
	Branches bool   // import the other branches as forks
	AsNew    bool   // import a diverged session as a new one
}

// ImportTranscript imports a conversation of another program, and its other branches if
// the options say so. It returns at least one Imported.
func ImportTranscript(ctx context.Context, a *app.App, format, path string, o Options) []Imported {
	return importTranscript(ctx, a, format, path, path, o)
}

// importTranscript imports a conversation from a file that has another path than its name.
func importTranscript(ctx context.Context, a *app.App, format, path, name string, o Options) []Imported {
	cut := false
	s, err := readTranscript(ctx, a, format, path, name, &cut)
	if err != nil {
		return []Imported{failed(name, fmt.Errorf("%s: %w", name, err))}
	}
	s.Sign = signOrigin(a, path)
	path = name
	defer func() {
		if cut {
			a.Notice(cutText(name))
		}
	}()
	if o.Team != "" {
		s.SetTeam(o.Team)
	}
	first := importSession(ctx, a, path, s, o.AsNew)
	if !o.Branches {
		first.Branches, first.BranchMessages = len(s.Branches)+s.MoreBranches, s.LeftOut
		return []Imported{first}
	}
	first.Branches = s.MoreBranches
	results := []Imported{first}
	if first.Action == "failed" || first.Action == "skipped" {
		return results
	}
	for _, branch := range s.Branches {
		if ctx.Err() != nil {
			break
		}
		other, err := branch()
		if err != nil {
			results = append(results, failed(path, fmt.Errorf("%s: %w", path, err)))
			continue
		}
		if o.Team != "" {
			other.SetTeam(o.Team)
		}
		other.Sign = s.Sign
		results = append(results, importBranch(ctx, a, path, s.ID, other, o.AsNew))
	}
	return results
}

// ImportSession imports a session that was read from a snapshot. If it has diverged from
// the existing session, it becomes, or continues, a copy of that.
func ImportSession(ctx context.Context, a *app.App, s *interchange.Session, asNew bool) Imported {
	return importSession(ctx, a, s.Imported.Path, s, asNew)
}

func importSession(ctx context.Context, a *app.App, path string, s *interchange.Session, asNew bool) Imported {
	redact, report := a.RedactImport()
	defer report()
	a.ReportHub(a.Remote.RefreshDeleted(ctx, a.Catalog, s.ID)) // another machine may have imported it
	dir := a.Catalog.Team(s.TeamID)
	return importCopy(ctx, a, dir, path, s, asNew, func() (sessioncopy.Counts, error) {
		return sessioncopy.Import(ctx, dir, s, redact)
	})
}

func importBranch(ctx context.Context, a *app.App, path, parent string, s *interchange.Session, asNew bool) Imported {
	redact, report := a.RedactImport()
	defer report()
	dir := a.Catalog.Team(s.TeamID)
	return importCopy(ctx, a, dir, path, s, asNew, func() (sessioncopy.Counts, error) {
		return sessioncopy.ImportBranch(ctx, dir, parent, s, redact)
	})
}

// importCopy imports a session, or the first copy of it that has not diverged. Without
// asNew only a copy that exists is extended.
func importCopy(
	ctx context.Context, a *app.App, dir *catalog.Dir, path string, s *interchange.Session, asNew bool,
	importOne func() (sessioncopy.Counts, error),
) Imported {
	r := Imported{Path: path, ID: s.ID}
	var diverged error
	for id := s.ID; ; {
		done, err := importOne()
		if !errors.Is(err, sessioncopy.ErrDiverged) {
			r.ID, r.Taken, r.Total, r.Skipped, r.Late = s.ID, done.Written, done.Total, done.Skipped, done.Late
			if errors.Is(err, interchange.ErrNoMessages) {
				err = fmt.Errorf("%s: %w", path, err)
			}
			r.setAction(err)
			return r
		}
		diverged = cmp.Or(diverged, err)
		next, ok := nextCopy(ctx, dir, id, s.ID, asNew)
		if !ok {
			s.SetID(id)
			r.setAction(app.Exit(app.ExitFailed, divergedText(path, diverged)))
			return r
		}
		if err := a.Remote.MarkCopy(dir, next, id); err != nil {
			r.setAction(err)
			return r
		}
		s.SetID(next)
	}
}

// nextCopy returns the id of the copy of a session after a given one, which is the session
// or a copy. It reports false if there is none and none is to be made.
func nextCopy(ctx context.Context, dir *catalog.Dir, id, after string, asNew bool) (string, bool) {
	n := 0
	for interchange.CopyID(id, n) != after {
		n++
	}
	next := interchange.CopyID(id, n+1)
	if asNew {
		return next, true
	}
	_, err := dir.Session(ctx, next)
	return next, err == nil
}

func divergedText(path string, err error) app.Message {
	text := app.Text("%s: %s", tty.SafeLine(path), app.Reason(err))
	if diverged := (*sessioncopy.DivergedError)(nil); errors.As(err, &diverged) && diverged.LeftOut > 0 {
		text = app.Text("%s: session %s has %s that this import leaves out, from event %d on. "+
			"An earlier version may have imported them. The session was not changed.",
			tty.SafeLine(path), diverged.ID, app.Count(diverged.LeftOut, "message"), diverged.FirstLeftOut)
	}
	return text.With(app.To("import it as a new session", "sessions", "import", "--as-new", path))
}

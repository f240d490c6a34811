package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// FindOrOpen is Find for a name that may also be the path of a journal, archived or
// not.
func (a *App) FindOrOpen(ctx context.Context, name string) (catalog.Session, error) {
	if !IsJournal(name) {
		return a.Find(ctx, name)
	}
	if _, unknown := os.Stat(name); unknown != nil {
		s, err := a.Find(ctx, name)
		switch {
		case !errors.As(err, new(*catalog.NotFoundError)):
		case errors.Is(unknown, fs.ErrNotExist):
			err = Exit(ExitNotFound, MissingFileText("journal", name))
		default:
			err = unknown
		}
		return s, err
	}
	t, id, err := a.JournalAt(name)
	if err != nil {
		return catalog.Session{}, err
	}
	return t.Session(ctx, id)
}

// WithName returns err as a FileError if name is the path of a journal.
func WithName(name string, err error) error {
	if err == nil || !IsJournal(name) {
		return err
	}
	return &FileError{name, err}
}

// FindToResume finds a session by name and opens it; "" and catalog.LatestName are the
// latest session of team, or of all teams if team is nil. A damaged latest session is
// reported and skipped. open may be nil.
func (a *App) FindToResume(
	ctx context.Context, team *team.Team, name string, open func(catalog.Session) error,
) (catalog.Session, error) {
	if name == "" || name == catalog.LatestName {
		return a.latest(ctx, team, open)
	}
	session, err := a.Find(ctx, name)
	if err == nil && open != nil {
		return session, open(session)
	}
	var notFound *catalog.NotFoundError
	if team != nil && errors.As(err, &notFound) {
		return session, Exit(ExitNotFound, Message{Text: notFoundForTeamText(name, team.ID)})
	}
	return session, err
}

// latest opens the latest session of a team, or of all teams if team is nil.
func (a *App) latest(
	ctx context.Context, team *team.Team, open func(catalog.Session) error,
) (catalog.Session, error) {
	var q catalog.Query
	if team != nil {
		q.Team = team.ID
	}
	a.ReportHub(a.Remote.Refresh(ctx, a.Catalog, catalog.LatestName))
	result, err := a.Catalog.List(ctx, q)
	if err != nil {
		return catalog.Session{}, err
	}
	session, err := a.FirstSound(a.Compatible(result.Sessions), open)
	switch {
	case err == nil:
		return session, nil
	case !errors.Is(err, journal.ErrNotFound):
		return session, err
	case team != nil:
		return session, Exit(ExitNotFound, Message{Text: nothingForTeamText(team.ID)})
	}
	return session, Exit(ExitNotFound, nothingToResumeText())
}

// FirstSound opens the first session that is not damaged, and reports those that it
// skips. The index does not detect damage at the end of a journal: that is checked only
// if open fails, so that a sound journal is opened once. If open is nil, the end is
// checked instead. FirstSound may change the slice.
func (a *App) FirstSound(
	sessions []catalog.Session, open func(catalog.Session) error,
) (catalog.Session, error) {
	for {
		session, skipped, err := catalog.Latest(slices.Values(sessions))
		a.ReportSkipped(skipped)
		if err != nil {
			return session, err
		}
		var openErr error
		if open != nil {
			if openErr = open(session); openErr == nil {
				return session, nil
			}
		}
		err = a.Catalog.At(session.Dir()).Journals().Check(session.ID)
		if err == nil || errors.Is(err, journal.ErrNotFound) {
			return session, cmp.Or(openErr, err)
		}
		a.ReportSkipped([]catalog.Session{Failed(session, err)})
		sessions = slices.DeleteFunc(sessions, func(s catalog.Session) bool {
			return s.Damaged != "" || s.ID == session.ID
		})
		if len(sessions) == 0 && catalog.IsReadError(err) {
			return session, err
		}
	}
}

// Failed returns s marked as damaged or unreadable.
func Failed(s catalog.Session, err error) catalog.Session {
	s.Damaged = err.Error()
	if catalog.IsReadError(err) {
		s.ReadErr = err
	}
	return s
}

// Compatible removes the sessions of a newer format, which cannot be resumed, and prints
// them.
func (a *App) Compatible(sessions []catalog.Session) []catalog.Session {
	return slices.DeleteFunc(sessions, func(s catalog.Session) bool {
		if s.Newer != "" {
			a.Notice(incompatibleText(s))
		}
		return s.Newer != ""
	})
}

// ReportFaults prints what may be missing from a session that can be read.
func (a *App) ReportFaults(s catalog.Session) {
	if s.Truncated {
		a.Notice(TruncatedText(s))
	}
	if s.Invalid > 0 {
		a.Show(InvalidEventsText(s.ID, s.Invalid, s.FirstInvalid))
	}
}

// ReportSkipped prints the damaged sessions that a search skipped.
func (a *App) ReportSkipped(skipped []catalog.Session) {
	for _, s := range skipped {
		a.Show(skippedText(s))
	}
}

// JournalAt returns the directory and the id of the journal in a file anywhere. An
// archived one must be in a directory called archive; it can be read but not resumed.
// If the file is a link to a journal, it is that journal, with the files next to it.
func (a *App) JournalAt(path string) (*catalog.Dir, string, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, err := filepath.EvalSymlinks(path); err == nil && IsJournal(target) {
			path = target
		}
	}
	dir, id := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if IsArchive(path) {
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, "", err
		}
		if _, err := os.Stat(path); err == nil && !InArchive(path) {
			return nil, "", Exit(ExitFailed, archiveElsewhereText(path))
		}
		dir, id = filepath.Dir(filepath.Dir(whole)), strings.TrimSuffix(filepath.Base(path), ArchiveSuffix)
	}
	t := a.Catalog.At(dir)
	_, err := t.Journals().Stat(id)
	if errors.Is(err, journal.ErrNotFound) {
		err = Exit(ExitNotFound, MissingFileText("journal", path))
	}
	return t, id, err
}

// FindTrashed finds a session in the trash of any team.
func (a *App) FindTrashed(ctx context.Context, name string) (*catalog.Dir, string, error) {
	trashed, err := a.Catalog.Trash(ctx)
	if err != nil {
		return nil, "", err
	}
	var found []catalog.Session
	var all []string
	var team *catalog.Dir
	for _, item := range trashed {
		all = append(all, item.ID)
		if catalog.MatchesID(item.ID, name) {
			team, found = a.Catalog.At(item.Dir), append(found, catalog.Session{ID: item.ID})
		}
	}
	switch len(found) {
	case 0:
		return nil, "", Exit(ExitNotFound, notInTrashText(name, all))
	case 1:
		return team, found[0].ID, nil
	}
	return nil, "", &catalog.AmbiguousError{Name: name, Candidates: found}
}

// Find is Catalog.Find, after fetching what the hub has more of the session. It prints the damaged sessions that were
// skipped, and what is wrong with the hub.
func (a *App) Find(ctx context.Context, name string) (catalog.Session, error) {
	a.ReportHub(a.Remote.Refresh(ctx, a.Catalog, name))
	s, skipped, err := a.Catalog.Find(ctx, name)
	a.ReportSkipped(skipped)
	return s, err
}

// Named returns the sessions that find returns for the names, or all if there are no
// names.
func (a *App) Named(
	ctx context.Context, names []string, find func(ctx context.Context, name string) (catalog.Session, error),
) ([]catalog.Session, error) {
	if len(names) == 0 {
		all, err := a.Catalog.List(ctx, catalog.Query{})
		if err != nil {
			return nil, err
		}
		return all.Sessions, nil
	}
	var sessions []catalog.Session
	for _, name := range names {
		s, err := find(ctx, name)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

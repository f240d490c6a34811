package catalog

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Catalog is the directory of all sessions, with a subdirectory for each team.
// Its methods may be called concurrently.
type Catalog struct {
	root string
	o    journal.Options

	// Progress, if set, is called while a list reads journals that are not in
	// the index, with the number read so far and their total. It is called from
	// several goroutines.
	Progress func(done, total int)

	// DirError, if set, is called for each team's directory that cannot be
	// read; lists omit that team. If DirError is nil, lists fail with that error.
	DirError func(path string, err error)

	// Retired, if set, is called for each event that a RetentionPass records:
	// SessionArchived, SessionTrashed and SessionPurged.
	Retired func(projection.Payload)
}

// New returns the catalog in the directory root, which need not exist. New does
// not access it.
func New(root string, o journal.Options) *Catalog {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	return &Catalog{root: root, o: o}
}

// Root returns the path of the directory.
func (c *Catalog) Root() string { return c.root }

// Team returns the directory of the team with this id. It need not exist.
func (c *Catalog) Team(teamID string) *Dir {
	return c.At(filepath.Join(c.root, journal.DirName(teamID)))
}

// At returns the directory of sessions at a path, in the catalog or elsewhere.
func (c *Catalog) At(path string) *Dir {
	d := &Dir{journals: journal.NewDir(path, c.o), fs: c.o.FS, progress: c.Progress, retired: c.Retired}
	if d.progress == nil {
		d.progress = func(int, int) {}
	}
	if d.retired == nil {
		d.retired = func(projection.Payload) {}
	}
	return d
}

// Teams returns the existing directories, ordered by name.
func (c *Catalog) Teams() ([]*Dir, error) {
	entries, err := c.o.FS.ReadDir(c.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var teams []*Dir
	for _, entry := range entries {
		path, isDir := filepath.Join(c.root, entry.Name()), entry.IsDir()
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := c.o.FS.Stat(path)
			isDir = err == nil && target.IsDir()
		}
		if isDir {
			teams = append(teams, c.At(path))
		}
	}
	slices.SortFunc(teams, func(a, b *Dir) int { return strings.Compare(a.journals.Path(), b.journals.Path()) })
	return teams, nil
}

// List returns the sessions that a query selects. If q.Team is set, only the
// directory of that team is read. List writes nothing except the index.
func (c *Catalog) List(ctx context.Context, q Query) (*Result, error) {
	var entries []*Entry
	var lost []string
	var err error
	only := ""
	if q.Team != "" {
		d := c.Team(q.Team)
		only = d.journals.Path()
		entries, lost, err = d.entries(ctx, q.ReadRows)
		q.Team = ""
	} else {
		entries, lost, err = c.entries(ctx, q.ReadRows)
	}
	if err != nil {
		return nil, err
	}
	return q.answer(ctx, q.Elsewhere.with(entries, only), lost)
}

// entries returns the sessions of all teams, the most recently updated first, and
// Result.Lost.
func (c *Catalog) entries(ctx context.Context, readRows bool) (all []*Entry, lost []string, err error) {
	teams, err := c.Teams()
	if err != nil {
		return nil, nil, err
	}
	for _, d := range teams {
		entries, missing, err := d.entries(ctx, readRows)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil && c.DirError == nil:
			return nil, nil, err
		case err != nil:
			c.DirError(d.journals.Path(), err)
		}
		all, lost = append(all, entries...), append(lost, missing...)
	}
	if len(teams) > 1 {
		slices.SortFunc(all, newestFirst)
	}
	return all, lost, nil
}

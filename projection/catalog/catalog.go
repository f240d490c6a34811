package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Catalog is the directory of all sessions.
type Catalog struct {
	root string
	o    journal.Options

	// Progress, if it is set, is told how many journals a list has read, of
	// how many that it has to. Several goroutines call it.
	Progress func(done, of int)

	// DirError, if it is set, is told of each directory of a team that cannot be
	// read, and why; lists go on with the others. Without it they fail there.
	DirError func(path string, err error)
}

// New names the directory. It need not exist, and nothing is written to it.
func New(root string, o journal.Options) *Catalog {
	if o.FS == nil {
		o.FS = journal.OS
	}
	return &Catalog{root: root, o: o}
}

// Team is the directory of the team with that id.
func (c *Catalog) Team(teamID string) *Dir { return c.dir(journal.DirName(teamID)) }

// At is the directory of a team by its path, wherever that is.
func (c *Catalog) At(path string) *Dir {
	t := &Dir{journals: journal.NewDir(path, c.o), fs: c.o.FS, progress: c.Progress}
	if t.progress == nil {
		t.progress = func(int, int) {}
	}
	return t
}

func (c *Catalog) dir(name string) *Dir { return c.At(filepath.Join(c.root, name)) }

// Teams are the directories that there are, in the order of their names.
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
		if entry.IsDir() || c.linked(entry) {
			teams = append(teams, c.dir(entry.Name()))
		}
	}
	slices.SortFunc(teams, func(a, b *Dir) int { return strings.Compare(a.journals.Path(), b.journals.Path()) })
	return teams, nil
}

// linked reports whether an entry is a link to a directory elsewhere.
func (c *Catalog) linked(entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := c.o.FS.Stat(filepath.Join(c.root, entry.Name()))
	return err == nil && info.IsDir()
}

// List is every session of every team, the newest first.
func (c *Catalog) List() ([]Session, error) {
	listed, err := c.Entries()
	return Sessions(listed), err
}

// Entries is List for who wants to know only some of the sessions.
func (c *Catalog) Entries() ([]*Entry, error) {
	teams, err := c.Teams()
	if err != nil {
		return nil, err
	}
	var all []*Entry
	for _, t := range teams {
		listed, err := t.Entries()
		switch {
		case err != nil && c.DirError == nil:
			return nil, err
		case err != nil:
			c.DirError(t.journals.Path(), err)
		}
		all = append(all, listed...)
	}
	if len(teams) > 1 {
		slices.SortFunc(all, newer)
	}
	return all, nil
}

// Latest is the first session in a List that can be read and is not empty.
// The damaged ones that come before it are returned beside. Without any it is
// ErrNotFound, or why one could not be read.
func Latest(sessions []Session) (latest Session, skipped []Session, err error) {
	err = journal.ErrNotFound
	for _, s := range sessions {
		if s.ReadErr != nil {
			err = s.ReadErr
		}
		switch {
		case s.Damaged != "":
			skipped = append(skipped, s)
		case s.MessageCount > 0:
			return s, skipped, nil
		}
	}
	return Session{}, skipped, err
}

// NotFoundError says that no session has the name. It is a journal.ErrNotFound.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("no session %q", e.Name) }

// Is makes a NotFoundError a journal.ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == journal.ErrNotFound }

// AmbiguousError says that several sessions have the name.
type AmbiguousError struct {
	Name       string
	Candidates []Session // the newest first
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q names %d sessions", e.Name, len(e.Candidates))
}

// LatestName is the name of the latest session of all.
const LatestName = "latest"

// minPart is how much of an id names a session, in characters.
const minPart = 4

// Find returns the session of that name, in this order: a whole id, "latest",
// a title, the beginning or end of an id; ids in any case. It returns a
// *NotFoundError or an *AmbiguousError. Damaged sessions that "latest" passed
// over are returned beside.
func (c *Catalog) Find(name string) (found Session, skipped []Session, err error) {
	id := strings.ToUpper(name)
	if journal.ValidID(id) {
		found, err = c.findID(id)
		return found, nil, err
	}
	sessions, err := c.List()
	if err != nil {
		return Session{}, nil, err
	}
	if name == LatestName {
		found, skipped, err = Latest(sessions)
		if errors.Is(err, journal.ErrNotFound) {
			err = &NotFoundError{name}
		}
		return found, skipped, err
	}
	found, err = pick(sessions, name)
	return found, nil, err
}

// findID looks for one file, without listing what else there is. A directory
// that cannot be looked into matters only when it is in no other.
func (c *Catalog) findID(id string) (Session, error) {
	teams, err := c.Teams()
	if err != nil {
		return Session{}, err
	}
	var unread error
	for _, t := range teams {
		s, err := t.Session(id)
		switch {
		case err == nil:
			return s, nil
		case unread == nil && !errors.Is(err, journal.ErrNotFound):
			unread = err
		}
	}
	if unread != nil {
		return Session{}, unread
	}
	return Session{}, &NotFoundError{id}
}

// pick finds a session by its title or by a part of its id.
func pick(sessions []Session, name string) (Session, error) {
	for _, fits := range []func(Session) bool{
		func(s Session) bool { return s.Title == name && name != "" },
		func(s Session) bool { return MatchesID(s.ID, name) },
	} {
		var found []Session
		for _, s := range sessions {
			if fits(s) {
				found = append(found, s)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return Session{}, &AmbiguousError{name, found}
		}
	}
	return Session{}, &NotFoundError{name}
}

// MatchesID reports whether a name is an id, or enough of its beginning or end, in
// any case.
func MatchesID(id, name string) bool {
	part := strings.ToUpper(name)
	return len(part) >= minPart && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part))
}

// ShortIDs returns, for each of the sessions shown, the shortest end of its id
// that none of the others has, shown or not, at least 4 characters long.
func ShortIDs(shown []Session, others ...*Entry) map[string]string {
	length := make(map[string]int, len(shown))
	alike := map[string][]string{}
	for _, s := range shown {
		length[s.ID] = minPart
		alike[end(s.ID)] = append(alike[end(s.ID)], s.ID)
	}
	distinguish := func(other string) {
		for _, id := range alike[end(other)] {
			if other != id {
				length[id] = max(length[id], common(id, other)+1)
			}
		}
	}
	for _, s := range shown {
		distinguish(s.ID)
	}
	for _, other := range others {
		distinguish(other.ID)
	}
	short := make(map[string]string, len(shown))
	for id, n := range length {
		short[id] = id[max(0, len(id)-n):]
	}
	return short
}

// end is the least of an id that names a session.
func end(id string) string { return id[max(0, len(id)-minPart):] }

// common is how many characters two ids have in common at their ends.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

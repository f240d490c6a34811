package teams

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// trusted returns the entries of trust.json. Earlier versions of the program had none and loaded what a
// session names: the first time, the teams of the sessions in the home are entered.
func (l Loader) trusted(ctx context.Context) ([]team.Trusted, error) {
	all, err := team.ReadTrust(l.App.Home)
	if !errors.Is(err, fs.ErrNotExist) {
		return all, err
	}
	if !app.IsDirectory(l.App.Home) {
		return nil, nil // others may have written the sessions, or there are none
	}
	if all, err = l.initial(ctx); err == nil && !l.Forget {
		// If this fails, as in a home that is read-only, the next run does it.
		_ = team.Trust(ctx, l.App.Home, all, nil)
	}
	return all, err
}

// initial returns the teams of the sessions that were not imported. A file that has changed since it
// was last used, or that has instructions elsewhere, is none of them.
func (l Loader) initial(ctx context.Context) ([]team.Trusted, error) {
	list, err := l.App.Catalog.List(ctx, catalog.Query{Damaged: catalog.Without})
	if err != nil {
		return nil, err
	}
	loaded := map[string]*team.Team{} // nil: cannot be loaded, or is entered
	var all []team.Trusted
	for _, s := range list.Sessions {
		if s.Source == nil {
			continue
		}
		path := s.Source.Path
		t, tried := loaded[path]
		if !tried {
			t, _ = team.Load(path, l.App.Home)
			loaded[path] = t
		}
		if t == nil || !l.isOwnDirectory(s.Dir()) || t.Source.Path != path || t.Source.SHA256 != s.Source.SHA256 ||
			len(t.Elsewhere) > 0 {
			continue
		}
		if here, err := l.madeHere(s); err == nil && here {
			all = append(all, team.Trusted{Path: path, SHA256: t.Digest()})
			loaded[path] = nil
		}
	}
	slices.Reverse(all) // the newest session is the first
	return all, nil
}

// isOwnDirectory reports whether only the user can write sessions into a directory.
func (l Loader) isOwnDirectory(dir string) bool {
	return home.CheckFileOwner(l.App.Home, filepath.Dir(dir)) == nil && home.CheckFileOwner(l.App.Home, dir) == nil
}

// madeHere reports whether no part of a session was copied from another one, imported, or fetched from a hub. A session
// of a team that is shipped may have been fetched: its mark is a cache, and can be missing.
func (l Loader) madeHere(s catalog.Session) (bool, error) {
	shared := replica.Replica{Dir: l.App.Catalog.At(s.Dir()), ID: s.ID}
	settings, err := l.App.Config()
	if err != nil || settings.Hub.Ships(shared.Session().Team) || shared.Mark().Engine != "" {
		return false, err
	}
	reader, err := l.App.Catalog.At(s.Dir()).Journals().Reader(s.ID, journal.Position{})
	if err != nil {
		return false, err
	}
	defer reader.Close()
	importing := projection.TypeOf(projection.SessionImported{})
	for e, err := range reader.All() {
		if err != nil || e.Type == importing {
			return false, err
		}
		if e.Seq > 1 {
			continue
		}
		if created, ok := projection.DecodeEvent(e).Payload.(projection.SessionCreated); !ok || created.Parent != nil {
			return false, nil
		}
	}
	return true, nil
}

package replica

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Elsewhere returns the sessions of the teams whose directories ships selects that are only on the hub, except those
// that were deleted here, and those that another machine has claimed. It reads the hub's rows, not its lines, and
// leaves out rows that it cannot read; it counts those that are sealed for others. newest is the revision of the newest
// row.
func Elsewhere(
	ctx context.Context, h *hub.Hub, c *catalog.Catalog, ships func(directory string) bool,
) (found *catalog.Elsewhere, newest hub.Revision, err error) {
	var entries []*catalog.Entry
	sealed := 0
	teams, deleted := map[string]*local{}, NewDeleted(c)
	err = h.Rows(ctx, "", func(r hub.Row) {
		newest = max(newest, r.Revision)
		isSealed := errors.As(r.Err, new(*hub.SealedError))
		if !isSealed && (r.Err != nil || r.Head.Seq == 0) || r.Purged || !ships(r.Session.Team) {
			return
		}
		team := teams[r.Session.Team]
		if team == nil {
			team = &local{Dir: c.At(filepath.Join(c.Root(), r.Session.Team)), deleted: deleted}
			teams[r.Session.Team] = team
			team.failed = team.read(ctx)
		}
		if isSealed {
			if gone, err := deleted.Has(ctx, r.Session); !team.here[r.Session.ID] && !gone && err == nil {
				sealed++
			}
			return
		}
		if e := team.entry(ctx, r); e != nil {
			entries = append(entries, e)
		}
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, 0, err
	}
	found = catalog.NewElsewhere(entries)
	found.Sealed = sealed
	return found, newest, nil
}

// local is what is known of the sessions of a team without decoding their rows.
type local struct {
	*catalog.Dir
	here    map[string]bool // by id
	failed  error           // the directory cannot be read
	deleted *Deleted
}

func (l *local) read(ctx context.Context) error {
	l.here = map[string]bool{}
	infos, err := l.Journals().List(ctx)
	for _, info := range infos {
		l.here[info.ID] = info.Size > 0 || info.Err != nil // an empty journal is no session
	}
	return err
}

// entry returns the entry of a session; nil: it is here, and no other machine writes it, or it was deleted.
func (l *local) entry(ctx context.Context, r hub.Row) *catalog.Entry {
	id, here, claimedBy := r.Session.ID, l.here[r.Session.ID], ""
	if r.Claim != nil && !r.Claim.Released && !(Replica{Dir: l.Dir, ID: id}).Mark().Has(r.Claim) {
		claimedBy = r.Claim.Host
	}
	if here && claimedBy == "" || l.failed != nil {
		return nil
	}
	if deleted, err := l.deleted.Has(ctx, r.Session); !here && (deleted || err != nil) {
		return nil
	}
	row := DecodeRow(r)
	return l.RemoteEntry(id, row.TeamID, projection.Row{
		Title: row.Title, Preview: row.Preview, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		MessageCount: row.Messages, Ended: row.Ended,
	}, r.Head.Seq, here, claimedBy)
}

package catalog

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Deleted returns the ids of the sessions that were deleted: those in the trash, and those that were purged
// from it, as far as retention.jsonl records them.
func (d *Dir) Deleted(ctx context.Context) (ids []string, err error) {
	trashed, err := trash.Of(d.journals).List()
	if err != nil {
		return nil, err
	}
	for _, item := range trashed {
		ids = append(ids, item.ID)
	}
	r, err := d.journals.Reader(retentionID, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return ids, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for e, err := range r.Scan() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if p, _ := projection.Decode(e); p != nil {
			if purged, ok := p.(projection.SessionPurged); ok {
				ids = append(ids, purged.SessionID)
			}
		}
	}
	return ids, nil
}

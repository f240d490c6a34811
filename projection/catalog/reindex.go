package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Reindex rebuilds the index and the checkpoints from the journals, and returns
// the sessions, the most recently updated first. From the old index it keeps only
// which journals lost events, because the journals do not record it. The error
// wraps journal.ErrLocked if another process is writing the index.
func (d *Dir) Reindex(ctx context.Context) ([]Session, error) {
	infos, err := d.journals.List(ctx)
	if err != nil {
		return nil, err
	}
	known := d.readIndex()
	if len(infos) == 0 && len(known.lines) == 0 {
		return nil, nil
	}
	rows := make([]row, len(infos))
	failed := make([]error, len(infos))
	all := make([]int, len(infos))
	for i := range infos {
		all[i] = i
	}
	d.foldEach(ctx, all, func(i int) int64 {
		rows[i], failed[i] = d.rebuild(ctx, infos[i], known.row(infos[i].ID))
		return 0
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var entries []*Entry
	for i := range rows {
		if failed[i] != nil {
			return nil, failed[i]
		}
		if !rows[i].empty() {
			entries = append(entries, d.entryOf(&rows[i]))
		}
	}
	if err := d.writeIndex(entries); err != nil {
		return nil, err
	}
	slices.SortFunc(entries, newestFirst)
	sessions := make([]Session, len(entries))
	for i, e := range entries {
		sessions[i] = e.Session()
	}
	return sessions, nil
}

// rebuild folds a journal from its beginning, replaces its checkpoint and
// returns its row.
func (d *Dir) rebuild(ctx context.Context, info journal.Info, earlier row) (row, error) {
	d.removeCheckpoint(info.ID)
	if info.Err != nil {
		return damagedRow(info, &projection.State{}, info.Err), nil
	}
	state, loaded, err := foldFrom(ctx, d.reader(info.ID), &projection.State{}, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return row{}, nil // deleted after it was listed
	}
	if err != nil {
		return damagedRow(info, state, err), nil
	}
	r := newRow(info, state, loaded.At)
	r.noteLost(earlier)
	if r.LastSeq == 0 {
		return r, nil
	}
	// Crash here leaves no checkpoint: the journal is folded from its beginning.
	return r, d.WriteCheckpoint(info.ID, state, loaded.At)
}

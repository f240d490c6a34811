package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Reindex makes the index and the checkpoints of the team anew, from the journals
// alone, and returns the sessions, the newest first. Only what the old index knows
// of events that a file has no more is kept, which no journal tells. While somebody
// else writes the index the error is a journal.ErrLocked.
func (t *Dir) Reindex() ([]Session, error) {
	infos, err := t.journals.List()
	if err != nil || len(infos) == 0 {
		return nil, err
	}
	known := t.readIndex()
	rows := make([]row, len(infos))
	all := make([]int, len(infos))
	for i := range infos {
		all[i] = i
	}
	failed := make([]error, len(infos))
	t.fold(all, func(i int) int64 {
		rows[i], failed[i] = t.reindexed(infos[i], known.row(infos[i].ID))
		return 0
	})
	var listed []*Entry
	for i := range rows {
		if failed[i] != nil {
			return nil, failed[i]
		}
		if !rows[i].empty() {
			listed = append(listed, t.listed(&rows[i]))
		}
	}
	if err := t.writeIndex(listed); err != nil {
		return nil, err
	}
	slices.SortFunc(listed, newer)
	return Sessions(listed), nil
}

// reindexed is the row of a journal, of which the checkpoint is made anew.
func (t *Dir) reindexed(info journal.Info, earlier row) (row, error) {
	t.dropCheckpoint(info.ID)
	if info.Err != nil {
		return damagedRow(info, &projection.State{}, info.Err), nil
	}
	state, loaded, err := t.foldFrom(context.TODO(), info.ID, &projection.State{}, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return row{}, nil // deleted since
	}
	if err != nil {
		return damagedRow(info, state, err), nil
	}
	r := newRow(info, state, loaded.At)
	r.remember(earlier)
	if r.LastSeq == 0 {
		return r, nil
	}
	// Crash here leaves no checkpoint: the journal is folded from its beginning.
	return r, t.WriteCheckpoint(info.ID, state, loaded.At)
}

package maintain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A dropper records in the oldest sessions that the contents of their captures are removed, so that a sweep removes
// them.
type dropper struct {
	a      *app.App
	marker *marker
	dryRun bool

	limit   int64 // bytes of all stores
	dropped int   // sessions
}

// run drops the contents of the sessions that have been idle for longest, if all contents exceed the limit. What the
// others need is then at most half of it: a sweep leaves packs of which half is needed.
func (d *dropper) run(ctx context.Context) error {
	config, err := d.a.Config()
	if err != nil {
		return err
	}
	d.limit = config.FileLimits().Stores
	if stored, err := workspace.StoredBytes(d.a.Home); err != nil || stored <= d.limit {
		return err
	}
	if err := d.marker.mark(ctx); err != nil {
		return err
	}
	if over, err := d.isOver(); err != nil || !over {
		return err
	}
	all, err := d.a.Catalog.List(ctx, catalog.Query{})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all.Sessions, func(a, b catalog.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	var idle []catalog.Session // the newest first
	for _, s := range all.Sessions {
		if d.isIdle(s) {
			idle = append(idle, s)
		}
	}
	oldest, err := d.oldest(idle)
	if err != nil {
		return err
	}
	for _, s := range oldest {
		if err := d.drop(ctx, s); err != nil && !catalog.Busy(err) {
			return err
		}
	}
	return nil
}

// isOver reports whether all contents exceed the limit; in a dry run, those that a session needs.
func (d *dropper) isOver() (bool, error) {
	if !d.dryRun {
		stored, err := workspace.StoredBytes(d.a.Home)
		return stored > d.limit, err
	}
	needed, err := workspace.NewMeter(d.a.Home).Add(d.marker.trees())
	return needed > d.limit, err
}

// isIdle reports whether a session has captures that may be removed: no process writes it, and no restore of it was
// interrupted.
func (d *dropper) isIdle(s catalog.Session) bool {
	j := d.journalOf(s)
	return j != nil && len(j.trees) > 0 && !j.unfinished &&
		d.a.Catalog.At(s.Dir()).Journals().Writer(s.ID) == (journal.Holder{})
}

// journalOf returns the marked journal of a session; nil: it has none.
func (d *dropper) journalOf(s catalog.Session) *markedJournal {
	return d.marker.journals[s.Key()]
}

// oldest returns those of the idle sessions whose contents are over half of the limit, after those of other sessions
// and of newer ones.
func (d *dropper) oldest(idle []catalog.Session) ([]catalog.Session, error) {
	meter := workspace.NewMeter(d.a.Home)
	var needed int64
	add := func(j *markedJournal) error {
		n, err := meter.Add(j.trees)
		needed += n
		return err
	}
	mayGo := map[*markedJournal]bool{}
	for _, s := range idle {
		mayGo[d.journalOf(s)] = true
	}
	for _, j := range d.marker.journals {
		if !mayGo[j] {
			if err := add(j); err != nil {
				return nil, err
			}
		}
	}
	for i, s := range idle {
		if err := add(d.journalOf(s)); err != nil {
			return nil, err
		}
		if needed > d.limit/2 {
			return idle[i:], nil
		}
	}
	return nil, nil
}

// drop records that the contents of a session are removed. An archived session is unarchived.
func (d *dropper) drop(ctx context.Context, s catalog.Session) error {
	why := fmt.Sprintf("all captured files took more than %s (files.maxStored)", app.Bytes(uint64(d.limit)))
	var records []journal.Record
	for dir, trees := range d.journalOf(s).trees {
		for part := range slices.Chunk(trees, projection.MaxDroppedRoots) {
			p := projection.FilesDropped{Dir: dir, Why: why}
			for _, tree := range part {
				p.Roots = append(p.Roots, tree.String())
			}
			records = append(records, projection.Record(time.Now(), p))
		}
	}
	if !d.dryRun {
		dir := d.a.Catalog.At(s.Dir())
		problem, err := d.a.Remote.Change(ctx, dir, s.ID, func() error { return dir.Append(ctx, s.ID, records...) })
		d.a.ReportHub(problem)
		if err != nil {
			return err
		}
	}
	d.dropped++
	return nil
}

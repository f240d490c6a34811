package maintain

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// sweepFiles removes the captured contents of files that no session needs, archived ones and those in the trash
// included. It reports how many bytes that frees, or why nothing is removed.
func sweepFiles(ctx context.Context, a *app.App) { sweepMarked(ctx, a, newMarker(a.Catalog)) }

func sweepMarked(ctx context.Context, a *app.App, m *marker) {
	freed, err := workspace.Sweep(a.Home, func() (map[string][]objects.Hash, error) {
		err := m.mark(ctx)
		return m.trees(), err
	})
	if err != nil {
		a.Notice(notSweptText(err))
	}
	if freed > 0 {
		a.Notice(sweptText(freed))
	}
}

// boundFiles is sweepFiles that then removes the contents of the oldest sessions if all contents exceed the limit. In a
// dry run it only reports that.
func boundFiles(ctx context.Context, a *app.App, dryRun bool) {
	m := newMarker(a.Catalog)
	if !dryRun {
		sweepMarked(ctx, a, m)
	}
	d := dropper{a: a, marker: m, dryRun: dryRun}
	err := d.run(ctx)
	if d.dropped > 0 {
		a.Notice(droppedText(d.dropped, d.limit, dryRun))
	}
	if d.dropped > 0 && !dryRun {
		sweepMarked(ctx, a, m)
	}
	over := false
	if err == nil && !dryRun {
		over, err = d.isOver()
	}
	if over {
		a.Notice(overLimitText(d.limit))
	}
	if err != nil {
		a.Notice(notSweptText(err))
	}
}

// notSweptText is for contents that were not removed.
func notSweptText(err error) string {
	return fmt.Sprintf("Captured files that no session needs were not removed: %s", tty.SafeLine(err.Error()))
}

func sweptText(freed int64) string {
	return fmt.Sprintf("%s of captured files freed.", app.Count(int(freed), "byte"))
}

// droppedText is for sessions whose contents are removed.
func droppedText(sessions int, limit int64, dryRun bool) string {
	verb := "were"
	if dryRun {
		verb = "would be"
	}
	return fmt.Sprintf("The captured files of %s %s removed, the oldest first: all take more than %s "+
		"(files.maxStored).", app.Count(sessions, "session"), verb, app.Bytes(uint64(limit)))
}

// overLimitText is for contents that exceed the limit and cannot be removed.
func overLimitText(limit int64) string {
	return fmt.Sprintf("Captured files still take more than %s (files.maxStored): they are of sessions in use or in "+
		"the trash.\nEmpty the trash: agent-chatter sessions clean --trash", app.Bytes(uint64(limit)))
}

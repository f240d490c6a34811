package maintain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Clean is the command that moves old sessions to the trash and empties it.
type Clean struct {
	OlderThan app.Days `help:"Minimum time idle, or in the trash." default:"30d" placeholder:"D"`
	Keep      int      `help:"Newest sessions of a team to keep." default:"0" placeholder:"N"`
	DryRun    bool     `help:"Print the changes without making them."`
	Output    string   `help:"The output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (Clean) Help() string {
	return `Examples:
  agent-chatter sessions clean --older-than 7d --dry-run
  agent-chatter sessions clean --older-than 90d --keep 20`
}

// cleanResult is what clean prints for a session.
type cleanResult struct {
	ID     string `json:"id"`
	Action string `json:"action"` // trashed, deleted or skipped
	Bytes  int64  `json:"bytes"`
}

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (cmd *Clean) Writes() bool { return !cmd.DryRun }

// Run implements the command. It empties the trash of a team before it moves sessions
// there, so that no session is moved and deleted in one run.
func (cmd *Clean) Run(a *app.App) error {
	if cmd.Keep < 0 {
		return app.UsageError("--keep takes a number of sessions.")
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	passes := retentionPasses{}
	defer passes.close(a)
	var failures []error
	for _, t := range teams {
		pass := passes.of(t)
		err := cmd.emptyTrash(ctx, a, t, pass)
		if err == nil {
			err = cmd.trashOld(ctx, a, t, pass)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// emptyTrash deletes the sessions that have been in the trash of a team for
// OlderThan. If that time is unknown, it is counted from now on.
func (cmd *Clean) emptyTrash(ctx context.Context, a *app.App, t *catalog.Dir, pass *catalog.RetentionPass) error {
	trashed, err := t.Journals().ListTrash()
	if err != nil {
		return err
	}
	minAge := time.Duration(cmd.OlderThan)
	var old []journal.Trashed
	for _, item := range trashed {
		unknown := item.Since.IsZero()
		switch {
		case time.Since(item.Since) >= minAge && (!unknown || minAge == 0):
			old = append(old, item)
		case unknown && !cmd.DryRun:
			a.Notice(undatedText(item.ID))
			if err := t.Journals().RecordTrashTime(item.ID); err != nil {
				return err
			}
		}
	}
	deleted := func(item journal.Trashed) error {
		return cmd.print(a, cleanResult{item.ID, "deleted", item.Bytes})
	}
	if !cmd.DryRun {
		return pass.Purge(ctx, old, "in the trash for "+catalog.FormatDays(minAge), deleted)
	}
	for _, item := range old {
		if err := deleted(item); err != nil {
			return err
		}
	}
	return nil
}

// trashOld moves the old sessions of a team to the trash.
func (cmd *Clean) trashOld(ctx context.Context, a *app.App, t *catalog.Dir, pass *catalog.RetentionPass) error {
	list, err := t.List(ctx, catalog.Query{})
	if err != nil {
		return err
	}
	policy := catalog.Policy{
		Keep: cmd.Keep, DeleteAfter: max(1, time.Duration(cmd.OlderThan)), ArchiveAfter: math.MaxInt64,
	}
	now := time.Now()
	for rank, s := range list.Sessions {
		if policy.Action(s, rank, now) != catalog.Trash {
			continue
		}
		result := cleanResult{s.ID, "trashed", s.Bytes}
		if cmd.DryRun {
			if t.Journals().Writer(s.ID) != (journal.Holder{}) {
				result.Action = "skipped"
			}
		} else if err := pass.Trash(ctx, s, policy.Reason(catalog.Trash)); catalog.Busy(err) {
			result.Action = "skipped"
		} else if err != nil {
			return err
		}
		if err := cmd.print(a, result); err != nil {
			return err
		}
	}
	return nil
}

func (cmd *Clean) print(a *app.App, r cleanResult) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, r)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s  %d bytes\n", r.ID, r.Action, r.Bytes)
	return err
}

// undatedText is for a session in the trash whose time there is unknown.
func undatedText(id string) string {
	return fmt.Sprintf("It is unknown since when session %s has been in the trash. The time starts now.", id)
}

package maintain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/config"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Clean is the command that moves old sessions to the trash, or empties it.
type Clean struct {
	OlderThan *config.Days `help:"Minimum idle time (--trash: time in the trash)." placeholder:"D"`
	Keep      *int         `help:"Newest sessions of a team to keep." placeholder:"N"`
	Trash     bool         `help:"Delete the sessions in the trash for good."`
	DryRun    bool         `help:"Print the changes without making them."`
	Output    string       `help:"Output format: ${enum}." enum:"text,json" default:"text"`

	done  int   // sessions
	bytes int64 // of these
}

// Help shows examples.
func (Clean) Help() string {
	return `Examples:
  agent-chatter sessions clean --older-than 7d --dry-run
  agent-chatter sessions clean --older-than 90d --keep 20
  agent-chatter sessions clean --trash`
}

// cleanResult is what clean prints for a session.
type cleanResult struct {
	ID     string `json:"id"`
	Action string `json:"action"` // trashed, deleted or skipped
	Bytes  int64  `json:"bytes"`
}

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (cmd *Clean) Writes() bool { return !cmd.DryRun }

// check rejects flags that select nothing or contradict each other.
func (cmd *Clean) check() error {
	switch {
	case cmd.Trash && cmd.Keep != nil:
		return app.UsageError("--keep applies to sessions outside the trash: it cannot be combined with --trash.")
	case cmd.Keep != nil && *cmd.Keep < 0:
		return app.UsageError("--keep takes a number of sessions.")
	case !cmd.Trash && cmd.OlderThan == nil && cmd.Keep == nil:
		return app.Exit(app.ExitUsage, noCriterionText())
	}
	return nil
}

// Run implements the command.
func (cmd *Clean) Run(a *app.App) error {
	if err := cmd.check(); err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	passes := retentionPasses{}
	if !cmd.DryRun {
		defer passes.close(a)
	}
	var failures []error
	for _, t := range teams {
		pass := passes.of(t)
		clean := cmd.trashOld
		if cmd.Trash {
			clean = cmd.emptyTrash
		}
		err := clean(ctx, a, t, pass)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failures = append(failures, err)
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	a.Notice(cleanedText(cmd.done, cmd.bytes, cmd.Trash, cmd.DryRun))
	return nil
}

// age returns the time of --older-than; 0 if it is missing.
func (cmd *Clean) age() time.Duration {
	if cmd.OlderThan == nil {
		return 0
	}
	return time.Duration(*cmd.OlderThan)
}

// emptyTrash deletes the sessions that have been in the trash of a team for at least
// OlderThan, or all if that is 0 or unset. If it is set, a session whose time in the trash
// is unknown stays, and its time starts now, except in a dry run.
func (cmd *Clean) emptyTrash(ctx context.Context, a *app.App, t *catalog.Dir, pass *catalog.RetentionPass) error {
	trashed, err := t.Journals().ListTrash()
	if err != nil {
		return err
	}
	minAge := cmd.age()
	var old []journal.Trashed
	for _, item := range trashed {
		unknown := item.Since.IsZero()
		switch {
		case minAge == 0, !unknown && time.Since(item.Since) >= minAge:
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
		reason := "the trash was emptied"
		if minAge > 0 {
			reason = "in the trash for " + catalog.FormatDays(minAge)
		}
		return pass.Purge(ctx, old, reason, deleted)
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
	// DeleteAfter 0 would be never, ArchiveAfter 0 at once.
	policy := catalog.Policy{DeleteAfter: max(1, cmd.age()), ArchiveAfter: math.MaxInt64}
	if cmd.Keep != nil {
		policy.Keep = *cmd.Keep
	}
	reason := policy.Reason(catalog.Trash)
	if cmd.age() == 0 {
		reason = fmt.Sprintf("not among the newest %d", policy.Keep)
	}
	now := time.Now()
	for rank, s := range list.Sessions {
		result := cleanResult{s.ID, "trashed", s.Bytes}
		if s.ReadErr != nil { // its age is unknown
			result.Action = "skipped"
		} else if policy.Action(s, rank, now) != catalog.Trash {
			continue
		} else if cmd.DryRun {
			if t.Journals().Writer(s.ID) != (journal.Holder{}) {
				result.Action = "skipped"
			}
		} else if err := pass.Trash(ctx, s, reason); catalog.Busy(err) {
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
	if r.Action != "skipped" {
		cmd.done++
		cmd.bytes += r.Bytes
	}
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, r)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s  %d bytes\n", r.ID, r.Action, r.Bytes)
	return err
}

func noCriterionText() app.Message {
	return app.Text("Specify what to clean: --older-than, --keep or --trash.").With(
		app.To("list the sessions that are idle for 30 days", "sessions", "clean", "--older-than", "30d", "--dry-run"),
		app.To("empty the trash", "sessions", "clean", "--trash"))
}

// cleanedText is the outcome.
func cleanedText(sessions int, bytes int64, fromTrash, dryRun bool) string {
	what := "moved to the trash"
	if fromTrash {
		what = "deleted from the trash"
	}
	if dryRun {
		what = "would be " + what
	}
	return fmt.Sprintf("%s %s, %d bytes.", app.Count(sessions, "session"), what, bytes)
}

// undatedText is for a session in the trash whose time there is unknown.
func undatedText(id string) string {
	return fmt.Sprintf("When session %s was deleted is unknown. Its time in the trash starts now.", id)
}

package maintain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Clean is the command that moves old sessions to the trash, or empties it.
type Clean struct {
	OlderThan *home.Days `help:"Minimum idle time (--trash: time in the trash)." placeholder:"D"`
	Keep      *int       `help:"Newest sessions of a team to keep." placeholder:"N"`
	Trash     bool       `help:"Delete the sessions in the trash for good."`
	Worktrees bool       `help:"Remove worktrees that are merged or have no session."`
	DryRun    bool       `help:"Print the changes without making them."`
	Yes       bool       `short:"y" help:"Do not ask (--worktrees)."`
	Output    string     `help:"Output format: ${enum}." enum:"text,json" default:"text"`

	done, skipped int   // sessions
	bytes         int64 // of those that are done
	list          *view.Findings
}

// Help shows examples.
func (Clean) Help() string {
	return `Examples:
  agent-chatter sessions clean --older-than 7d --dry-run
  agent-chatter sessions clean --older-than 90d --keep 20
  agent-chatter sessions clean --trash
  agent-chatter sessions clean --worktrees`
}

// cleanResult is what clean prints for a session.
type cleanResult struct {
	ID     string `json:"id"`
	Action string `json:"action"` // trashed, deleted or skipped
	Bytes  int64  `json:"bytes"`
	// AgentSessions remain in the agents' programs when the session is deleted.
	AgentSessions []host.AgentSession `json:"agentSessions,omitempty"`

	skipReason string // set if Action is skipped
	skipHelp   []app.Help
}

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (cmd *Clean) Writes() bool { return !cmd.DryRun }

// check rejects flags that select nothing or contradict each other.
func (cmd *Clean) check() error {
	switch {
	case cmd.Trash && cmd.Keep != nil:
		return app.UsageError("--keep applies to sessions outside the trash: it cannot be combined with --trash.")
	case cmd.Worktrees && (cmd.Trash || cmd.Keep != nil || cmd.OlderThan != nil):
		return app.UsageError("--worktrees cannot be combined with --trash, --keep and --older-than.")
	case cmd.Keep != nil && *cmd.Keep < 0:
		return app.UsageError("--keep takes a number of sessions.")
	case !cmd.Trash && !cmd.Worktrees && cmd.OlderThan == nil && cmd.Keep == nil:
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
	if cmd.Worktrees {
		return filechanges.CleanWorktrees{DryRun: cmd.DryRun, Yes: cmd.Yes, JSON: cmd.Output == "json"}.Run(ctx, a)
	}
	cmd.list = view.FindingsOnTerminal(a, cmd.Output)
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
	if cmd.Trash && !cmd.DryRun {
		sweepFiles(ctx, a)
	}
	if cmd.list != nil {
		if !cmd.DryRun {
			passes.close(a)
		}
		return cmd.list.End(cleanedSumText(cmd), nil)
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
	trashed, err := trash.Of(t.Journals()).List()
	if err != nil {
		return err
	}
	minAge := cmd.age()
	var old []trash.Item
	for _, item := range trashed {
		unknown := item.Since.IsZero()
		switch {
		case minAge == 0, !unknown && time.Since(item.Since) >= minAge:
			old = append(old, item)
		case unknown && !cmd.DryRun:
			a.Notice(undatedText(item.ID))
			if err := trash.Of(t.Journals()).RecordTime(item.ID); err != nil {
				return err
			}
		}
	}
	remain := map[string][]host.AgentSession{}
	for _, item := range old {
		if r, err := trash.Of(t.Journals()).Reader(item.ID); err == nil {
			remain[item.ID] = host.AgentSessions(ctx, a, r)
			_ = r.Close() // nothing was written
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	deleted := func(item trash.Item) error {
		return cmd.print(a, cleanResult{
			ID: item.ID, Action: "deleted", Bytes: item.Bytes, AgentSessions: remain[item.ID],
		})
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
		result := cleanResult{ID: s.ID, Action: "trashed", Bytes: s.Bytes}
		if s.ReadErr != nil { // its age is unknown
			result.skip(tty.SafeLine(s.ReadErr.Error()), app.To("diagnose this", "doctor"))
		} else if policy.Action(s, rank, now) != catalog.Trash {
			continue
		} else if cmd.DryRun {
			if writer := t.Journals().Writer(s.ID); writer != (journal.Holder{}) {
				result.skip(inUseText(writer))
			}
		} else if err := pass.Trash(ctx, s, reason); catalog.Busy(err) {
			result.skip(busyText(err))
		} else if err != nil {
			return err
		}
		if err := cmd.print(a, result); err != nil {
			return err
		}
	}
	return nil
}

func (r *cleanResult) skip(reason string, help ...app.Help) {
	r.Action, r.skipReason, r.skipHelp = "skipped", reason, help
}

func (cmd *Clean) print(a *app.App, r cleanResult) error {
	if r.Action == "skipped" {
		cmd.skipped++
	} else {
		cmd.done++
		cmd.bytes += r.Bytes
	}
	switch {
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, r)
	case cmd.list != nil:
		return cmd.list.Add(r.finding(cmd.DryRun))
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s  %d bytes\n", r.ID, r.Action, r.Bytes)
	if len(r.AgentSessions) > 0 {
		a.Notice(host.AgentSessionsText(r.AgentSessions))
	}
	return err
}

// finding returns the result as a terminal shows it.
func (r cleanResult) finding(dryRun bool) app.Finding {
	what := r.ID + "  " + actionText(r.Action, 0, dryRun) + ", " + app.Bytes(uint64(r.Bytes))
	switch {
	case r.Action == "skipped":
		return app.Note(r.ID+"  skipped: "+r.skipReason, "", r.skipHelp...)
	case len(r.AgentSessions) > 0:
		return app.Note(what, host.AgentSessionsText(r.AgentSessions))
	case dryRun:
		return app.Note(what, "")
	}
	return app.Fine(what)
}

func noCriterionText() app.Message {
	return app.Text("Specify what to clean: --older-than, --keep, --trash or --worktrees.").With(
		app.To("list the sessions that are idle for 30 days", "sessions", "clean", "--older-than", "30d", "--dry-run"),
		app.To("empty the trash", "sessions", "clean", "--trash"))
}

// cleanedText is the outcome.
func cleanedText(sessions int, bytes int64, fromTrash, dryRun bool) string {
	return fmt.Sprintf("%s, %d bytes.", movedText(sessions, fromTrash, dryRun), bytes)
}

func movedText(sessions int, fromTrash, dryRun bool) string {
	what := "moved to the trash"
	if fromTrash {
		what = "deleted from the trash"
	}
	if dryRun {
		what = "would be " + what
	}
	return app.Count(sessions, "session") + " " + what
}

// cleanedSumText is the last line on a terminal.
func cleanedSumText(cmd *Clean) string {
	if cmd.done+cmd.skipped == 0 {
		return "There is nothing to clean."
	}
	text := movedText(cmd.done, cmd.Trash, cmd.DryRun) + ", " + app.Bytes(uint64(cmd.bytes))
	if cmd.skipped > 0 {
		text += fmt.Sprintf("; %d skipped", cmd.skipped)
	}
	if cmd.DryRun {
		text += ". Nothing was changed"
	}
	return text + "."
}

// undatedText is for a session in the trash whose time there is unknown.
func undatedText(id string) string {
	return fmt.Sprintf("When session %s was deleted is unknown. Its time in the trash starts now.", id)
}

package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func undatedText(id string) string {
	return fmt.Sprintf("Since when session %s is in the trash is not known: it counts from now on.", id)
}

type Restore struct {
	ID string `arg:"" complete:"trashed" help:"The session: its id, or a beginning or end of it."`
}

// Help shows examples first.
func (Restore) Help() string {
	return `Examples:
  agent-chatter sessions restore 7QN3`
}

// Run implements the command.
func (cmd *Restore) Run(a *app.App) error {
	team, id, err := a.FindTrashed(cmd.ID)
	if err != nil {
		return err
	}
	err = team.Restore(context.Background(), id)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("there is a session %s already", id)
	}
	if err != nil {
		return err
	}
	a.Notice(fmt.Sprintf("Session %s is back.", id))
	return nil
}

type Clean struct {
	OlderThan app.Days `help:"What has been idle, or in the trash, for that long." default:"30d" placeholder:"D"`
	Keep      int      `help:"Never touch the newest N of a team." default:"0" placeholder:"N"`
	DryRun    bool     `help:"Say what would be done, and do nothing."`
	Output    string   `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Clean) Help() string {
	return `Examples:
  agent-chatter sessions clean --older-than 7d --dry-run
  agent-chatter sessions clean --older-than 90d --keep 20`
}

// cleaned is what clean says of one session.
type cleaned struct {
	ID     string `json:"id"`
	Action string `json:"action"` // trashed, deleted, or skipped
	Bytes  int64  `json:"bytes"`
}

// Run implements the command. What is in the trash goes first, so that nothing
// passes through it at once.
func (cmd *Clean) Run(a *app.App) error {
	if cmd.Keep < 0 || cmd.OlderThan < 0 {
		return app.UsageError("--keep takes a number of sessions.")
	}
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	p := passes{}
	defer p.close(a)
	var failures []error
	for _, t := range teams {
		if err := cmd.team(a, t, p.of(t)); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

func (cmd *Clean) team(a *app.App, t *catalog.Dir, p *catalog.RetentionPass) error {
	if err := cmd.empty(a, t, p); err != nil {
		return err
	}
	return cmd.trash(a, t, p)
}

// empty removes from a team's trash what has been there long enough. Where
// nobody knows since when, that is counted from now on.
func (cmd *Clean) empty(a *app.App, t *catalog.Dir, p *catalog.RetentionPass) error {
	trashed, err := t.Journals().ListTrash()
	if err != nil {
		return err
	}
	var old []journal.Trashed
	for _, item := range trashed {
		switch {
		case time.Now().Sub(item.Since) >= time.Duration(cmd.OlderThan) && (!item.Since.IsZero() || cmd.OlderThan == 0):
			old = append(old, item)
		case item.Since.IsZero() && !cmd.DryRun:
			a.Notice(undatedText(item.ID))
			if err := t.Journals().RecordTrashTime(item.ID); err != nil {
				return err
			}
		}
	}
	deleted := func(item journal.Trashed) error { return cmd.print(a, cleaned{item.ID, "deleted", item.Bytes}) }
	if !cmd.DryRun {
		return p.Purge(context.Background(), old, "in the trash for "+catalog.FormatDays(time.Duration(cmd.OlderThan)), deleted)
	}
	for _, item := range old {
		if err := deleted(item); err != nil {
			return err
		}
	}
	return nil
}

// trash moves a team's old sessions to the trash.
func (cmd *Clean) trash(a *app.App, t *catalog.Dir, p *catalog.RetentionPass) error {
	list, err := t.List(context.Background(), catalog.Query{})
	if err != nil {
		return err
	}
	policy := catalog.Policy{Keep: cmd.Keep, DeleteAfter: max(1, time.Duration(cmd.OlderThan)), ArchiveAfter: 1<<63 - 1}
	at := time.Now()
	for rank, s := range list.Sessions {
		if policy.Action(s, rank, at) != catalog.Trash {
			continue
		}
		done := cleaned{s.ID, "trashed", s.Bytes}
		switch {
		case cmd.DryRun:
			if t.Journals().Writer(s.ID) != (journal.Holder{}) {
				done.Action = "skipped"
			}
		default:
			if err := p.Trash(context.Background(), s, policy.Reason(catalog.Trash)); catalog.Busy(err) {
				done.Action = "skipped"
			} else if err != nil {
				return err
			}
		}
		if err := cmd.print(a, done); err != nil {
			return err
		}
	}
	return nil
}

func (cmd *Clean) print(a *app.App, c cleaned) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, c)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s  %d bytes\n", c.ID, c.Action, c.Bytes)
	return err
}

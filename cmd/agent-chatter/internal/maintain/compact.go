package maintain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type Compact struct {
	ID           []string  `arg:"" optional:"" help:"The sessions; without any, all."`
	DryRun       bool      `help:"Say what would be done, and do nothing."`
	Keep         *int      `help:"Never touch the newest N of a team (10, unless configured)." placeholder:"N"`
	ArchiveAfter *app.Days `help:"Archive what has been idle for that long (30d, unless configured)." placeholder:"D"`
	DeleteAfter  *app.Days `help:"Move to the trash what has been idle for that long (0, which is never, unless configured)." placeholder:"D"`
	Output       string    `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Compact) Help() string {
	return `Examples:
  agent-chatter compact --dry-run
  agent-chatter compact --keep 5 --archive-after 7d`
}

// compacted is what compact says of one session.
type compacted struct {
	ID            string `json:"id"`
	Action        string `json:"action"` // checkpointed, archived, trashed, kept or skipped
	CheckpointSeq uint64 `json:"checkpointSeq"`
	BytesBefore   int64  `json:"bytesBefore"`
	BytesAfter    int64  `json:"bytesAfter"`
	why           string
}

// Run implements the command.
func (cmd *Compact) Run(a *app.App) error {
	if cmd.Keep != nil && *cmd.Keep < 0 {
		return app.UsageError("--keep takes a number of sessions.")
	}
	policy, err := cmd.policy(a)
	if err != nil {
		return err
	}
	c := a.Catalog
	list, err := c.List(context.Background(), catalog.Query{})
	if err != nil {
		return err
	}
	wanted := list.Sessions
	if len(cmd.ID) > 0 {
		if wanted, err = a.Named(context.Background(), cmd.ID, a.Find); err != nil {
			return err
		}
	}
	p := passes{}
	freed, err := cmd.all(a, wanted, func(s catalog.Session, action catalog.Action) (compacted, error) {
		t := c.At(s.Dir())
		return cmd.compact(t, p.of(t), s, action, policy.Reason(action))
	}, policy, catalog.Ranks(list.Sessions))
	p.close(a)
	if err == nil && cmd.Output == "text" {
		a.Notice(fmt.Sprintf("%s, %s freed%s", app.Count(len(wanted), "session"), app.Count(int(freed), "byte"), map[bool]string{true: " (not really: --dry-run)"}[cmd.DryRun]))
	}
	return err
}

func (cmd *Compact) all(a *app.App, wanted []catalog.Session, compact func(catalog.Session, catalog.Action) (compacted, error), policy catalog.Policy, rank map[string]int) (freed int64, err error) {
	at := time.Now()
	for _, s := range wanted {
		done, err := compact(s, policy.Action(s, rank[s.ID], at))
		if err != nil {
			return freed, err
		}
		freed += done.BytesBefore - done.BytesAfter
		if err := cmd.print(a, done); err != nil {
			return freed, err
		}
	}
	return freed, nil
}

// passes are the passes of retention over the teams of one command.
type passes map[string]*catalog.RetentionPass

func (p passes) of(t *catalog.Dir) *catalog.RetentionPass {
	dir := t.Journals().Path()
	if p[dir] == nil {
		p[dir] = t.BeginRetention()
	}
	return p[dir]
}

// close ends the passes. What could not be recorded is said; it is done all the
// same.
func (p passes) close(a *app.App) {
	for _, dir := range slices.Sorted(maps.Keys(p)) {
		if err := p[dir].Close(); err != nil {
			a.Notice(notRecordedText(err))
		}
	}
}

// policy is the configured one, with what the command line says of it.
func (cmd *Compact) policy(a *app.App) (catalog.Policy, error) {
	config, err := a.Config()
	if err != nil {
		return catalog.Policy{}, err
	}
	p := config.Policy()
	if cmd.Keep != nil {
		p.Keep = *cmd.Keep
	}
	if cmd.ArchiveAfter != nil {
		p.ArchiveAfter = time.Duration(*cmd.ArchiveAfter)
	}
	if cmd.DeleteAfter != nil {
		p.DeleteAfter = time.Duration(*cmd.DeleteAfter)
	}
	return p, nil
}

// compact does to one session what the policy asks for.
func (cmd *Compact) compact(t *catalog.Dir, p *catalog.RetentionPass, s catalog.Session, action catalog.Action, reason string) (compacted, error) {
	done := compacted{ID: s.ID, Action: "kept", BytesBefore: s.Bytes, BytesAfter: s.Bytes}
	if s.ReadErr != nil {
		done.Action, done.why = "skipped", tty.SafeLine(s.ReadErr.Error())
		return done, nil
	}
	if s.Damaged != "" || s.Newer != "" {
		done.Action, done.why = "skipped", "it is damaged, or a newer version wrote it"
		return done, nil
	}
	if writer := t.Journals().Writer(s.ID); cmd.DryRun && action != catalog.Keep && writer != (journal.Holder{}) {
		done.Action, done.why = "skipped", "it is in use by "+tty.SafeLine(writer.String())
		return done, nil
	}
	err := cmd.act(t, p, s, &done, action, reason)
	var locked *journal.LockedError
	switch {
	case errors.As(err, &locked):
		done.Action, done.why = "skipped", "it is in use by "+tty.SafeLine(locked.Holder.String())
	case catalog.Busy(err):
		done.Action, done.why = "skipped", "it was written to meanwhile"
	default:
		return done, err
	}
	return done, nil
}

func (cmd *Compact) act(t *catalog.Dir, p *catalog.RetentionPass, s catalog.Session, done *compacted, action catalog.Action, reason string) (err error) {
	switch {
	case action == catalog.Trash:
		done.Action, done.BytesAfter = "trashed", 0
		if cmd.DryRun {
			return nil
		}
		return p.Trash(context.Background(), s, reason)
	case s.Archived:
		return nil
	}
	if err := cmd.checkpoint(t, s, done); err != nil || action != catalog.Archive {
		return err
	}
	done.Action = "archived"
	if !cmd.DryRun {
		done.BytesAfter, err = p.Archive(context.Background(), s, reason)
	}
	return err
}

func (cmd *Compact) checkpoint(t *catalog.Dir, s catalog.Session, done *compacted) error {
	state, loaded, err := t.Load(context.Background(), s.ID)
	if err != nil {
		return err
	}
	done.CheckpointSeq = loaded.At.Seq
	if loaded.From == loaded.At {
		return nil // there is one already
	}
	done.Action = "checkpointed"
	if cmd.DryRun {
		return nil
	}
	return t.WriteCheckpoint(s.ID, state, loaded.At)
}

func (cmd *Compact) print(a *app.App, done compacted) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, done)
	}
	line := fmt.Sprintf("%s  %s", done.ID, done.Action)
	if done.why != "" {
		line += ": " + done.why
	}
	if done.CheckpointSeq > 0 {
		line += fmt.Sprintf("  checkpoint at %d", done.CheckpointSeq)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %d -> %d bytes\n", line, done.BytesBefore, done.BytesAfter)
	return err
}

// notRecordedText says that retention did something and could not write it down.
func notRecordedText(err error) string {
	return fmt.Sprintf("⚠️  %s\n   What is listed above is done all the same.", app.Sentence(err)) + app.Remedy(err)
}

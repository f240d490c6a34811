package maintain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Compact is the command that writes checkpoints and applies the retention policy.
type Compact struct {
	ID           []string   `arg:"" optional:"" help:"The sessions (default: all)."`
	DryRun       bool       `help:"Print the changes without making them."`
	Keep         *int       `help:"Newest sessions of a team to keep (default: configured, or 10)." placeholder:"N"`
	ArchiveAfter *home.Days `help:"Idle time before archiving (default: configured, or 30d)." placeholder:"D"`
	DeleteAfter  *home.Days `help:"Idle time before trashing; 0: never (default: configured, or 0)." placeholder:"D"`
	Output       string     `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (Compact) Help() string {
	return `Examples:
  agent-chatter compact --dry-run
  agent-chatter compact --keep 5 --archive-after 7d`
}

// compactResult is what compact prints for a session.
type compactResult struct {
	ID            string `json:"id"`
	Action        string `json:"action"` // checkpointed, archived, trashed, kept or skipped
	CheckpointSeq uint64 `json:"checkpointSeq"`
	BytesBefore   int64  `json:"bytesBefore"` // of the journal and the checkpoint
	BytesAfter    int64  `json:"bytesAfter"`
	skipReason    string // set if Action is skipped
	skipHelp      []app.Help
}

func (r *compactResult) skip(reason string, help ...app.Help) {
	r.Action, r.skipReason, r.skipHelp = "skipped", reason, help
}

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (cmd *Compact) Writes() bool { return !cmd.DryRun }

// Run implements the command.
func (cmd *Compact) Run(a *app.App) error {
	if cmd.Keep != nil && *cmd.Keep < 0 {
		return app.UsageError("--keep takes a number of sessions.")
	}
	policy, err := cmd.policy(a)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	list := view.FindingsOnTerminal(a, cmd.Output)
	all, err := a.Catalog.List(ctx, catalog.Query{})
	if err != nil {
		return err
	}
	wanted := all.Sessions
	if len(cmd.ID) > 0 {
		if wanted, err = a.Named(ctx, cmd.ID, a.Find); err != nil {
			return err
		}
	}
	passes := retentionPasses{}
	if !cmd.DryRun {
		defer passes.close(a)
	}
	ranks, now := catalog.Ranks(all.Sessions), time.Now()
	t := compacted{sessions: len(wanted)}
	for _, s := range wanted {
		dir, action := a.Catalog.At(s.Dir()), policy.Action(s, ranks[s.ID], now)
		r, err := cmd.compact(ctx, dir, passes.of(dir), s, action, policy.Reason(action))
		if err != nil {
			return err
		}
		t.add(r)
		if err := cmd.print(a, list, r); err != nil {
			return err
		}
	}
	boundFiles(ctx, a, cmd.DryRun)
	if list != nil {
		if !cmd.DryRun {
			passes.close(a)
		}
		return list.End(compactedText(t, cmd.DryRun), nil)
	}
	if cmd.Output == "text" {
		a.Notice(freedText(t.sessions, t.changed, t.freed, cmd.DryRun))
	}
	return nil
}

// compacted counts sessions and bytes.
type compacted struct {
	sessions, changed, skipped int

	freed int64 // negative if checkpoints took more
}

func (t *compacted) add(r compactResult) {
	t.freed += r.BytesBefore - r.BytesAfter
	switch r.Action {
	case "kept":
	case "skipped":
		t.skipped++
	default:
		t.changed++
	}
}

// retentionPasses are the passes of one run, by the directory of the team.
type retentionPasses map[string]*catalog.RetentionPass

func (p retentionPasses) of(t *catalog.Dir) *catalog.RetentionPass {
	dir := t.Journals().Path()
	if p[dir] == nil {
		p[dir] = t.BeginRetention()
	}
	return p[dir]
}

// close ends the passes and prints what could not be recorded. It removes temporary
// files, so a dry run does not call it. A second call has no effect.
func (p retentionPasses) close(a *app.App) {
	for _, dir := range slices.Sorted(maps.Keys(p)) {
		if err := p[dir].Close(); err != nil {
			a.Notice(notRecordedText(err))
		}
		if torn := p[dir].Torn(); torn.Bytes > 0 {
			a.Notice(retentionTornText(dir, torn))
		}
	}
	clear(p)
}

// policy returns the configured policy, overridden by the flags.
func (cmd *Compact) policy(a *app.App) (catalog.Policy, error) {
	configured, err := a.Config()
	if err != nil {
		return catalog.Policy{}, err
	}
	flags := home.Retention{Keep: cmd.Keep, ArchiveAfter: cmd.ArchiveAfter, DeleteAfter: cmd.DeleteAfter}
	return flags.Over(configured.Policy()), nil
}

// compact applies an action to a session, or skips it if it is damaged or in use.
func (cmd *Compact) compact(
	ctx context.Context, t *catalog.Dir, pass *catalog.RetentionPass,
	s catalog.Session, action catalog.Action, reason string,
) (compactResult, error) {
	before := s.Bytes + t.CheckpointSize(s.ID)
	r := compactResult{ID: s.ID, Action: "kept", BytesBefore: before, BytesAfter: before}
	switch {
	case s.ReadErr != nil:
		r.skip(tty.SafeLine(s.ReadErr.Error()), app.To("diagnose this", "doctor"))
		return r, nil
	case s.Damaged != "" || s.Newer != "":
		r.skip("it is damaged, or a newer version wrote it", app.To("find out which", "verify", s.ID))
		return r, nil
	}
	err := cmd.apply(ctx, t, pass, s, &r, action, reason)
	if catalog.Busy(err) {
		r.skip(busyText(err))
		err = nil
	}
	return r, err
}

// busyText is why a session that is catalog.Busy was skipped.
func busyText(err error) string {
	var locked *journal.LockedError
	var link *regularfile.KindError
	switch {
	case errors.As(err, &locked):
		return inUseText(locked.Holder)
	case errors.As(err, &link):
		return link.Error()
	}
	return "it was appended to during the run"
}

func (cmd *Compact) apply(
	ctx context.Context, t *catalog.Dir, pass *catalog.RetentionPass,
	s catalog.Session, r *compactResult, action catalog.Action, reason string,
) error {
	if action == catalog.Trash {
		r.Action = "trashed"
		if err := cmd.trash(ctx, t, pass, s, reason); err != nil {
			return err
		}
		r.BytesAfter = s.Bytes // in the trash
		return nil
	}
	if s.Archived {
		return nil
	}
	checkpoint, err := cmd.writeCheckpoint(ctx, t, s, r)
	if err != nil || action != catalog.Archive {
		return err
	}
	r.Action = "archived"
	size, err := cmd.archive(ctx, t, pass, s, reason)
	if err == nil {
		r.BytesAfter = size + checkpoint
	}
	return err
}

// trash moves a session to the trash. A dry run only checks that it is not locked.
func (cmd *Compact) trash(
	ctx context.Context, t *catalog.Dir, pass *catalog.RetentionPass, s catalog.Session, reason string,
) error {
	if cmd.DryRun {
		return unlocked(t, s)
	}
	return pass.Trash(ctx, s, reason)
}

// archive archives a session, and returns the size of the archive. A dry run only compresses it.
func (cmd *Compact) archive(
	ctx context.Context, t *catalog.Dir, pass *catalog.RetentionPass, s catalog.Session, reason string,
) (size int64, err error) {
	if !cmd.DryRun {
		return pass.Archive(ctx, s, reason)
	}
	if err := unlocked(t, s); err != nil {
		return 0, err
	}
	return t.Journals().ArchiveSize(ctx, s.ID, s.End.Offset)
}

// unlocked returns a *journal.LockedError if a process has the session open.
func unlocked(t *catalog.Dir, s catalog.Session) error {
	if writer := t.Journals().Writer(s.ID); writer != (journal.Holder{}) {
		return &journal.LockedError{Path: s.Path(), Holder: writer}
	}
	return nil
}

// writeCheckpoint writes a checkpoint unless the existing one is up to date. It returns the size of the checkpoint.
func (cmd *Compact) writeCheckpoint(
	ctx context.Context, t *catalog.Dir, s catalog.Session, r *compactResult,
) (size int64, err error) {
	state, loaded, err := t.Load(ctx, s.ID)
	if err != nil {
		return 0, err
	}
	r.CheckpointSeq = loaded.At.Seq
	if loaded.From == loaded.At {
		return t.CheckpointSize(s.ID), nil
	}
	r.Action = "checkpointed"
	if cmd.DryRun {
		size, err = catalog.NewCheckpointSize(state, loaded.At)
	} else if err = t.WriteCheckpoint(s.ID, state, loaded.At); err == nil {
		size = t.CheckpointSize(s.ID)
	}
	r.BytesAfter = s.Bytes + size
	return size, err
}

// print prints what changed, in JSON every session.
func (cmd *Compact) print(a *app.App, list *view.Findings, r compactResult) error {
	switch {
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, r)
	case r.Action == "kept":
		return nil
	case list != nil:
		return list.Add(r.finding(cmd.DryRun))
	}
	line := r.ID + "  " + r.Action
	if r.skipReason != "" {
		line += ": " + r.skipReason
	}
	if r.CheckpointSeq > 0 {
		line += fmt.Sprintf("  checkpoint at %d", r.CheckpointSeq)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %d -> %d bytes\n", line, r.BytesBefore, r.BytesAfter)
	return err
}

// finding returns the result as a terminal shows it.
func (r compactResult) finding(dryRun bool) app.Finding {
	what := r.ID + "  " + actionText(r.Action, r.CheckpointSeq, dryRun) + ", " + app.Bytes(uint64(r.BytesBefore))
	switch {
	case r.Action == "skipped":
		return app.Note(r.ID+"  skipped: "+r.skipReason, "", r.skipHelp...)
	}
	if r.Action != "trashed" {
		what += " → " + app.Bytes(uint64(r.BytesAfter))
	}
	if dryRun {
		return app.Note(what, "")
	}
	return app.Fine(what)
}

// actionText is what was done to a session, or would be done.
func actionText(action string, checkpoint uint64, dryRun bool) string {
	switch {
	case action == "checkpointed" && dryRun:
		return fmt.Sprintf("would get a checkpoint at event %d", checkpoint)
	case action == "checkpointed":
		return fmt.Sprintf("has a checkpoint at event %d", checkpoint)
	case action == "trashed":
		action = "moved to the trash"
	}
	if dryRun {
		return "would be " + action
	}
	return action
}

func inUseText(writer journal.Holder) string {
	return "it is locked by " + tty.SafeLine(writer.String())
}

// freedText ends a run. freed is negative if checkpoints took more than was freed.
func freedText(sessions, changed int, freed int64, dryRun bool) string {
	text := fmt.Sprintf("%s, %d changed, ", app.Count(sessions, "session"), changed)
	if dryRun && freed != 0 {
		text += "about "
	}
	if freed < 0 {
		text += app.Count(int(-freed), "byte") + " added by checkpoints"
	} else {
		text += app.Count(int(freed), "byte") + " freed"
	}
	if dryRun {
		text += " (--dry-run: nothing was changed)"
	}
	return text
}

// compactedText is the last line on a terminal.
func compactedText(t compacted, dryRun bool) string {
	switch {
	case t.sessions == 0:
		return textNoSessions
	case t.changed+t.skipped == 0:
		return app.Count(t.sessions, "session") + ", nothing to do."
	}
	text := fmt.Sprintf("%s, %d ", app.Count(t.sessions, "session"), t.changed)
	if dryRun {
		text += "would be "
	}
	text += "changed"
	if t.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.skipped)
	}
	text += ", "
	if dryRun && t.freed != 0 {
		text += "about "
	}
	if t.freed < 0 {
		text += app.Bytes(uint64(-t.freed)) + " added by checkpoints."
	} else {
		text += app.Bytes(uint64(t.freed)) + " freed."
	}
	if dryRun {
		text += " Nothing was changed."
	}
	return text
}

// retentionTornText is for the end of the retention.jsonl of a directory, which was set aside.
func retentionTornText(dir string, torn journal.Torn) string {
	return fmt.Sprintf("⚠️  %s: %s at byte %d were set aside: %s", tty.SafeLine(filepath.Join(dir,
		"retention.jsonl")), app.Count(int(torn.Bytes), "byte"), torn.Offset, tty.SafeLine(torn.Reason))
}

// notRecordedText is for changes that could not be written to retention.jsonl.
func notRecordedText(err error) string {
	text := fmt.Sprintf("⚠️  %s\n   The changes listed above were made nevertheless.", app.Sentence(err))
	return text + app.Remedy(err)
}

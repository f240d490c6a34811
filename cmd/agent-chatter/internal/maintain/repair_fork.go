package maintain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// onHub reports whether a repair of a session would renumber events that the hub has. It must not: other machines have
// them under these numbers.
func onHub(ctx context.Context, t *catalog.Dir, id string) (bool, error) {
	mark := hub.ReadMark(vfs.OS, t.Journals(), id)
	if mark.At.Seq == 0 {
		return false, nil
	}
	would, err := t.Journals().Repair(ctx, id, validEvent, true)
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil // archived
	}
	return err == nil && len(would.Dropped) > 0 && would.Dropped[0].Offset < mark.At.Offset, err
}

// repairAsFork writes a fork with the events that a repair of a session would keep. The session stays as it is.
// With dryRun it writes nothing.
func repairAsFork(ctx context.Context, a *app.App, t *catalog.Dir, id string, dryRun bool) (err error) {
	if dryRun {
		return app.Exit(app.ExitDamaged, wouldForkText(id))
	}
	tmp, err := os.MkdirTemp("", "agent-chatter-repair-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := copyFile(filepath.Join(t.Journals().Path(), id+".jsonl"), filepath.Join(tmp, id+".jsonl")); err != nil {
		return err
	}
	source := a.Catalog.At(tmp)
	if _, err := source.Journals().Repair(ctx, id, validEvent, false); err != nil {
		return err
	}
	common := uint64(0)
	for e, err := range t.Events(ctx, id) {
		if err != nil || validEvent(e) != nil {
			break
		}
		common = e.Seq
	}
	fork, created, err := sessioncopy.ForkRepaired(ctx, t, source, id, common)
	if err != nil {
		return err
	}
	if created {
		a.Log.Warn("journal repaired as a fork", "session", id, "fork", fork)
	}
	return app.Exit(app.ExitDamaged, repairedAsForkText(id, fork))
}

// copyFile copies a file to a new one that only the user can read.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		err = fmt.Errorf("%s: %w", from, err)
	}
	return errors.Join(err, out.Close())
}

// wouldForkText is for a dry run.
func wouldForkText(id string) app.Message {
	return app.Text("The hub has events of session %s after the damage: a repair would write what is valid here "+
		"to a fork, and leave the session as it is.", id).
		With(app.To("take the damaged lines from the hub", "hub", "pull", id))
}

// repairedAsForkText is for a session that stays damaged until the hub can be reached.
func repairedAsForkText(id, fork string) app.Message {
	return app.Text("The hub has events of session %s after the damage, so that it was not changed. "+
		"What is valid here is session %s.", id, fork).With(
		app.To("take the damaged lines from the hub", "hub", "pull", id),
		app.To("resume what is valid here", "chat", "--resume", fork),
	)
}

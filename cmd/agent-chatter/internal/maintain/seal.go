package maintain

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// sealResult is what repair --seal prints for a session.
type sealResult struct {
	ID     string `json:"id"`
	Action string `json:"action"` // sealed, none if every event has a sync mark, or skipped
	Reason string `json:"reason,omitempty"`
}

// seal ends journals of earlier versions, and of crashed programs, with a line that
// declares every event before it synced.
func (cmd *Repair) seal(ctx context.Context, a *app.App) error {
	sessions, err := a.Named(ctx, cmd.ID, a.FindOrOpen)
	if err != nil {
		return err
	}
	sealed, failed := 0, false
	for _, s := range sessions {
		r := cmd.sealSession(ctx, a.Catalog.At(s.Dir()), s)
		if err := ctx.Err(); err != nil {
			return err
		}
		failed = failed || r.Action == "skipped"
		if r.Action == "sealed" {
			sealed++
		}
		if err := cmd.printSeal(a, r); err != nil {
			return err
		}
	}
	if cmd.Output == "text" {
		a.Notice(sealedText(sealed, len(sessions), cmd.DryRun))
	}
	if failed {
		return app.Exit(app.ExitFailed, notSealedText())
	}
	return nil
}

func (cmd *Repair) sealSession(ctx context.Context, t *catalog.Dir, s catalog.Session) sealResult {
	r := sealResult{ID: s.ID, Action: "none"}
	changed, err := false, error(nil)
	switch {
	case s.Archived:
	case s.Newer != "":
		err = projection.ErrNewer
	case cmd.DryRun:
		changed, err = lacksSeal(ctx, t, s.ID)
	default:
		changed, err = t.Journals().Seal(ctx, s.ID)
	}
	var locked *journal.LockedError
	switch {
	case errors.As(err, &locked):
		r.Action, r.Reason = "skipped", inUseText(locked.Holder)
	case errors.Is(err, journal.ErrTorn):
		r.Action, r.Reason = "skipped", textTornEnd
	case err != nil:
		r.Action, r.Reason = "skipped", tty.SafeLine(err.Error())
	case changed:
		r.Action = "sealed"
	}
	return r
}

// lacksSeal reports whether events before the last have no sync mark.
func lacksSeal(ctx context.Context, t *catalog.Dir, id string) (bool, error) {
	r, err := t.Journals().Reader(id, journal.Position{})
	if err != nil {
		return false, err
	}
	defer r.Close()
	if err := r.CheckChain(ctx); err != nil {
		return false, err
	}
	if r.Torn().Bytes > 0 {
		return false, journal.ErrTorn
	}
	return r.Position().Seq > r.Synced()+1, nil
}

// printSeal prints the sessions that are sealed or skipped, in JSON all.
func (cmd *Repair) printSeal(a *app.App, r sealResult) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, r)
	}
	line := r.ID + "  " + r.Action
	if r.Action == "none" {
		return nil
	}
	if r.Reason != "" {
		line += ": " + r.Reason
	}
	_, err := fmt.Fprintln(a.Stdout, line)
	return err
}

const textTornEnd = "it has a torn write at the end: resume it first, which sets that aside"

func sealedText(sealed, sessions int, dryRun bool) string {
	text := fmt.Sprintf("%s, %d sealed", app.Count(sessions, "session"), sealed)
	if dryRun {
		text += " (--dry-run: nothing was changed)"
	}
	return text
}

func notSealedText() app.Message {
	return app.Text("Some sessions were not sealed.").With(app.To("locate damage", "verify"))
}

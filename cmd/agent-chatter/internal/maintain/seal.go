package maintain

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// sealResult is what repair --seal prints for a session.
type sealResult struct {
	ID     string `json:"id"`
	Action string `json:"action"` // sealed, none if every event has a sync mark, or skipped
	Reason string `json:"reason,omitempty"`

	damaged bool // or unreadable, so that it was skipped
}

// seal ends journals of earlier versions, and of crashed programs, with a line that
// declares every event before it synced.
func (cmd *Repair) seal(ctx context.Context, a *app.App, list *view.Findings) error {
	sessions, err := a.Named(ctx, cmd.ID, a.FindOrOpen)
	if err != nil {
		return err
	}
	sealed, skipped := 0, 0
	for _, s := range sessions {
		end := a.Begin("Sealing session " + s.ID)
		r := cmd.sealSession(ctx, a.Catalog.At(s.Dir()), s)
		end()
		if err := ctx.Err(); err != nil {
			return err
		}
		switch r.Action {
		case "sealed":
			sealed++
		case "skipped":
			skipped++
		}
		if err := cmd.printSeal(a, list, r); err != nil {
			return err
		}
	}
	if cmd.Output == "text" && list == nil {
		a.Notice(sealedText(sealed, len(sessions), cmd.DryRun))
	}
	if skipped > 0 {
		err = app.Exit(app.ExitFailed, notSealedText())
	}
	return list.End(sealedSumText(sealed, skipped, len(sessions), cmd.DryRun), err)
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
		r.Action, r.Reason, r.damaged = "skipped", tty.SafeLine(err.Error()), true
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
func (cmd *Repair) printSeal(a *app.App, list *view.Findings, r sealResult) error {
	switch {
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, r)
	case r.Action == "none":
		return nil
	case list != nil:
		return list.Add(r.finding(cmd.DryRun))
	}
	line := r.ID + "  " + r.Action
	if r.Reason != "" {
		line += ": " + r.Reason
	}
	_, err := fmt.Fprintln(a.Stdout, line)
	return err
}

// finding returns the result as a terminal shows it.
func (r sealResult) finding(dryRun bool) app.Finding {
	switch {
	case r.damaged:
		return app.Wrong(r.ID+"  skipped: "+r.Reason, "", app.To("locate the damage", "verify", r.ID))
	case r.Action == "skipped":
		return app.Wrong(r.ID+"  skipped: "+r.Reason, "")
	case dryRun:
		return app.Note(r.ID+"  would be sealed", "")
	}
	return app.Fine(r.ID + "  sealed")
}

const textTornEnd = "it has a torn write at the end: resume it first, which sets that aside"

func sealedText(sealed, sessions int, dryRun bool) string {
	text := fmt.Sprintf("%s, %d sealed", app.Count(sessions, "session"), sealed)
	if dryRun {
		text += " (--dry-run: nothing was changed)"
	}
	return text
}

// sealedSumText is the last line on a terminal.
func sealedSumText(sealed, skipped, sessions int, dryRun bool) string {
	if sessions == 0 {
		return textNoSessions
	}
	text := fmt.Sprintf("%s, %d ", app.Count(sessions, "session"), sealed)
	if dryRun {
		text += "would be "
	}
	text += "sealed"
	if skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	if dryRun {
		text += ". Nothing was changed"
	}
	return text + "."
}

func notSealedText() app.Message {
	return app.Text("Some sessions were not sealed.").With(app.To("locate damage", "verify"))
}

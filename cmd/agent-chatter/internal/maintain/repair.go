package maintain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Repair is the command that sets aside the damaged lines of a session, or seals
// sessions.
type Repair struct {
	ID     []string `arg:"" optional:"" help:"The session, or the path of its journal."`
	DryRun bool     `help:"Print the changes without making them."`
	Seal   bool     `help:"Mark every event as synced (default: all sessions)."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (Repair) Help() string {
	return `Examples:
  agent-chatter repair 7QN3 --dry-run
  agent-chatter repair 7QN3
  agent-chatter repair ./talk.jsonl
  agent-chatter repair --seal`
}

// repairResult is what repair prints.
type repairResult struct {
	ID       string         `json:"id"`
	Action   string         `json:"action"` // repaired, or none if the journal is valid
	Kept     uint64         `json:"kept"`   // events
	SetAside []damagedRange `json:"setAside"`
	Aside    string         `json:"aside,omitempty"` // the file with the previous journal
	Torn     *damagedRange  `json:"torn,omitempty"`  // what the next message sets aside
}

// damagedRange is a range of bytes that repair sets aside. FirstSeq and LastSeq are 0
// if no event in it can be read.
type damagedRange struct {
	Offset   int64  `json:"offset"`
	Bytes    int64  `json:"bytes"`
	FirstSeq uint64 `json:"firstSeq,omitempty"`
	LastSeq  uint64 `json:"lastSeq,omitempty"`
	Reason   string `json:"reason"`
}

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (cmd *Repair) Writes() bool { return !cmd.DryRun }

// Run implements the command.
func (cmd *Repair) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	if !cmd.Seal && len(cmd.ID) != 1 {
		return app.UsageError("repair takes one session, and --seal any number.")
	}
	list := view.FindingsOnTerminal(a, cmd.Output)
	if cmd.Seal {
		return cmd.seal(ctx, a, list)
	}
	return app.WithName(cmd.ID[0], cmd.repair(ctx, a, list, cmd.ID[0]))
}

func (cmd *Repair) repair(ctx context.Context, a *app.App, list *view.Findings, name string) error {
	s, err := a.FindOrOpen(ctx, name)
	if err != nil {
		return err
	}
	t := a.Catalog.At(s.Dir())
	if s.Damaged != "" && !cmd.DryRun {
		aside, err := a.Remote.Heal(ctx, t, s.ID)
		a.ReportHub(err)
		a.Notice(healedText(s.ID, aside))
	}
	if shared, err := onHub(ctx, t, s.ID); err != nil {
		return err
	} else if shared {
		return repairAsFork(ctx, a, t, s.ID, cmd.DryRun)
	}
	end := a.Begin("Repairing session " + s.ID)
	done, err := t.Journals().Repair(ctx, s.ID, validEvent, cmd.DryRun)
	end()
	if errors.Is(err, errors.ErrUnsupported) {
		return app.Exit(app.ExitFailed, app.ArchivedText(app.ByPath(name).Name(s.ID)))
	}
	if err != nil {
		return err
	}
	r := newRepairResult(s.ID, done)
	if r.Action == "repaired" && !cmd.DryRun {
		a.Log.Warn("journal repaired", "session", s.ID, "aside", done.Aside)
	}
	if s.MissingHeader && r.Action == "none" {
		return s.HeaderError()
	}
	var lost app.Message
	if s, err := t.Session(ctx, s.ID); err == nil && s.MissingHeader {
		lost = app.HeaderLostText(s)
	}
	if r.Action == "none" && s.Invalid > 0 {
		return app.Exit(app.ExitDamaged, invalidHeaderText(s))
	}
	if r.Torn != nil {
		a.Notice(view.TornText(s.ID, done.Torn))
		reportParent(ctx, a, t, s.ID)
	}
	if list != nil {
		if r.Aside != "" {
			r.Aside = filepath.Join(t.Journals().Path(), r.Aside)
		}
		if err := r.show(list, cmd.DryRun); err != nil {
			return err
		}
		a.Show(lost)
		return list.End(repairedText(r, cmd.DryRun), nil)
	}
	defer a.Show(lost)
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, r)
	}
	return r.write(a.Stdout, cmd.DryRun)
}

// healedText is for a journal whose damaged lines the hub had; "" if aside is "".
func healedText(id, aside string) string {
	if aside == "" {
		return ""
	}
	return "The damaged lines of session " + id + " were taken from the hub. The previous journal is " + aside + "."
}

// reportParent prints where else the events of a torn tail may be.
func reportParent(ctx context.Context, a *app.App, t *catalog.Dir, id string) {
	state, _, err := t.Load(ctx, id)
	if err != nil || state.Parent == nil {
		return
	}
	if _, err := t.Journals().Stat(state.Parent.SessionID); err == nil {
		a.Show(parentText(id, state.Parent.SessionID))
	}
}

// parentText is for a session with a torn tail that copies its parent.
func parentText(id, parent string) app.Message {
	return app.Text("Session %s was made from session %s, which may have these events.", id, parent).
		With(app.To("compare them", "sessions", "diff", parent, id))
}

// validEvent returns an error for an event that does not match its schema and can be set
// aside: what a newer version wrote is valid there, and without its header a session
// could not be resumed.
func validEvent(e journal.Event) error {
	if e.Seq == 1 {
		return nil
	}
	err := projection.Validate(e)
	if err == nil || errors.Is(err, projection.ErrNewer) {
		return nil
	}
	if field, problem := fieldOf(err); field != "" {
		return fmt.Errorf("%s: %s", field, problem)
	}
	return err
}

// invalidHeaderText is for a session of which only the first event is invalid.
func invalidHeaderText(s catalog.Session) app.Message {
	return app.Text("The header of session %s is invalid, and without it the session could not be resumed. "+
		"Nothing was changed. Restore the file from a backup.", s.ID).With(app.To("locate the problem", "verify", s.ID))
}

func newRepairResult(id string, done journal.Repaired) repairResult {
	r := repairResult{ID: id, Action: "none", Kept: done.Kept, SetAside: []damagedRange{}, Aside: done.Aside}
	for _, d := range done.Dropped {
		r.Action = "repaired"
		r.SetAside = append(r.SetAside, rangeOf(d))
	}
	if done.Torn.Bytes > 0 {
		torn := rangeOf(done.Torn)
		r.Torn = &torn
	}
	return r
}

func rangeOf(t journal.Torn) damagedRange {
	return damagedRange{t.Offset, t.Bytes, t.FirstSeq, t.LastSeq, t.Reason}
}

// show adds what is set aside to a list.
func (r repairResult) show(list *view.Findings, dryRun bool) error {
	for i, d := range r.SetAside {
		f := app.Note(setAsideText(r.ID, d, "set aside"), "")
		if dryRun {
			f = app.Wrong(setAsideText(r.ID, d, "would be set aside"), "")
			if i == len(r.SetAside)-1 {
				f.Commands = []app.Help{app.To("set them aside", "repair", r.ID)}
			}
		}
		if err := list.Add(f); err != nil {
			return err
		}
	}
	return nil
}

// setAsideText is for a damaged range of a session.
func setAsideText(id string, d damagedRange, outcome string) string {
	return fmt.Sprintf("%s  byte %d: %s %s: %s", id, d.Offset, app.Count(int(d.Bytes), "byte"), outcome, d.Reason)
}

// repairedText is the last line on a terminal.
func repairedText(r repairResult, dryRun bool) string {
	kept := app.Count(int(r.Kept), "event")
	switch {
	case len(r.SetAside) == 0 && r.Torn != nil:
		return fmt.Sprintf("No damage before byte %d: nothing to repair.", r.Torn.Offset)
	case len(r.SetAside) == 0:
		return "Session " + r.ID + " is sound: nothing to repair."
	case dryRun:
		return kept + " would be kept. Nothing was changed."
	}
	return kept + " kept. The previous journal was copied to " + r.Aside
}

func (r repairResult) write(out io.Writer, dryRun bool) error {
	if len(r.SetAside) == 0 && r.Torn != nil {
		_, err := fmt.Fprintf(out, "%s  no damage before byte %d: nothing to repair\n", r.ID, r.Torn.Offset)
		return err
	}
	if len(r.SetAside) == 0 {
		_, err := fmt.Fprintf(out, "%s  is sound: nothing to repair\n", r.ID)
		return err
	}
	for _, d := range r.SetAside {
		_, err := fmt.Fprintf(out, "%s  byte %d: %d bytes set aside: %s\n", r.ID, d.Offset, d.Bytes, d.Reason)
		if err != nil {
			return err
		}
	}
	outcome := "the previous journal was copied to " + r.Aside
	if dryRun {
		outcome = "nothing was changed (--dry-run)"
	}
	_, err := fmt.Fprintf(out, "%s  %s kept; %s\n", r.ID, app.Count(int(r.Kept), "event"), outcome)
	return err
}

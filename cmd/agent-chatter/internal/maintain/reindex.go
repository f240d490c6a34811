package maintain

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Reindex is the command that rebuilds the index and the checkpoints.
type Reindex struct {
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// reindexedJSON is the JSON output of a session.
type reindexedJSON struct {
	ID         string `json:"id"`
	Events     uint64 `json:"events"`
	Archived   bool   `json:"archived"`
	Damaged    bool   `json:"damaged"`
	Unreadable bool   `json:"unreadable,omitempty"` // whether it is damaged is unknown
}

// Help shows examples.
func (Reindex) Help() string {
	return `Examples:
  agent-chatter sessions reindex`
}

// Run implements the command. If the index of one team cannot be rebuilt, it
// continues with the others.
func (cmd *Reindex) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	list := view.FindingsOnTerminal(a, cmd.Output)
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	total, damaged, unreadable := 0, 0, 0
	var failures []error
	for _, t := range teams {
		end := a.Begin("Rebuilding the index of " + tty.SafeLine(filepath.Base(t.Journals().Path())))
		sessions, err := t.Reindex(ctx)
		end()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failures = append(failures, err)
		total += len(sessions)
		for _, s := range sessions {
			switch {
			case s.ReadErr != nil:
				unreadable++
			case s.Damaged != "":
				damaged++
			}
			if err := cmd.print(a, list, s); err != nil {
				return err
			}
		}
	}
	err = errors.Join(failures...)
	if list != nil {
		if err != nil {
			list.AddError(err)
		}
		return list.End(reindexedSumText(total, damaged, unreadable, err != nil), err)
	}
	if damaged > 0 {
		a.Show(damagedSessionsText(damaged))
	}
	if unreadable > 0 {
		a.Show(app.NotAllReadText())
	}
	return err
}

func (cmd *Reindex) print(a *app.App, list *view.Findings, s catalog.Session) error {
	switch {
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, reindexedJSON{
			ID: s.ID, Events: s.LastSeq, Archived: s.Archived,
			Damaged: s.Damaged != "" && s.ReadErr == nil, Unreadable: s.ReadErr != nil,
		})
	case list != nil:
		return list.Add(reindexedFinding(s))
	}
	_, err := fmt.Fprintln(a.Stdout, reindexedText(s))
	return err
}

func reindexedText(s catalog.Session) string {
	switch {
	case s.ReadErr != nil:
		return s.ID + "  unreadable"
	case s.Damaged != "":
		return s.ID + "  damaged"
	case s.Archived:
		return fmt.Sprintf("%s  %s, archived", s.ID, app.Count(int(s.LastSeq), "event"))
	}
	return fmt.Sprintf("%s  %s", s.ID, app.Count(int(s.LastSeq), "event"))
}

// reindexedFinding is reindexedText as a terminal shows it.
func reindexedFinding(s catalog.Session) app.Finding {
	switch {
	case s.ReadErr != nil:
		return app.Wrong(reindexedText(s)+": "+s.ReadErr.Error(), "", app.To("diagnose this", "doctor"))
	case s.Damaged != "":
		help := app.DamageHelp(s, nil)
		return app.Wrong(reindexedText(s)+": "+s.Damaged, help.Text, help.Help...)
	}
	return app.Fine(reindexedText(s))
}

// reindexedSumText is the last line on a terminal. failed reports that an index could not be rebuilt.
func reindexedSumText(sessions, damaged, unreadable int, failed bool) string {
	text := "The index was rebuilt: "
	switch {
	case failed:
		text = "Not every index was rebuilt: "
	case sessions == 0:
		return textNoSessions
	}
	text += app.Count(sessions, "session")
	if damaged > 0 {
		text += fmt.Sprintf(", %d damaged", damaged)
	}
	if unreadable > 0 {
		text += fmt.Sprintf(", %d unreadable", unreadable)
	}
	return text + "."
}

func damagedSessionsText(n int) app.Message {
	return app.Text("Damaged: %s.", app.Count(n, "session")).With(app.To("locate the damage", "verify"))
}

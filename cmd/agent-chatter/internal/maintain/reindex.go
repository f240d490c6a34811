package maintain

import (
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
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
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	damaged, unreadable := 0, false
	var failures []error
	for _, t := range teams {
		sessions, err := t.Reindex(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failures = append(failures, err)
		for _, s := range sessions {
			switch {
			case s.ReadErr != nil:
				unreadable = true
			case s.Damaged != "":
				damaged++
			}
			if err := cmd.print(a, s); err != nil {
				return err
			}
		}
	}
	if damaged > 0 {
		a.Show(damagedSessionsText(damaged))
	}
	if unreadable {
		a.Show(app.NotAllReadText())
	}
	return errors.Join(failures...)
}

func (cmd *Reindex) print(a *app.App, s catalog.Session) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, reindexedJSON{
			ID: s.ID, Events: s.LastSeq, Archived: s.Archived,
			Damaged: s.Damaged != "" && s.ReadErr == nil, Unreadable: s.ReadErr != nil,
		})
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

func damagedSessionsText(n int) app.Message {
	return app.Text("Damaged: %s.", app.Count(n, "session")).With(app.To("locate the damage", "verify"))
}

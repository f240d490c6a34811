package maintain

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type Reindex struct{}

// Help shows examples first.
func (Reindex) Help() string {
	return `Examples:
  agent-chatter sessions reindex`
}

// Run implements the command.
func (cmd *Reindex) Run(a *app.App) error {
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	damaged := 0
	var failures []error
	for _, t := range teams {
		sessions, err := t.Reindex(context.Background())
		if err != nil {
			failures = append(failures, err) // the other teams have theirs
		}
		for _, s := range sessions {
			if s.Damaged != "" {
				damaged++
			}
			if _, err := fmt.Fprintln(a.Stdout, reindexedText(s)); err != nil {
				return err
			}
		}
	}
	if damaged > 0 {
		a.Notice(reindexedDamagedText(damaged))
	}
	return errors.Join(failures...)
}

// reindexedText is what reindex says of a session.
func reindexedText(s catalog.Session) string {
	switch {
	case s.Damaged != "":
		return s.ID + "  damaged"
	case s.Archived:
		return fmt.Sprintf("%s  %s, archived", s.ID, app.Count(int(s.LastSeq), "event"))
	}
	return fmt.Sprintf("%s  %s", s.ID, app.Count(int(s.LastSeq), "event"))
}

// reindexedDamagedText says how to find out more of the damaged ones.
func reindexedDamagedText(n int) string {
	return fmt.Sprintf("%d damaged: agent-chatter verify shows where", n)
}

package main

import (
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type sessionsReindex struct{}

// Help shows examples first.
func (sessionsReindex) Help() string {
	return `Examples:
  agent-chatter sessions reindex`
}

// Run implements the command.
func (cmd *sessionsReindex) Run(a *app) error {
	teams, err := a.catalog().Teams()
	if err != nil {
		return err
	}
	damaged := 0
	var failures []error
	for _, t := range teams {
		sessions, err := t.Reindex()
		if err != nil {
			failures = append(failures, err) // the other teams have theirs
		}
		for _, s := range sessions {
			if s.Damaged != "" {
				damaged++
			}
			if _, err := fmt.Fprintln(a.stdout, reindexedText(s)); err != nil {
				return err
			}
		}
	}
	if damaged > 0 {
		a.notice(reindexedDamagedText(damaged))
	}
	return errors.Join(failures...)
}

// reindexedText is what reindex says of a session.
func reindexedText(s catalog.Session) string {
	switch {
	case s.Damaged != "":
		return s.ID + "  damaged"
	case s.Archived:
		return fmt.Sprintf("%s  %s, archived", s.ID, count(int(s.LastSeq), "event"))
	}
	return fmt.Sprintf("%s  %s", s.ID, count(int(s.LastSeq), "event"))
}

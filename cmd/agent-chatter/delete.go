package main

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

type sessionsDelete struct {
	ID  string `arg:"" help:"The session."`
	Yes bool   `short:"y" help:"Do not ask."`
}

// Help shows examples first.
func (sessionsDelete) Help() string {
	return `Examples:
  agent-chatter sessions delete 7QN3
  agent-chatter sessions delete 7QN3 --yes`
}

// Run implements the command.
func (cmd *sessionsDelete) Run(a *app) error {
	c := a.catalog()
	s, err := a.find(c, cmd.ID)
	if err != nil {
		return err
	}
	if s.Pinned {
		return &exitError{exitFailed, pinnedText(s.ID)}
	}
	if !cmd.Yes {
		if !a.isTerminal() {
			return usageError("Nobody can be asked here: add --yes to delete session %s.", s.ID)
		}
		yes, err := a.ask(fmt.Sprintf("Move session %s (%s) to the trash? [y/N] ", s.ID, safeLine(s.Title)))
		if err != nil || !yes {
			return err
		}
	}
	if err := c.At(s.Dir()).Delete(s.ID); err != nil {
		return err
	}
	a.notice(trashedText(s.ID, filepath.Join(s.Dir(), "trash")))
	return nil
}

// ask waits for a person to say yes or anything else.
func (a *app) ask(question string) (bool, error) {
	fmt.Fprint(a.stderr, question)
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

package sessions

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// trashedText says where a deleted session is, and how it comes back.
func trashedText(id, trash string) string {
	return fmt.Sprintf("Session %s is in the trash: %s\nTo take it out again, type: agent-chatter sessions restore %[1]s", id, tty.SafeLine(trash))
}

// pinnedText says what to do first with a session that is to be deleted.
func pinnedText(id string) string {
	return fmt.Sprintf("Session %s is pinned, and was not deleted.\nTo delete it all the same, type: agent-chatter sessions unpin %[1]s; agent-chatter sessions delete %[1]s", id)
}

type Delete struct {
	ID  string `arg:"" help:"The session."`
	Yes bool   `short:"y" help:"Do not ask."`
}

// Help shows examples first.
func (Delete) Help() string {
	return `Examples:
  agent-chatter sessions delete 7QN3
  agent-chatter sessions delete 7QN3 --yes`
}

// Run implements the command.
func (cmd *Delete) Run(a *app.Env) error {
	c := a.Catalog()
	s, err := a.Find(c, cmd.ID)
	if err != nil {
		return err
	}
	if s.Pinned {
		return &app.ExitError{Code: app.ExitFailed, Text: pinnedText(s.ID)}
	}
	if !cmd.Yes {
		if !a.IsTerminal() {
			return app.UsageError("Nobody can be asked here: add --yes to delete session %s.", s.ID)
		}
		yes, err := ask(a, fmt.Sprintf("Move session %s (%s) to the trash? [y/N] ", s.ID, tty.SafeLine(s.Title)))
		if err != nil || !yes {
			return err
		}
	}
	if err := c.At(s.Dir()).Delete(s.ID); err != nil {
		return err
	}
	a.Notice(trashedText(s.ID, filepath.Join(s.Dir(), "trash")))
	return nil
}

// ask waits for a person to say yes or anything else.
func ask(a *app.Env, question string) (bool, error) {
	fmt.Fprint(a.Stderr, question)
	answer, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

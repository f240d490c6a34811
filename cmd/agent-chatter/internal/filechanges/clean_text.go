package filechanges

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// textInTrash is why a worktree stays whose session can be restored.
const textInTrash = "its session is in the trash"

// textRecordedElsewhere is why a worktree stays whose session names another directory.
const textRecordedElsewhere = "its session has not recorded it in this home"

// errorText says why a worktree stays that could not be examined.
func errorText(err error) string {
	var busy *workspace.BusyError
	if errors.As(err, &busy) {
		return "another turn or command uses it"
	}
	return tty.SafeLine(err.Error())
}

// staysText says why a worktree is not removed.
func staysText(l workspace.Losses) string {
	var parts []string
	if l.Locked {
		parts = append(parts, "git worktree lock")
	}
	if n := len(l.Unmerged) + len(l.Skipped); n > 0 {
		parts = append(parts, app.Count(n, "file")+" not merged")
	}
	if l.Commits > 0 {
		parts = append(parts, app.Count(l.Commits, "commit")+" that no branch has")
	}
	if n := len(l.Repositories); n > 0 {
		parts = append(parts, app.Count(n, "nested work tree")+" of Git")
	}
	return strings.Join(parts, ", ")
}

// worktreesText lists worktrees, and the commands for those that stay.
func worktreesText(all []*cleanedWorktree) app.Message {
	if len(all) == 0 {
		return app.Text("There are no worktrees.")
	}
	var m app.Message
	var lines []string
	for _, w := range all {
		what, verb := "", "remove"
		switch {
		case w.stays != "":
			what, verb = ": "+w.stays, "keep"
		case w.member == "" && w.losses.Files > 0:
			what = fmt.Sprintf(": no session knows it, nor what of its %s is merged", app.Count(w.losses.Files, "file"))
		case w.member == "":
			what = ": no session knows it"
		}
		if n := len(w.losses.Ignored); n > 0 {
			what += fmt.Sprintf(" (%s that Git ignores)", app.Count(n, "name"))
		}
		lines = append(lines, fmt.Sprintf("%-7s %s%s", verb, tty.SafeLine(w.Dir), what))
		switch {
		case w.stays == "" || len(m.Help) == maxLosses:
		case w.member != "":
			m = m.With(app.To("remove "+tty.SafeLine(w.Dir), "files", "drop", w.Session, w.member))
		case w.losses.Commits > 0:
			m = m.With(app.ToRun("keep the commits", "git", "-C", w.Dir, "branch", "NAME"))
		}
	}
	m.Text = strings.Join(lines, "\n")
	return m
}

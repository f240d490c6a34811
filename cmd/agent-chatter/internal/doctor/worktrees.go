package doctor

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// checkWorktrees lists the directories that members have of their own.
func (d *doctor) checkWorktrees() []app.Finding {
	found, err := workspace.Worktrees(d.Home)
	if err != nil {
		return []app.Finding{unreadableText(err)}
	}
	if len(found) == 0 {
		return []app.Finding{app.Fine(textNoWorktrees)}
	}
	return []app.Finding{worktreesText(found)}
}

const textNoWorktrees = "there are none"

// maxWorktrees is how many worktrees a finding names.
const maxWorktrees = 20

func worktreesText(found []workspace.FoundWorktree) app.Finding {
	var dirs []string
	for i, w := range found {
		if i == maxWorktrees {
			dirs = append(dirs, "…")
			break
		}
		dirs = append(dirs, tty.SafeLine(w.Dir))
	}
	return app.Note(app.Count(len(found), "worktree")+" of members: "+strings.Join(dirs, ", "), "",
		app.To("list what each would lose", "sessions", "clean", "--worktrees", "--dry-run"))
}

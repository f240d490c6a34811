package filechanges

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// textConflict is for a file that is written with marks of conflicts.
const textConflict = "with conflicts"

// mergeText lists what a merge of a member's worktree into a directory would do.
func mergeText(dir, member string, m *workspace.Merged) string {
	if p := m.Plan; len(p.Removals)+len(p.Writes)+len(p.Kept) == 0 {
		return fmt.Sprintf("The worktree of %s has nothing that is not merged.", tty.SafeLine(member))
	}
	lines := strings.Split(planText(dir, m.Plan), "\n")
	for i, step := range m.Plan.Writes[:min(len(m.Plan.Writes), maxPlanned-1)] {
		if slices.Contains(m.Conflicts, step.Path) {
			lines[i+1] += ": " + textConflict
		}
	}
	return strings.Join(lines, "\n")
}

// mergeNotConfirmedText is for a merge that cannot be confirmed because there is no terminal.
func mergeNotConfirmedText() app.Message { return app.Text("A merge needs a confirmation: add --yes.") }

// missingDirText is for a merge of which a directory is missing: the worktree, or the one that was copied.
func missingDirText(id, member, dir, worktree string) app.Message {
	if dir != worktree {
		return app.Text("%s is missing: nothing can be merged into it.", tty.SafeLine(dir)).
			With(app.To("print a patch instead", "files", "patch", id, "--member", member, "--dir", worktree))
	}
	next := "continue [NEXT: " + member + "]"
	return app.Text("The worktree of %s is missing: %s.", tty.SafeLine(member), tty.SafeLine(dir)).
		With(app.To("make it again from what was captured of it last", "chat", "--resume", id, "-m", next))
}

// beyondLimitsText is for a merge of directories of which only one was captured completely.
func beyondLimitsText(dir, member string) app.Message {
	dir, member = tty.SafeLine(dir), tty.SafeLine(member)
	return app.Text("%s or the worktree of %s exceeds the limits of captures.", dir, member).
		With(app.To("see which limits to raise", "guide", "file-changes"))
}

// noMergePathText is for a path that neither the directory nor the worktree has.
func noMergePathText(id, path string) app.Message {
	return app.Text("Neither the directory nor the worktree has %s.", tty.SafeLine(path)).
		With(app.To("list the files that agents changed", "files", "list", id))
}

// noWorktreeText is for a member without a worktree.
func noWorktreeText(id, member string, others []string) app.Message {
	m := app.Text("Session %s has recorded no worktree of '%s' here.", id, tty.SafeLine(member))
	if len(others) > 0 {
		m.Text += " There are those of " + tty.SafeLine(strings.Join(others, ", ")) + "."
	}
	return m.With(app.To("see which members have worktrees", "guide", "worktrees"))
}

// notOwnText is for a worktree that the events of a session name, but which is that of the original session, or "" if
// it is in another home.
func notOwnText(id, member, dir, original string) app.Message {
	member = tty.SafeLine(member)
	if original == "" {
		return app.Text("The worktree of %s was %s, in another home.", member, tty.SafeLine(dir)).
			With(app.To("list the worktrees of this home", "sessions", "clean", "--worktrees", "--dry-run"))
	}
	return app.Text("Session %s is a copy in which %s has no worktree yet: %s is that of session %s.",
		id, member, tty.SafeLine(dir), original).
		With(app.To("merge that one", "files", "merge", original, member),
			app.To("remove that one", "files", "drop", original, member))
}

// droppedText is for a worktree that was removed.
func droppedText(id, member string) app.Message {
	return app.Text("The worktree of %s was removed.", tty.SafeLine(member)).
		With(app.To("list what the agents changed", "files", "list", id))
}

// maxLosses is how many paths of each kind lossesText lists.
const maxLosses = 20

// lossesText lists what the removal of a worktree would lose.
func lossesText(dir string, p *coordinator.PreparedDrop) string {
	lines := []string{"Only " + tty.SafeLine(dir) + " has:"}
	switch {
	case p.Missing && p.Losses.IsNone():
		return fmt.Sprintf("%s is missing.", tty.SafeLine(dir))
	case p.Missing:
		lines[0] = tty.SafeLine(dir) + " is missing. Git still has of it:"
	case p.Losses.IsNone():
		return fmt.Sprintf("%s has nothing that would be lost.", tty.SafeLine(dir))
	}
	count := map[string]int{}
	for _, row := range losses(p.Losses) {
		if count[row.What]++; count[row.What] > maxLosses {
			continue
		}
		switch {
		case row.What == "commits":
			lines = append(lines, fmt.Sprintf("commits    %d, up to %.12s", row.Commits, row.Head))
		case row.What == "unknown":
			lines = append(lines, "unknown    "+tty.SafeLine(row.Why))
		case row.Why != "":
			lines = append(lines, fmt.Sprintf("%-10s %s: %s", row.What, tty.SafeLine(row.Path), tty.SafeLine(row.Why)))
		default:
			lines = append(lines, fmt.Sprintf("%-10s %s", row.What, tty.SafeLine(row.Path)))
		}
	}
	for _, what := range []string{"unmerged", "skipped", "ignored", "repository"} {
		more := count[what] - maxLosses
		switch {
		case what == "ignored" && p.Losses.IgnoredMore:
			lines = append(lines, fmt.Sprintf("%-10s … and more than %d more", what, more))
		case more > 0:
			lines = append(lines, fmt.Sprintf("%-10s … and %d more", what, more))
		}
	}
	return strings.Join(lines, "\n")
}

// commitsText is for a worktree with commits that its removal would lose.
func commitsText(id, member string, l workspace.Losses) app.Message {
	m := app.Text("The removal would lose %s that no branch has.", app.Count(l.Commits, "commit"))
	switch {
	case len(l.Unknown) > 0:
		m = app.Text("It is not known what the removal would lose.")
	case len(l.Repositories) > 0:
		m = app.Text("The removal would lose repositories in the worktree, with all commits: %s.",
			tty.SafeLine(strings.Join(l.Repositories[:min(len(l.Repositories), maxLosses)], ", ")))
	default:
		m = m.With(app.To("keep them in a branch", "files", "drop", id, member, "--keep", "NAME"))
	}
	return m.With(app.To("remove them, too", "files", "drop", id, member, "--force"))
}

// noCommitText is for --keep of a worktree without a commit.
func noCommitText(dir string) app.Message {
	return app.Text("%s has no commit that a branch could keep: leave --keep out.", tty.SafeLine(dir))
}

// dropNotConfirmedText is for a removal that cannot be confirmed because there is no terminal.
func dropNotConfirmedText() app.Message {
	return app.Text("Removing a worktree needs a confirmation: add --yes.")
}

// lockedText is for a worktree that git worktree lock protects.
func lockedText(dir string) app.Message {
	return app.Text("%s is locked by git worktree lock.", tty.SafeLine(dir)).
		With(app.ToRun("unlock it", "git", "-C", dir, "worktree", "unlock", dir))
}

// dropChangedText is for a worktree in which something was saved after its files were listed.
func dropChangedText(id, member string, err *coordinator.DropChangedError) app.Message {
	return app.Text("%s. Nothing was removed.", tty.SafeLine(err.Error())).
		With(app.To("list what would be lost now", "files", "drop", id, member))
}

// mountedText is for a worktree in which a file system is mounted.
func mountedText(dir string, err *workspace.MountError) app.Message {
	return app.Text("%s was not removed: %s.", tty.SafeLine(dir), tty.SafeLine(err.Error())).
		With(app.ToRun("unmount it", "umount", err.At))
}

// removedText is for a worktree that is removed.
func removedText(dir string) string { return fmt.Sprintf("Removed %s.", tty.SafeLine(dir)) }

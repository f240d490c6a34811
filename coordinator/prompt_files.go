package coordinator

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Members see in their next prompt that files were set back: otherwise they would take what they wrote for what is
// there.

// restoresAfter returns the restores after the one with the given id; all that are known if that is none of them.
func (c *Coordinator) restoresAfter(id string) []projection.Restore {
	all := c.conv.state.Restores
	isLast := func(r projection.Restore) bool { return r.RestoreID == id }
	return all[slices.IndexFunc(all, isLast)+1:]
}

// restoresWithin returns the restores after the first message of a prompt.
func (c *Coordinator) restoresWithin(h history) (within []projection.Restore) {
	for _, r := range c.conv.state.Restores {
		if len(h.entries) > 0 && r.At > h.entries[0].Seq {
			within = append(within, r)
		}
	}
	return within
}

// restoredFiles returns the section of restores for a member; "" if they changed nothing.
func (c *Coordinator) restoredFiles(m team.Member, restores []projection.Restore) string {
	var lines []string
	for _, r := range restores {
		if r.Done == nil || r.Done.Written+r.Done.Removed > 0 {
			lines = append(lines, c.restoredText(m, r))
		}
	}
	return strings.Join(lines, "\n")
}

// The most files of a restore that a prompt names, and the length of a path, in bytes.
const (
	maxPromptFiles = 10
	maxPromptPath  = 200
)

// restoredText describes a restore to a member, in one line.
func (c *Coordinator) restoredText(m team.Member, r projection.Restore) string {
	who, to := "A person", "to an earlier state"
	if human, ok := c.team.FirstHuman(); ok {
		who = c.name(human.DisplayName)
	}
	switch {
	case r.Seq == 0:
		to = "to before the last time that files were set back"
	case r.MemberID == m.ID:
		to = fmt.Sprintf("to before your turn %d", r.Turn)
	case r.Turn > 0:
		to = fmt.Sprintf("to before turn %d, of %s", r.Turn, c.memberName(r.MemberID))
	}
	in := ""
	if rel, err := filepath.Rel(r.Dir, c.dirOf(m)); err != nil || !filepath.IsLocal(rel) {
		in = " in " + c.promptPath(r.Dir)
	}
	if r.Merge != "" {
		return c.mergedText(who, in, r)
	}
	if r.Done == nil {
		return fmt.Sprintf("%s began to set files back %s%s. That was interrupted: read them before you change them.",
			who, to, in)
	}
	files := restoredCount(r.Done)
	if r.Part {
		files = "a part of " + files
	}
	return fmt.Sprintf("%s set %s back %s%s%s", who, files, to, in, c.restoredNames(r.Done))
}

// mergedText describes the merge of a worktree to a member. in is the directory, if it is not the member's.
func (c *Coordinator) mergedText(who, in string, r projection.Restore) string {
	worktree := "the worktree of " + c.memberName(r.Merge)
	if r.Done == nil {
		return fmt.Sprintf("%s began to merge %s%s. That was interrupted: read the files before you change them.",
			who, worktree, in)
	}
	return fmt.Sprintf("%s merged %s of %s%s%s", who, restoredCount(r.Done), worktree, in, c.restoredNames(r.Done))
}

// restoredCount counts the files that a restore has changed.
func restoredCount(done *projection.FilesRestored) string {
	if n := done.Written + done.Removed; n != 1 {
		return fmt.Sprintf("%d files", n)
	}
	return "1 file"
}

// restoredNames names files that were set back.
func (c *Coordinator) restoredNames(done *projection.FilesRestored) string {
	var names []string
	for _, change := range done.Changes[:min(len(done.Changes), maxPromptFiles)] {
		change.Path = projection.FilePath(c.promptPath(string(change.Path)))
		names = append(names, change.Text())
	}
	if len(names) == 0 {
		return "."
	}
	more := ""
	if n := done.Written + done.Removed - len(names); n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return ": " + strings.Join(names, ", ") + more
}

// promptPath returns a path without secrets and line breaks.
func (c *Coordinator) promptPath(path string) string {
	return runecut.Prefix(c.name(strings.ToValidUTF8(path, "\uFFFD")), maxPromptPath)
}

// memberName names a member of the team, or one that was removed.
func (c *Coordinator) memberName(id string) string {
	if m, ok := c.team.Member(id); ok {
		return c.name(m.DisplayName)
	}
	return c.name(id)
}

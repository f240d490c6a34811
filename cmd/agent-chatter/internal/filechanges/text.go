package filechanges

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// textBetween names who may have changed files between the turns of a session.
const textBetween = "you or another program"

// textRestored names who changed files by a restore.
const textRestored = "you (restore)"

// mergedWhoText names who changed files that were merged from a worktree.
func mergedWhoText(member string) string { return tty.SafeLine(member) + " (merged)" }

// textElsewhere names a turn of another session.
const textElsewhere = "another session"

// whoText names who changed the files of a step.
func (h *history) whoText(s step) string {
	switch {
	case s.changed == nil && s.restore != nil && s.restore.Merge != "":
		return mergedWhoText(h.name(s.restore.Merge))
	case s.changed == nil && s.restore != nil:
		return textRestored
	case s.changed == nil:
		return textBetween
	}
	names := []string{tty.SafeLine(h.name(s.changed.MemberID))}
	elsewhere := false
	for _, id := range s.changed.With {
		if t, ok := h.turns[id]; ok {
			names = append(names, tty.SafeLine(h.name(t.member)))
		} else {
			elsewhere = true
		}
	}
	if elsewhere {
		names = append(names, textElsewhere)
	}
	text := strings.Join(names, " or ")
	if s.changed.Late {
		text += " (late)"
	}
	return text
}

// whereText follows who changed the files of a step: in whose worktree; "": in no worktree.
func (h *history) whereText(s step) string {
	base := filepath.Base(s.dir)
	switch {
	case !h.isWorktree(s.dir):
		return ""
	case s.changed != nil && journal.DirName(s.changed.MemberID) == base:
		return ", worktree"
	}
	return ", worktree of " + tty.SafeLine(base)
}

// linesText has the numbers of lines that changes added and removed; "" if none is known.
func linesText(changes []projection.FileChange) string {
	plus, minus, known := 0, 0, false
	for _, c := range changes {
		if c.Plus != nil && c.Minus != nil {
			plus, minus, known = plus+*c.Plus, minus+*c.Minus, true
		}
	}
	if !known {
		return ""
	}
	return fmt.Sprintf("+%d \u2212%d", plus, minus)
}

// skippedText names the paths of a capture whose contents were not captured; "": there are none.
func skippedText(p projection.FilesCaptured) string {
	if len(p.Skipped) == 0 {
		return ""
	}
	var names []string
	for _, s := range p.Skipped {
		names = append(names, fmt.Sprintf("%s (%s)", pathText(string(s.Path)), tty.SafeLine(s.Why)))
	}
	text := "not captured: " + strings.Join(names, ", ")
	if p.SkippedMore > 0 {
		text += fmt.Sprintf(" and %d more", p.SkippedMore)
	}
	return text
}

// pathText returns a path as a terminal shows it.
func pathText(path string) string { return tty.SafeLine(path) }

// nothingText is for a session without changes of files.
func nothingText(id string) app.Message {
	return app.Text("Session %s has no recorded changes of files.", id).
		With(app.To("read when files are captured", "guide", "file-changes"))
}

// noMatchText is for a list that is empty because of its arguments.
func noMatchText(id string) app.Message {
	return app.Text("No recorded change of files matches.").With(app.To("list all", "files", id))
}

// noMemberText is for --member; names are the members that changed files.
func noMemberText(id, name string, names []string) app.Message {
	text := fmt.Sprintf("Session %s has no member '%s'.", id, tty.SafeLine(name))
	if len(names) > 0 {
		text += " Files were changed by " + tty.SafeLine(strings.Join(names, ", ")) + "."
	}
	return app.Message{Text: text}
}

// missingText is for a content that the store of a directory does not have. what names the content, dropped is why
// those of earlier captures of the session were removed; "": none were.
func missingText(what, store, object, dropped string) app.Message {
	reason := "Contents are kept only where the agents ran, and only as long as their sessions."
	if dropped != "" {
		reason = "Contents of earlier captures of this session were removed: " + tty.SafeLine(dropped) + "."
	}
	return app.Text("Cannot read %s: the store %s has no object %s.\n%s",
		tty.SafeLine(what), tty.SafeLine(store), object, reason)
}

// noTreeText is for an event before the first capture.
func noTreeText(id, point string) app.Message {
	return app.Text("No files were captured up to event %s of session %s.", tty.SafeLine(point), id).
		With(app.To("list the changes of files", "files", id))
}

// noFileText is for a path that was not there.
func noFileText(path, point string) string {
	return fmt.Sprintf("There was no file %s after event %s, or it was not captured.",
		pathText(path), tty.SafeLine(point))
}

// notBlamedText is for a path that is in no capture of a session.
func notBlamedText(path, id string) app.Message {
	return app.Text("No capture of session %s has the file %s.", id, pathText(path)).
		With(app.To("list the changes of files", "files", id))
}

// tooLargeText is for a file whose lines are not compared.
func tooLargeText(path string) app.Message {
	return app.Text("%s has more than %s: its lines are not compared.", pathText(path), app.Bytes(workspace.MaxDiff))
}

// notCapturedText is for a path whose content was not captured, and why.
func notCapturedText(path, why string) string {
	return fmt.Sprintf("The content of %s was not captured: %s.", pathText(path), tty.SafeLine(why))
}

// binaryText is for a file that no terminal can show.
func binaryText(path string) string {
	return pathText(path) + " is no text. Redirect the output to a file to keep it."
}

// pointText is for an argument that is no point in a session.
func pointText(text string) string {
	return tty.SafeLine(text) + ": expected the number of an event, a time such as 2026-11-21T14:30:00Z, or turn:3."
}

// severalText is for a patch of several directories.
func severalText(dirs []string) string {
	safe := make([]string, len(dirs))
	for i, dir := range dirs {
		safe[i] = tty.SafeLine(dir)
	}
	return "The agents changed files in several directories, and a patch is of one. Choose one with --dir:\n  " +
		strings.Join(safe, "\n  ")
}

// leftOutText names a path that a patch leaves out, and why.
func leftOutText(path, why string) string {
	return fmt.Sprintf("Left out: %s: %s.", pathText(path), tty.SafeLine(why))
}

// emptyPatchText is for a patch without a change.
func emptyPatchText(id string) app.Message {
	return app.Text("The patch is empty: no change of an agent is in it.").
		With(app.To("list the changes of files", "files", id))
}

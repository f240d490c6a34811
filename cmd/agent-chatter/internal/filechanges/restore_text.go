package filechanges

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// maxPlanned is how many paths a preview lists.
const maxPlanned = 200

// planText lists what a restore of a directory would do.
func planText(dir string, p workspace.Plan) string {
	if len(p.Removals)+len(p.Writes)+len(p.Kept) == 0 {
		return "The files are as they were then."
	}
	lines := []string{"In " + tty.SafeLine(dir) + ":"}
	for _, s := range p.Writes {
		verb := "replace"
		if s.Present.IsZero() {
			verb = "create"
		}
		lines = append(lines, fmt.Sprintf("%-8s %s%s", verb, tty.SafeLine(s.Path), kindText(s)))
	}
	for _, s := range p.Removals {
		lines = append(lines, fmt.Sprintf("%-8s %s", "remove", tty.SafeLine(s.Path)))
	}
	for _, k := range p.Kept {
		lines = append(lines, fmt.Sprintf("%-8s %s: %s", "keep", tty.SafeLine(k.Path), tty.SafeLine(k.Why)))
	}
	if more := len(lines) - maxPlanned; more > 0 {
		lines = append(lines[:maxPlanned], fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// kindText follows a path that is written if it becomes a link, or gets a mode that matters: only the mode changes, or
// others could run the file as its owner.
func kindText(s workspace.Step) string {
	const asOwner = 0o6000 // setuid and setgid
	sameContent := s.Present.Type() == s.Target.Type() && s.Present.Hash == s.Target.Hash
	switch {
	case s.Target.Type() == objects.ModeLink:
		return " (link)"
	case sameContent && s.Present.Mode != s.Target.Mode, s.Target.Mode&asOwner&^s.Present.Mode != 0:
		return fmt.Sprintf(" (mode %04o)", s.Target.Mode&0o7777)
	}
	return ""
}

// restoredText counts what a restore did.
func restoredText(r workspace.Result) string {
	return fmt.Sprintf("%s written, %d removed.", app.Count(len(r.Written), "file"), len(r.Removed))
}

// notRestoredText lists the paths that a restore planned to set back and did not.
func notRestoredText(r workspace.Result) string {
	var lines []string
	for _, k := range r.Kept {
		lines = append(lines, fmt.Sprintf("Kept: %s: %s", tty.SafeLine(k.Path), tty.SafeLine(k.Why)))
	}
	for _, k := range r.Failed {
		lines = append(lines, fmt.Sprintf("Failed: %s: %s", tty.SafeLine(k.Path), tty.SafeLine(k.Why)))
	}
	return strings.Join(lines, "\n")
}

// restoreWhatText is for a restore without exactly one of --at and --undo.
func restoreWhatText(id string) app.Message {
	return app.Text("files restore needs --at X or --undo.").
		With(app.To("list what each turn changed", "files", "list", id))
}

// notConfirmedText is for a restore that cannot be confirmed because there is no terminal.
func notConfirmedText() app.Message {
	return app.Text("Setting files back needs a confirmation: add --yes.")
}

// leftText is for files of an interrupted restore that hold versions which no capture has.
func leftText(left []workspace.Kept) string {
	lines := []string{"A restore was interrupted. It has left files, which you may need:"}
	for _, k := range left {
		lines = append(lines, fmt.Sprintf("  %s: %s", tty.SafeLine(k.Path), tty.SafeLine(k.Why)))
	}
	return strings.Join(lines, "\n")
}

// noRestoreText is for --undo without a restore.
func noRestoreText(id string) app.Message {
	return app.Text("No files were set back in session %s.", id).
		With(app.To("list what each turn changed", "files", "list", id))
}

// notBelowText is for a path outside the directory whose files are set back.
func notBelowText(id, path string) app.Message {
	return app.Text("%q is no path below the directory of the agents.", path).
		With(app.To("list the files that they changed", "files", "list", id))
}

// noPathText is for a path that is neither there nor was after an event.
func noPathText(id, path, at string) app.Message {
	return app.Text("There is no file or directory %s, and there was none after event %s.",
		tty.SafeLine(path), tty.SafeLine(at)).
		With(app.To("list the files that agents changed", "files", "list", id))
}

// noFilesText is for a session without files, with files of several directories, or with none of the directory that was
// asked for.
func noFilesText(id string, err *coordinator.NoFilesError) app.Message {
	switch {
	case len(err.Dirs) == 0 && err.Foreign:
		return app.Text("The files of session %s were recorded in another home or on another machine: they can be set "+
			"back there only.", id)
	case len(err.Dirs) == 0:
		return app.Text("Session %s has recorded no files.", id).
			With(app.To("see when files are recorded", "guide", "file-changes"))
	}
	m := app.Text("The agents of session %s have changed files in several directories. Choose one with --dir:", id)
	if len(err.Dirs) == 1 {
		m = app.Text("The agents of session %s have changed files in another directory. Choose it with --dir:", id)
	}
	for _, dir := range err.Dirs {
		m.Text += "\n  " + tty.SafeLine(dir)
	}
	return m
}

// restoredPath is a path of a restore, in JSON.
type restoredPath struct {
	Path   string `json:"path"`
	Action string `json:"action"` // replace, create, remove, keep, written, removed, kept or failed
	Why    string `json:"why,omitempty"`
}

// writePaths writes a line for each path.
func writePaths(out io.Writer, paths []restoredPath) error {
	for _, p := range paths {
		if err := app.WriteJSON(out, p); err != nil {
			return err
		}
	}
	return nil
}

// planned returns the plan for --json.
func planned(p workspace.Plan) []restoredPath {
	paths := []restoredPath{}
	for _, s := range p.Writes {
		action := "replace"
		if s.Present == (objects.Entry{}) {
			action = "create"
		}
		paths = append(paths, restoredPath{Path: s.Path, Action: action})
	}
	for _, s := range p.Removals {
		paths = append(paths, restoredPath{Path: s.Path, Action: "remove"})
	}
	return append(paths, kept("keep", p.Kept)...)
}

// restored returns the result for --json.
func restored(p workspace.Plan, r workspace.Result) []restoredPath {
	paths := []restoredPath{}
	for _, path := range r.Written {
		paths = append(paths, restoredPath{Path: path, Action: "written"})
	}
	for _, path := range r.Removed {
		paths = append(paths, restoredPath{Path: path, Action: "removed"})
	}
	paths = append(paths, kept("kept", p.Kept)...)
	paths = append(paths, kept("kept", r.Kept)...)
	return append(paths, kept("failed", r.Failed)...)
}

func kept(action string, all []workspace.Kept) (paths []restoredPath) {
	for _, k := range all {
		paths = append(paths, restoredPath{k.Path, action, k.Why})
	}
	return paths
}

package host

import (
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// WarnUnsafePlace warns if the session of a chat is on a network file system, or if Git tracks the sessions of the
// home. file is the journal or another file that the chat resumes; nil: a session of the home.
func WarnUnsafePlace(a *app.App, file *string) {
	dir := a.Home
	if file != nil && app.IsJournal(*file) {
		dir = filepath.Dir(*file)
	}
	if kind := a.NetworkFS(dir); kind != "" {
		a.Notice(networkText(dir, kind))
	}
	if sessions := filepath.Join(a.Home, "sessions"); gitTracks(sessions) {
		a.Show(trackedText(sessions))
	}
}

// trackedText is for a directory of sessions in a Git repository.
func trackedText(sessions string) app.Message {
	return app.Text("⚠️  Git tracks the sessions in %s: a push publishes them.", tty.SafeLine(sessions)).
		With(app.ToRun("stop tracking them", "git", "rm", "-r", "--cached", sessions))
}

func networkText(dir, kind string) string {
	f := app.NetworkText(dir, kind)
	return "⚠️  " + f.What + ".\n" + f.Help
}

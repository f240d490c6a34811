package app

import (
	"errors"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
)

// FollowEndedText explains why following a session ended.
func FollowEndedText(id string, err error) Message {
	var file *FileError
	errors.As(err, &file)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return Text("Session %s is gone.",
			tty.SafeLine(id)).With(To("restore it if it was deleted", "sessions", "restore", id))
	case errors.Is(err, journal.ErrReplaced):
		return Text("The journal of session %s was replaced: it was repaired, restored or truncated.",
			tty.SafeLine(id)).
			With(To("follow the new one", "tail", "-f", file.Name(id)))
	}
	return Explain(err)
}

// notNotifiedText is for a system that does not report changed files.
func notNotifiedText(reason error) string {
	why := tty.SafeLine(reason.Error())
	switch {
	case errors.Is(reason, syscall.EMFILE):
		why = "too many watchers; on Linux, raise fs.inotify.max_user_instances"
	case errors.Is(reason, syscall.ENOSPC):
		why = "too many watches; on Linux, raise fs.inotify.max_user_watches"
	}
	return "The system does not report changes of " +
		"journals: " + why + ".\nThey are polled four times a second instead. Nothing is lost."
}

package chat

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
)

// confirmed is the argument with which /rewind does what it otherwise only lists.
const confirmed = "--yes"

// slashFiles lists what each turn changed.
func (r invocation) slashFiles(_ context.Context, args string) error {
	s := r.status().Session
	if s == nil {
		r.reject("%s", textNoFilesYet)
		return nil
	}
	return r.reported((&filechanges.List{ID: s.ID, Paths: strings.Fields(args), Output: "text"}).Run(r.app))
}

// slashRewind lists what setting files back to an event would do, or does it.
func (r invocation) slashRewind(_ context.Context, args string) error {
	s := r.status().Session
	if s == nil {
		r.reject("%s", textNoFilesYet)
		return nil
	}
	fields := strings.Fields(args)
	n := len(fields)
	fields = slices.DeleteFunc(fields, func(f string) bool { return f == confirmed })
	restore := filechanges.Restore{
		ID: s.ID, Yes: len(fields) < n, DryRun: len(fields) == n, Output: "text", Record: r.c.RecordRestore,
	}
	switch {
	case len(fields) == 0:
		r.reject("%s", textRewindWhere)
		return nil
	case fields[0] == "undo":
		restore.Undo = true
	default:
		restore.At = fields[0]
	}
	restore.Paths = fields[1:]
	if err := r.reported(restore.Run(r.app)); err != nil {
		return err
	}
	if restore.DryRun {
		r.app.Notice(rewindHowText(args))
	}
	return nil
}

// reported reports the error of a command, and continues.
func (r invocation) reported(err error) error {
	var exit *app.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Message.Text != "") {
		r.report(err)
	}
	return nil
}

const (
	textNoFilesYet  = "No turn has changed files yet."
	textRewindWhere = "Type an event, such as: /rewind turn:1, or /rewind undo to undo the last time."
)

func rewindHowText(args string) string { return "To do that, type: /rewind " + args + " " + confirmed }

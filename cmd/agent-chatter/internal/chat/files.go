package chat

import (
	"context"
	"errors"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
)

// slashFiles lists what each turn changed.
func (r invocation) slashFiles(_ context.Context, args string) error {
	s := r.status().Session
	if s == nil {
		r.reject("%s", textNoFilesYet)
		return nil
	}
	return r.reported((&filechanges.List{ID: s.ID, Paths: strings.Fields(args), Output: "text"}).Run(r.app))
}

// reported reports the error of a command, and continues.
func (r invocation) reported(err error) error {
	var exit *app.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Message.Text != "") {
		r.report(err)
	}
	return nil
}

const textNoFilesYet = "No turn has changed files yet."

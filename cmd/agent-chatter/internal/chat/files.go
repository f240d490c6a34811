package chat

import (
	"context"
	"errors"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges/review"
)

// slashFiles shows what each turn changed, on the whole terminal. With paths, during a turn, for another device, and
// without a terminal of its own, it lists that.
func (r invocation) slashFiles(ctx context.Context, args string) error {
	s := r.status().Session
	switch {
	case s == nil:
		r.reject("%s", textNoFilesYet)
		return nil
	case args != "" || r.display.console == nil || ctx == r.turns || r.device != "":
		return r.reported((&filechanges.List{ID: s.ID, Paths: strings.Fields(args), Output: "text"}).Run(r.app))
	}
	saved, err := r.saved(ctx)
	if err == nil {
		err = r.lend(func(a *app.App) error { return review.Run(ctx, a, saved, r.c.RecordRestore) })
	}
	r.report(err)
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

const textNoFilesYet = "No turn has changed files yet."

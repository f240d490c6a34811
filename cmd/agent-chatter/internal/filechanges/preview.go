package filechanges

import (
	"context"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Target is what a viewer sets back.
type Target struct {
	Step  int      // to before this step; for Undo, a step of the directory
	Paths []string // of the step
	Part  int      // only this hunk of the one path, from 1; 0: all of it
	Undo  bool     // undo the last restore instead
}

// A Preview is a restore that a viewer can show and run. Close it.
type Preview struct {
	*Prepared
	notices *strings.Builder // what is printed besides
}

// Preview plans a restore. It writes nothing in the directory. record appends the events to the session; nil: the
// session is opened for that.
func (r *Reader) Preview(ctx context.Context, t Target, record func(...projection.Payload) error) (*Preview, error) {
	s := r.Steps[t.Step]
	cmd := Restore{Paths: t.Paths, Undo: t.Undo, Dir: s.Dir, Record: record, exact: true}
	at := ""
	switch {
	case t.Undo:
		cmd.Paths = nil
	case !s.ByTurn:
		return nil, app.Exit(app.ExitFailed, notByTurnText(s.Who))
	default:
		at = strconv.FormatUint(s.At-1, 10)
	}
	if t.Part > 0 {
		d, err := r.Diff(t.Step, t.Paths[0], nil)
		if err != nil {
			return nil, err
		}
		cmd.hunk = &coordinator.FileHunk{Before: d.before, After: d.after, Number: t.Part - 1}
	}
	notices := new(strings.Builder)
	prepared, err := cmd.Prepare(ctx, r.app.WithStderr(notices), r.session, at)
	if err != nil {
		return nil, err
	}
	return &Preview{prepared, notices}, nil
}

// Restore sets the files back, and says what was done, in lines that are safe for a terminal; "": an error was before.
func (p *Preview) Restore(ctx context.Context) (string, error) {
	result, err := p.Run(ctx)
	if err != nil && len(result.Written)+len(result.Removed)+len(result.Kept)+len(result.Failed) == 0 {
		return "", err
	}
	lines := []string{restoredText(result), p.Problems(result), strings.TrimSpace(p.notices.String())}
	return strings.TrimSpace(strings.Join(lines, "\n")), err
}

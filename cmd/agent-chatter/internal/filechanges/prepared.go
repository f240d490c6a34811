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
	Step  int      // to before this step, or of its directory the last restore
	Paths []string // of the step
	Part  int      // only this hunk of the one path, from 1; 0: all of it
	Undo  bool     // undo the last restore instead
}

// A Prepared restore can run. Close it.
type Prepared struct {
	*coordinator.PreparedRestore
	dir     string
	notices *strings.Builder // what the command prints besides
}

// Prepare prepares a restore. It writes nothing in the directory. record appends the events to the session; nil: the
// session is opened for that.
func (r *Reader) Prepare(
	ctx context.Context, t Target, record func(...projection.Payload) error,
) (*Prepared, error) {
	s := r.Steps[t.Step]
	cmd := Restore{Paths: t.Paths, Undo: t.Undo, Dir: s.Dir, Record: record}
	at := ""
	switch {
	case t.Undo:
		cmd.Paths = nil
	case !s.ByTurn:
		return nil, app.Exit(app.ExitFailed, notByTurnText(s.Who))
	default:
		at = strconv.FormatUint(s.At-1, 10)
	}
	notices := new(strings.Builder)
	restore, err := cmd.restore(ctx, r.app.WithStderr(notices), r.session, at)
	if err != nil {
		return nil, err
	}
	if t.Part > 0 {
		d, err := r.Diff(t.Step, t.Paths[0])
		if err != nil {
			return nil, err
		}
		restore.Hunk = &coordinator.FileHunk{Before: d.before, After: d.after, Number: t.Part - 1}
	}
	prepared, err := restore.Prepare(ctx)
	if err != nil {
		return nil, explainRestore(r.session.ID, err)
	}
	return &Prepared{prepared, s.Dir, notices}, nil
}

// Text says what the restore would do, in lines that are safe for a terminal.
func (p *Prepared) Text() string { return planText(p.dir, p.Plan) }

// Runs reports whether the restore would change anything.
func (p *Prepared) Runs() bool { return len(p.Plan.Removals)+len(p.Plan.Writes) > 0 }

// Run sets the files back, and says what was done, in lines that are safe for a terminal.
func (p *Prepared) Run(ctx context.Context) (string, error) {
	result, err := p.PreparedRestore.Run(ctx)
	result.Kept = append(p.Plan.Kept, result.Kept...)
	text := restoredText(result)
	if len(p.Left) > 0 {
		text += "\n" + leftText(p.Left)
	}
	return strings.TrimSpace(text + "\n" + p.notices.String()), err
}

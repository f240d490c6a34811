package maintain

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// verifySession reads every line of a session; with chainOnly it checks only the
// checksums. If lines are appended meanwhile, it reads them too, unless it has found damage
// or an invalid event. It reports a torn tail only if the file has stopped growing: until
// then, that is a write in progress. Its error is that of ctx.
func verifySession(
	ctx context.Context, a *app.App, team *catalog.Dir, s catalog.Session, chainOnly, inTeam bool,
) (verdict, error) {
	v := verdict{ID: s.ID, OK: true}
	audit := team.Audit(s.ID)
	var at journal.Position
	synced := uint64(0)
	grown := true
	for grown && v.OK {
		if err := ctx.Err(); err != nil {
			return v, err
		}
		reader, err := team.Journals().Reader(s.ID, at)
		if err != nil {
			v.fail(err)
			break
		}
		if chainOnly {
			if err := reader.CheckChain(ctx); err != nil {
				v.fail(err)
			}
			v.Events = reader.Position().Seq
		} else {
			v.scan(ctx, reader, audit)
		}
		if v.OK {
			if err := reader.CheckFile(ctx); err != nil {
				v.fail(err)
			}
		}
		v.torn, grown, at = reader.Torn(), reader.Grown(), reader.Position()
		synced = max(synced, reader.Synced())
		reader.Close()
	}
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if n := at.Seq - min(synced, at.Seq); v.OK && n > 1 {
		v.WithoutSyncMark = n
	}
	if v.OK && !chainOnly {
		removeInvalidCaches(a, audit, s.ID)
	}
	v.checkSession(audit, inTeam && !chainOnly)
	// The list also knows that the file had events, and, if only the checksums were checked,
	// lines that are not events.
	if v.OK && s.Damaged != "" && s.ReadErr == nil {
		v.OK, v.sumsMatch, v.Problem = false, true, s.Damaged
	}
	if grown {
		v.torn = journal.Torn{}
	} else if v.OK && v.Events == 0 && s.Bytes > 0 {
		v.OK, v.sumsMatch, v.Problem, v.help = false, true, emptyText(s.Bytes), textEmptyHelp
		v.torn = journal.Torn{}
	}
	v.shrunk = s.Truncated && v.OK
	err := v.checkFiles(ctx, team, inTeam && !chainOnly)
	return v, err
}

// checkSession fails a journal that is intact and no session, or, if stored is true, another one than that it is stored
// as.
func (v *verdict) checkSession(audit *catalog.Audit, stored bool) {
	if missing := audit.MissingHeader(); v.OK && missing != nil {
		v.OK, v.sumsMatch, v.Problem, v.Line = false, true, missing.Reason, 1
	}
	if other := audit.Other(); v.OK && stored && other != nil {
		v.OK, v.sumsMatch, v.Problem, v.help = false, true, other.Error(), textOtherHelp
	}
}

// removeInvalidCaches removes and reports the caches that contradict a session. One that
// cannot be removed does not fail the session.
func removeInvalidCaches(a *app.App, audit *catalog.Audit, id string) {
	for problem, err := range audit.RemoveInvalid() {
		a.Notice(invalidCacheText(id, problem, err))
	}
}

// scan checks the events of a reader until ctx is done, also those after an invalid one.
func (v *verdict) scan(ctx context.Context, reader *journal.Reader, audit *catalog.Audit) {
	start := reader.Position()
	for e, err := range reader.Scan() {
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			v.fail(err)
			return
		}
		v.Events = e.Seq
		for _, f := range projection.FilesOf(e.Type, e.Data) {
			v.files = append(v.files, messageFile{f, e.Seq})
		}
		if err := audit.Apply(e, reader.Position()); err != nil {
			v.failEvent(e, start.Offset, err)
		}
		start = reader.Position()
	}
}

// failEvent sets the verdict for an event that does not match its schema, or that a newer
// version of the program wrote. The first one that does not match is described.
func (v *verdict) failEvent(e journal.Event, offset int64, err error) {
	invalid := !errors.Is(err, projection.ErrNewer)
	if invalid {
		v.InvalidEvents++
	}
	if v.InvalidEvents > 1 || !v.OK && !invalid {
		return
	}
	v.OK, v.Newer, v.Line, v.Offset = false, !invalid, int64(e.Seq), offset
	v.Field, v.Problem = fieldOf(err)
}

// fieldOf returns the field that is wrong in an event, and what is wrong with it.
func fieldOf(err error) (field, problem string) {
	var invalid *schemas.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Problems[0].Path, invalid.Problems[0].Message
	}
	return "", err.Error()
}

// fail sets the verdict for an error of a reader.
func (v *verdict) fail(err error) {
	v.OK, v.Problem, v.unreadable = false, err.Error(), catalog.IsReadError(err)
	v.Newer, v.Line, v.Offset, v.Field, v.InvalidEvents = false, 0, 0, "", 0
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) {
		v.Problem, v.Line, v.Offset = corrupt.Reason, corrupt.Line, corrupt.Offset
		if corrupt.TooLong > 0 {
			v.help = app.AllowText(corrupt.TooLong)
		}
	}
}

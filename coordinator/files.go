package coordinator

import (
	"cmp"
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The files of a turn's directory are captured before its agent starts and after it has ended, so that the journal says
// what each turn changed and files can be set back. A capture never fails a turn.

// directory is a directory in which turns run.
type directory struct {
	*workspace.Workspace
	limited bool // it is the directory of the member alone, since all of the work tree exceeds a limit
	partial bool // the files that Git has are not captured, since the directory exceeds a limit
	off     bool // it is not captured in this run
}

// FilesOff reports that the files of a directory are not captured any more in this run.
type FilesOff struct {
	Dir string
	Err error // *workspace.LimitError, or another
}

// FilesLimited reports that, of the work tree around a directory, only the directory is captured, since the work tree
// exceeds a limit.
type FilesLimited struct {
	Dir string
	Err *workspace.LimitError
	// Changed is whether the directory exceeds the limit, too, so that only what Git reports as changed or untracked is
	// captured of it.
	Changed bool
}

// fileTurn captures the files around a turn; nil: its directory is not captured.
type fileTurn struct {
	t       *turn
	dir     *directory
	running *workspace.Running
	before  objects.Hash
	limited bool // before is of the directory of the member alone
}

// beginFiles captures the directory of the turn before its agent starts, and saves what differs from the last capture.
func (t *turn) beginFiles(ctx context.Context) *fileTurn {
	c := t.c
	if _, ok := c.o.Engines[t.item.member.EngineName()].(agent.ProgramEngine); !ok {
		return nil // it can change no files
	}
	d := c.directory(t.dir())
	if d == nil || d.off {
		return nil
	}
	running, err := d.Begin(ctx, t.id)
	if err != nil {
		c.filesOff(d, t.dir(), err)
		return nil
	}
	f := &fileTurn{t: t, dir: d, running: running}
	captured, ok := f.captureFirst(ctx)
	if !ok {
		f.end()
		return nil
	}
	f.before, f.limited = captured.Tree, d.limited
	if f.recordLate(captured.Tree) || f.record(captured, projection.BeforeTurn) {
		c.save() // before the agent can change a file
	}
	return f
}

// directory returns the workspace of a directory; nil if files are not captured.
func (c *Coordinator) directory(dir string) *directory {
	if c.o.Workspace == nil || c.team.FilesOff {
		return nil
	}
	if d, ok := c.directories[dir]; ok {
		return d
	}
	d := &directory{}
	w, err := c.o.Workspace(dir)
	var refused *workspace.RefusedError
	switch {
	case w == nil && err == nil, errors.As(err, &refused): // it is never captured, which is no news
		d.off = true
	case err != nil:
		c.filesOff(d, dir, err)
	}
	d.Workspace = w
	c.directories[dir] = d
	return d
}

// filesOff stops capturing a directory in this run.
func (c *Coordinator) filesOff(d *directory, dir string, err error) {
	var busy *workspace.BusyError
	again := errors.As(err, &busy) || errors.Is(err, ErrFilesSkipped) // at the next turn
	d.off = !again
	c.notify(FilesOff{dir, err})
}

// ErrFilesSkipped is the reason of FilesOff after SkipFiles.
var ErrFilesSkipped = errors.New("the capture was skipped")

// progressFiles is after how many files the status has a new number.
const progressFiles = 1000

// SkipFiles ends the capture before the turn that runs, if Status.Capturing is set: the turn then runs without
// captures. It reports whether it did. It may be called by any goroutine.
func (c *Coordinator) SkipFiles() bool {
	skip := c.skipFiles.Swap(nil)
	if skip != nil {
		(*skip)(ErrFilesSkipped)
	}
	return skip != nil
}

// captureFirst captures the directory before the agent starts. The status has its progress.
func (f *fileTurn) captureFirst(ctx context.Context) (workspace.Capture, bool) {
	c := f.t.c
	ctx, skip := context.WithCancelCause(ctx)
	defer skip(nil)
	defer func() {
		c.skipFiles.Store(nil)
		c.setCapturing(0)
	}()
	return f.capture(ctx, func(files int) {
		if files%progressFiles == 0 {
			c.skipFiles.CompareAndSwap(nil, &skip)
			c.setCapturing(files)
		}
	})
}

func (c *Coordinator) setCapturing(files int) {
	c.capturing = files
	c.notifyStatus(c.Status())
}

// capture captures the directory; if that exceeds a limit, the directory of the member alone from now on.
func (f *fileTurn) capture(ctx context.Context, progress func(files int)) (workspace.Capture, bool) {
	c, dir := f.t.c, f.t.dir()
	for {
		captured, err := f.dir.Capture(ctx, newID(), progress)
		if err == nil {
			if captured.Exceeded != nil && !f.dir.partial {
				f.dir.partial = true
				c.notify(FilesLimited{f.dir.Root(), captured.Exceeded, true})
			}
			return captured, true
		}
		var limit *workspace.LimitError
		if errors.As(err, &limit) && limit.OfDirectory() && !f.dir.limited {
			var limited bool
			if limited, err = f.limit(ctx); limited {
				c.notify(FilesLimited{dir, limit, false})
				continue
			}
			err = cmp.Or(err, error(limit))
		}
		if ctx.Err() == nil || errors.Is(err, ErrFilesSkipped) {
			c.filesOff(f.dir, dir, err)
		}
		return captured, false
	}
}

// limit makes the turn one of the member's directory alone. It returns false if that is the whole directory.
func (f *fileTurn) limit(ctx context.Context) (bool, error) {
	below, err := f.dir.Below(f.t.dir())
	if err != nil {
		return false, nil
	}
	f.end()
	if f.running, err = below.Begin(ctx, f.t.id); err != nil {
		return false, err
	}
	f.dir.Workspace, f.dir.limited = below, true
	return true, nil
}

// record records a capture if the session does not know its tree. It reports whether it did.
func (f *fileTurn) record(captured workspace.Capture, when projection.CaptureTime) bool {
	c := f.t.c
	if c.conv.state.Tree(f.dir.Root()) == captured.Tree.String() {
		return false
	}
	event := CapturedEvent(captured, newID(), f.dir.Root(), when)
	event.TurnID = f.t.id
	c.loadHomeKey()
	c.conv.record(c.records(withHost(c.homeKey, event))...) // bounded, so that every journal can hold it
	return true
}

// CapturedEvent returns the event of a capture, without a turn.
func CapturedEvent(
	captured workspace.Capture, id, root string, when projection.CaptureTime,
) projection.FilesCaptured {
	event := projection.FilesCaptured{
		CaptureID: id, When: when, Dir: root, Root: captured.Tree.String(),
		Files: captured.Files, Bytes: captured.Bytes, DurationMS: captured.Duration.Milliseconds(),
	}
	for i, s := range captured.Skipped {
		if i == projection.MaxSkippedFiles {
			event.SkippedMore = len(captured.Skipped) - i
			break
		}
		event.Skipped = append(event.Skipped, projection.SkippedFile{Path: projection.FilePath(s.Path), Why: s.Why})
	}
	return event
}

// recordLate records what differs from the last capture if turns in this directory were interrupted when the program
// ended: they may have changed it. It reports whether it recorded that.
func (f *fileTurn) recordLate(tree objects.Hash) bool {
	c, root := f.t.c, f.dir.Root()
	interrupted := c.interrupted
	c.interrupted = nil
	last, err := objects.ParseHash(c.conv.state.Tree(root))
	if err != nil || last == tree {
		return false
	}
	recorded := false
	for _, end := range interrupted {
		m, ok := c.team.Member(end.MemberID)
		if d := c.directory(c.dirOf(m)); !ok || d == nil || d.off || d.Root() != root {
			continue
		}
		recorded = f.recordChanges(end.TurnID, m, last, tree, nil, true) || recorded
	}
	return recorded
}

// finish captures the directory after the turn and records what differs.
func (f *fileTurn) finish(ctx context.Context) {
	if f == nil {
		return
	}
	defer f.end()
	// A cancelled turn has changed files, too.
	captured, ok := f.capture(context.WithoutCancel(ctx), nil)
	if !ok || captured.Tree == f.before {
		return
	}
	with, err := f.running.With()
	if err != nil {
		with = append(with, "unknown")
	}
	f.record(captured, projection.AfterTurn)
	if f.limited == f.dir.limited { // else the trees cannot be compared
		f.recordChanges(f.t.id, f.t.item.member, f.before, captured.Tree, with, false)
	}
	f.t.c.save() // before the turn ends: what no journal names is removed
}

// recordChanges records what differs between two trees.
func (f *fileTurn) recordChanges(
	turnID string, m team.Member, before, after objects.Hash, with []string, late bool,
) bool {
	c := f.t.c
	changed, err := f.dir.Changes(before, after)
	var partial *workspace.PartialError
	if errors.As(err, &partial) || err == nil && len(changed.Changes) == 0 {
		return false // who changed what is unknown, or nothing is known to differ
	}
	if err != nil {
		c.filesOff(f.dir, f.t.dir(), err)
		return false
	}
	changed.TurnID, changed.MemberID, changed.Dir = turnID, m.ID, f.dir.Root()
	changed.Before, changed.After, changed.With, changed.Late = before.String(), after.String(), with, late
	c.loadHomeKey()
	c.conv.record(c.records(withHost(c.homeKey, changed))...)
	return true
}

func (f *fileTurn) end() {
	if f.running == nil {
		return
	}
	if err := f.running.End(); err != nil {
		f.t.c.filesOff(f.dir, f.t.dir(), err)
	}
}

package filechanges

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A Reader reads what a session recorded of files, for viewers. It reads only what this home has recorded: a session
// from elsewhere could name the files of any directory. Its methods may be called concurrently.
type Reader struct {
	app     *app.App // its messages are discarded
	session catalog.Session
	// Steps are what differs between captures that follow each other, oldest first.
	Steps []Step

	mu      sync.Mutex // held while contents are read
	history *history
	changes map[int]map[string]objects.Change // of steps, by path
}

// A Step is what differs between two captures of a directory.
type Step struct {
	Seq     uint64 // of the event that recorded it
	At      uint64 // the event after which the files are so
	Turn    int    // its number, from 1; 0: no turn changed the files, or its number is unknown
	ByTurn  bool   // a turn changed the files
	Who     string // who changed them, safe for a terminal
	Dir     string
	Files   []projection.FileChange
	Problem string // why Files are not known, safe for a terminal; "": they are
}

// OpenReader reads the events of a session. The error of a session that has nothing recorded here has a message that
// says why.
func OpenReader(ctx context.Context, a *app.App, s catalog.Session) (*Reader, error) {
	r := &Reader{app: a.WithStderr(io.Discard), session: s, changes: map[int]map[string]objects.Change{}}
	key, err := home.KnownKey(a.Home)
	if err != nil {
		key = nil // then nothing was recorded here
	}
	foreign := false
	r.history, err = readHistory(ctx, r.app, view.NewReplay(r.app, s), func(p projection.Payload) bool {
		own := coordinator.RecordedHere(key, p)
		foreign = foreign || !own
		return own
	})
	if err != nil {
		return nil, err
	}
	for _, s := range r.history.steps {
		changes, err := r.history.changes(s)
		step := Step{
			Seq: s.seq, At: s.at, Turn: s.turn, ByTurn: s.changed != nil,
			Who: r.history.whoText(s) + r.history.whereText(s), Dir: s.dir,
			Files: changes,
		}
		if err != nil {
			step.Problem = a.Render(app.Explain(err))
		}
		r.Steps = append(r.Steps, step)
	}
	switch {
	case len(r.Steps) > 0:
		return r, nil
	case foreign:
		return nil, app.Exit(app.ExitFailed, elsewhereText(s.ID))
	}
	return nil, app.Exit(app.ExitFailed, nothingText(s.ID))
}

// Session returns the session that is read.
func (r *Reader) Session() catalog.Session { return r.session }

// Dirs returns the directories whose files changed.
func (r *Reader) Dirs() []string { return r.history.dirs() }

// Skipped names the files whose contents the last captures do not have, a line for each directory.
func (r *Reader) Skipped() (lines []string) {
	for _, dir := range r.history.capturedDirs() {
		if text := skippedText(r.history.captured[dir]); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// change returns the entries of a path before and after a step.
func (r *Reader) change(step int, path string) (objects.Change, error) {
	if r.changes[step] == nil {
		s := r.history.steps[step]
		all, err := r.history.compare(s.dir, s.before, s.after)
		if err != nil {
			return objects.Change{}, err
		}
		r.changes[step] = map[string]objects.Change{}
		for _, c := range all {
			r.changes[step][c.Path] = c
		}
	}
	c, ok := r.changes[step][path]
	if !ok {
		return c, app.Exit(app.ExitNotFound, app.Message{Text: notChangedText(path)})
	}
	return c, nil
}

// Index returns the index of the step that an event recorded.
func (r *Reader) Index(seq uint64) (step int, ok bool) {
	step = slices.IndexFunc(r.Steps, func(s Step) bool { return s.Seq == seq })
	return step, step >= 0
}

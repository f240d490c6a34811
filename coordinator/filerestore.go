package coordinator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// FileHistory is what a session has recorded of the files of one directory.
type FileHistory struct {
	Dir    string
	states []fileState           // oldest first
	turns  []workspace.TurnTrees // of turns and restores
	seqs   []uint64              // of the events of turns
	// open is the last restore if the program ended in it.
	open     *projection.FilesRestoring
	last     *projection.FilesRestoring // the last restore
	lastTurn int                        // its index in turns
}

// fileState is the tree of a directory from an event on.
type fileState struct {
	seq  uint64
	tree objects.Hash
}

// NoFilesError is the error of a session that has recorded nothing of the files of a directory.
type NoFilesError struct {
	Dirs    []string // that it has; none: no directory
	Foreign bool     // it has files that another home, or this one on another machine, has recorded
}

func (e *NoFilesError) Error() string {
	switch {
	case len(e.Dirs) == 0 && e.Foreign:
		return "the files of the session were recorded in another home or on another machine"
	case len(e.Dirs) == 0:
		return "the session has recorded no files"
	}
	return fmt.Sprintf("the session has recorded files of several directories: %q", e.Dirs)
}

// NewFileHistory reads the events of a session that the home with the key has recorded. dir may be "" if the session
// has files of one directory only; else the error is a *NoFilesError.
func NewFileHistory(dir string, key []byte, events iter.Seq2[journal.Event, error]) (*FileHistory, error) {
	b := historyBuilder{
		key:  key,
		dirs: map[string]*FileHistory{}, turns: map[string]*workspace.Turn{}, ends: map[string]uint64{},
	}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if p, err := projection.Decode(e); err == nil {
			if err := b.add(e, p); err != nil {
				return nil, fmt.Errorf("event %d: %w", e.Seq, err)
			}
		}
	}
	if h := b.dirs[dir]; h != nil {
		return h, nil
	}
	if dir == "" && len(b.names) == 1 {
		return b.dirs[b.names[0]], nil
	}
	return nil, &NoFilesError{b.names, b.foreign}
}

// historyBuilder collects the histories of all directories of a session.
type historyBuilder struct {
	key     []byte
	foreign bool // an event is not of this home
	dirs    map[string]*FileHistory
	names   []string                   // of the directories, oldest first
	turns   map[string]*workspace.Turn // by id
	ends    map[string]uint64          // the seq of the end of a turn
	count   int                        // turns
}

func (b *historyBuilder) dir(name string) *FileHistory {
	h := b.dirs[name]
	if h == nil {
		h = &FileHistory{Dir: name}
		b.dirs[name] = h
		b.names = append(b.names, name)
	}
	return h
}

func (b *historyBuilder) add(e journal.Event, p projection.Payload) (err error) {
	switch p.(type) {
	case projection.FilesCaptured, projection.FilesChanged, projection.FilesRestoring, projection.FilesRestored:
		if !isOwn(b.key, p) {
			b.foreign = true
			return nil
		}
	}
	switch p := p.(type) {
	case projection.TurnStarted:
		b.count++
		b.turns[p.TurnID] = &workspace.Turn{Name: fmt.Sprintf("turn %d", b.count), Started: e.Time}
	case projection.TurnEnded:
		if t := b.turns[p.TurnID]; t != nil {
			t.Ended = e.Time
		}
		b.ends[p.TurnID] = e.Seq
	case projection.FilesCaptured:
		return b.dir(p.Dir).addState(b.seqOf(e, p.TurnID), p.Root)
	case projection.FilesChanged:
		turn := workspace.Turn{Name: "a turn", Started: e.Time, Ended: e.Time}
		if t := b.turns[p.TurnID]; t != nil {
			turn = *t
		}
		turn.Late, turn.Shared = p.Late, len(p.With) > 0
		h := b.dir(p.Dir)
		seq := b.seqOf(e, p.TurnID)
		return errors.Join(h.addTurn(seq, turn, p.Before, p.After), h.addState(seq, p.After))
	case projection.FilesRestoring:
		if _, err := ulid.ParseStrict(p.RestoreID); err != nil {
			return err
		}
		h := b.dir(p.Dir)
		h.open, h.last, h.lastTurn = &p, &p, len(h.turns)
		turn := workspace.Turn{Name: "a restore", Started: e.Time, Ended: e.Time}
		return errors.Join(h.addTurn(e.Seq, turn, p.Undo, p.Undo), h.addState(e.Seq, p.Undo))
	case projection.FilesRestored:
		for _, h := range b.dirs {
			if h.open == nil || h.open.RestoreID != p.RestoreID {
				continue
			}
			h.open, h.turns[h.lastTurn].Ended = nil, e.Time
			if p.After == "" {
				continue // what it has changed is unknown: a person counts as its author
			}
			if h.turns[h.lastTurn].After, err = objects.ParseHash(p.After); err != nil {
				return err
			}
			return h.addState(e.Seq, p.After)
		}
	}
	return nil
}

// seqOf returns the event from which on the files are as an event says: the end of the turn, after which they were
// captured.
func (b *historyBuilder) seqOf(e journal.Event, turnID string) uint64 {
	if end, ok := b.ends[turnID]; ok {
		return end
	}
	return e.Seq
}

// addState adds what a directory contains from an event on.
func (h *FileHistory) addState(seq uint64, root string) error {
	tree, err := objects.ParseHash(root)
	if err != nil {
		return err
	}
	h.states = append(h.states, fileState{seq, tree})
	return nil
}

func (h *FileHistory) addTurn(seq uint64, turn workspace.Turn, before, after string) error {
	first, err := objects.ParseHash(before)
	if err != nil {
		return err
	}
	last, err := objects.ParseHash(after)
	h.turns = append(h.turns, workspace.TurnTrees{Turn: turn, Before: first, After: last})
	h.seqs = append(h.seqs, seq)
	return err
}

// At returns what the directory contained after an event, or, if nothing was captured until then, at the first capture.
func (h *FileHistory) At(seq uint64) objects.Hash {
	tree := h.states[0].tree
	for _, s := range h.states {
		if s.seq > seq {
			break
		}
		tree = s.tree
	}
	return tree
}

// since returns the turns and restores after an event.
func (h *FileHistory) since(seq uint64) []workspace.TurnTrees {
	i := slices.IndexFunc(h.seqs, func(s uint64) bool { return s > seq })
	if i < 0 {
		return nil
	}
	return h.turns[i:]
}

// FileRestore sets files of a directory back.
type FileRestore struct {
	History   *FileHistory
	Workspace *workspace.Workspace // of the directory
	Key       []byte               // of the home
	Record    func(...projection.Payload) error

	Seq   uint64   // the event to which the files are set back
	Undo  bool     // undo the last restore instead
	Paths []string // files and directories below the directory, with slashes; none: all
	Force bool     // also what a person or another program changed after a turn
}

// ErrNoRestore is the error of FileRestore.Prepare without a restore to undo.
var ErrNoRestore = errors.New("no files were set back in this session")

// PreparedRestore is a restore that can run. Close it.
type PreparedRestore struct {
	r       *FileRestore
	id      string
	running *workspace.Running
	present workspace.Capture
	target  objects.Hash
	Plan    workspace.Plan
	// Left are the files of a restore that was interrupted, which are in no capture.
	Left []workspace.Kept
}

// Prepare captures the directory and plans the restore; nothing in it is written. Errors: ErrNoRestore, a
// *workspace.BusyError if a turn runs in the directory, those of Workspace.Capture and of the store.
func (r *FileRestore) Prepare(ctx context.Context) (*PreparedRestore, error) {
	p := &PreparedRestore{r: r, id: newID()}
	var err error
	if p.running, err = r.Workspace.Begin(ctx, p.id); err != nil {
		return nil, err
	}
	if err := p.prepare(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *PreparedRestore) prepare(ctx context.Context) (err error) {
	r, h := p.r, p.r.History
	if with, err := p.running.With(); err != nil || len(with) > 0 {
		return errors.Join(err, &workspace.BusyError{Root: h.Dir})
	}
	if p.present, err = r.Workspace.Capture(ctx, newID(), nil); err != nil {
		return err
	}
	p.target = h.At(r.Seq)
	turns := h.since(r.Seq)
	if r.Undo {
		if h.last == nil {
			return ErrNoRestore
		}
		if p.target, err = objects.ParseHash(h.last.Undo); err != nil {
			return err
		}
		turns = h.turns[h.lastTurn:]
	}
	p.Plan, err = p.plan(turns)
	return err
}

// PathError is the error of a path that is not below the directory.
type PathError struct{ Path string }

func (e *PathError) Error() string {
	return fmt.Sprintf("%q is no path below the directory of the agents", e.Path)
}

// paths returns the chosen paths with slashes; nil: all.
func (r *FileRestore) paths() ([]string, error) {
	var paths []string
	for _, name := range r.Paths {
		if name == "" || !filepath.IsLocal(name) {
			return nil, &PathError{name}
		}
		paths = append(paths, filepath.ToSlash(filepath.Clean(name)))
	}
	return paths, nil
}

// recover removes the files that an interrupted restore has left.
func (p *PreparedRestore) recover() error {
	open := p.r.History.open
	undo, err := objects.ParseHash(open.Undo)
	if err != nil {
		return err
	}
	target, err := objects.ParseHash(open.Target)
	if err != nil {
		return err
	}
	var changes []objects.Change
	for c, err := range p.r.Workspace.Store().Compare(undo, target) {
		if err != nil {
			return err
		}
		changes = append(changes, c)
	}
	p.Left, err = workspace.Recover(p.r.History.Dir, open.RestoreID, changes)
	return err
}

// plan plans to set the directory to the target.
func (p *PreparedRestore) plan(turns []workspace.TurnTrees) (workspace.Plan, error) {
	store := p.r.Workspace.Store()
	history, err := p.spans(turns)
	if err != nil {
		return workspace.Plan{}, err
	}
	then, err := skippedOf(store, p.target)
	if err != nil {
		return workspace.Plan{}, err
	}
	now, err := skippedOf(store, p.present.Tree)
	if err != nil {
		return workspace.Plan{}, err
	}
	paths, err := p.r.paths()
	if err != nil {
		return workspace.Plan{}, err
	}
	root := p.r.History.Dir
	return workspace.NewPlan(history, workspace.PlanOptions{
		Paths: paths, SkippedThen: then, SkippedNow: now, Times: workspace.TimesBelow(root),
		FoldsCase: workspace.FoldsCase(root), Force: p.r.Force,
	}), nil
}

// spans returns what changed since the target, by author.
func (p *PreparedRestore) spans(turns []workspace.TurnTrees) ([]workspace.Span, error) {
	store, open := p.r.Workspace.Store(), p.r.History.open
	n := len(turns) - 1
	if open == nil || n < 0 || p.r.History.lastTurn != len(p.r.History.turns)-1 {
		return workspace.History(store, p.target, turns, p.present.Tree)
	}
	interrupted := turns[n] // what it has set is its own, and the rest has another author
	history, err := workspace.History(store, p.target, turns[:n], interrupted.Before)
	if err != nil {
		return nil, err
	}
	aim, err := objects.ParseHash(open.Target)
	if err != nil {
		return nil, err
	}
	files, err := store.Files(aim)
	if err != nil {
		return nil, err
	}
	var changes []objects.Change
	for c, err := range store.Compare(interrupted.Before, p.present.Tree) {
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	target := func(name string) objects.Entry { return files[name] }
	return append(history, workspace.SplitRestore(&interrupted.Turn, changes, target)...), nil
}

// skippedOf returns the paths of a tree whose content is not stored.
func skippedOf(store *objects.Store, tree objects.Hash) (skipped []workspace.Skipped, err error) {
	files, err := store.Files(tree)
	if err != nil {
		return nil, err
	}
	for name, e := range files {
		if e.Type() == objects.ModeSkipped {
			why, err := store.Read(e.Hash)
			if err != nil {
				return nil, err
			}
			skipped = append(skipped, workspace.Skipped{Path: name, Why: string(why)})
		}
	}
	return skipped, nil
}

// Run records and executes the plan; if an earlier restore was interrupted, a new one, after it has removed what that
// has left. It may leave a part undone if the context ends; the same restore completes it.
func (p *PreparedRestore) Run(ctx context.Context) (workspace.Result, error) {
	h := p.r.History
	if h.open != nil {
		if err := p.recover(); err != nil {
			return workspace.Result{}, err
		}
		if err := p.prepare(ctx); err != nil {
			return workspace.Result{}, err
		}
	}
	if with, err := p.running.With(); err != nil || len(with) > 0 {
		return workspace.Result{}, errors.Join(err, &workspace.BusyError{Root: h.Dir})
	}
	captured := CapturedEvent(p.present, newID(), h.Dir, projection.BeforeRestore)
	restoring := projection.FilesRestoring{
		RestoreID: p.id, Dir: h.Dir, Target: p.target.String(), Undo: p.present.Tree.String(), Seq: p.r.Seq,
		Force: p.r.Force,
	}
	for _, name := range p.r.Paths {
		restoring.Paths = append(restoring.Paths, projection.FilePath(name))
	}
	if err := p.r.Record(withHost(p.r.Key, captured), withHost(p.r.Key, restoring)); err != nil {
		return workspace.Result{}, err
	}
	// Crash here leaves each path as it was or set back, and files that the next restore removes.
	store := p.r.Workspace.Store()
	result, err := workspace.Restore(ctx, p.Plan, workspace.RestoreOptions{ID: p.id, Root: h.Dir, Read: store.Read})
	after, captureErr := p.r.Workspace.Capture(context.WithoutCancel(ctx), newID(), nil)
	restored := restoredEvent(p.id, p.Plan.Kept, result)
	if captureErr == nil {
		restored.After = after.Tree.String()
	}
	events := []projection.Payload{withHost(p.r.Key, restored)}
	if captureErr == nil {
		event := CapturedEvent(after, newID(), h.Dir, projection.BeforeRestore)
		events = append(events, withHost(p.r.Key, event))
	}
	return result, errors.Join(err, captureErr, p.r.Record(events...))
}

func restoredEvent(id string, planned []workspace.Kept, result workspace.Result) projection.FilesRestored {
	event := projection.FilesRestored{
		RestoreID: id, Written: len(result.Written), Removed: len(result.Removed), Failed: len(result.Failed),
	}
	for i, k := range slices.Concat(planned, result.Kept, result.Failed) {
		if i == projection.MaxFileChanges {
			event.More = len(planned) + len(result.Kept) + len(result.Failed) - i
			break
		}
		event.Kept = append(event.Kept, projection.SkippedFile{Path: projection.FilePath(k.Path), Why: k.Why})
	}
	return event
}

// Close ends the restore, whether it ran or not.
func (p *PreparedRestore) Close() error { return p.running.End() }

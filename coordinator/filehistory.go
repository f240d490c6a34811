package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
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
	states []fileState    // oldest first
	turns  []recordedTurn // and restores
	// open is the last restore if the program ended in it.
	open     *projection.FilesRestoring
	lastTurn int // the index in turns of the last restore
	// undoTurn is the index in turns of the restore from which on an undo sets back: the last one, or, if that repeats
	// interrupted ones, the first of these. -1: there is no restore.
	undoTurn int
	// merges are the merges of worktrees into the directory, and what undid them, by the ids of the restores.
	merges map[string]worktreeMerge
	// Dropped is why the contents of earlier captures were removed; "": none were.
	Dropped string
}

// recordedTurn is a turn or a restore that changed files.
type recordedTurn struct {
	workspace.TurnTrees
	seq      uint64 // of its event
	number   int    // in the session; 0: a restore
	memberID string
	restore  string // the id of a restore; "": it is a turn
	// aim is the target of a restore; zero: it is none, or what it has set is unknown.
	aim  objects.Hash
	open bool // the program ended in the restore
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
	b, err := buildHistories(key, events)
	if err != nil {
		return nil, err
	}
	return b.history(dir)
}

// NewUndoHistory is NewFileHistory for the undoing of the last restore: dir may be "" for its directory.
func NewUndoHistory(dir string, key []byte, events iter.Seq2[journal.Event, error]) (*FileHistory, error) {
	b, err := buildHistories(key, events)
	if err != nil {
		return nil, err
	}
	return b.history(cmp.Or(dir, b.restored))
}

// history returns the history of a directory, or of the only one.
func (b *historyBuilder) history(dir string) (*FileHistory, error) {
	if h := b.dirs[dir]; h != nil {
		return h, nil
	}
	if dir == "" && len(b.names) == 1 {
		return b.dirs[b.names[0]], nil
	}
	return nil, &NoFilesError{b.names, b.foreign}
}

// buildHistories reads the events of a session.
func buildHistories(key []byte, events iter.Seq2[journal.Event, error]) (*historyBuilder, error) {
	b := &historyBuilder{
		key:  key,
		dirs: map[string]*FileHistory{}, turns: map[string]*recordedTurn{}, ends: map[string]uint64{},
		worktrees: map[string]*WorktreeHistory{}, merges: map[string]worktreeMerge{},
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
	return b, nil
}

// historyBuilder collects the histories of all directories of a session.
type historyBuilder struct {
	key     []byte
	foreign bool // an event is not of this home
	dirs    map[string]*FileHistory
	names   []string                 // of the directories, oldest first
	turns   map[string]*recordedTurn // by id, without trees
	ends    map[string]uint64        // the seq of the end of a turn
	count   int                      // turns

	restored  string                      // the directory of the last restore
	worktrees map[string]*WorktreeHistory // by member
	merges    map[string]worktreeMerge    // by restore
}

func (b *historyBuilder) dir(name string) *FileHistory {
	h := b.dirs[name]
	if h == nil {
		h = &FileHistory{Dir: name, undoTurn: -1, merges: b.merges}
		b.dirs[name] = h
		b.names = append(b.names, name)
	}
	return h
}

func (b *historyBuilder) add(e journal.Event, p projection.Payload) error {
	switch p.(type) {
	case projection.FilesCaptured, projection.FilesChanged, projection.FilesRestoring, projection.FilesRestored,
		projection.WorktreeCreated, projection.WorktreeMerged:
		if !RecordedHere(b.key, p) {
			b.foreign = true
			return nil
		}
	}
	switch p := p.(type) {
	case projection.TurnStarted:
		b.count++
		t := &recordedTurn{number: b.count, memberID: p.MemberID}
		t.Turn = workspace.Turn{Name: fmt.Sprintf("turn %d", b.count), Started: e.Time}
		b.turns[p.TurnID] = t
	case projection.TurnEnded:
		if t := b.turns[p.TurnID]; t != nil {
			t.Ended = e.Time
		}
		b.ends[p.TurnID] = e.Seq
	case projection.FilesCaptured:
		return b.dir(p.Dir).addState(b.seqOf(e, p.TurnID), p.Root)
	case projection.FilesChanged:
		turn := recordedTurn{memberID: p.MemberID}
		turn.Turn = workspace.Turn{Name: "a turn", Started: e.Time, Ended: e.Time}
		if t := b.turns[p.TurnID]; t != nil {
			turn = *t
		}
		turn.Late, turn.Shared = p.Late, len(p.With) > 0
		turn.seq = b.seqOf(e, p.TurnID)
		h := b.dir(p.Dir)
		return errors.Join(h.addTurn(turn, p.Before, p.After), h.addState(turn.seq, p.After))
	case projection.FilesRestoring:
		if _, err := ulid.ParseStrict(p.RestoreID); err != nil {
			return err
		}
		b.restored = p.Dir
		return b.dir(p.Dir).beginRestore(e, p)
	case projection.WorktreeCreated, projection.WorktreeMerged, projection.WorktreeDropped:
		return b.addWorktree(p)
	case projection.FilesDropped:
		if h := b.dirs[p.Dir]; h != nil {
			h.Dropped = p.Why
		}
	case projection.FilesRestored:
		for _, h := range b.dirs {
			if h.open == nil || h.open.RestoreID != p.RestoreID {
				continue
			}
			return h.endRestore(e, p)
		}
	}
	return nil
}

// beginRestore adds a restore, which counts as interrupted until it ends.
func (h *FileHistory) beginRestore(e journal.Event, p projection.FilesRestoring) error {
	aim, err := objects.ParseHash(p.Target)
	if err != nil {
		return err
	}
	if h.open == nil || h.open.Target != p.Target {
		h.undoTurn = len(h.turns)
	}
	h.open, h.lastTurn = &p, len(h.turns)
	turn := recordedTurn{seq: e.Seq, restore: p.RestoreID, aim: aim, open: true}
	turn.Turn = workspace.Turn{Name: "a restore", Started: e.Time, Ended: e.Time}
	return errors.Join(h.addTurn(turn, p.Undo, p.Undo), h.addState(e.Seq, p.Undo))
}

// endRestore completes the last restore.
func (h *FileHistory) endRestore(e journal.Event, p projection.FilesRestored) (err error) {
	turn := &h.turns[h.lastTurn]
	h.open, turn.open, turn.Ended = nil, false, e.Time
	if p.After == "" {
		turn.aim = objects.Hash{}
		return nil // what it has changed is unknown: a person counts as its author
	}
	if turn.After, err = objects.ParseHash(p.After); err != nil {
		return err
	}
	return h.addState(e.Seq, p.After)
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

func (h *FileHistory) addTurn(turn recordedTurn, before, after string) (err error) {
	if turn.Before, err = objects.ParseHash(before); err != nil {
		return err
	}
	turn.After, err = objects.ParseHash(after)
	h.turns = append(h.turns, turn)
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
func (h *FileHistory) since(seq uint64) []recordedTurn {
	i := slices.IndexFunc(h.turns, func(t recordedTurn) bool { return t.seq > seq })
	if i < 0 {
		return nil
	}
	return h.turns[i:]
}

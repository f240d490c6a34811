package filechanges

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A step is what differs between two trees of a directory that follow each other.
type step struct {
	seq           uint64 // of the event that recorded the second tree
	at            uint64 // the event after which the files are as in that tree: seq, or the end of the turn
	turn          int    // the number of the turn that changed the files, from 1; 0: none that is known, or unknown
	dir           string
	before, after string                   // the trees
	changed       *projection.FilesChanged // nil: it changed between the turns
	// restore set files back between the turns, or merged a worktree; nil: none did.
	restore *projection.FilesRestoring
}

// A tree is what a directory contained from an event on.
type tree struct {
	at   uint64 // the event; after a turn, that of its end
	dir  string
	root string
}

// A turn is a turn of an agent.
type turn struct {
	number int // 1 is the first
	member string
}

// A history is what a session recorded of files.
type history struct {
	id      string
	home    string
	members []projection.Speaker
	turns   map[string]turn
	steps   []step
	trees   []tree // in the order of their events
	// captured has the last capture of each directory, for the paths that it skipped.
	captured map[string]projection.FilesCaptured

	ends  map[string]uint64 // the events of the ends of turns, by the ids of the turns
	open  map[string]bool   // the ids of turns that have not ended yet
	known map[string]string // the newest tree of each directory
	// restores are the restores and merges since the newest tree of each directory.
	restores map[string]*projection.FilesRestoring
	stores   map[string]*workspace.Workspace
	dropped  string // why the contents of earlier captures were removed; "": none were
}

// readHistory reads the events of a session; those about files only if take returns true for them. nil takes all.
func readHistory(
	ctx context.Context, a *app.App, r *view.Replay, take func(projection.Payload) bool,
) (*history, error) {
	h := newHistory(a.Home, r.ID)
	state, _, err := r.Dir.Load(ctx, r.ID)
	if err == nil {
		h.members = state.Members()
	}
	for e, err := range r.Events(ctx) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(e.Type, "files.") || strings.HasPrefix(e.Type, "turn.started") || e.Type == "turn.ended" {
			decoded := projection.DecodeEvent(e)
			if take == nil || !strings.HasPrefix(e.Type, "files.") || take(decoded.Payload) {
				h.apply(decoded)
			}
		}
	}
	h.steps = slices.DeleteFunc(h.steps, h.isMixed)
	return h, nil
}

// isMixed reports whether only one of the trees of a step has the files that Git has, so that what changed is unknown.
func (h *history) isMixed(s step) bool {
	if s.changed != nil {
		return false
	}
	before, err := objects.ParseHash(s.before)
	after, afterErr := objects.ParseHash(s.after)
	if err != nil || afterErr != nil {
		return false
	}
	var partial *workspace.PartialError
	for _, err := range h.workspace(s.dir).Compare(before, after) {
		return errors.As(err, &partial)
	}
	return false
}

func newHistory(home, id string) *history {
	return &history{
		id: id, home: home, turns: map[string]turn{}, captured: map[string]projection.FilesCaptured{},
		ends: map[string]uint64{}, open: map[string]bool{}, restores: map[string]*projection.FilesRestoring{},
		known: map[string]string{}, stores: map[string]*workspace.Workspace{},
	}
}

// apply folds an event.
func (h *history) apply(e projection.Event) {
	switch d := conversation.Alone(e).(type) {
	case conversation.Began:
		h.open[d.Turn.ID] = true
		if started, ok := e.Payload.(projection.TurnStarted); ok {
			h.turns[d.Turn.ID] = turn{len(h.turns) + 1, started.MemberID}
		}
	case conversation.Ended:
		delete(h.open, d.Turn.ID)
		h.ends[d.Turn.ID] = e.Seq
	}
	switch p := e.Payload.(type) {
	case projection.FilesCaptured:
		h.captured[p.Dir] = p
		h.trees = append(h.trees, tree{h.at(e.Seq, p.TurnID), p.Dir, p.Root})
		if p.When != projection.AfterTurn { // files.changed follows then
			h.between(e.Seq, p.Dir, p.Root, h.isAlone(p.TurnID))
		}
	case projection.FilesChanged:
		h.between(e.Seq, p.Dir, p.Before, h.isAlone(p.TurnID) && len(p.With) == 0)
		at := h.at(e.Seq, p.TurnID)
		h.steps = append(h.steps, step{
			seq: e.Seq, at: at, turn: h.turns[p.TurnID].number, dir: p.Dir,
			before: p.Before, after: p.After, changed: &p,
		})
		h.trees = append(h.trees, tree{at, p.Dir, p.After})
		h.known[p.Dir] = p.After
	case projection.WorktreeCreated: // what was there before has gone with an earlier one
		h.trees = append(h.trees, tree{e.Seq, p.Dir, p.Base})
		h.known[p.Dir] = p.Base
		delete(h.restores, p.Dir)
	case projection.FilesDropped:
		h.dropped = p.Why
	case projection.FilesRestoring:
		h.restores[p.Dir] = &p
	}
}

// at returns the event after which the files are as an event says that was recorded after the end of a turn.
func (h *history) at(seq uint64, turnID string) uint64 {
	if end := h.ends[turnID]; end > 0 {
		return end
	}
	return seq
}

// isAlone reports whether no other turn of the session runs: what differs meanwhile is in the change of that turn.
func (h *history) isAlone(turnID string) bool {
	return len(h.open) == 0 || len(h.open) == 1 && h.open[turnID]
}

// between adds what differs from the newest tree of a directory, if that changed between turns.
func (h *history) between(seq uint64, dir, root string, alone bool) {
	if last := h.known[dir]; last != "" && last != root && alone {
		h.steps = append(h.steps, step{
			seq: seq, at: seq, dir: dir, before: last, after: root, restore: h.restores[dir],
		})
		delete(h.restores, dir)
	}
	h.known[dir] = root
}

// name returns the displayed name of a member.
func (h *history) name(id string) string {
	i := slices.IndexFunc(h.members, func(m projection.Speaker) bool { return m.ID == id })
	if i < 0 {
		return id
	}
	return cmp.Or(h.members[i].DisplayName, h.members[i].Name, id)
}

// member returns the id of a member with an id or a name.
func (h *history) member(name string) (string, error) {
	var names []string
	for _, s := range h.steps {
		if s.changed == nil {
			continue
		}
		id := s.changed.MemberID
		if strings.EqualFold(name, id) || strings.EqualFold(name, h.name(id)) {
			return id, nil
		}
		if !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	for _, m := range h.members {
		if strings.EqualFold(name, m.ID) || strings.EqualFold(name, m.Name) || strings.EqualFold(name, m.DisplayName) {
			return m.ID, nil
		}
	}
	return "", app.Exit(app.ExitUsage, noMemberText(h.id, name, names))
}

// workspace returns the workspace of a directory, whose store has the contents.
func (h *history) workspace(dir string) *workspace.Workspace {
	if h.stores[dir] == nil {
		h.stores[dir] = workspace.Stored(h.home, dir)
	}
	return h.stores[dir]
}

// isWorktree reports whether a directory is the worktree of a member.
func (h *history) isWorktree(dir string) bool { return workspace.IsWorktree(h.home, dir) }

// dirs returns the directories of the steps, except worktrees, in the order of their first ones.
func (h *history) dirs() (dirs []string) {
	for _, s := range h.steps {
		if !h.isWorktree(s.dir) && !slices.Contains(dirs, s.dir) {
			dirs = append(dirs, s.dir)
		}
	}
	return dirs
}

// compare returns the entries that differ between two trees of a directory.
func (h *history) compare(dir, before, after string) (all []objects.Change, err error) {
	from, err := objects.ParseHash(before)
	if err != nil {
		return nil, err
	}
	to, err := objects.ParseHash(after)
	if err != nil {
		return nil, err
	}
	for c, err := range h.workspace(dir).Compare(from, to) {
		if err != nil {
			return nil, h.contentError("what changed in "+dir, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// changes returns the paths that differ in a step, with the numbers of their lines as far as they are recorded.
func (h *history) changes(s step) ([]projection.FileChange, error) {
	recorded := s.changed
	if recorded == nil {
		from, err := objects.ParseHash(s.before)
		if err != nil {
			return nil, err
		}
		to, err := objects.ParseHash(s.after)
		if err != nil {
			return nil, err
		}
		changed, err := h.workspace(s.dir).Changes(from, to)
		if err != nil {
			return nil, h.contentError("what changed in "+s.dir, err)
		}
		recorded = &changed
	}
	if recorded.More == 0 {
		return recorded.Changes, nil
	}
	counted := map[projection.FilePath]projection.FileChange{}
	for _, c := range recorded.Changes {
		counted[c.Path] = c
	}
	all, err := h.compare(s.dir, s.before, s.after)
	if err != nil {
		return recorded.Changes, err
	}
	var changes []projection.FileChange
	for _, c := range all {
		change, ok := counted[projection.FilePath(c.Path)]
		if !ok {
			change = projection.FileChange{Path: projection.FilePath(c.Path), Kind: workspace.KindOf(c)}
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// contentError returns the error of a content that cannot be read. what names it.
func (h *history) contentError(what string, err error) error {
	var missing *objects.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	return app.Exit(app.ExitFailed, missingText(what, missing.Dir, missing.Hash.String(), h.dropped))
}

// textInGit is why a file has no content in the store that Git has.
const textInGit = "Git has it, and the directory exceeds a limit"

// whyMissing returns why the content of an entry is not stored; "": it is, or the file is absent.
func (h *history) whyMissing(dir, path string, e objects.Entry) (string, error) {
	switch {
	case e.IsZero() || e.Stored():
		return "", nil
	case e.Type() == objects.ModeInGit:
		return textInGit, nil
	}
	why, err := h.read(dir, path, e)
	return string(why), err
}

// read returns the content of an entry of a directory.
func (h *history) read(dir, path string, e objects.Entry) ([]byte, error) {
	content, err := h.workspace(dir).Store().Read(e.Hash)
	if err != nil {
		return nil, h.contentError("the content of "+path, err)
	}
	return content, nil
}

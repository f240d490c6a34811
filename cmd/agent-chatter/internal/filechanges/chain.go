package filechanges

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// A chain is what happened to a path of a directory in the steps of a patch.
type chain struct {
	path          string
	first         objects.Entry // in the first tree
	before, after objects.Entry // before the first and after the last step of the agents
	taken         bool          // an agent of the patch changed it
	why           string        // it is left out; "": it is in the patch
	last          string        // the id of the turn that changed it last; "": none did
	foreign       string        // who else changed it, and when; "": agents alone
}

// A patch is the changes of agents in a directory, from a first tree.
type patch struct {
	h      *history
	dir    string
	member string // its id; "": all agents
	first  string // the tree to which the patch applies
	chains map[string]*chain
}

// newPatch folds the steps of one directory, in order.
func newPatch(h *history, dir, member string, steps []step) (*patch, error) {
	p := &patch{h: h, dir: dir, member: member, chains: map[string]*chain{}}
	for i, s := range steps {
		if i == 0 {
			p.first = s.before
		}
		changes, err := h.compare(dir, s.before, s.after)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			p.add(s, c)
		}
	}
	return p, p.leaveConflictsOut()
}

// add adds a change of a step.
func (p *patch) add(s step, c objects.Change) {
	at := p.chains[c.Path]
	if at == nil {
		at = &chain{path: c.Path, first: c.Before}
		p.chains[c.Path] = at
	}
	why := p.foreign(s)
	if why != "" {
		if c.After == at.first {
			*at = chain{path: c.Path, first: at.first} // as if it was unchanged
			return
		}
		if at.foreign == "" {
			at.foreign = why
		}
		return
	}
	switch {
	case at.foreign != "":
		at.leaveOut(at.foreign)
	case isMissing(c.Before) || isMissing(c.After):
		at.leaveOut("its content was not captured")
	case !at.taken:
		at.before = c.Before
	case c.Before != at.after && !overlaps(s, at.last):
		at.leaveOut(fmt.Sprintf("it differs from what the turn before %s left", s.turnText()))
	}
	at.taken, at.after, at.last = true, c.After, s.changed.TurnID
}

// isMissing reports whether the content of a file is not stored.
func isMissing(e objects.Entry) bool { return !e.IsZero() && !e.Stored() }

func (c *chain) leaveOut(why string) {
	if c.why == "" {
		c.why = why
	}
}

// overlaps reports whether a step is of a turn that ran at the same time as another one.
func overlaps(s step, turnID string) bool { return slices.Contains(s.changed.With, turnID) }

// foreign says who changed the files of a step, if these are not only agents of the patch; "": only these.
func (p *patch) foreign(s step) string {
	switch {
	case s.changed == nil:
		return p.h.whoText(s) + " changed it before event " + fmt.Sprint(s.seq)
	case s.changed.Late:
		return "the program ended in " + s.turnText() + ", so that others may have changed it"
	case p.member == "":
		return ""
	case s.changed.MemberID != p.member:
		return p.h.name(s.changed.MemberID) + " changed it in " + s.turnText()
	}
	for _, id := range s.changed.With {
		if p.h.turns[id].member != p.member {
			return p.h.whoText(s) + " changed it in " + s.turnText()
		}
	}
	return ""
}

// turnText names the turn of a step.
func (s step) turnText() string {
	if s.turn == 0 {
		return fmt.Sprintf("the turn of event %d", s.seq)
	}
	return fmt.Sprintf("turn %d", s.turn)
}

// paths returns the paths that the agents of the patch changed, sorted.
func (p *patch) paths() (paths []string) {
	for _, at := range slices.Sorted(maps.Keys(p.chains)) {
		if p.chains[at].taken {
			paths = append(paths, at)
		}
	}
	return paths
}

// leaveConflictsOut leaves out the new files that cannot be made in the first tree: a file is in the place of one of
// their directories, or a directory in theirs, since the patch has not all that changed between.
func (p *patch) leaveConflictsOut() error {
	if p.first == "" {
		return nil
	}
	root, err := objects.ParseHash(p.first)
	if err != nil {
		return err
	}
	files, err := p.h.workspace(p.dir).Store().Files(root)
	if err != nil {
		return p.h.contentError("the files of "+p.dir, err)
	}
	for _, c := range p.chains {
		if !c.taken || c.why != "" {
			continue
		}
		if delete(files, c.path); !c.after.IsZero() {
			files[c.path] = c.after
		}
	}
	dirs := map[string]bool{}
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for _, c := range p.chains {
		if !c.taken || c.why != "" || !c.before.IsZero() || c.after.IsZero() {
			continue
		}
		if dirs[c.path] {
			c.leaveOut("there is a directory in its place")
		}
		for dir := path.Dir(c.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := files[dir]; ok {
				c.leaveOut("there is a file in the place of its directory " + dir)
			}
		}
	}
	return nil
}

// side returns an entry with its content.
func (h *history) side(dir, path string, e objects.Entry) (side, error) {
	mode := gitMode(e)
	if mode == 0 {
		return side{}, nil
	}
	content, err := h.read(dir, path, e)
	return side{mode, content}, err
}

// gitDiff returns the diff between two entries of a path; nil: Git knows no difference.
func (h *history) gitDiff(dir, path string, before, after objects.Entry) ([]byte, error) {
	from, err := h.side(dir, path, before)
	if err != nil {
		return nil, err
	}
	to, err := h.side(dir, path, after)
	if err != nil {
		return nil, err
	}
	return gitDiff(path, from, to), nil
}

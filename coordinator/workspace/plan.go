package workspace

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// clockTick is how much the time of a change can precede the clock: file systems use the time of the last tick.
const clockTick = 20 * time.Millisecond

// Turn is a turn of an agent, or a restore, as the author of changes.
type Turn struct {
	Name    string // for messages: "turn 12"
	Started time.Time
	Ended   time.Time
	Late    bool // a crash left it open: what it changed was captured later, and may have other authors
	Shared  bool // another turn in the directory overlapped: either may have changed what both report
}

// Span is what changed between two captures that follow each other.
type Span struct {
	Turn    *Turn // nil: no turn ran, so that a person or another program is the author
	Changes []objects.Change
	Mixed   bool // only one of the captures has the files that Git has, so that any author is possible
}

// TurnTrees is a turn with the trees that were captured before and after it.
type TurnTrees struct {
	Turn
	Before, After objects.Hash
}

// History returns the spans from the tree of a target to the present one: that of each turn in between, oldest first,
// and those between the turns.
func History(s *objects.Store, target objects.Hash, turns []TurnTrees, present objects.Hash) ([]Span, error) {
	var spans []Span
	add := func(turn *Turn, before, after objects.Hash) error {
		span := Span{Turn: turn}
		var err error
		if span.Mixed, err = isMixed(s, before, after); err != nil {
			return err
		}
		for change, err := range s.Compare(before, after) {
			if err != nil {
				return err
			}
			span.Changes = append(span.Changes, change)
		}
		spans = append(spans, span)
		return nil
	}
	state := target
	for i := range turns {
		t := &turns[i]
		if err := add(nil, state, t.Before); err != nil {
			return nil, err
		}
		if err := add(&t.Turn, t.Before, t.After); err != nil {
			return nil, err
		}
		state = t.After
	}
	return spans, add(nil, state, present)
}

// SplitRestore returns the two spans of what changed since a restore was interrupted: what it has set to its target,
// and what has another author.
func SplitRestore(restore *Turn, changes []objects.Change, target func(path string) objects.Entry) []Span {
	spans := []Span{{Turn: restore}, {}}
	for _, c := range changes {
		span := &spans[0]
		if c.After != target(c.Path) {
			span = &spans[1]
		}
		span.Changes = append(span.Changes, c)
	}
	return spans
}

// PlanOptions says what NewPlan knows about a directory, apart from its history.
type PlanOptions struct {
	Paths       []string                        // plan only these files, and those below these directories; nil: all
	SkippedThen []Skipped                       // files and directories that the capture of the target lacks
	SkippedNow  []Skipped                       // those that the capture of the present lacks
	Times       func(path string) (Times, bool) // false: unknown
	FoldsCase   bool                            // the file system finds a name in upper and lower case
	Force       bool                            // also plan files that a person or another program changed after a turn
}

// Step is a file or link that a restore replaces, creates (Present is zero) or removes (Target is zero).
type Step struct {
	Path            string
	Present, Target objects.Entry
}

// Kept is a path that a restore leaves as it is.
type Kept struct {
	Path string
	Why  string
}

// Plan is what a restore would do.
type Plan struct {
	Removals []Step   // the deepest first
	Dirs     []string // directories that are removed then if they are empty, the deepest first
	Writes   []Step   // replaced and created after that, sorted
	Kept     []Kept   // paths that differ from the target and stay, sorted
}

// NewPlan plans to set a directory back to the first state of a history. It plans only paths that turns alone have
// changed since, unless forced, and never a path that no turn changed, or whose present state is in no capture. It
// names paths that no turn changed only if paths are chosen.
func NewPlan(history []Span, o PlanOptions) Plan {
	p := planner{PlanOptions: o, history: history, trails: trails(history), moved: moved(history)}
	p.why = map[string]string{}
	for name, t := range p.trails {
		if t.target != t.present && p.isChosen(name) && (t.firstTurn() != nil || p.Paths != nil) {
			p.why[name] = p.reasonToKeep(name, t)
		}
	}
	p.keepFolded()
	p.keepObstructed()
	return p.plan(p.isMadeInTurn)
}

// A trail is the history of a path.
type trail struct {
	target, present objects.Entry
	authors         []*Turn // of its changes, oldest first; nil: no turn
	mixed           bool    // it differs between two captures of which only one has the files that Git has
	gap             bool    // it was not captured in between, so that any author is possible
}

// trails returns the trails of all paths that a history changes.
func trails(history []Span) map[string]*trail {
	all := map[string]*trail{}
	for _, span := range history {
		for _, c := range span.Changes {
			t := all[c.Path]
			if t == nil {
				t = &trail{target: c.Before}
				all[c.Path] = t
			} else if !c.Before.IsZero() && !c.Before.Stored() {
				t.gap = true
			}
			t.mixed = t.mixed || span.Mixed
			t.present = c.After
			t.authors = append(t.authors, span.Turn)
		}
	}
	return all
}

// firstTurn returns the first turn that changed a path; nil: none did.
func (t *trail) firstTurn() *Turn {
	i := slices.IndexFunc(t.authors, func(turn *Turn) bool { return turn != nil })
	if i < 0 {
		return nil
	}
	return t.authors[i]
}

// otherAuthor says who changed a path, apart from turns. It returns "" if the turns are the only authors.
func (t *trail) otherAuthor() string {
	switch {
	case t.mixed:
		return "its author is unknown, since not all files were captured from then on, or until then"
	case t.gap:
		return "it was not captured in between, so its author is unknown"
	}
	for i, turn := range t.authors {
		switch {
		case turn == nil && i == 0:
			return "you changed it before " + t.firstTurn().Name
		case turn == nil && i == len(t.authors)-1 && t.present.IsZero():
			return "you deleted it after " + t.authors[i-1].Name
		case turn == nil:
			return "you changed it after " + t.authors[i-1].Name
		case turn.Late:
			return turn.Name + " was interrupted, so its author is unknown"
		case turn.Shared:
			return "another turn overlapped " + turn.Name
		}
	}
	return ""
}

// A planner makes a plan.
type planner struct {
	PlanOptions
	history []Span
	trails  map[string]*trail
	moved   map[move]bool
	why     map[string]string // why a path is kept that differs from the target; "": it is restored
}

// A move is a file that a turn may have moved to another directory.
type move struct {
	turn *Turn
	base string // its name
	objects.Entry
}

// moved returns what turns have removed from one place, or replaced there, and so may have moved to another.
func moved(history []Span) map[move]bool {
	all := map[move]bool{}
	for _, span := range history {
		for _, c := range span.Changes {
			if !c.Before.IsZero() && span.Turn != nil {
				all[move{span.Turn, path.Base(c.Path), c.Before}] = true
			}
		}
	}
	return all
}

// isChosen reports whether a path is one of those to plan.
func (p *planner) isChosen(name string) bool {
	return p.Paths == nil || slices.ContainsFunc(p.Paths, func(chosen string) bool { return isBelow(name, chosen) })
}

// isBelow reports whether a path is a directory or below it.
func isBelow(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir) && name[len(dir)] == '/'
}

// reasonToKeep returns why a path stays as it is, whatever happens to others; "": it can be restored.
func (p *planner) reasonToKeep(name string, t *trail) string {
	turn := t.firstTurn()
	if turn == nil {
		return "no turn changed it"
	}
	if why, ok := skipReason(p.SkippedThen, name); ok {
		return "not captured then: " + why
	}
	if t.target.Type() == objects.ModeInGit {
		return "not captured then: it was as Git had it"
	}
	if t.present.Type() == objects.ModeInGit {
		return "not captured now, so it could not be undone: it is as Git has it"
	}
	if why, ok := skipReason(p.SkippedNow, name); ok {
		return "not captured now, so it could not be undone: " + why
	}
	if author := t.otherAuthor(); author != "" && !p.Force {
		return author
	}
	if !t.target.IsZero() {
		return ""
	}
	// A file that was ignored then, and is not now, appears to be new. So does one in a directory that a turn moved,
	// which keeps its time.
	switch times, ok := p.Times(name); {
	case !ok:
		return "it cannot be examined"
	case p.moved[move{t.authors[len(t.authors)-1], path.Base(name), t.present}]:
		return ""
	case times.Changed.Before(turn.Started.Add(-clockTick)):
		return "it was there before " + turn.Name
	}
	return ""
}

// skipReason returns why a capture lacks a path.
func skipReason(skipped []Skipped, name string) (why string, ok bool) {
	for _, s := range skipped {
		if isBelow(name, s.Path) {
			return s.Why, true
		}
	}
	return "", false
}

// keepFolded keeps the paths of the target that the file system takes for one.
func (p *planner) keepFolded() {
	if !p.FoldsCase {
		return
	}
	folded := map[string][]string{}
	for name, t := range p.trails {
		if !t.target.IsZero() {
			folded[foldedName(name)] = append(folded[foldedName(name)], name)
		}
	}
	for _, names := range folded {
		slices.Sort(names)
		for i, name := range names {
			if why, differs := p.why[name]; differs && why == "" && len(names) > 1 {
				p.why[name] = "this file system cannot have it beside " + names[(i+1)%len(names)]
			}
		}
	}
}

// foldedName is the same for all paths that a file system that folds case takes for one.
func foldedName(name string) string { return strings.ToLower(norm.NFC.String(name)) }

// keepObstructed keeps the paths of the target that need a directory where a file stays, or the reverse.
func (p *planner) keepObstructed() {
	for name, t := range p.trails {
		if t.present.IsZero() || p.isRemoved(name) {
			continue
		}
		for dir := range parents(name) {
			if p.isPlanned(dir) {
				p.why[dir] = "it is a directory with " + name
			}
		}
	}
	for name := range p.why {
		if !p.isPlanned(name) || p.isRemoved(name) {
			continue
		}
		for dir := range parents(name) {
			if t := p.trails[dir]; t != nil && !t.present.IsZero() && !p.isRemoved(dir) {
				p.why[name] = "its parent " + dir + " is no directory"
			}
		}
	}
}

// isPlanned reports whether a path is restored.
func (p *planner) isPlanned(name string) bool {
	why, differs := p.why[name]
	return differs && why == ""
}

// isRemoved reports whether a path is restored to being absent.
func (p *planner) isRemoved(name string) bool {
	return p.isPlanned(name) && p.trails[name].target.IsZero()
}

// parents yields the directories above a path, except the root, the deepest first.
func parents(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(name); dir != "." && yield(dir); dir = path.Dir(dir) {
		}
	}
}

// plan returns the plan in its order. isOfTurns reports whether a directory that is empty afterwards is removed, which
// is not in the place of a file.
func (p *planner) plan(isOfTurns func(dir string) bool) Plan {
	var plan Plan
	for _, name := range slices.Sorted(maps.Keys(p.why)) {
		step := Step{Path: name, Present: p.trails[name].present, Target: p.trails[name].target}
		switch {
		case p.why[name] != "":
			plan.Kept = append(plan.Kept, Kept{Path: name, Why: p.why[name]})
		case step.Target.IsZero():
			plan.Removals = append(plan.Removals, step)
		default:
			plan.Writes = append(plan.Writes, step)
		}
	}
	slices.SortStableFunc(plan.Removals, func(a, b Step) int { return deepestFirst(a.Path, b.Path) })
	plan.Dirs = p.emptied(plan.Writes, isOfTurns)
	return plan
}

func deepestFirst(a, b string) int { return cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/")) }

// emptied returns the directories that are empty after the removals, as far as the history knows, and that are of turns
// or in the place of a file.
func (p *planner) emptied(writes []Step, isOfTurns func(dir string) bool) []string {
	needed, replaced, dirs := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, step := range writes {
		replaced[step.Path] = true
		for dir := range parents(step.Path) {
			needed[dir] = true
		}
	}
	for name, t := range p.trails {
		if !p.isChosen(name) || !t.present.IsZero() && !p.isRemoved(name) {
			continue
		}
		for dir := range parents(name) { // also of a file that an interrupted restore has removed
			dirs[dir] = true
		}
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(dirs)), func(dir string) bool {
		if needed[dir] {
			return true
		}
		for above := range parents(dir) {
			if replaced[above] {
				return false
			}
		}
		return !isOfTurns(dir)
	})
	slices.SortStableFunc(names, deepestFirst)
	return names
}

// isMadeInTurn reports whether a directory is known to be made in a turn of the history.
func (p *planner) isMadeInTurn(dir string) bool {
	times, ok := p.Times(dir)
	return ok && slices.ContainsFunc(p.history, func(s Span) bool {
		return s.Turn != nil && !times.Born.Before(s.Turn.Started.Add(-clockTick)) && !times.Born.After(s.Turn.Ended)
	})
}

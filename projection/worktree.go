package projection

import "slices"

// WorktreeCreated records that a member got a directory of its own: a copy of the files that another one contained.
type WorktreeCreated struct {
	TurnID   string `json:"turnId"` // the first one in it
	MemberID string `json:"memberId"`
	Dir      string `json:"dir"`
	Source   string `json:"source"` // the directory that was copied
	// Base is the tree of Dir then, as FilesCaptured.Root has it: what differs later is the member's.
	Base string `json:"base"`
	Head string `json:"head,omitempty"` // the commit of the repository; "": none
	Port int    `json:"port,omitempty"` // the first of the ports that are the member's; 0: none
	// Host is a hash of the other fields with a secret key of the home and the machine, as in the events of files.
	Host string `json:"host,omitempty"`
}

func (WorktreeCreated) eventType() string { return "worktree.created" }

// WorktreeMerged records that what a member has changed in its directory was merged into the one that was copied. The
// FilesRestored of the same id says what was written and kept.
type WorktreeMerged struct {
	RestoreID string `json:"restoreId"`
	MemberID  string `json:"memberId"`
	Dir       string `json:"dir"`
	// Base is what differs from later: the base before, with what was merged.
	Base string `json:"base"`
	Host string `json:"host,omitempty"`
}

func (WorktreeMerged) eventType() string { return "worktree.merged" }

// WorktreeDropped records that the directory of a member is about to be removed.
type WorktreeDropped struct {
	MemberID string `json:"memberId"`
	Dir      string `json:"dir"`
	Tree     string `json:"tree,omitempty"`   // what it contained; "": it was not captured
	Branch   string `json:"branch,omitempty"` // that keeps its commits; "": none
}

func (WorktreeDropped) eventType() string { return "worktree.dropped" }

func (p WorktreeCreated) valid(data []byte) bool {
	return p.TurnID != "" && p.MemberID != "" && p.Dir != "" && p.Source != "" && isSHA256(p.Base) &&
		p.Port >= 0 && lacks(data, `"port":0`)
}

func (p WorktreeMerged) valid() bool {
	return p.RestoreID != "" && p.MemberID != "" && p.Dir != "" && isSHA256(p.Base)
}

func (p WorktreeDropped) valid(data []byte) bool {
	return p.MemberID != "" && p.Dir != "" && lacks(data, `"tree":""`) && (p.Tree == "" || isSHA256(p.Tree))
}

// Worktree is a directory that a member got.
type Worktree struct {
	WorktreeCreated
	Merged *WorktreeMerged `json:"merged,omitempty"` // the last one; nil: nothing was merged
}

// LastBase returns what the member's changes differ from: Base, or that of the last merge.
func (w Worktree) LastBase() string {
	if w.Merged != nil {
		return w.Merged.Base
	}
	return w.Base
}

const (
	maxWorktrees    = 50      // elements of State.Worktrees
	maxWorktreePath = 4 << 10 // bytes of a path of them
)

// createWorktree folds that a member got a directory. One that it has already stays known: it may be in another home.
func (s *State) createWorktree(p WorktreeCreated) {
	if areShort(p.TurnID, p.MemberID, p.Head, p.Host) && max(len(p.Dir), len(p.Source)) <= maxWorktreePath {
		s.Worktrees = newest(append(slices.Clone(s.Worktrees), Worktree{WorktreeCreated: p}), maxWorktrees)
		s.knowTree(p.Dir, p.Base)
	}
}

// mergeWorktree folds that a member's changes were merged.
func (s *State) mergeWorktree(p WorktreeMerged) {
	if !areShort(p.RestoreID, p.Host) {
		return
	}
	for i, w := range slices.Backward(s.Worktrees) {
		if w.MemberID == p.MemberID && w.Dir == p.Dir {
			s.Worktrees = slices.Clone(s.Worktrees)
			s.Worktrees[i].Merged = &p
			return
		}
	}
}

// dropWorktree folds that the directory of a member is removed.
func (s *State) dropWorktree(p WorktreeDropped) {
	s.Worktrees = slices.DeleteFunc(slices.Clone(s.Worktrees), func(w Worktree) bool {
		return w.MemberID == p.MemberID && w.Dir == p.Dir
	})
}

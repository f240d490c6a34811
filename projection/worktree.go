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

// Worktree is the directory of a member that was created last.
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

// maxWorktrees is the most elements of State.Worktrees.
const maxWorktrees = 16

// Worktree returns the directory of a member; false: it has none.
func (s *State) Worktree(memberID string) (Worktree, bool) {
	i := slices.IndexFunc(s.Worktrees, func(w Worktree) bool { return w.MemberID == memberID })
	if i < 0 {
		return Worktree{}, false
	}
	return s.Worktrees[i], true
}

// createWorktree folds that a member got a directory.
func (s *State) createWorktree(p WorktreeCreated) {
	if areShort(p.TurnID, p.MemberID, p.Dir, p.Source, p.Head, p.Host) {
		s.Worktrees = newest(append(s.worktreesWithout(p.MemberID), Worktree{WorktreeCreated: p}), maxWorktrees)
		s.knowTree(p.Dir, p.Base)
	}
}

// mergeWorktree folds that a member's changes were merged.
func (s *State) mergeWorktree(p WorktreeMerged) {
	w, ok := s.Worktree(p.MemberID)
	if ok && w.Dir == p.Dir && areShort(p.RestoreID, p.Host) {
		w.Merged = &p
		s.Worktrees = append(s.worktreesWithout(p.MemberID), w)
	}
}

// dropWorktree folds that the directory of a member is removed.
func (s *State) dropWorktree(p WorktreeDropped) {
	if w, ok := s.Worktree(p.MemberID); ok && w.Dir == p.Dir {
		s.Worktrees = s.worktreesWithout(p.MemberID)
	}
}

// worktreesWithout returns the directories of the other members.
func (s *State) worktreesWithout(memberID string) []Worktree {
	return slices.DeleteFunc(slices.Clone(s.Worktrees), func(w Worktree) bool { return w.MemberID == memberID })
}

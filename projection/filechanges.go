package projection

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// FilePath is the path of a file below the directory that was captured, with slashes. In JSON it is a string, or, if it
// is not UTF-8, an object with the field raw: its bytes in base64.
type FilePath string

type rawPath struct {
	Raw []byte `json:"raw"`
}

// MarshalJSON implements json.Marshaler.
func (p FilePath) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return json.Marshal(string(p))
	}
	return json.Marshal(rawPath{[]byte(p)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *FilePath) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*p = FilePath(text)
		return nil
	}
	var raw struct {
		Raw string `json:"raw"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	decoded, err := base64.StdEncoding.DecodeString(raw.Raw)
	*p = FilePath(decoded)
	return err
}

// A CaptureTime says when a directory was captured.
type CaptureTime string

// The times of captures.
const (
	BeforeTurn    CaptureTime = "before"
	AfterTurn     CaptureTime = "after"
	BeforeRestore CaptureTime = "restore"
)

// FilesCaptured records what the files of a directory contained, if that is not what the last capture of it found. The
// contents are in the store of the directory in the home.
type FilesCaptured struct {
	CaptureID   string        `json:"captureId"`
	TurnID      string        `json:"turnId,omitempty"` // "": before a restore
	When        CaptureTime   `json:"when"`
	Dir         string        `json:"dir"`
	Root        string        `json:"root"`  // the SHA-256 of the tree
	Files       int           `json:"files"` // that were captured
	Bytes       int64         `json:"bytes"`
	Skipped     []SkippedFile `json:"skipped,omitempty"` // the first MaxSkippedFiles
	SkippedMore int           `json:"skippedMore,omitempty"`
	DurationMS  int64         `json:"durationMs"`
	// Host is a hash of the other fields with a secret key of the home and the machine, as in the other events of
	// files: an event from elsewhere could name any directory and tree.
	Host string `json:"host,omitempty"`
}

// The most paths of an event.
const (
	MaxSkippedFiles = 20
	MaxFileChanges  = 200
	// MaxRestoredFiles is for FilesRestored.Changes: the counts are complete, and the trees have all.
	MaxRestoredFiles = 20
)

// SkippedFile is a path without its content, or that was not set back.
type SkippedFile struct {
	Path FilePath `json:"path"`
	Why  string   `json:"why"`
}

func (FilesCaptured) eventType() string { return "files.captured" }

// FilesChanged records what differs in a directory after a turn. A turn that changed nothing has none.
type FilesChanged struct {
	TurnID   string       `json:"turnId"`
	MemberID string       `json:"memberId"`
	Dir      string       `json:"dir"`
	Before   string       `json:"before"` // the trees, as FilesCaptured.Root has them
	After    string       `json:"after"`
	Added    int          `json:"added"`
	Modified int          `json:"modified"`
	Deleted  int          `json:"deleted"`
	Changes  []FileChange `json:"changes"` // the first MaxFileChanges
	More     int          `json:"more,omitempty"`
	// With are other turns, of any session, that ran in the directory meanwhile: each change is of one of them.
	With []string `json:"with,omitempty"`
	// Late is whether the files were captured when the session was resumed, since the program had ended in the turn:
	// a person or another program may have changed them.
	Late bool   `json:"late,omitempty"`
	Host string `json:"host,omitempty"`
}

func (FilesChanged) eventType() string { return "files.changed" }

// A FileChangeKind says how a path differs.
type FileChangeKind string

// The kinds of changes.
const (
	FileAdded    FileChangeKind = "added"
	FileModified FileChangeKind = "modified"
	FileDeleted  FileChangeKind = "deleted"
	FileMode     FileChangeKind = "mode" // only its permissions
	FileType     FileChangeKind = "type" // a link became a file, or the reverse
)

// FileChange is one path that differs.
type FileChange struct {
	Path  FilePath       `json:"path"`
	Kind  FileChangeKind `json:"kind"`
	Plus  *int           `json:"plus,omitempty"` // lines; nil: they were not counted, as in a binary file
	Minus *int           `json:"minus,omitempty"`
}

// Lines returns how many lines the changes added and removed, as far as they are counted.
func (p FilesChanged) Lines() (plus, minus int) {
	for _, c := range p.Changes {
		if c.Plus != nil {
			plus += *c.Plus
		}
		if c.Minus != nil {
			minus += *c.Minus
		}
	}
	return plus, minus
}

// Text describes the changes in one line.
func (p FilesChanged) Text() string {
	n := p.Added + p.Modified + p.Deleted
	files := "files"
	if n == 1 {
		files = "file"
	}
	text := fmt.Sprintf("%d %s changed", n, files)
	isCounted := func(c FileChange) bool { return c.Plus != nil && c.Minus != nil }
	if slices.ContainsFunc(p.Changes, isCounted) {
		plus, minus := p.Lines()
		text += fmt.Sprintf(" (+%d \u2212%d)", plus, minus)
	}
	return shortText(lineBreak.Replace(text + named(p.Changes, n)))
}

// maxNamedChanges is how many files a line names.
const maxNamedChanges = 3

// named returns what follows in a line: the names of the first of n changes.
func named(changes []FileChange, n int) (text string) {
	var names []string
	for _, c := range changes[:min(len(changes), maxNamedChanges)] {
		names = append(names, c.Text())
	}
	if len(names) > 0 {
		text = ": " + strings.Join(names, ", ")
		if n > len(names) {
			text += fmt.Sprintf(" and %d more", n-len(names))
		}
	}
	return text
}

// Text names the path, and how it differs unless it was modified.
func (c FileChange) Text() string {
	name := strings.ToValidUTF8(string(c.Path), "\uFFFD")
	switch c.Kind {
	case FileAdded:
		return name + " (new)"
	case FileDeleted:
		return name + " (deleted)"
	case FileMode, FileType:
		return name + " (" + string(c.Kind) + ")"
	}
	return name
}

// FilesRestoring records that files of a directory are about to be set back.
type FilesRestoring struct {
	RestoreID string `json:"restoreId"`
	Dir       string `json:"dir"`
	Target    string `json:"target"` // the tree to which they are set
	Undo      string `json:"undo"`   // the tree of what the directory contains
	// Seq is the event to which the files are set back; 0: a restore is undone, or a worktree merged.
	Seq   uint64     `json:"seq"`
	Paths []FilePath `json:"paths,omitempty"` // files or directories; none: all
	Force bool       `json:"force,omitempty"`
	// Turn is the number of the first turn whose changes the restore undoes, and MemberID its member; 0 and "": none.
	Turn     int    `json:"turn,omitempty"`
	MemberID string `json:"memberId,omitempty"`
	Part     bool   `json:"part,omitempty"`  // only some lines of the file
	Merge    string `json:"merge,omitempty"` // the member whose worktree is merged instead; "": files are set back
	Host     string `json:"host,omitempty"`
}

func (FilesRestoring) eventType() string { return "files.restoring" }

// FilesRestored records what a restore did.
type FilesRestored struct {
	RestoreID string        `json:"restoreId"`
	Written   int           `json:"written"` // files
	Removed   int           `json:"removed"`
	Changes   []FileChange  `json:"changes,omitempty"` // what was set back: the first MaxRestoredFiles
	Kept      []SkippedFile `json:"kept,omitempty"`    // the first MaxFileChanges
	More      int           `json:"more,omitempty"`
	Failed    int           `json:"failed,omitempty"` // paths that the system refused, which Kept has, too
	After     string        `json:"after,omitempty"`  // the tree after the restore; "": it could not be captured
	Merge     string        `json:"merge,omitempty"`  // as in FilesRestoring
	Host      string        `json:"host,omitempty"`
}

func (FilesRestored) eventType() string { return "files.restored" }

// Text describes the restore in one line.
func (p FilesRestored) Text() string {
	what := "files set back"
	if p.Merge != "" {
		what = "files merged from the worktree of " + p.Merge
	}
	text := fmt.Sprintf("%s: %d written, %d removed", what, p.Written, p.Removed)
	if kept := len(p.Kept) + p.More; kept > 0 {
		text += fmt.Sprintf(", %d kept", kept)
	}
	return shortText(lineBreak.Replace(text + named(p.Changes, p.Written+p.Removed)))
}

// FilesDropped records that the contents of trees were removed, of which the session has recorded captures before. One
// that another session names stays.
type FilesDropped struct {
	Dir   string   `json:"dir"`
	Roots []string `json:"roots"` // at most MaxDroppedRoots
	Why   string   `json:"why"`
}

// MaxDroppedRoots is the most trees of a FilesDropped.
const MaxDroppedRoots = 500

func (FilesDropped) eventType() string { return "files.dropped" }

func (p FilesCaptured) valid(data []byte) bool {
	return p.CaptureID != "" && slices.Contains([]CaptureTime{BeforeTurn, AfterTurn, BeforeRestore}, p.When) &&
		p.Dir != "" && isSHA256(p.Root) && p.Files >= 0 && p.Bytes >= 0 && p.DurationMS >= 0 && p.SkippedMore >= 0 &&
		lacks(data, `"skippedMore":0`) && validPaths(p.Skipped)
}

func (p FilesChanged) valid(data []byte) bool {
	return p.TurnID != "" && p.MemberID != "" && p.Dir != "" && isSHA256(p.Before) && isSHA256(p.After) &&
		p.Added >= 0 && p.Modified >= 0 && p.Deleted >= 0 && p.More >= 0 && lacks(data, `"more":0`) &&
		len(p.Changes) > 0 && !slices.ContainsFunc(p.Changes, func(c FileChange) bool { return !c.valid() })
}

func (c FileChange) valid() bool {
	return c.Path != "" &&
		slices.Contains([]FileChangeKind{FileAdded, FileModified, FileDeleted, FileMode, FileType}, c.Kind) &&
		(c.Plus == nil || *c.Plus >= 0) && (c.Minus == nil || *c.Minus >= 0)
}

func (p FilesRestoring) valid(data []byte) bool {
	return p.RestoreID != "" && p.Dir != "" && isSHA256(p.Target) && isSHA256(p.Undo) &&
		!slices.Contains(p.Paths, "") && p.Turn >= 0 && lacks(data, `"turn":0`)
}

func (p FilesRestored) valid(data []byte) bool {
	return p.RestoreID != "" && p.Written >= 0 && p.Removed >= 0 && p.More >= 0 && p.Failed >= 0 &&
		!slices.ContainsFunc(p.Changes, func(c FileChange) bool { return !c.valid() }) &&
		lacks(data, `"more":0`, `"failed":0`, `"after":""`) && (p.After == "" || isSHA256(p.After)) &&
		validPaths(p.Kept)
}

func (p FilesDropped) valid() bool {
	return p.Dir != "" && len(p.Roots) > 0 && p.Why != "" &&
		!slices.ContainsFunc(p.Roots, func(root string) bool { return !isSHA256(root) })
}

func validPaths(paths []SkippedFile) bool {
	return !slices.ContainsFunc(paths, func(p SkippedFile) bool { return p.Path == "" })
}

// KnownTree is the newest tree of a directory that the session has recorded.
type KnownTree struct {
	Dir  string `json:"dir"`
	Root string `json:"root"`
}

// maxKnownTrees is the most elements of State.Trees.
const maxKnownTrees = 16

// knowTree folds the newest tree of a directory.
func (s *State) knowTree(dir, root string) {
	if !areShort(dir, root) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(s.Trees), func(t KnownTree) bool { return t.Dir == dir })
	s.Trees = newest(append(kept, KnownTree{dir, root}), maxKnownTrees)
}

// forgetTrees folds the trees of a directory whose contents were removed: the next capture is recorded, whatever it
// finds.
func (s *State) forgetTrees(p FilesDropped) {
	s.Trees = slices.DeleteFunc(slices.Clone(s.Trees), func(t KnownTree) bool {
		return t.Dir == p.Dir && slices.Contains(p.Roots, t.Root)
	})
}

// Tree returns the newest tree of a directory that the session has recorded; "": none.
func (s *State) Tree(dir string) string {
	for _, t := range s.Trees {
		if t.Dir == dir {
			return t.Root
		}
	}
	return ""
}

// A Restore is a restore of files, as prompts describe it.
type Restore struct {
	FilesRestoring
	At   uint64         `json:"at"`             // seq of the event
	Done *FilesRestored `json:"done,omitempty"` // nil: it was interrupted
}

// maxRestores is the most elements of State.Restores.
const maxRestores = 8

// beginRestore folds that files are about to be set back.
func (s *State) beginRestore(at uint64, p FilesRestoring) {
	if areShort(p.RestoreID, p.Dir, p.MemberID, p.Merge) {
		p.Paths = nil
		s.Restores = newest(append(slices.Clone(s.Restores), Restore{FilesRestoring: p, At: at}), maxRestores)
	}
}

// endRestore folds what a restore did.
func (s *State) endRestore(p FilesRestored) {
	i := slices.IndexFunc(s.Restores, func(r Restore) bool { return r.RestoreID == p.RestoreID })
	if i < 0 {
		return
	}
	p.Kept = nil
	p.Changes = p.Changes[:min(len(p.Changes), MaxRestoredFiles)]
	if slices.ContainsFunc(p.Changes, func(c FileChange) bool { return !areShort(string(c.Path)) }) {
		p.Changes = nil
	}
	s.Restores = slices.Clone(s.Restores)
	s.Restores[i].Done = &p
}

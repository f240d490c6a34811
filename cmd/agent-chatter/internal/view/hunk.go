package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Hunk is a part of a file that an edit changes.
type Hunk struct {
	Path     string // as the agent wrote it; "": unknown
	Old, New int    // the numbers of the first line, before and after the edit; 0: unknown
	Changes  []Change
}

// An editInput is the input of a tool that edits files, with the names of its fields in the tools of several agents.
type editInput struct {
	replacement
	FilePath  string        `json:"file_path"`
	FilePath2 string        `json:"filePath"`
	Path      string        `json:"path"`
	Notebook  string        `json:"notebook_path"`
	Absolute  string        `json:"absolute_path"`
	Edits     []replacement `json:"edits"`
	Content   *string       `json:"content"`
	FileText  *string       `json:"file_text"`
	Patch     string        `json:"patch"`
	Input     string        `json:"input"` // of apply_patch
	Changes   []fileChange  `json:"changes"`
}

// A fileChange is an element of the changes that Codex makes, which are the input of a call or a field of it.
type fileChange struct {
	Path string          `json:"path"`
	Diff string          `json:"diff"` // of a file that is added or deleted, its content
	Kind json.RawMessage `json:"kind"`
}

// The kinds of changes whose Diff is the content of the file.
const (
	addedFile   = "add"
	deletedFile = "delete"
)

// parseEdit decodes the input of a tool call; false: it is none of an edit.
func parseEdit(input json.RawMessage) (e editInput, ok bool) {
	if bytes.HasPrefix(bytes.TrimLeft(input, blanks), []byte("[")) {
		return e, json.Unmarshal(input, &e.Changes) == nil
	}
	return e, json.Unmarshal(input, &e) == nil
}

// path returns the file that the fields of the input name; "": none.
func (e editInput) path() string {
	return cmp.Or(e.FilePath, e.FilePath2, e.Path, e.Notebook, e.Absolute)
}

// written returns the text that is written to the file; nil: the edit is of another kind.
func (e editInput) written() *string { return cmp.Or(e.Content, e.FileText) }

func (c fileChange) kind() string {
	var kind struct{ Type string }
	_ = json.Unmarshal(c.Kind, &kind)
	return kind.Type
}

func (c fileChange) hunks() []Hunk {
	switch c.kind() {
	case addedFile:
		return []Hunk{{Path: c.Path, New: 1, Changes: all(Added, lines(c.Diff))}}
	case deletedFile:
		return []Hunk{{Path: c.Path, Old: 1, Changes: all(Removed, lines(c.Diff))}}
	}
	return patch(c.Path, c.Diff)
}

// HunksIn returns what a tool call with an input changes; nil if it is no edit of a file.
func HunksIn(input json.RawMessage) (hunks []Hunk) {
	edit, ok := parseEdit(input)
	if !ok {
		return nil
	}
	path := edit.path()
	for _, r := range append([]replacement{edit.replacement}, edit.Edits...) {
		for _, of := range r.edits() {
			hunks = append(hunks, Hunk{Path: path, Changes: compare(lines(*of.Old), lines(of.New))})
		}
	}
	for _, c := range edit.Changes {
		hunks = append(hunks, c.hunks()...)
	}
	for _, text := range []string{edit.Patch, edit.Input} {
		if isPatch(text) {
			hunks = append(hunks, patch("", text)...)
		}
	}
	if written := edit.written(); written != nil && hunks == nil && path != "" {
		hunk := Hunk{Path: path, Changes: all(Added, lines(*written))}
		fields := map[string]json.RawMessage{}
		if _ = json.Unmarshal(input, &fields); len(fields) == 2 { // another field may say where the text goes
			hunk.New = 1
		}
		hunks = []Hunk{hunk}
	}
	return hunks
}

// hunkHead is the line before the lines of a hunk.
var hunkHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d{1,8})(?:,(\d{1,8}))? \+(\d{1,8})(?:,(\d{1,8}))? @@`)
})

// PatchHunks returns the hunks of a patch of one file.
func PatchHunks(path, text string) []Hunk { return patch(path, text) }

// patch returns the hunks of a patch. Lines before the first name of a file belong to path. A hunk whose head does not
// count its lines right has no numbers: agents also write patches, and count wrong.
func patch(path, text string) (hunks []Hunk) {
	hunk := Hunk{Path: path}
	counted, before, after := false, 0, 0 // whether the head counts lines, and how many of them are missing
	end := func(next Hunk) {
		if counted && (before != 0 || after != 0) {
			hunk.Old, hunk.New = 0, 0
		}
		if len(hunk.Changes) > 0 {
			hunks = append(hunks, hunk)
		}
		hunk, counted = next, false
	}
	patched := lines(text)
	for i, line := range patched {
		named, added, ok := patchedFile(line)
		switch {
		case ok && namesFile(patched, i):
			next := Hunk{Path: cmp.Or(named, hunk.Path)}
			if added {
				next.New = 1
			}
			end(next)
		case strings.HasPrefix(line, "@@"):
			end(Hunk{Path: hunk.Path})
			if m := hunkHead().FindStringSubmatch(line); m != nil {
				counted = true
				hunk.Old, before = decimal(m[1]), decimal(cmp.Or(m[2], "1"))
				hunk.New, after = decimal(m[3]), decimal(cmp.Or(m[4], "1"))
			}
		case line != "" && strings.ContainsRune("+- ", rune(line[0])):
			change := Change{ChangeKind(line[0]), line[1:]}
			hunk.Changes = append(hunk.Changes, change)
			if change.Kind != Added {
				before--
			}
			if change.Kind != Removed {
				after--
			}
		}
	}
	end(Hunk{})
	return hunks
}

// namesFile reports whether the line i, which looks like one that names a file, does. A line that begins with "--- "
// may also be a removed one.
func namesFile(patched []string, i int) bool {
	has := func(i int, head string) bool {
		return i >= 0 && i < len(patched) && strings.HasPrefix(patched[i], head)
	}
	return has(i, "*** ") || has(i, "--- ") && has(i+1, "+++ ") || has(i, "+++ ") && has(i-1, "--- ")
}

// decimal returns the value of a few digits.
func decimal(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// numbers returns the number of each line: of a removed one before the edit, of another one after it. 0: unknown.
func (h Hunk) numbers() []int {
	numbers := make([]int, len(h.Changes))
	before, after := h.Old, h.New
	for i, c := range h.Changes {
		switch {
		case c.Kind == Removed && h.Old > 0:
			numbers[i] = before
		case c.Kind != Removed && h.New > 0:
			numbers[i] = after
		}
		if c.Kind != Added {
			before++
		}
		if c.Kind != Removed {
			after++
		}
	}
	return numbers
}

package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A File is a file that the input of a tool call names, and what the call changes in it, as far as the input says.
type File struct {
	Path  string // as the agent wrote it; may be relative
	Edits []Edit
}

// An Edit replaces a part of a file by another.
type Edit struct {
	Old *string // nil: the edit writes the whole file
	New string
}

// FilesIn returns the files that the input of a tool call names, each once, whichever agent made it.
func FilesIn(input json.RawMessage) []File {
	call, ok := parseEdit(input)
	if !ok {
		return nil
	}
	var files fileList
	if path := call.path(); path != "" {
		file := files.at(path)
		for _, r := range append([]replacement{call.replacement}, call.Edits...) {
			file.Edits = append(file.Edits, r.edits()...)
		}
		if written := call.written(); written != nil && file.Edits == nil {
			file.Edits = []Edit{{New: *written}}
		}
	}
	for _, c := range call.Changes {
		switch {
		case c.Path == "":
		case c.kind() == addedFile:
			file := files.at(c.Path)
			file.Edits = append(file.Edits, Edit{New: c.Diff})
		case c.kind() == deletedFile:
			file := files.at(c.Path)
			file.Edits = append(file.Edits, Edit{Old: &c.Diff})
		default:
			files.addPatch(c.Path, c.Diff)
		}
	}
	for _, text := range []string{call.Patch, call.Input} {
		if isPatch(text) {
			files.addPatch("", text)
		}
	}
	return files
}

func (r replacement) edits() []Edit {
	for _, of := range r.texts() {
		if of[0] != nil && of[1] != nil {
			return []Edit{{Old: of[0], New: *of[1]}}
		}
	}
	return nil
}

type fileList []File

// at returns the file with a path, which it adds if it is missing. The pointer is valid until the next call.
func (l *fileList) at(path string) *File {
	i := slices.IndexFunc(*l, func(f File) bool { return f.Path == path })
	if i < 0 {
		i = len(*l)
		*l = append(*l, File{Path: path})
	}
	return &(*l)[i]
}

// addPatch adds the files of a patch. Lines before the first name of a file belong to path, unless it is "".
func (l *fileList) addPatch(path, text string) {
	var before, after strings.Builder
	whole := false
	flush := func() {
		if path != "" && before.Len()+after.Len() > 0 {
			edit := Edit{New: after.String()}
			if old := before.String(); !whole {
				edit.Old = &old
			}
			file := l.at(path)
			file.Edits = append(file.Edits, edit)
		}
		before.Reset()
		after.Reset()
	}
	for _, line := range lines(text) {
		if named, added, ok := patchedFile(line); ok {
			flush()
			if path, whole = cmp.Or(named, path), added; named != "" {
				l.at(named)
			}
			continue
		}
		if line == "" || strings.HasPrefix(line, "***") {
			continue
		}
		if line[0] == ' ' || line[0] == '-' {
			before.WriteString(line[1:] + "\n")
		}
		if line[0] == ' ' || line[0] == '+' {
			after.WriteString(line[1:] + "\n")
		}
	}
	if path != "" {
		l.at(path)
	}
	flush()
}

// patchedFile returns the file that a line of a patch names, and whether the patch adds it. ok is false for a line
// without the name of a file, and the name is "" for one that names no file.
func patchedFile(line string) (path string, added, ok bool) {
	for _, head := range []string{"*** Update File: ", "*** Delete File: ", "*** Move to: "} {
		if path, ok := strings.CutPrefix(line, head); ok {
			return path, false, true
		}
	}
	if path, ok := strings.CutPrefix(line, "*** Add File: "); ok {
		return path, true, true
	}
	for _, head := range []string{"--- ", "+++ "} {
		if path, ok := strings.CutPrefix(line, head); ok {
			path, _, _ = strings.Cut(path, "\t") // a time may follow
			if path == "/dev/null" {
				return "", false, true
			}
			return strings.TrimPrefix(strings.TrimPrefix(path, "a/"), "b/"), false, true
		}
	}
	return "", false, false
}

func isPatch(text string) bool {
	return strings.HasPrefix(text, "*** Begin Patch") || strings.HasPrefix(text, "--- ")
}

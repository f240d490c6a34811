package view

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// A Change is a line of a file that an edit adds, removes or keeps.
type Change struct {
	Kind ChangeKind
	Text string
}

// A ChangeKind says what happens to a line. It is the character that precedes the line in a patch.
type ChangeKind rune

// The kinds of lines.
const (
	Kept    ChangeKind = ' '
	Added   ChangeKind = '+'
	Removed ChangeKind = '-'
)

// replacement is the replacement of a text, with the names of its fields in the tools of several agents.
type replacement struct {
	OldString  *string `json:"old_string"`
	NewString  *string `json:"new_string"`
	OldString2 *string `json:"oldString"`
	NewString2 *string `json:"newString"`
	OldText    *string `json:"oldText"`
	NewText    *string `json:"newText"`
	OldStr     *string `json:"old_str"`
	NewStr     *string `json:"new_str"`
}

func (r replacement) texts() [4][2]*string {
	return [...][2]*string{
		{r.OldString, r.NewString}, {r.OldString2, r.NewString2}, {r.OldText, r.NewText}, {r.OldStr, r.NewStr},
	}
}

// ChangesIn returns the lines that a tool call with an input changes; nil if it is no edit of a file.
func ChangesIn(input json.RawMessage) (changes []Change) {
	for _, h := range HunksIn(input) {
		changes = append(changes, h.Changes...)
	}
	return changes
}

// EditsCover reports whether ChangesIn has all that a field of an input says, so that the field need not be shown.
func EditsCover(input json.RawMessage, field string) bool {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(input, &fields) != nil {
		return false
	}
	if field == "edits" && !arePlain(fields[field]) {
		return false
	}
	delete(fields, field)
	others, _ := json.Marshal(fields)
	return !slices.Equal(ChangesIn(others), ChangesIn(input))
}

// arePlain reports whether the edits of a tool's input have nothing but one text before and one after.
func arePlain(edits json.RawMessage) bool {
	decoder := json.NewDecoder(bytes.NewReader(edits))
	decoder.DisallowUnknownFields()
	var all []replacement
	if decoder.Decode(&all) != nil {
		return false
	}
	return !slices.ContainsFunc(all, func(r replacement) bool {
		pairs := 0
		for _, of := range r.texts() {
			if (of[0] == nil) != (of[1] == nil) {
				return true
			}
			if of[0] != nil {
				pairs++
			}
		}
		return pairs != 1
	})
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

func all(kind ChangeKind, lines []string) []Change {
	changes := make([]Change, len(lines))
	for i, line := range lines {
		changes[i] = Change{kind, line}
	}
	return changes
}

// The bounds of compare: beyond maxCompared lines, all are replaced. context is how many equal lines at the beginning
// and at the end are kept.
const (
	maxCompared  = 300
	contextLines = 2
)

// compare returns how to get from one text to another with the fewest changes.
func compare(before, after []string) []Change {
	var start, end int
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	changes := all(Kept, before[max(0, start-contextLines):start])
	tail := before[len(before)-end:]
	before, after = before[start:len(before)-end], after[start:len(after)-end]
	if len(before) > maxCompared || len(after) > maxCompared {
		changes = slices.Concat(changes, all(Removed, before), all(Added, after))
	} else {
		changes = append(changes, longestCommon(before, after)...)
	}
	return append(changes, all(Kept, tail[:min(contextLines, len(tail))])...)
}

// longestCommon keeps the longest common subsequence.
func longestCommon(before, after []string) []Change {
	length := make([][]int, len(before)+1) // of what before[i:] and after[j:] have in common
	for i := range length {
		length[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if before[i] == after[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	var changes []Change
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			changes = append(changes, Change{Kept, before[i]})
			i, j = i+1, j+1
		case i < len(before) && (j == len(after) || length[i+1][j] >= length[i][j+1]):
			changes = append(changes, Change{Removed, before[i]})
			i++
		default:
			changes = append(changes, Change{Added, after[j]})
			j++
		}
	}
	return changes
}

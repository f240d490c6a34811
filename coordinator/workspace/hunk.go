package workspace

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"
)

// MaxDiff is the size of the largest text whose lines Hunks compares, in bytes.
const MaxDiff = maxCounted

// Range is a range of lines of a text, counted from 0. Its end is not included.
type Range struct{ From, To int }

// Hunk is a part of a text that a change replaces, with up to three equal lines before and after what differs.
type Hunk struct {
	Before, After Range
	Lines         []string // with a blank, a minus or a plus sign before them, and without line feeds
}

// Hunks returns what differs between two texts, in order.
func Hunks(before, after []byte) []Hunk {
	var hunks []Hunk
	removed, added := 0, 0 // lines of the last hunk that are to come
	for line := range bytes.Lines(diff.Diff("", before, "", after)) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if removed+added == 0 {
			var x, y int
			if n, _ := fmt.Sscanf(string(line), "@@ -%d,%d +%d,%d @@", &x, &removed, &y, &added); n == 4 {
				hunks = append(hunks, Hunk{Before: rangeOf(x, removed), After: rangeOf(y, added)})
			} else { // a name, or the note that a line feed is missing
				removed, added = 0, 0
			}
			continue
		}
		switch line[0] {
		case ' ':
			removed, added = removed-1, added-1
		case '-':
			removed--
		case '+':
			added--
		default: // the note that a line feed is missing
			continue
		}
		last := &hunks[len(hunks)-1]
		last.Lines = append(last.Lines, string(line))
	}
	return hunks
}

// rangeOf returns the range of a hunk whose first line has a number, as patches count it.
func rangeOf(number, lines int) Range {
	if lines > 0 {
		number--
	}
	return Range{number, number + lines}
}

var errHunkChanged = errors.New("lines of this part were changed afterwards")

// Revert returns a later text with the lines of a hunk as they were before the change from before to after. It returns
// an error if one of these lines, or of the equal ones around them, has changed since.
func Revert(h Hunk, before, after, later []byte) ([]byte, error) {
	at, err := shifted(h.After, Hunks(after, later))
	if err != nil {
		return nil, err
	}
	old, now := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(later, []byte("\n"))
	var text []byte
	for _, lines := range [][][]byte{now[:at.From], old[h.Before.From:h.Before.To], now[at.To:]} {
		part := bytes.Join(lines, nil)
		if len(part) > 0 && len(text) > 0 && text[len(text)-1] != '\n' {
			return nil, errHunkChanged // what was the last line has others after it now
		}
		text = append(text, part...)
	}
	return text, nil
}

// shifted returns where lines are after changes that leave them as they are.
func shifted(lines Range, changes []Hunk) (Range, error) {
	by := 0
	for _, c := range changes {
		at := c.Before.From
		for _, line := range c.Lines {
			switch {
			case line[0] == ' ':
				at++
			case line[0] == '+' && at <= lines.From && lines.From < lines.To:
				by++
			case line[0] == '+' && at <= lines.From || line[0] == '+' && at < lines.To:
				return Range{}, errHunkChanged // within it, or in a text that had become empty
			case line[0] == '-' && at < lines.From:
				by--
				at++
			case line[0] == '-' && at < lines.To:
				return Range{}, errHunkChanged
			case line[0] == '-':
				at++
			}
		}
	}
	return Range{lines.From + by, lines.To + by}, nil
}

package filechanges

import (
	"bytes"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// The bounds of what viewers show of a file.
const (
	maxShownLines = 5000      // of all hunks
	maxShownSize  = 256 << 10 // bytes of all lines: a terminal lays them out at once
	maxShownLine  = 500       // bytes
)

// A FileDiff is what differs in a file.
type FileDiff struct {
	Notes []string    // what is no line of a text, or why no lines are shown; safe for a terminal
	Hunks []view.Hunk // with long lines cut
	Parts bool        // the file was a text before and after, so that each hunk can be set back

	before, after objects.Hash // the contents
}

// Diff returns what differs in a path of a step, as clean leaves the texts of its lines; nil: as they are.
func (r *Reader) Diff(step int, path string, clean func(string) string) (FileDiff, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.change(step, path)
	if err != nil {
		return FileDiff{}, err
	}
	dir := r.history.steps[step].dir
	var d FileDiff
	d.before, d.after = c.Before.Hash, c.After.Hash
	var sides [2][]byte
	for i, e := range []objects.Entry{c.Before, c.After} {
		if e.IsZero() || e.Type() == objects.ModeFile && e.Size > workspace.MaxDiff {
			continue
		}
		if !e.Stored() {
			var why string
			why, err = r.history.whyMissing(dir, path, e)
			sides[i] = []byte(why)
		} else {
			sides[i], err = r.history.read(dir, path, e)
		}
		if err != nil {
			return d, err
		}
	}
	if d.Notes = kindNotes(c, sides); d.Notes != nil {
		return d, nil
	}
	switch {
	case max(c.Before.Size, c.After.Size) > workspace.MaxDiff:
		d.Notes = append(d.Notes, largeFileText(c.Before.Size, c.After.Size))
		return d, nil
	case isBinary(sides[0]) || isBinary(sides[1]):
		d.Notes = append(d.Notes, binaryFileText(c.Before.Size, c.After.Size))
		return d, nil
	}
	if !c.Before.IsZero() && !c.After.IsZero() && c.Before.Mode != c.After.Mode {
		d.Notes = append(d.Notes, modeText(c.Before.Mode, c.After.Mode))
	}
	d.Parts = !c.Before.IsZero() && !c.After.IsZero()
	d.add(path, sides[0], sides[1], clean)
	return d, nil
}

// kindNotes says what a path is that is no file before or after; nil: it is a file.
func kindNotes(c objects.Change, sides [2][]byte) (notes []string) {
	for i, e := range []objects.Entry{c.Before, c.After} {
		switch e.Type() {
		case objects.ModeLink:
			notes = append(notes, linkText(i == 0, string(sides[i])))
		case objects.ModeSkipped, objects.ModeInGit:
			notes = append(notes, skippedSideText(i == 0, string(sides[i])))
		}
	}
	return notes
}

// add adds the hunks between two texts.
func (d *FileDiff) add(path string, before, after []byte, clean func(string) string) {
	ends := "\r"
	if bytes.Equal(bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n")),
		bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n"))) {
		ends = "" // they are what differs
	}
	lines, size := 0, 0
	olds, news := cleaned(before, clean), cleaned(after, clean)
	for _, h := range workspace.Hunks(before, after) {
		hunk := view.Hunk{Path: path, Old: h.Before.From + 1, New: h.After.From + 1}
		before, after := h.Before.From, h.After.From
		for _, line := range h.Lines {
			if lines == maxShownLines || size > maxShownSize {
				break
			}
			text := line[1:]
			if line[0] != '+' {
				if replaced, ok := olds[before]; ok {
					text = replaced
				}
				before++
			}
			if line[0] != '-' {
				if replaced, ok := news[after]; ok {
					text = replaced
				}
				after++
			}
			text = strings.TrimSuffix(text, ends)
			if len(text) > maxShownLine {
				text = runecut.Prefix(text, maxShownLine) + "…"
			}
			hunk.Changes = append(hunk.Changes, view.Change{Kind: view.ChangeKind(line[0]), Text: text})
			lines, size = lines+1, size+len(text)
		}
		if len(hunk.Changes) > 0 {
			d.Hunks = append(d.Hunks, hunk)
		}
		if len(hunk.Changes) < len(h.Lines) {
			d.Notes = append(d.Notes, moreLinesText(lines))
			return
		}
	}
	if len(d.Hunks) == 0 && len(d.Notes) == 0 {
		d.Notes = append(d.Notes, textEmptyFile)
	}
}

package workspace

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Patch describes what differs between two trees for a reader: a line for each path, and of texts up to MaxDiff the
// lines that differ. It is cut after limit bytes, and says so.
func (w *Workspace) Patch(before, after objects.Hash, limit int) (string, error) {
	var b strings.Builder
	left := 0
	for c, err := range w.Compare(before, after) {
		if err != nil {
			return "", err
		}
		if b.Len() > limit {
			left++
			continue
		}
		text, err := w.describe(c)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	text := strings.ToValidUTF8(b.String(), "\uFFFD")
	if len(text) <= limit {
		return text, nil
	}
	text = runecut.Prefix(text, limit) + "\n… the rest is left out"
	if left > 0 {
		text += fmt.Sprintf(", and %d more paths", left)
	}
	return text + "\n", nil
}

// describe describes one path that differs.
func (w *Workspace) describe(c objects.Change) (string, error) {
	var sides [2][]byte
	for i, e := range []objects.Entry{c.Before, c.After} {
		switch {
		case e.IsZero():
			continue
		case e.Type() != objects.ModeFile, e.Size > MaxDiff:
			return fmt.Sprintf("%s: %s\n", c.Path, KindOf(c)), nil
		}
		var err error
		if sides[i], err = w.store.Read(e.Hash); err != nil {
			return "", err
		}
	}
	if bytes.IndexByte(sides[0], 0) >= 0 || bytes.IndexByte(sides[1], 0) >= 0 {
		return fmt.Sprintf("%s: %s, a binary file\n", c.Path, KindOf(c)), nil
	}
	_, hunks, _ := bytes.Cut(diff.Diff("a", sides[0], "b", sides[1]), []byte("\n+++ b\n"))
	return fmt.Sprintf("%s: %s\n%s", c.Path, KindOf(c), hunks), nil
}

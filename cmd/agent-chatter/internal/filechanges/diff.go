package filechanges

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
)

// printDiff prints the lines that a row changes: as a patch, on a terminal in colours or without control characters.
func (h *history) printDiff(out io.Writer, r row, style view.Style, terminal bool) error {
	listed := map[projection.FilePath]bool{}
	for _, c := range r.changes {
		listed[c.Path] = true
	}
	if len(listed) == 0 {
		return nil // they are not known
	}
	all, err := h.compare(r.dir, r.before, r.after)
	if err != nil {
		return err
	}
	for _, c := range all {
		if !listed[projection.FilePath(c.Path)] {
			continue
		}
		if err := h.printChange(out, r.dir, c, style, terminal); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) printChange(
	out io.Writer, dir string, c objects.Change, style view.Style, terminal bool,
) error {
	for _, e := range []objects.Entry{c.Before, c.After} {
		why, err := h.whyMissing(dir, c.Path, e)
		if err != nil {
			return err
		}
		if why != "" {
			fmt.Fprintln(out, notCapturedText(c.Path, why))
			return nil
		}
	}
	before, err := h.side(dir, c.Path, c.Before)
	if err != nil {
		return err
	}
	after, err := h.side(dir, c.Path, c.After)
	if err != nil {
		return err
	}
	if isBinary(before.content) || isBinary(after.content) {
		fmt.Fprintf(out, "Binary file %s differs\n", pathText(c.Path))
		return nil
	}
	text := gitDiff(c.Path, before, after)
	switch {
	case terminal && style.Plain:
		text = []byte(tty.Safe(string(text)))
		fallthrough
	case style.Plain:
		_, err := out.Write(text)
		return err
	}
	_, hunks, _ := bytes.Cut(text, []byte("\n@@ "))
	if len(hunks) == 0 {
		return nil
	}
	fmt.Fprintln(out, pathText(c.Path))
	for _, line := range view.DiffLines(view.PatchHunks(pathText(c.Path), tty.Safe("@@ "+string(hunks))), style) {
		fmt.Fprintln(out, strings.TrimRight(style.Profile.Encode(line), " "))
	}
	return nil
}

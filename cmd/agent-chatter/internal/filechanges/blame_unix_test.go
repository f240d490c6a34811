//go:build unix

package filechanges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// blameText returns the steps and the lines of a file after the last tree.
func (h *history) blameText(t rapid.TB, dir, path string) string {
	last := h.trees[len(h.trees)-1]
	lines, err := h.blame(dir, last, path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range lines {
		who := "before"
		if l.step != nil {
			who = h.whoText(*l.step)
		}
		fmt.Fprintf(&b, "%s: %s\n", who, strings.TrimSuffix(l.text, "\n"))
	}
	return b.String()
}

// version appends a step that leaves a file with a content; "" removes it. member "" is a person.
func (h *history) version(t rapid.TB, dir, member, content string) {
	now := files{}
	if content != "" {
		now["a"] = side{gitFile, []byte(content)}
	}
	n := len(h.trees)
	next := tree{at: uint64(n), dir: dir, root: put(t, h, dir, now, n)}
	if n > 0 {
		s := step{seq: uint64(n), at: uint64(n), dir: dir, before: h.trees[n-1].root, after: next.root}
		if member != "" {
			s.changed = &projection.FilesChanged{MemberID: member}
		}
		h.steps = append(h.steps, s)
	}
	h.trees = append(h.trees, next)
}

func TestBlame(t *testing.T) {
	h, dir := newHistory(t.TempDir(), ""), "/d"
	h.members = []projection.Speaker{{ID: "ada", DisplayName: "Ada"}}
	h.version(t, dir, "", "1\n2\n3\n4")
	h.version(t, dir, "ada", "1\n2a\n3\n4")
	h.version(t, dir, "", "0\n1\n2a\n3\n4\n")
	h.version(t, dir, "ada", "0\n1\n2a\n3\n5\n")
	want := "you or another program: 0\nbefore: 1\nAda: 2a\nbefore: 3\nAda: 5\n"
	if diff := cmp.Diff(want, h.blameText(t, dir, "a")); diff != "" {
		t.Error(diff)
	}
	h.version(t, dir, "ada", "")
	if _, err := h.blame(dir, h.trees[len(h.trees)-1], "a"); err != errNoFile {
		t.Errorf("the error of a removed file is %v", err)
	}
	h.version(t, dir, "ada", "1\n")
	if diff := cmp.Diff("Ada: 1\n", h.blameText(t, dir, "a")); diff != "" {
		t.Error(diff)
	}

	// A step that is not recorded is of no turn.
	h.version(t, dir, "ada", "1\n2\n")
	h.steps = h.steps[:len(h.steps)-1]
	if diff := cmp.Diff("Ada: 1\nyou or another program: 2\n", h.blameText(t, dir, "a")); diff != "" {
		t.Error(diff)
	}
}

// The lines are those of the last version, and each is of a step that has added it.
func TestBlameOfRandomVersions(t *testing.T) {
	home := t.TempDir()
	n := 0
	propertytest.Check(t, func(t *rapid.T) {
		n++
		h, dir := newHistory(home, ""), fmt.Sprintf("/%d", n)
		text := ""
		for range rapid.IntRange(1, 5).Draw(t, "versions") {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "c\r\n", "--- d\n"}), 1, 9)
			text = strings.Join(lines.Draw(t, "lines"), "")
			h.version(t, dir, "ada", text)
		}
		lines, err := h.blame(dir, h.trees[len(h.trees)-1], "a")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, l := range lines {
			got += l.text
		}
		if got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}

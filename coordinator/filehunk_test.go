package coordinator_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
)

// letters returns a text with each letter on a line.
func letters(text string) string { return strings.Join(strings.Split(text, ""), "\n") + "\n" }

// A part of what a turn changed is set back by the rules of whole files, is recorded as they are, and can be undone.
func TestFileRestoreOfAHunk(t *testing.T) {
	const before, after = "abcdefghijklmnopqrst", "aBcdefghijklmnopqrsT"
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", letters(before))
	p.write("b", letters(before))
	s := p.start(d, "", p.edits("a", letters(after)), p.edits("a", "1\n"+letters(after)), p.edits("b", letters(after)))
	s.say("one", "two", "three")
	id := s.stop()
	target := payloads[projection.FilesChanged](t, s.recorder.appended)[0]
	var crash error // of the next restore, after the event that precedes it
	run := func(path string, change coordinator.FileRestore) (kept []workspace.Kept) {
		t.Helper()
		history, err := coordinator.NewFileHistory("", p.key(), seqOf(d.events(id)))
		if err != nil {
			t.Fatal(err)
		}
		record := d.record(id)
		change.History, change.Key = history, p.key()
		change.Record = func(events ...projection.Payload) error { return errors.Join(record(events...), crash) }
		if change.Workspace, err = workspace.OpenRoot(p.home, history.Dir); err != nil {
			t.Fatal(err)
		}
		if path != "" {
			change.Paths = []string{path}
		}
		prepared, err := change.Prepare(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		result, err := prepared.Run(context.Background())
		if !errors.Is(err, crash) || len(result.Failed) > 0 {
			t.Fatal(err, result)
		}
		return append(prepared.Plan.Kept, result.Kept...)
	}
	hunk := func(number int) *coordinator.FileHunk {
		return &coordinator.FileHunk{
			Before: objects.HashOf([]byte(letters(before))), After: objects.HashOf([]byte(letters(after))), Number: number,
		}
	}
	check := func(name, want string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, want %q, %v", name, got, want, err)
		}
	}
	seq := d.seqOfTree(t, id, target.Before)
	run("a", coordinator.FileRestore{Seq: seq, Hunk: hunk(1)})
	check("a", "1\n"+letters("aBcdefghijklmnopqrst"))
	check("b", letters(after))
	run("", coordinator.FileRestore{Undo: true})
	check("a", "1\n"+letters(after))
	crash = errors.New("the program ends")
	run("a", coordinator.FileRestore{Seq: seq, Hunk: hunk(0)})
	check("a", "1\n"+letters(after))
	crash = nil
	run("a", coordinator.FileRestore{Seq: seq, Hunk: hunk(0)})
	run("a", coordinator.FileRestore{Seq: seq, Hunk: hunk(1)})
	check("a", "1\n"+letters(before))

	// Neither a second time, nor in a file that a person changed, however far from the lines.
	if kept := run("a", coordinator.FileRestore{Seq: seq, Hunk: hunk(0)}); len(kept) != 1 {
		t.Errorf("it keeps %v", kept)
	}
	p.write("b", letters(after)+"by a person\n")
	if kept := run("b", coordinator.FileRestore{Seq: seq, Hunk: hunk(0)}); len(kept) != 1 ||
		kept[0].Why != "you changed it after turn 3" {
		t.Errorf("it keeps %v", kept)
	}
	check("b", letters(after)+"by a person\n")
}

// seqOfTree returns the first event that records a tree.
func (d *disk) seqOfTree(t *testing.T, id, root string) uint64 {
	for _, e := range d.events(id) {
		if p, err := projection.Decode(e); err == nil {
			if c, ok := p.(projection.FilesCaptured); ok && c.Root == root {
				return e.Seq
			}
		}
	}
	t.Fatal("no event has the tree")
	return 0
}

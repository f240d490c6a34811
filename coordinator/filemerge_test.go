package coordinator_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/projection"
)

// worktreeHistory reads what a session has recorded of ada's worktree.
func (p *project) worktreeHistory(d *disk, id string) *coordinator.WorktreeHistory {
	p.t.Helper()
	all, err := coordinator.WorktreeHistories(p.key(), seqOf(d.events(id)))
	if err != nil || len(all) != 1 || all[0].MemberID != "ada" {
		p.t.Fatal(all, err)
	}
	return all[0]
}

// merge merges ada's worktree, and returns the plan.
func (p *project) merge(d *disk, id string, record func(...projection.Payload) error) workspace.Plan {
	p.t.Helper()
	history := p.worktreeHistory(d, id)
	r := coordinator.FileRestore{
		History: history.Source, Key: p.key(), Record: record, Merge: &coordinator.FileMerge{Worktree: history.Worktree},
	}
	var err error
	if r.Workspace, err = workspace.OpenRoot(p.home, history.Source.Dir); err != nil {
		p.t.Fatal(err)
	}
	prepared, err := r.Prepare(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer prepared.Close()
	if result, err := prepared.Run(p.t.Context()); err != nil && !errors.Is(err, errCrash) || len(result.Failed) > 0 {
		p.t.Fatal(err, result)
	}
	return prepared.Plan
}

var errCrash = errors.New("crash")

// losses returns the files that the removal of ada's worktree would lose.
func (p *project) losses(d *disk, id string) (paths string) {
	p.t.Helper()
	drop := p.drop(d, id)
	defer drop.Close()
	for _, c := range drop.Losses.Unmerged {
		paths += c.Path + " "
	}
	return strings.TrimSpace(paths)
}

func (p *project) drop(d *disk, id string) *coordinator.PreparedDrop {
	p.t.Helper()
	history := p.worktreeHistory(d, id)
	from, err := workspace.OpenRoot(p.home, history.Source.Dir)
	if err != nil {
		p.t.Fatal(err)
	}
	drop, err := (&coordinator.WorktreeDrop{History: history, From: from, Record: d.record(id)}).Prepare(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return drop
}

// A merge brings what only the member changed into the directory, is undone like a restore, and begins next time with
// what it has merged.
func TestFileMerge(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "tea\n")
	p.write("b", "empty\n")
	f := p.inWorktrees(d, "", map[string]turnFunc{"ada": writes("a", "ada's tea\n")})
	f.say("[NEXT: ada] go")
	ada, id := f.worktree("ada"), f.Status().SessionID
	f.Stop("end")
	if err := os.WriteFile(filepath.Join(ada.Dir, "b"), []byte("full\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.write("b", "half\n")
	if got := p.losses(d, id); got != "a b" {
		t.Errorf("before the merge, %q would be lost", got)
	}
	plan := p.merge(d, id, d.record(id))
	if len(plan.Kept) != 1 || plan.Kept[0].Path != "b" {
		t.Errorf("kept %v", plan.Kept)
	}
	p.check(map[string]string{"a": "ada's tea\n", "b": "half\n"})
	if got := p.losses(d, id); got != "b" {
		t.Errorf("after the merge, %q would be lost", got)
	}
	p.restore(d, id, 0, true, d.record(id))
	p.check(map[string]string{"a": "tea\n", "b": "half\n"})
	if got := p.losses(d, id); got != "a b" {
		t.Errorf("after the merge was undone, %q would be lost", got)
	}
	p.restore(d, id, 0, true, d.record(id))
	if got := p.losses(d, id); got != "b" {
		t.Errorf("after that was undone, %q would be lost", got)
	}
	p.write("b", "full\n")
	p.merge(d, id, d.record(id))
	if got := p.losses(d, id); got != "" {
		t.Errorf("after a person has the same, %q would be lost", got)
	}
	p.check(map[string]string{"a": "ada's tea\n", "b": "full\n"})
}

// What was saved in a worktree after its files were listed is not removed.
func TestDropOfAChangedWorktree(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	f := p.inWorktrees(d, "", map[string]turnFunc{"ada": writes("a", "ada's tea\n")})
	f.say("[NEXT: ada] go")
	ada, id := f.worktree("ada"), f.Status().SessionID
	f.Stop("end")
	late := filepath.Join(ada.Dir, "late")
	drop := p.drop(d, id)
	if err := os.WriteFile(late, []byte("late\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var changed *coordinator.DropChangedError
	if err := errors.Join(drop.Run(t.Context()), drop.Close()); !errors.As(err, &changed) {
		t.Errorf("the removal of a changed worktree: %v", err)
	}
	if _, err := os.Stat(late); err != nil {
		t.Fatal(err)
	}
	drop = p.drop(d, id)
	if err := errors.Join(drop.Run(t.Context()), drop.Close()); err != nil {
		t.Error(err)
	}
}

// A merge that a crash interrupts is completed by the next one.
func TestFileMergeAfterACrash(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "tea\n")
	f := p.inWorktrees(d, "", map[string]turnFunc{"ada": writes("a", "ada's tea\n")})
	f.say("[NEXT: ada] go")
	id := f.Status().SessionID
	f.Stop("end")
	record := d.record(id)
	// After the first event, before files are written, and then before the last events.
	p.merge(d, id, func(events ...projection.Payload) error { return errors.Join(record(events...), errCrash) })
	p.check(map[string]string{"a": "tea\n"})
	calls := 0
	p.merge(d, id, func(events ...projection.Payload) error {
		if calls++; calls > 1 {
			return errCrash
		}
		return record(events...)
	})
	p.check(map[string]string{"a": "ada's tea\n"})
	p.merge(d, id, record)
	p.check(map[string]string{"a": "ada's tea\n"})
	if got := p.losses(d, id); got != "" {
		t.Errorf("%q would be lost", got)
	}
	p.restore(d, id, 0, true, record)
	p.check(map[string]string{"a": "tea\n"})
}

// A worktree that is dropped is recorded, and made again for the next turn.
func TestWorktreeDrop(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "tea\n")
	f := p.inWorktrees(d, "", map[string]turnFunc{"ada": writes("a", "ada's tea\n")})
	f.say("[NEXT: ada] go")
	ada, id := f.worktree("ada"), f.Status().SessionID
	f.Stop("end")
	drop := p.drop(d, id)
	if err := drop.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	drop.Close()
	if _, err := os.Lstat(ada.Dir); err == nil {
		t.Error("it is not removed")
	}
	again := p.drop(d, id)
	if !again.Missing || !p.worktreeHistory(d, id).Dropped {
		t.Errorf("dropped: %+v", again)
	}
	f = p.inWorktrees(d, id, map[string]turnFunc{"ada": writes("b", "full\n")})
	f.say("[NEXT: ada] go")
	if got := read(t, f.worktree("ada").Dir, "a"); got != "tea\n" {
		t.Errorf("the next worktree has %q", got)
	}
}

package coordinator_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// newLarge returns a repository with the files a, b, c and mine, which has more than can be captured.
func newLarge(t *testing.T) *project {
	p := newProject(t)
	p.limits.Files = 3
	for _, name := range []string{"a", "b", "c", "mine"} {
		p.write(name, "1\n")
	}
	p.git("init", "-q")
	p.commit()
	return p
}

// git runs Git, and makes the index younger than all files, so that none may have changed after Git compared it.
func (p *project) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command(programtest.Path(p.t, "git"), append([]string{"-c", "user.name=a", "-c", "user.email=a@b",
		"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(p.dir, ".git", "index"), later, later); err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
}

func (p *project) commit() {
	p.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "all")
}

// ends returns the events with which the turns of a session ended.
func (d *disk) ends(id string) (seqs []uint64) {
	for _, e := range d.events(id) {
		if e.Type == "turn.ended" {
			seqs = append(seqs, e.Seq)
		}
	}
	return seqs
}

// In a directory over a limit, what turns change is attributed, and set back as far as it was captured.
func TestFilesOfALargeRepository(t *testing.T) {
	p, d := newLarge(t), onDisk(t, 0)
	commits := calls(func() { p.commit() }, says("ok"))
	s := p.start(d, "", p.edits("a", "two\n"), p.edits("a", "three\n"), commits, p.edits("a", "four!\n"), p.edits("new", "n\n"))
	s.say("one", "two", "three")
	p.write("mine", "my own\n")
	s.say("four", "five")
	checkLines(t, s.recorder.changes(t),
		"ada: 1 file changed: a", "ada: 1 file changed (+1 −1): a", "ada: 1 file changed (+1 −1): a",
		"ada: 1 file changed (+1 −0): new (new)")
	if n := s.recorder.count("notice FilesLimited"); n != 1 || s.recorder.count("notice FilesOff") > 0 {
		t.Errorf("the limit was reported %d times:\n%q", n, s.recorder.lines)
	}
	id := s.stop()
	ends, record := d.ends(id), d.record(id)
	for _, step := range []struct {
		after int // turn
		want  string
	}{{4, "four!\n"}, {3, "three\n"}, {2, "three\n"}, {1, "two\n"}} {
		p.restore(d, id, ends[step.after-1], false, record)
		p.check(map[string]string{"a": step.want, "b": "1\n", "mine": "my own\n"})
	}
	if len(p.kept) > 0 {
		t.Errorf("kept %q", p.kept)
	}
	p.restore(d, id, 1, false, record) // before the first turn, it was as Git had it
	p.check(map[string]string{"a": "two\n", "b": "1\n", "mine": "my own\n"})
	if diff := cmp.Diff(map[string]string{"a": "not captured then: it was as Git had it"}, p.kept); diff != "" {
		t.Error(diff)
	}
}

// An agent that changes the branch changes the files that differ, and sets back none.
func TestFilesOfAnotherBranch(t *testing.T) {
	p, d := newLarge(t), onDisk(t, 0)
	p.git("checkout", "-q", "-b", "other")
	p.write("b", "other\n")
	p.write("added", "other\n")
	p.commit()
	p.git("checkout", "-q", "master")
	s := p.start(d, "", p.edits("a", "two\n"), calls(func() { p.git("checkout", "-q", "other") }, says("ok")))
	s.say("one", "two")
	checkLines(t, s.recorder.changes(t), "ada: 1 file changed: a", "ada: 2 files changed: added (new), b")
	id := s.stop()
	p.restore(d, id, 1, false, d.record(id))
	p.check(map[string]string{"a": "two\n", "b": "other\n", "mine": "1\n"})
	git := "not captured now, so it could not be undone: it is as Git has it"
	want := map[string]string{
		"a": "not captured then: it was as Git had it", "b": "not captured then: it was as Git had it", "added": git,
	}
	if diff := cmp.Diff(want, p.kept); diff != "" {
		t.Error(diff)
	}
}

// When a session exceeds the limit, nothing is recorded of that turn, and what others may have changed is kept.
func TestFilesOfARepositoryThatGrows(t *testing.T) {
	p, d := newLarge(t), onDisk(t, 0)
	p.limits.Files = 4
	grows := calls(func() { p.write("b", "grown\n"); p.write("more", "1\n") }, says("ok"))
	s := p.start(d, "", p.edits("a", "two\n"), grows, p.edits("a", "three\n"), p.edits("c", "two\n"))
	s.say("one", "two", "three", "four")
	checkLines(t, s.recorder.changes(t),
		"ada: 1 file changed (+1 −1): a", "ada: 1 file changed (+1 −1): a", "ada: 1 file changed: c")
	id := s.stop()
	ends, record := d.ends(id), d.record(id)
	p.restore(d, id, ends[1], false, record) // a was captured then, also after the limit was exceeded
	p.check(map[string]string{"a": "two\n", "b": "grown\n", "mine": "1\n"})
	p.restore(d, id, 0, true, record)
	p.check(map[string]string{"a": "three\n", "b": "grown\n", "mine": "1\n"})
	p.restore(d, id, 1, false, record)
	p.check(map[string]string{"a": "1\n", "b": "grown\n", "mine": "1\n"})
	if data, err := os.ReadFile(filepath.Join(p.dir, "more")); err != nil || string(data) != "1\n" {
		t.Errorf("more has %q, %v", data, err)
	}
}

// A restore in a directory that has exceeded a limit since keeps what it cannot capture.
func TestRestoreInARepositoryThatHasGrown(t *testing.T) {
	p, d := newLarge(t), onDisk(t, 0)
	p.limits.Files = 4
	commits := calls(func() { p.write("b", "two\n"); p.commit() }, says("ok"))
	s := p.start(d, "", p.edits("a", "two\n"), commits)
	s.say("one", "two")
	id := s.stop()
	p.write("x", "1\n")
	p.write("y", "1\n")
	p.restore(d, id, 1, false, d.record(id))
	p.check(map[string]string{"a": "two\n", "b": "two\n", "mine": "1\n"}) // Git has them
	if len(p.kept) != 2 {
		t.Errorf("kept %q", p.kept)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "x")); err != nil {
		t.Error(err)
	}
}

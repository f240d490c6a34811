package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// editing is a scriptedEngine of a program, whose turns can change files.
type editing struct{ *scriptedEngine }

func (editing) CommandLine(agent.Member) []string { return []string{"editor"} }

// project is a directory that agents change, and the home with its store.
type project struct {
	t         *testing.T
	dir, home string
	limits    workspace.Limits
	onStatus  func(*fixture, coordinator.Status) // nil: nothing
	kept      map[string]string                  // why restores kept files, by their paths
}

// A statusListener calls a function with each status.
type statusListener struct {
	coordinator.Listener
	onStatus func(coordinator.Status)
}

func (l statusListener) Status(s coordinator.Status) {
	l.Listener.Status(s)
	l.onStatus(s)
}

func newProject(t *testing.T) *project {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &project{t: t, dir: dir, home: t.TempDir()}
}

// edits returns a turn that writes a file, or removes it if the content is "".
func (p *project) edits(name, content string) turnFunc {
	return calls(func() { p.write(name, content) }, says("ok"))
}

func (p *project) write(name, content string) {
	path := filepath.Join(p.dir, name)
	err := os.WriteFile(path, []byte(content), 0o644)
	if content == "" {
		err = os.Remove(path)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// start returns a coordinator of a session in the directory; id "" begins one.
func (p *project) start(s store.Store, id string, script ...turnFunc) *fixture {
	p.t.Helper()
	f := newFixture(p.t, s, script...)
	o := f.options(s)
	o.CWD, o.Engines = p.dir, map[string]agent.Engine{"scripted": editing{f.engine}}
	o.HomeKey = p.key
	if p.onStatus != nil {
		o.Listener = statusListener{o.Listener, func(s coordinator.Status) { p.onStatus(f, s) }}
	}
	o.Workspace = func(dir string) (*workspace.Workspace, error) {
		w, err := workspace.Open(p.home, dir)
		if err == nil {
			w.Limits = p.limits
		}
		return w, err
	}
	f.Coordinator = coordinator.New(o)
	f.setTeam(testTeam(), id)
	return f
}

// texts returns what turns changed, as the journal has it.
func (d *recorder) changes(t *testing.T) (texts []string) {
	for _, p := range payloads[projection.FilesChanged](t, d.appended) {
		text := p.MemberID + ": " + p.Text()
		if p.Late {
			text += " (late)"
		}
		if len(p.With) > 0 {
			text += " (with others)"
		}
		texts = append(texts, text)
	}
	return texts
}

func checkLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A capture precedes the agent's start, and is on the disk by then. What a person changed between turns is not the agent's.
func TestFilesOfTurns(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "1\n")
	s := p.start(d, "",
		calls(func() { d.checkDurable("when the agent starts") }, p.edits("a", "2\n")),
		p.edits("b", "new\n"), says("nothing"), p.edits("a", ""))
	s.say("one", "two")
	p.write("person", "mine\n")
	s.say("three", "four")
	checkLines(t, s.recorder.changes(t),
		"ada: 1 file changed (+1 −1): a", "ada: 1 file changed (+1 −0): b (new)", "ada: 1 file changed (+0 −1): a (deleted)")
	var captures []projection.CaptureTime
	for _, c := range payloads[projection.FilesCaptured](t, s.recorder.appended) {
		captures = append(captures, c.When)
	}
	want := []projection.CaptureTime{"before", "after", "after", "before", "after"} // only what is new
	if !slices.Equal(captures, want) {
		t.Errorf("captures %v, want %v", captures, want)
	}
	if i := slices.Index(s.recorder.types(), "files.captured"); s.recorder.types()[i-1] != "turn.started" {
		t.Errorf("events %v", s.recorder.types())
	}
}

// A turn that fails or is cancelled has changed files, too.
func TestFilesOfAFailedTurn(t *testing.T) {
	p := newProject(t)
	fails := calls(func() { p.write("a", "half\n") }, yields(errors.New("broken"), agent.Text{Text: "I"}))
	s := p.start(onDisk(t, 0), "", fails)
	turnError(t, s.Say(context.Background(), "you", "go"), "ada", projection.Failed)
	checkLines(t, s.recorder.changes(t), "ada: 1 file changed (+1 −0): a (new)")
}

// What a turn changed before the program was killed is recorded when the session continues, as late.
func TestFilesOfAnInterruptedTurn(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	copied := filepath.Join(t.TempDir(), "home", "sessions")
	crash := func() {
		p.write("a", "half\n")
		if err := os.CopyFS(copied, os.DirFS(d.root)); err != nil {
			t.Error(err)
		}
	}
	s := p.start(d, "", calls(crash, says("ok")))
	s.say("go")
	id := s.stop()

	resumed := p.start(diskAt(t, copied, 0), id, p.edits("b", "later\n"))
	resumed.say("again")
	checkLines(t, resumed.recorder.changes(t),
		"ada: 1 file changed (+1 −0): a (new) (late)", "ada: 1 file changed (+1 −0): b (new)")
}

// Two sessions in one directory at once: either may have changed what both report.
func TestFilesOfTurnsThatOverlap(t *testing.T) {
	p := newProject(t)
	other := p.start(onDisk(t, 0), "", p.edits("b", "other\n"))
	s := p.start(onDisk(t, 0), "", calls(func() { other.say("meanwhile") }, p.edits("a", "one\n")))
	s.say("go")
	checkLines(t, other.recorder.changes(t), "ada: 1 file changed (+1 −0): b (new) (with others)")
	checkLines(t, s.recorder.changes(t), "ada: 2 files changed (+2 −0): a (new), b (new) (with others)")
}

// A directory over a limit is reported once, and its turns run.
func TestFilesOverALimit(t *testing.T) {
	p := newProject(t)
	p.limits.Files = 1
	p.write("a", "1")
	p.write("b", "2")
	s := p.start(onDisk(t, 0), "")
	s.say("one", "two")
	if n := s.recorder.count("notice FilesOff"); n != 1 {
		t.Errorf("it was reported %d times:\n%q", n, s.recorder.lines)
	}
	if slices.Contains(s.recorder.types(), "files.captured") {
		t.Error("files were captured")
	}
}

// A team can turn captures off.
func TestFilesOfATeamWithoutCaptures(t *testing.T) {
	p := newProject(t)
	s := p.start(onDisk(t, 0), "", p.edits("a", "1\n"))
	off := testTeam()
	off.FilesOff = true
	s.setTeam(off, "")
	s.say("one")
	if slices.Contains(s.recorder.types(), "files.captured") {
		t.Error("files were captured")
	}
}

// A capture that takes long shows its progress and can be skipped: the turn runs without captures, and the next one is
// captured again.
func TestCaptureIsSkipped(t *testing.T) {
	p := newProject(t)
	for i := range 2100 {
		p.write(fmt.Sprint("f", i), "content")
	}
	var progress []int
	skips := 0
	p.onStatus = func(f *fixture, s coordinator.Status) {
		if len(progress) == 0 || progress[len(progress)-1] != s.Capturing {
			progress = append(progress, s.Capturing)
		}
		if s.Capturing == 2000 && skips == 0 && f.SkipFiles() {
			skips++
		}
	}
	s := p.start(onDisk(t, 0), "", p.edits("a", "1"), p.edits("b", "1"))
	s.say("one")
	checkLines(t, s.recorder.changes(t))
	if n := s.recorder.count("notice FilesOff"); n != 1 || skips != 1 {
		t.Errorf("%d captures were skipped, %d reported", skips, n)
	}
	s.say("two")
	checkLines(t, s.recorder.changes(t), "ada: 1 file changed (+1 −0): b (new)")
	if want := []int{0, 1000, 2000, 0, 1000, 2000, 0}; !slices.Equal(progress, want) {
		t.Errorf("the progress is %v, want %v", progress, want)
	}
	if s.SkipFiles() {
		t.Error("a capture was skipped while none ran")
	}
}

// A restore sets back what turns changed, leaves what a person changed, and can be undone.
func TestFileRestore(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "1\n")
	p.write("mine", "1\n")
	s := p.start(d, "", p.edits("a", "2\n"), p.edits("b", "new\n"))
	s.say("one", "two")
	p.write("mine", "2\n")
	id := s.stop()
	restore := func(seq uint64, undo bool) { p.restore(d, id, seq, undo, d.record(id)) }
	check := func(want map[string]string) {
		t.Helper()
		p.check(want)
	}
	restore(1, false)
	check(map[string]string{"a": "1\n", "mine": "2\n"})
	restore(0, true)
	check(map[string]string{"a": "2\n", "b": "new\n", "mine": "2\n"})
	restore(0, true)
	check(map[string]string{"a": "1\n", "mine": "2\n"})

	// Events that this home has not recorded are not believed.
	var none *coordinator.NoFilesError
	for _, key := range [][]byte{nil, []byte("another home's")} {
		if _, err := coordinator.NewFileHistory("", key, seqOf(d.events(id))); !errors.As(err, &none) || !none.Foreign {
			t.Errorf("with the key %q: %v", key, err)
		}
	}
}

// An undo after a restore that was interrupted and repeated sets all of it back.
func TestUndoOfARepeatedRestore(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "1\n")
	s := p.start(d, "", p.edits("a", "2\n"), p.edits("b", "new\n"))
	s.say("one", "two")
	id := s.stop()
	record := d.record(id)
	p.restore(d, id, 1, false, func(payloads ...projection.Payload) error {
		if _, ends := payloads[0].(projection.FilesRestored); ends {
			return nil // a crash
		}
		return record(payloads...)
	})
	p.write("a", "2\n") // the crash was before that was set back
	p.restore(d, id, 1, false, record)
	p.check(map[string]string{"a": "1\n"})
	p.restore(d, id, 0, true, record)
	p.check(map[string]string{"a": "2\n", "b": "new\n"})
	p.restore(d, id, 1, false, record)
	p.check(map[string]string{"a": "1\n"})
}

// What a person saves between the plan of a restore and its end is no part of the restore: an undo leaves it.
func TestSavesDuringARestore(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "1\n")
	p.write("mine", "1\n")
	s := p.start(d, "", p.edits("a", "2\n"))
	s.say("one")
	id := s.stop()
	record := d.record(id)
	prepared := p.prepare(d, id, 1, false, func(payloads ...projection.Payload) error {
		err := record(payloads...)
		if _, ends := payloads[0].(projection.FilesRestored); !ends {
			p.write("mine", "3\n") // while files are written
		}
		return err
	})
	p.write("b", "new\n") // while the plan is shown
	p.run(prepared)
	p.check(map[string]string{"a": "1\n", "b": "new\n", "mine": "3\n"})
	began := payloads[projection.FilesRestoring](t, d.events(id))[0]
	captures := payloads[projection.FilesCaptured](t, d.events(id))
	if last := captures[len(captures)-2]; last.Root != began.Undo || last.Files != 3 {
		t.Errorf("the capture before is %+v", last)
	}
	p.restore(d, id, 0, true, record)
	p.check(map[string]string{"a": "2\n", "b": "new\n", "mine": "3\n"})
}

// A restore that has nothing to write is not the one that is undone.
func TestRestoreOfNothingIsNotRecorded(t *testing.T) {
	p, d := newProject(t), onDisk(t, 0)
	p.write("a", "1\n")
	s := p.start(d, "", p.edits("a", "2\n"))
	s.say("one")
	id := s.stop()
	p.restore(d, id, 1, false, d.record(id))
	recorded := len(d.events(id))
	p.restore(d, id, 1, false, d.record(id))
	if n := len(d.events(id)); n != recorded {
		t.Errorf("%d events were recorded", n-recorded)
	}
	p.restore(d, id, 0, true, d.record(id))
	p.check(map[string]string{"a": "2\n"})
}

// restore sets the files back to what they were after an event, or undoes the last restore.
func (p *project) restore(d *disk, id string, seq uint64, undo bool, record func(...projection.Payload) error) {
	p.t.Helper()
	p.run(p.prepare(d, id, seq, undo, record))
}

// prepare plans a restore.
func (p *project) prepare(
	d *disk, id string, seq uint64, undo bool, record func(...projection.Payload) error,
) *coordinator.PreparedRestore {
	p.t.Helper()
	read := coordinator.NewFileHistory
	if undo {
		read = coordinator.NewUndoHistory
	}
	history, err := read("", p.key(), seqOf(d.events(id)))
	if err != nil {
		p.t.Fatal(err)
	}
	w, err := workspace.OpenRoot(p.home, history.Dir)
	if err != nil {
		p.t.Fatal(err)
	}
	w.Limits = p.limits
	r := &coordinator.FileRestore{History: history, Workspace: w, Seq: seq, Undo: undo, Key: p.key(), Record: record}
	prepared, err := r.Prepare(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	return prepared
}

// run executes a plan.
func (p *project) run(prepared *coordinator.PreparedRestore) {
	p.t.Helper()
	defer prepared.Close()
	for _, k := range prepared.Plan.Kept {
		if p.kept == nil {
			p.kept = map[string]string{}
		}
		p.kept[k.Path] = k.Why
	}
	if result, err := prepared.Run(context.Background()); err != nil || len(result.Failed) > 0 {
		p.t.Fatal(err, result)
	}
}

// check compares the contents of the files a, b and mine.
func (p *project) check(want map[string]string) {
	p.t.Helper()
	got := map[string]string{}
	for _, name := range []string{"a", "b", "mine"} {
		if data, err := os.ReadFile(filepath.Join(p.dir, name)); err == nil {
			got[name] = string(data)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Error(diff)
	}
}

// key is the secret of the home.
func (*project) key() []byte { return []byte("key of the home") }

// seqOf returns events as a sequence.
func seqOf(events []journal.Event) func(func(journal.Event, error) bool) {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// record returns a function that appends events to a journal.
func (d *disk) record(id string) func(...projection.Payload) error {
	return func(payloads ...projection.Payload) error {
		log, err := journal.NewDir(d.dir(), journal.Options{}).Open(context.Background(), id)
		if err != nil {
			return err
		}
		defer log.Close()
		for _, p := range payloads {
			if _, err := log.Append(projection.Record(time.Now(), p)); err != nil {
				return err
			}
		}
		return log.Sync()
	}
}

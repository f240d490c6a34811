package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// worker is an engine of programs whose turns run the function of their member.
type worker struct{ *players }

func (worker) CommandLine(agent.Member) []string { return []string{"worker"} }

// inWorktrees returns a coordinator of a session in the directory of a project, whose members ada, bob and cy have
// worktrees.
func (p *project) inWorktrees(
	s store.Store, id string, plays map[string]turnFunc, change ...func(*coordinator.Options, *team.Team),
) *panelFixture {
	p.t.Helper()
	change = append([]func(*coordinator.Options, *team.Team){func(o *coordinator.Options, all *team.Team) {
		o.CWD, o.Home, o.HomeKey = p.dir, p.home, p.key
		o.Engines["scripted"] = worker{o.Engines["scripted"].(*players)}
		o.Workspace = func(dir string) (*workspace.Workspace, error) { return workspace.Open(p.home, dir) }
		for i := range all.Members {
			if all.Members[i].Type == team.AI {
				all.Members[i].Worktree = &team.Worktree{}
			}
		}
	}}, change...)
	f, _ := panelOf(p.t, s, id, plays, change...)
	return f
}

// worktree returns the worktree of a member as the session has recorded it last.
func (f *panelFixture) worktree(member string) projection.WorktreeCreated {
	f.t.Helper()
	all := payloads[projection.WorktreeCreated](f.t, f.recorder.appended)
	all = slices.DeleteFunc(all, func(w projection.WorktreeCreated) bool { return w.MemberID != member })
	if len(all) == 0 {
		f.t.Fatalf("no worktree of %s was recorded", member)
	}
	return all[len(all)-1]
}

// writes returns a turn that writes a file in its directory.
func writes(name, content string) turnFunc { return writesAndSays(name, content, "ok") }

func writesAndSays(name, content, reply string) turnFunc {
	return func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		err := os.WriteFile(filepath.Join(turn.Dir, name), []byte(content), 0o644)
		if err != nil {
			return yields(err)(ctx, turn)
		}
		return says(reply)(ctx, turn)
	}
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// Members with worktrees change files at the same time, each its own copy; the person's directory stays as it is.
func TestPanelInWorktrees(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	p.git("init", "-q")
	p.commit()
	p.write("plan.txt", "tea for two\n") // not committed
	p.write("new.txt", "untracked\n")
	f := p.inWorktrees(&store.Memory{}, "", map[string]turnFunc{
		"ada": writes("plan.txt", "ada's tea\n"), "bob": writes("new.txt", "bob's\n"),
	})
	f.say("[NEXT: ada | bob] go")
	turns := payloads[projection.TurnStarted](t, f.recorder.appended)
	if len(turns) != 2 || turns[0].Panel == nil {
		t.Fatalf("the turns are %+v", turns)
	}
	ada, bob := f.worktree("ada"), f.worktree("bob")
	for _, test := range []struct{ got, want string }{
		{read(t, p.dir, "plan.txt"), "tea for two\n"}, {read(t, p.dir, "new.txt"), "untracked\n"},
		{read(t, ada.Dir, "plan.txt"), "ada's tea\n"}, {read(t, ada.Dir, "new.txt"), "untracked\n"},
		{read(t, bob.Dir, "plan.txt"), "tea for two\n"}, {read(t, bob.Dir, "new.txt"), "bob's\n"},
	} {
		if test.got != test.want {
			t.Errorf("a file has %q, want %q", test.got, test.want)
		}
	}
	checkLines(t, sorted(f.recorder.changes(t)), "ada: 1 file changed (+1 −1): plan.txt", "bob: 1 file changed (+1 −1): new.txt")
	for _, prompt := range f.players.prompts {
		if !strings.Contains(prompt, "a copy of "+p.dir+" that only you change") {
			t.Errorf("the prompt says nothing of the worktree:\n%s", prompt)
		}
	}
	if ada.Head == "" || ada.Head != bob.Head || ada.Base != bob.Base || ada.Source != p.dir {
		t.Errorf("the worktrees are %+v and %+v", ada, bob)
	}
	f.say("[NEXT: ada] again")
	if all := payloads[projection.WorktreeCreated](t, f.recorder.appended); len(all) != 2 {
		t.Errorf("%d worktrees were made", len(all))
	}
}

// A judge gets what the members of a panel have said and changed, and the panel itself gets nothing of it.
func TestJudge(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	f := p.inWorktrees(&store.Memory{}, "", map[string]turnFunc{
		"ada": writes("plan.txt", "ada's tea\n"), "bob": writes("new.txt", "bob's\n"), "cy": says("ada's [NEXT: you]"),
	})
	f.say("[NEXT: ada | bob, cy judges ada | bob | you] go")
	for i, prompt := range f.players.prompts {
		for _, part := range []string{
			"Ada: ok", "Bob: ok", "plan.txt: modified\n  @@ -1,1 +1,1 @@\n  -tea\n  +ada's tea", "new.txt: added",
			"You judge what Ada and Bob did", "a person then merges them, or not",
		} {
			if strings.Contains(prompt, part) != (i == 2) {
				t.Errorf("prompt %d, %q:\n%s", i+1, part, prompt)
			}
		}
	}
	if len(f.players.prompts) != 3 {
		t.Errorf("%d prompts", len(f.players.prompts))
	}
}

// No prompt of a panel has a byte of what another of its members replies, or writes into its worktree.
func TestNoPromptOfAPanelHasFilesOfIt(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	propertytest.Check(t, func(rt *rapid.T) {
		plays := map[string]turnFunc{}
		f := p.inWorktrees(&store.Memory{}, "", plays)
		for round := range rapid.IntRange(1, 2).Draw(rt, "rounds") {
			mark := fmt.Sprintf("mark-%d-", round)
			for _, member := range []string{"ada", "bob"} {
				name := rapid.SampledFrom([]string{"plan.txt", "new.txt", mark}).Draw(rt, "file")
				rest := rapid.StringMatching(`[a-z\n]{0,9}`).Draw(rt, "rest")
				plays[member] = writesAndSays(name, mark+rest, mark+rest)
			}
			before := len(f.players.prompts)
			f.say("[NEXT: ada | bob] go")
			for _, prompt := range f.players.prompts[before:] {
				if strings.Contains(prompt, mark) {
					rt.Fatalf("round %d:\n%s", round, prompt)
				}
			}
		}
		f.Stop("end")
	})
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}

// A resumed session has its worktrees; one that is missing is laid out from what it contained last.
func TestWorktreeOfAResumedSession(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	s := onDisk(t, 0)
	f := p.inWorktrees(s, "", map[string]turnFunc{"ada": writes("cup.txt", "full\n")})
	f.say("[NEXT: ada] go")
	ada, id := f.worktree("ada"), f.Status().SessionID
	f.Stop("end")
	p.write("plan.txt", "coffee\n")
	for _, lost := range []bool{false, true} {
		if lost {
			if err := os.RemoveAll(ada.Dir); err != nil {
				t.Fatal(err)
			}
		}
		seen := ""
		f = p.inWorktrees(s, id, map[string]turnFunc{"ada": func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
			seen = read(t, turn.Dir, "cup.txt") + read(t, turn.Dir, "plan.txt")
			return says("ok")(ctx, turn)
		}})
		f.say("[NEXT: ada] go")
		if seen != "full\ntea\n" {
			t.Errorf("lost: %v: the agent sees %q", lost, seen)
		}
		if all := payloads[projection.WorktreeCreated](t, f.recorder.appended); len(all) != 0 {
			t.Errorf("lost: %v: a worktree was recorded again", lost)
		}
		f.Stop("end")
	}
}

// The set-up command runs in the worktree before the agent, with its variables; what it makes is not the member's.
func TestWorktreeIsSetUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	var env map[string]string
	setup := func(command string) func(*coordinator.Options, *team.Team) {
		return func(_ *coordinator.Options, all *team.Team) {
			for i := range all.Members {
				if all.Members[i].Type == team.AI {
					all.Members[i].Worktree = &team.Worktree{Setup: []string{"sh", "-c", command}, Ports: 3}
				}
			}
		}
	}
	f := p.inWorktrees(&store.Memory{}, "", map[string]turnFunc{"ada": func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		env = turn.Member.Env
		return writes("cup.txt", "full\n")(ctx, turn)
	}}, setup(`echo "$AGENT_CHATTER_PORT" > port.txt`))
	f.say("[NEXT: ada | bob] go")
	ada, bob := f.worktree("ada"), f.worktree("bob")
	if got := strings.TrimSpace(read(t, ada.Dir, "port.txt")); got != strconv.Itoa(ada.Port) || ada.Port == 0 {
		t.Errorf("the set-up command saw the port %q, not %d", got, ada.Port)
	}
	if ada.Port < bob.Port+3 && bob.Port < ada.Port+3 {
		t.Errorf("both have the ports %d and %d", ada.Port, bob.Port)
	}
	want := map[string]string{
		"AGENT_CHATTER_PORT": strconv.Itoa(ada.Port), "GIT_CEILING_DIRECTORIES": filepath.Dir(ada.Dir),
	}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Error(diff)
	}
	checkLines(t, f.recorder.changes(t), "ada: 1 file changed (+1 −0): cup.txt (new)")

	disk := onDisk(t, 0)
	f = p.inWorktrees(disk, "", nil, setup("touch made; echo no network; exit 3"))
	err := f.Say(context.Background(), "", "[NEXT: ada] go")
	var failed *coordinator.WorktreeError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "no network") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "port.txt")); err == nil {
		t.Error("the set-up command ran in the directory of the person")
	}
	if n := len(payloads[projection.WorktreeCreated](t, f.recorder.appended)); n != 0 {
		t.Errorf("%d worktrees were recorded", n)
	}
	id := f.Status().SessionID
	f.Stop("end")
	f = p.inWorktrees(disk, id, nil, setup("test ! -e made"))
	f.say("[NEXT: ada] again") // in a directory without what the set-up left that failed
}

// A worktree that cannot be made fails the turn; the agent never works in the person's directory instead.
func TestNoWorktree(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	none := func(o *coordinator.Options, _ *team.Team) { o.Workspace = nil }
	f := p.inWorktrees(&store.Memory{}, "", map[string]turnFunc{"ada": writes("plan.txt", "gone\n")}, none)
	if err := f.Say(context.Background(), "", "[NEXT: ada] go"); err == nil {
		t.Error("no error")
	}
	if got := read(t, p.dir, "plan.txt"); got != "tea\n" {
		t.Errorf("the file has %q", got)
	}
}

// A fork of a session has worktrees of its own, with what those of the session contained where it was forked.
func TestWorktreeOfAFork(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	s := onDisk(t, 0)
	f := p.inWorktrees(s, "", map[string]turnFunc{"ada": writes("cup.txt", "full\n")})
	f.say("[NEXT: ada] go")
	first, id := f.worktree("ada"), f.Status().SessionID
	f.Stop("end")
	fork, err := sessioncopy.Fork(context.Background(), catalog.New(s.root, journal.Options{}).Team("ensemble"), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	f = p.inWorktrees(s, fork, map[string]turnFunc{"ada": writes("plan.txt", "coffee\n")})
	f.say("[NEXT: ada] go")
	now := f.worktree("ada")
	if now.Dir == first.Dir || now.Base != first.Base {
		t.Errorf("the worktrees are %+v and %+v", first, now)
	}
	if got := read(t, now.Dir, "cup.txt") + read(t, first.Dir, "plan.txt"); got != "full\ntea\n" {
		t.Errorf("the files have %q", got)
	}
}

// What is in the place of a worktree is never removed unless the agent had no turn in it: it may be the member's, of a
// home that was copied or moved, or the member may have put it there.
func TestWorktreeThatIsOccupied(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	s := onDisk(t, 0)
	f := p.inWorktrees(s, "", map[string]turnFunc{"ada": writes("cup.txt", "full\n")})
	f.say("[NEXT: ada] go")
	id, ada := f.Status().SessionID, f.worktree("ada")
	f.Stop("end")
	resume := func(change ...func(*coordinator.Options, *team.Team)) error {
		f := p.inWorktrees(s, id, map[string]turnFunc{"ada": writes("plan.txt", "gone\n")}, change...)
		defer f.Stop("end")
		return f.Say(context.Background(), "", "[NEXT: ada] go")
	}
	var unknown *coordinator.UnknownDirError
	otherKey := func(o *coordinator.Options, _ *team.Team) { o.HomeKey = func() []byte { return []byte("another") } }
	if err := resume(otherKey); !errors.As(err, &unknown) {
		t.Errorf("the error is %v", err)
	}
	if got := read(t, ada.Dir, "cup.txt") + read(t, ada.Dir, "plan.txt"); got != "full\ntea\n" {
		t.Errorf("the worktree has %q", got)
	}
	// Another home has continued the session, and it comes back.
	home := p.home
	p.home = t.TempDir()
	if err := resume(otherKey); err != nil {
		t.Error(err)
	}
	p.home = home
	f = p.inWorktrees(s, id, map[string]turnFunc{"ada": writes("mug.txt", "full\n")})
	f.say("[NEXT: ada] go")
	f.Stop("end")
	if got := read(t, ada.Dir, "cup.txt") + read(t, ada.Dir, "mug.txt"); got != "full\nfull\n" {
		t.Errorf("after its return, the worktree has %q", got)
	}
	moved := ada.Dir + "-moved"
	if err := os.Rename(ada.Dir, moved); err != nil {
		t.Fatal(err)
	}
	err := os.Symlink(p.dir, ada.Dir)
	if err != nil && runtime.GOOS == "windows" {
		t.Skip("Windows lets few users make links:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := resume(); err == nil || !strings.Contains(err.Error(), "is no directory any more") {
		t.Errorf("the error is %v", err)
	}
	if got := read(t, p.dir, "plan.txt"); got != "tea\n" {
		t.Errorf("the file of the person has %q", got)
	}
}

// A worktree that another home has recorded is not used: it could be any directory.
func TestWorktreeFromElsewhere(t *testing.T) {
	p := newProject(t)
	p.write("plan.txt", "tea\n")
	s := onDisk(t, 0)
	f := p.inWorktrees(s, "", nil)
	f.say("[NEXT: ada] go")
	id, first := f.Status().SessionID, f.worktree("ada")
	f.Stop("end")
	other := func(o *coordinator.Options, _ *team.Team) {
		o.HomeKey = func() []byte { return []byte("another key") }
		o.Home = t.TempDir()
		o.Workspace = func(dir string) (*workspace.Workspace, error) { return workspace.Open(o.Home, dir) }
	}
	f = p.inWorktrees(s, id, map[string]turnFunc{"ada": writes("plan.txt", "mine\n")}, other)
	f.say("[NEXT: ada] go")
	if got := read(t, first.Dir, "plan.txt"); got != "tea\n" {
		t.Errorf("the other directory has %q", got)
	}
	if now := f.worktree("ada"); now.Dir == first.Dir {
		t.Errorf("it worked in %s", now.Dir)
	}
}

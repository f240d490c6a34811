package main

import (
	"crypto/rand"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// The tests named Real run the program with real agents, which .ci/agents installs. They need no
// network: the models of the agents listen on the loopback interface.
//
//	go test ./cmd/agent-chatter -run Real -v

// A realTeam is a human and real agents, each with a model of its own that the test controls. At
// the end, processes that are left, or keys in files, fail the test.
type realTeam struct {
	t      *testing.T
	home   string // of agent-chatter
	dir    string // the working directory
	file   string // the team file
	actors []*actor

	worktrees bool // each agent has one
}

// An actor is an agent of the team.
type actor struct {
	agenttest.Real
	name  string // of the member; the displayed name begins with a capital
	key   string // of the model, a secret
	model *agenttest.Model
	as    agent.Member
}

func newRealTeam(t *testing.T, agents ...agenttest.Real) *realTeam {
	t.Helper()
	dir := t.TempDir()
	r := &realTeam{t: t, home: filepath.Join(t.TempDir(), "home"), dir: dir, file: filepath.Join(dir, "team.json")}
	for _, a := range agents {
		r.newActor(a)
	}
	r.limit(testTimeout)
	t.Cleanup(r.checkKeys)
	t.Cleanup(r.checkLeft) // before the models stop
	return r
}

// newActor adds an agent to the actors.
func (r *realTeam) newActor(of agenttest.Real) *actor {
	r.t.Helper()
	i := len(r.actors)
	a := &actor{Real: of, name: []string{"ada", "bo", "cy", "di"}[i], key: newKey(i), model: agenttest.NewModel(r.t)}
	a.as = of.Member(r.t, r.dir, a.model.URL, a.key)
	r.actors = append(r.actors, a)
	return a
}

// newKey returns a secret; some look like those of a vendor.
func newKey(i int) string {
	return []string{"sk-ant-" + "api03-", "", "AI" + "za", "plain "}[i] + rand.Text() + rand.Text()[:9]
}

// limit writes the team file, with a timeout for turns.
func (r *realTeam) limit(turn time.Duration) {
	r.t.Helper()
	agents, members := []any{}, []any{member(map[string]any{"name": "hugo", "displayName": "Hugo", "type": "human",
		"role": "human"})}
	for _, a := range r.actors {
		agents = append(agents, map[string]any{"name": a.as.AgentType, "command": a.as.Command,
			"args": append([]string{}, a.as.Args...)})
		m := member(map[string]any{
			"name": a.name, "displayName": a.displayed(), "type": "ai", "role": "author",
			"agentType": a.as.AgentType, "engine": a.Engine, "env": a.as.Env, "permissions": a.as.Permissions,
		})
		if a.as.Model != "" {
			m["model"] = a.as.Model
		}
		if r.worktrees {
			m["worktree"] = struct{}{}
		}
		members = append(members, m)
	}
	team, err := json.Marshal(map[string]any{
		"schemaVersion": "1.3", "agents": agents,
		"conversation": map[string]any{"maxAgentResponseTime": turn.Milliseconds()},
		"team":         map[string]any{"name": "real", "description": "Agents as people have them", "members": members},
	})
	if err == nil {
		err = os.WriteFile(r.file, team, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func member(m map[string]any) map[string]any {
	m["baseDir"], m["systemInstruction"] = ".", ""
	return m
}

func (a *actor) displayed() string { return strings.ToUpper(a.name[:1]) + a.name[1:] }

// chat starts the program, which resumes the conversation if there is one.
func (r *realTeam) chat(args ...string) *program {
	r.t.Helper()
	return start(r.t, r.home, r.chatArgs(args...)...)
}

func (r *realTeam) chatArgs(args ...string) []string {
	args = slices.Concat([]string{"chat", "-t", r.file}, args)
	if r.journal() != "" {
		args = append(args, "--resume")
	}
	return args
}

// answers sends a message in a process of its own and checks that the first agent answers.
func (r *realTeam) answers() (stderr string) {
	r.t.Helper()
	const words = "I am back."
	first := r.actors[0]
	first.model.Instruct("say <<" + words + ">>")
	stdout, stderr := do(r.t, r.home, exitDone, r.chatArgs("-m", "are you there?")...)
	if want := first.displayed() + ": " + words + "\n"; stdout != want {
		r.t.Errorf("the answer is %q, want %q", stdout, want)
	}
	return stderr
}

// journal returns the path of the conversation's journal, "" if there is none.
func (r *realTeam) journal() string {
	r.t.Helper()
	paths, _ := filepath.Glob(filepath.Join(r.home, "sessions", "*", "*.jsonl"))
	if len(paths) == 0 {
		return ""
	}
	_, path := onlyJournal(r.t, r.home)
	return path
}

// A realEvent is an event of the journal.
type realEvent struct {
	Type string
	Data struct {
		TurnID, MemberID, Name, FinishReason, Text, Partial, Error string
		Usage                                                      struct{ Input, CachedRead, CachedWrite, Output int64 }
	}
}

// events returns the events of a type in the journal, in order.
func (r *realTeam) events(kind string) []realEvent {
	r.t.Helper()
	path := r.journal()
	if path == "" {
		return nil
	}
	return slices.DeleteFunc(objects[realEvent](r.t, wholeLines(readFile(r.t, path))),
		func(e realEvent) bool { return e.Type != kind })
}

// lastTurn returns the end of the newest turn.
func (r *realTeam) lastTurn() realEvent {
	r.t.Helper()
	ended := r.events("turn.ended")
	if len(ended) == 0 {
		r.t.Fatal("no turn has ended")
	}
	return ended[len(ended)-1]
}

// running returns the processes of the conversation's turns.
func (r *realTeam) running() map[int]string {
	r.t.Helper()
	var ids []string
	for _, e := range r.events("turn.started") {
		ids = append(ids, e.Data.TurnID)
	}
	return agenttest.Running(ids...)
}

// checkLeft checks that no process is left, and kills those that are.
func (r *realTeam) checkLeft() {
	r.t.Helper()
	for pid, command := range r.running() {
		r.t.Errorf("process %d is left: %.200s", pid, command)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// checkKeys checks that the keys were used, and are in no file that agent-chatter wrote.
func (r *realTeam) checkKeys() {
	r.t.Helper()
	files, bytes := 0, 0
	err := filepath.WalkDir(r.home, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && slices.Contains([]string{"files", "worktrees"}, entry.Name()) && filepath.Dir(path) == r.home {
			return fs.SkipDir // they have what the working directory has: the team file, and what tools print into files
		}
		if err != nil || entry.IsDir() {
			return err
		}
		content := readFile(r.t, path)
		files, bytes = files+1, bytes+len(content)
		for _, a := range r.actors {
			if strings.Contains(content, a.key) {
				r.t.Errorf("the key of %s is in %s", a.name, path)
			}
		}
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
	for _, a := range r.actors {
		if !a.model.Received(a.key) {
			r.t.Errorf("the model of %s did not get its key", a.name)
		}
	}
	r.t.Logf("no key is in the %d files of agent-chatter, %d bytes", files, bytes)
}

// withEachRealAgent runs a test with a team of each agent, several in parallel.
func withEachRealAgent(t *testing.T, test func(t *testing.T, r *realTeam, a *actor)) {
	agenttest.SkipUnlessReal(t)
	for _, a := range agenttest.Reals {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			r := newRealTeam(t, a)
			test(t, r, r.actors[0])
		})
	}
}

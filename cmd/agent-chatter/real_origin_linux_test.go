package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// realOrigins have, by engine, how a person talks to the program of an agent, and again.
var realOrigins = map[string]func(h *homeFiller, text string, more bool) []string{
	"claude": func(_ *homeFiller, text string, more bool) []string {
		args := []string{"--dangerously-skip-permissions", "-p", text}
		if more {
			args = append(args, "--continue")
		}
		return args
	},
	"codex": func(h *homeFiller, text string, more bool) []string {
		args := []string{"exec", "--skip-git-repo-check", "-m", h.m.Model}
		if more {
			args = append(args, "resume", "--last")
		}
		return append(args, text)
	},
}

// A member continues a fork of the session of its own program that was imported, up to where it was imported. The
// session of the program stays as it is.
func TestRealAgentsContinueImportedSessions(t *testing.T) {
	agenttest.SkipUnlessReal(t)
	for _, a := range agenttest.Reals {
		args, ok := realOrigins[a.Engine]
		if !ok {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			r := newRealTeam(t, a)
			act := r.actors[0]
			h := &homeFiller{t, act.as, act.model, r.dir}
			h.run(args(h, "an elm-mark; tool <<echo elm-$((20+3))-printed>>", false)...)
			h.interrupted(args(h, "an oak-mark; slow 100", true)...)
			vendor := filepath.Join(act.as.Env["HOME"], realHomes[a.Engine].sessions)
			r.importFrom(act, vendor)
			h.run(args(h, "a birch-mark; say <<no>>", true)...) // after the import
			before := map[string]string{}
			for _, path := range jsonlFiles(t, vendor) {
				before[path] = readFile(t, path)
			}

			stdout, stderr := do(t, r.home, exitDone, r.chatArgs("-m", "a pine-mark; say <<continued>>")...)
			if stdout != "Ada: continued\n" {
				t.Errorf("the answer is %q\n%s", stdout, stderr)
			}
			bodies := act.model.Bodies()
			last := bodies[len(bodies)-1]
			for text, want := range map[string]int{
				"an elm-mark": 1, "an oak-mark": 1, "a birch-mark": 0, "a pine-mark": 1, "You are Ada": 1,
			} {
				if n := timesSent(last, text); n != want {
					t.Errorf("%q is %d times in the request, want %d:\n%s", text, n, want, last)
				}
			}
			if !strings.Contains(last, "elm-23-printed") || strings.Index(last, "a pine-mark") < strings.Index(last, "an oak-mark") {
				t.Errorf("the request lacks the tool's output, or does not end with the message:\n%s", last)
			}
			if ways := r.attached(); len(ways) != 1 || ways[0] != "imported" {
				t.Errorf("attached: %q", ways)
			}
			for path, text := range before {
				if readFile(t, path) != text {
					t.Errorf("%s has changed", path)
				}
			}
			do(t, r.home, exitDone, r.chatArgs("-m", "a larch-mark; say <<again>>")...)
			bodies = act.model.Bodies()
			if n := timesSent(bodies[len(bodies)-1], "a pine-mark"); n != 1 {
				t.Errorf("the second turn has the message of the first %d times", n)
			}
			do(t, r.home, exitDone, "verify")

			id := r.agentSession()
			r.checkLeft() // before the journal is deleted
			do(t, r.home, exitDone, "sessions", "delete", "latest", "--yes")
			_, stderr = do(t, r.home, exitDone, "sessions", "clean", "--trash")
			if named := strings.Count(stderr, id+".jsonl\n"); named != 1 || strings.Count(stderr, ".jsonl\n") != 1 {
				t.Errorf("the file of session %s is named %d times:\n%s", id, named, stderr)
			}
		})
	}
}

// agentSession returns the id of the session that the last turn used.
func (r *realTeam) agentSession() (id string) {
	r.t.Helper()
	for _, e := range objects[attachedEvent](r.t, wholeLines(readFile(r.t, r.journal()))) {
		if e.Type == "agent.attached" {
			id = e.Data.AgentSession
		}
	}
	return id
}

// importFrom imports the sessions of an agent's program for the team.
func (r *realTeam) importFrom(a *actor, dir string) {
	r.t.Helper()
	cmd := exec.Command("agent-chatter", "sessions", "import", "--team", "real", dir)
	cmd.Env = append(cmd.Environ(), "HOME="+a.as.Env["HOME"])
	p := startCommand(r.t, r.home, cmd)
	p.closeInput()
	p.ends(exitDone)
}

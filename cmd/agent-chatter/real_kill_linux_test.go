package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// withEachRemembering runs a test with a team of each agent that keeps its session and forks it at any point.
func withEachRemembering(t *testing.T, test func(t *testing.T, r *realTeam, a *actor)) {
	agenttest.SkipUnlessReal(t)
	for _, a := range agenttest.Reals {
		if a.Engine != "claude" && a.Engine != "codex" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			r := newRealTeam(t, a)
			test(t, r, r.actors[0])
		})
	}
}

// After the program was killed, the next turn brings what the agent may not have seen: no message is missing in the
// model's request, and only those of unfinished turns are there twice. -kills is how often it is killed in each way.
func TestRealAgentsSeeEachMessageAfterAKill(t *testing.T) {
	withEachRemembering(t, func(t *testing.T, r *realTeam, a *actor) {
		k := &realKills{realTeam: r, a: a}
		k.gate()
		k.next()
		for range max(1, *kills) {
			k.kill("reply", k.inReply)
			k.kill("tool", k.inTool)
			k.kill("question", k.inQuestion)
			k.kill("prompt", k.beforePrompt)
		}
		do(t, r.home, exitDone, "verify")
		t.Logf("killed %d times; sessions: %v", k.killed, k.ways())
	})
}

// realKills kills the program of a conversation again and again.
type realKills struct {
	*realTeam
	a              *actor
	hold, held     string   // files: the agent's program is to get no prompt; it would have got one
	once, repeated []string // what was said in turns that were finished, and in others
	killed         int
}

// gate makes the agent's program one that gets no prompt while the file hold exists.
func (k *realKills) gate() {
	k.t.Helper()
	dir := k.t.TempDir()
	k.hold, k.held = filepath.Join(dir, "hold"), filepath.Join(dir, "held")
	script := fmt.Sprintf(`#!/bin/bash
[ -e %[1]s ] || exec %[3]s "$@"
while IFS= read -r line; do
	case $line in *'"type":"user"'* | *'"turn/start"'*) : >%[2]s; exec tail -f /dev/null ;; esac
	printf '%%s\n' "$line"
done | %[3]s "$@"
`, k.hold, k.held, k.a.as.Command)
	k.a.as.Command = filepath.Join(dir, filepath.Base(k.a.as.Command))
	if err := os.WriteFile(k.a.as.Command, []byte(script), 0o700); err != nil {
		k.t.Fatal(err)
	}
	k.limit(testTimeout)
}

// kill kills the program in a turn, and checks the next one.
func (k *realKills) kill(how string, begin func(text string) *program) {
	k.t.Helper()
	text := fmt.Sprintf("%s-%d-mark", how, k.killed)
	k.repeated = append(k.repeated, text)
	p := begin(text)
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		k.t.Fatal(err)
	}
	<-p.ended
	k.killed++
	k.permit(agent.Bypass)
	k.a.model.Instruct("")
	k.next()
}

// next has a turn that is not killed, and checks what the model gets.
func (k *realKills) next() {
	k.t.Helper()
	text := fmt.Sprintf("after-%d-mark", k.killed)
	k.once = append(k.once, text)
	k.a.model.Instruct("say <<fine>>")
	stdout, stderr := do(k.t, k.home, exitDone, k.chatArgs("-m", text)...)
	k.a.model.Instruct("")
	if turn := k.lastTurn(); turn.Data.FinishReason != "done" || stdout != k.a.displayed()+": fine\n" {
		k.t.Errorf("after %d kills, the turn ended with %+v:\n%s%s", k.killed, turn.Data, stdout, stderr)
	}
	bodies := k.a.model.Bodies()
	last := bodies[len(bodies)-1]
	for _, said := range k.once {
		if n := timesSent(last, said); n != 1 {
			k.t.Errorf("after %d kills, %s is %d times in the request", k.killed, said, n)
		}
	}
	for _, said := range k.repeated {
		if n := timesSent(last, said); n < 1 || n > 2 {
			k.t.Errorf("after %d kills, %s is %d times in the request", k.killed, said, n)
		}
	}
}

func (k *realKills) inReply(text string) *program {
	k.a.model.Instruct("slow 50")
	p := k.chat("-m", text)
	k.awaitReply(k.a)
	return p
}

func (k *realKills) inTool(text string) *program {
	k.a.model.Instruct("tool <<" + endlessTool + ">>")
	p := k.chat("-m", text)
	k.awaitTool()
	return p
}

func (k *realKills) inQuestion(text string) *program {
	k.permit(agent.Ask)
	k.a.model.Instruct("tool <<touch made>>")
	p := startOnTerminal(k.t, k.home, k.chatArgs()...)
	p.expect("hugo> ")
	p.typeLine(text)
	p.expect("requests permission")
	if _, err := os.Stat(filepath.Join(k.dir, "made")); err == nil {
		k.t.Error("the tool has run without an answer")
	}
	return p
}

// permit sets what the agent may do. No program runs. With Ask, the model wants to leave the sandbox, which is asked for.
func (k *realKills) permit(permissions string) {
	k.t.Helper()
	k.a.as.Permissions, k.a.model.Escalate = permissions, permissions == agent.Ask
	k.limit(testTimeout)
}

func (k *realKills) beforePrompt(text string) *program {
	k.write(k.hold)
	_ = os.Remove(k.held)
	attached := len(k.attached())
	p := k.chat("-m", text)
	k.await("the prompt", func() bool {
		_, err := os.Stat(k.held)
		return err == nil
	})
	if n := len(k.attached()); n != attached+1 {
		k.t.Errorf("%d sessions were attached before the prompt", n-attached)
	}
	if err := os.Remove(k.hold); err != nil {
		k.t.Fatal(err)
	}
	return p
}

func (k *realKills) write(path string) {
	k.t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// ways returns how often the turns came to their session in each way.
func (k *realKills) ways() map[string]int {
	counts := map[string]int{}
	for _, way := range k.attached() {
		counts[way]++
	}
	return counts
}

// Two forks of a session have turns by turns, and none gets a word of the other.
func TestRealForksAreApart(t *testing.T) {
	withEachRemembering(t, func(t *testing.T, r *realTeam, a *actor) {
		do(t, r.home, exitDone, r.chatArgs("-m", "an oak-mark; say <<one>>")...)
		stdout, _ := do(t, r.home, exitDone, "sessions", "fork", "latest")
		fork := strings.Fields(stdout)[0]
		original := ""
		for _, row := range listed(t, r.home) {
			if row.ID != fork {
				original = row.ID
			}
		}
		for i := range 10 {
			for _, one := range []struct{ id, word, other string }{{original, "elm", "birch"}, {fork, "birch", "elm"}} {
				message := fmt.Sprintf("%s-%d-mark; say <<%[1]s-%[2]d-reply>>", one.word, i)
				do(t, r.home, exitDone, "chat", "-t", r.file, "--resume", one.id, "-m", message)
				bodies := a.model.Bodies()
				last := bodies[len(bodies)-1]
				if n := timesSent(last, one.other+"-"); n != 0 {
					t.Errorf("turn %d of %s has words of the other %d times", i, one.word, n)
				}
				for before := range i + 1 {
					if n := timesSent(last, fmt.Sprintf("%s-%d-mark", one.word, before)); n != 1 {
						t.Errorf("turn %d of %s has its message %d %d times", i, one.word, before, n)
					}
				}
				if n := timesSent(last, "an oak-mark"); n != 1 {
					t.Errorf("turn %d of %s has the message before the fork %d times", i, one.word, n)
				}
			}
		}
		do(t, r.home, exitDone, "verify")
		do(t, r.home, exitDone, "sessions", "delete", fork, "--yes") // the checks at the end are of one session
	})
}

package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A realWork is the work during which a real agent is stopped.
type realWork struct {
	name  string
	tell  string // makes the model do that
	reply bool   // it is sending a reply
}

// endlessTool is a tool that runs until it is stopped.
const endlessTool = "tail -f /dev/null"

var realWorks = []realWork{
	{"reply", "slow 50", true},
	{"tool", "tool <<" + endlessTool + ">>", false},
}

// promptLimit is the longest acceptable time until the prompt, on a busy machine. On an idle one
// it takes less than 3 seconds.
const promptLimit = 20 * time.Second

// begin waits until the agent is at work.
func (w realWork) begin(r *realTeam, a *actor) {
	r.t.Helper()
	if w.reply {
		r.awaitReply(a)
	} else {
		r.awaitTool()
	}
}

// awaitReply waits until a part of the reply is in the journal, or in the model if the agent does
// not stream.
func (r *realTeam) awaitReply(a *actor) {
	r.t.Helper()
	if a.Unstreamed {
		for range 10 {
			r.awaitWord(a)
		}
		return
	}
	known := len(r.events("turn.text"))
	r.await("a part of the reply in the journal", func() bool { return len(r.events("turn.text")) > known })
}

// awaitWord waits until the model has sent another word.
func (r *realTeam) awaitWord(a *actor) {
	r.t.Helper()
	select {
	case <-a.model.Streamed():
	case <-time.After(2 * testTimeout):
		r.t.Fatalf("the model got no request. The journal:\n%s", readFile(r.t, r.journal()))
	}
}

// awaitTool waits until the tool runs and is in the journal.
func (r *realTeam) awaitTool() {
	r.t.Helper()
	known := len(r.events("tool.started"))
	r.await("the tool", func() bool { return len(r.events("tool.started")) > known && len(r.tools()) > 0 })
}

// await polls until a condition holds, of which there is no notification.
func (r *realTeam) await(what string, happened func() bool) {
	r.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for end := time.After(2 * testTimeout); !happened(); {
		select {
		case <-look.C:
		case <-end:
			r.t.Fatalf("timeout waiting for %s. The journal:\n%s", what, readFile(r.t, r.journal()))
		}
	}
}

// tools returns the processes of the running tools.
func (r *realTeam) tools() []int {
	r.t.Helper()
	var pids []int
	for pid, command := range r.running() {
		if strings.Contains(command, endlessTool) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// checkStopped checks the reason for which the newest turn has ended, and that its partial reply is
// kept and shown.
func (w realWork) checkStopped(r *realTeam, a *actor, reason string) {
	r.t.Helper()
	turn := r.lastTurn()
	if turn.Data.FinishReason != reason {
		r.t.Errorf("the turn ended with %+v, want %s", turn, reason)
	}
	if !w.reply || a.Unstreamed {
		return
	}
	if !strings.HasPrefix(turn.Data.Partial, "Hello ") {
		r.t.Errorf("the partial reply is %q", turn.Data.Partial)
	}
	r.checkPartShown(a)
}

// checkPartShown checks that replay shows a partial reply.
func (r *realTeam) checkPartShown(a *actor) {
	r.t.Helper()
	replayed, _ := do(r.t, r.home, exitDone, "replay", "latest")
	if shown := a.displayed() + " (unfinished): Hello "; !strings.Contains(replayed, shown) {
		r.t.Errorf("%q is not in\n%s", shown, replayed)
	}
}

// back logs the time until the prompt.
func (w realWork) back(r *realTeam, since time.Time) {
	r.t.Helper()
	took := time.Since(since)
	r.t.Logf("during the %s: prompt after %s", w.name, took.Round(time.Millisecond))
	if took > promptLimit {
		r.t.Errorf("during the %s: too long until the prompt", w.name)
	}
}

func TestRealAgentsAreInterruptedInPipedChat(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		for _, work := range realWorks {
			a.model.Instruct(work.tell)
			chat := r.chat()
			chat.enter("do it")
			r.awaitTurn()
			work.begin(r, a)
			at := time.Now()
			chat.signal(syscall.SIGINT)
			chat.ends(exitInterrupted)
			work.back(r, at)
			r.checkLeft()
			work.checkStopped(r, a, "cancelled")
		}
		r.answers()
		do(t, r.home, exitDone, "verify")
	})
}

// awaitTurn waits until a turn is open.
func (r *realTeam) awaitTurn() {
	r.t.Helper()
	r.await("a turn", func() bool { return len(r.events("turn.started")) > len(r.events("turn.ended")) })
}

func TestRealAgentsAreCancelledOnATerminal(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		chat := startOnTerminal(t, r.home, r.chatArgs()...)
		for i, work := range realWorks {
			chat.expect("hugo> ")
			a.model.Instruct(work.tell)
			chat.typeLine("do it")
			r.awaitTurn()
			work.begin(r, a)
			at := time.Now()
			chat.press(esc)
			chat.expect(a.displayed() + " was interrupted")
			chat.expect("hugo> ")
			work.back(r, at)
			r.checkAtRest()
			work.checkStopped(r, a, "cancelled")

			a.model.Instruct(fmt.Sprintf("say <<I am back %d times.>>", i+1))
			chat.typeLine("are you there?")
			chat.expect(a.displayed())
			chat.expect(fmt.Sprintf("I am back %d times.", i+1))
		}
		chat.expect("hugo> ")
		chat.press(ctrlC + ctrlC)
		chat.ends(exitDone)
		r.checkLeft()
		do(t, r.home, exitDone, "verify")
	})
}

// checkAtRest checks that no tool runs. The agents stay for their next turn.
func (r *realTeam) checkAtRest() {
	r.t.Helper()
	if tools := r.tools(); len(tools) > 0 {
		r.t.Errorf("tools are left: %v", tools)
	}
}

func TestKilledChatLeavesNoRealAgent(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		for _, work := range realWorks {
			a.model.Instruct(work.tell)
			chat := r.chat()
			chat.enter("do it")
			r.awaitTurn()
			work.begin(r, a)
			guard := agenttest.GuardOf(t, chat.cmd.Process.Pid)
			chat.signal(syscall.SIGKILL)
			<-chat.ended
			r.await("the end of the guard", func() bool { return !runs(guard) })
			r.checkLeft()
			r.answers()
			work.checkInterrupted(r, a)
		}
		do(t, r.home, exitDone, "verify")
	})
}

// orphansLine returns the notice of orphaned processes.
func orphansLine(stderr string) string {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "Processes ") || strings.Contains(line, "rphaned process") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// checkInterrupted checks that the turn before the newest one is as a kill leaves it.
func (w realWork) checkInterrupted(r *realTeam, a *actor) {
	r.t.Helper()
	turns := r.events("turn.ended")
	turn := turns[len(turns)-2].Data
	if turn.FinishReason != "interrupted" {
		r.t.Errorf("the turn ended with %+v", turn)
	}
	ended := func(tool realEvent) bool { return tool.Data.TurnID == turn.TurnID }
	switch {
	case !w.reply && !slices.ContainsFunc(r.events("tool.completed"), ended):
		r.t.Errorf("the tool has no end in the journal:\n%s", readFile(r.t, r.journal()))
	case w.reply && !a.Unstreamed:
		r.checkPartShown(a)
	}
}

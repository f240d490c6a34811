package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A realWork is what a real agent does when it is stopped.
type realWork struct {
	name  string
	tell  string // makes its model do that
	reply bool   // it speaks
}

// lastingTool is a tool that runs until it is stopped.
const lastingTool = "tail -f /dev/null"

var realWorks = []realWork{
	{"reply", "slow 50", true},
	{"tool", "tool <<" + lastingTool + ">>", false},
}

// backLimit is when it is a failure that control is not back, on a busy machine. On a quiet one
// it takes less than 3 seconds.
const backLimit = 20 * time.Second

// begin waits until the agent is in the middle of its work.
func (w realWork) begin(r *realTeam, a *actor) {
	r.t.Helper()
	if w.reply {
		r.awaitReply(a)
	} else {
		r.awaitTool()
	}
}

// awaitReply waits until a part of the reply is in the journal, or said, where the agent keeps
// it to itself until it is whole.
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

// awaitWord waits until the model has said another word.
func (r *realTeam) awaitWord(a *actor) {
	r.t.Helper()
	select {
	case <-a.model.Streamed():
	case <-time.After(2 * patience):
		r.t.Fatalf("the model was not asked. The journal:\n%s", readFile(r.t, r.journal()))
	}
}

// awaitTool waits until the tool runs, and the journal says so.
func (r *realTeam) awaitTool() {
	r.t.Helper()
	known := len(r.events("tool.started"))
	r.await("the tool", func() bool { return len(r.events("tool.started")) > known && len(r.tools()) > 0 })
}

// await looks until something has happened. The system gives no notice of it.
func (r *realTeam) await(what string, happened func() bool) {
	r.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for end := time.After(2 * patience); !happened(); {
		select {
		case <-look.C:
		case <-end:
			r.t.Fatalf("there never was %s. The journal:\n%s", what, readFile(r.t, r.journal()))
		}
	}
}

// tools are the tools that run, by their processes.
func (r *realTeam) tools() []int {
	r.t.Helper()
	var pids []int
	for pid, command := range r.running() {
		if strings.Contains(command, lastingTool) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// checkStopped proves that the newest turn has ended as it should, and that what was said in it
// is kept and shown.
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
		r.t.Errorf("kept is %q", turn.Data.Partial)
	}
	r.checkPartShown(a)
}

// checkPartShown proves that replay shows what was said of a reply.
func (r *realTeam) checkPartShown(a *actor) {
	r.t.Helper()
	replayed, _ := do(r.t, r.home, exitDone, "replay", "latest")
	if shown := a.displayed() + " (unfinished): Hello "; !strings.Contains(replayed, shown) {
		r.t.Errorf("%q is not in\n%s", shown, replayed)
	}
}

// back says how long it took until control was back.
func (w realWork) back(r *realTeam, since time.Time) {
	r.t.Helper()
	took := time.Since(since)
	r.t.Logf("in its %s: back within %s", w.name, took.Round(time.Millisecond))
	if took > backLimit {
		r.t.Errorf("in its %s: that is not at once", w.name)
	}
}

func TestRealAgentsAreInterruptedInPipedChat(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		for _, work := range realWorks {
			a.model.Instruct(work.tell)
			chat := r.chat()
			chat.types("do it")
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
			chat.says("hugo> ")
			a.model.Instruct(work.tell)
			chat.presses("do it" + enter)
			r.awaitTurn()
			work.begin(r, a)
			at := time.Now()
			chat.presses(esc)
			chat.says(a.displayed() + " was interrupted")
			chat.says("hugo> ")
			work.back(r, at)
			r.checkAtRest(a)
			work.checkStopped(r, a, "cancelled")

			a.model.Instruct(fmt.Sprintf("say <<I am back %d times.>>", i+1))
			chat.presses("are you there?" + enter)
			chat.says(fmt.Sprintf("%s: I am back %d times.", a.displayed(), i+1))
		}
		chat.says("hugo> ")
		chat.presses(ctrlC)
		chat.ends(exitDone)
		r.checkLeft()
		do(t, r.home, exitDone, "verify")
	})
}

// checkAtRest proves that nothing of a turn runs but an agent that stays between turns.
func (r *realTeam) checkAtRest(a *actor) {
	r.t.Helper()
	if tools := r.tools(); len(tools) > 0 {
		r.t.Errorf("tools are left: %v", tools)
	}
	if !a.Resident() {
		r.checkLeft()
	}
}

func TestResumeEndsOrphanedRealAgents(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		for _, work := range realWorks {
			a.model.Instruct(work.tell)
			chat := r.chat()
			chat.types("do it")
			r.awaitTurn()
			work.begin(r, a)
			chat.signal(syscall.SIGKILL)
			<-chat.ended
			tools := r.tools()
			stderr := r.answers()
			t.Logf("in its %s: %d tools outlived the kill; %q", work.name, len(tools), orphansLine(stderr))
			r.checkLeft()
			work.checkInterrupted(r, a)
		}
		do(t, r.home, exitDone, "verify")
	})
}

// orphansLine is what was said of processes that were left.
func orphansLine(stderr string) string {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "Processes that an agent had left running") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// checkInterrupted proves that the turn before the newest one is as a kill leaves it.
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

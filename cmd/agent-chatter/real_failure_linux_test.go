package main

import (
	"strings"
	"testing"
	"time"
)

func TestRealAgentsReportAPIErrors(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		a.model.Instruct("fail 400")
		chat := r.chat()
		chat.types("do it")
		chat.notes(a.displayed() + " did not answer: ")
		r.checkFailed(chat, "error", "out of luck")
		a.model.Instruct("say <<I am back.>>")
		chat.types("are you there?")
		chat.says(a.displayed() + ": I am back.")
		chat.closeInput()
		chat.ends(exitFailed)
	})
}

func TestRealAgentsThatHangTimeOut(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		r.answers() // some prepare their home, which takes long once
		a.model.Instruct("hang")
		r.runsOutOfTime(a)
	})
}

// runsOutOfTime proves that the team's limit ends a turn, that the chat still listens then, and
// that the agent answers when it has the time. The limit is 2 seconds, or what it takes until
// the agent has asked its model.
func (r *realTeam) runsOutOfTime(a *actor) {
	r.t.Helper()
	for limit := 2 * time.Second; !a.model.Received("do it"); limit *= 2 {
		r.limit(limit)
		chat := r.chat()
		at := time.Now()
		chat.types("do it")
		chat.notes(a.displayed() + " did not answer: ")
		r.t.Logf("with a limit of %s: out of time within %s", limit, time.Since(at).Round(time.Millisecond))
		r.checkFailed(chat, "timeout", "no reply within")
		chat.types("/status")
		chat.notes("paused: session ")
		chat.closeInput()
		chat.ends(exitFailed)
		r.checkLeft()
	}
	r.limit(patience)
	r.answers()
}

// checkFailed proves that the newest turn failed for a reason, and that it was said.
func (r *realTeam) checkFailed(chat *program, reason, says string) {
	r.t.Helper()
	turn := r.lastTurn().Data
	r.t.Logf("%s: %s", turn.FinishReason, turn.Error)
	if turn.FinishReason != reason || !strings.Contains(turn.Error, says) {
		r.t.Errorf("the turn ended with %+v, want %s: %s", turn, reason, says)
	}
	if stderr := chat.stderr.String(); !strings.Contains(stderr, says) {
		r.t.Errorf("%q is not in\n%s", says, stderr)
	}
}

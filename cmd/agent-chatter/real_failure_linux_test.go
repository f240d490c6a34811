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
		chat.enter("do it")
		chat.expectNotice(a.displayed() + " did not answer: ")
		r.checkFailed(chat, "error", "out of luck")
		a.model.Instruct("say <<I am back.>>")
		chat.enter("are you there?")
		chat.expect(a.displayed() + ": I am back.")
		chat.closeInput()
		chat.ends(exitFailed)
	})
}

func TestRealAgentsThatHangTimeOut(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		r.answers() // the first start of some agents is slow
		a.model.Instruct("hang")
		r.timesOut(a)
	})
}

// timesOut checks that the team's timeout ends a turn, that the chat accepts input afterwards, and
// that the agent answers within a longer timeout. The timeout is 2 seconds, or as long as the agent
// takes until its first request.
func (r *realTeam) timesOut(a *actor) {
	r.t.Helper()
	for limit := 2 * time.Second; !a.model.Received("do it"); limit *= 2 {
		r.limit(limit)
		chat := r.chat()
		at := time.Now()
		chat.enter("do it")
		chat.expectNotice(a.displayed() + " did not answer: ")
		r.t.Logf("with a timeout of %s: ended after %s", limit, time.Since(at).Round(time.Millisecond))
		r.checkFailed(chat, "timeout", "no reply within")
		chat.enter("/status")
		chat.expectNotice(", paused\n")
		chat.closeInput()
		chat.ends(exitFailed)
		r.checkLeft()
	}
	r.limit(testTimeout)
	r.answers()
}

// checkFailed checks that the newest turn failed for a reason, and that the reason was printed.
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

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// The program is killed at random moments of a panel of two agents in worktrees. Each turn is done or interrupted by
// itself, what the journal had stays, and a retry reruns exactly the turns that were not done. -kills is how often it is
// killed.
func TestRealPanelIsKilled(t *testing.T) {
	agenttest.SkipUnlessReal(t)
	agents := slices.DeleteFunc(slices.Clone(agenttest.Reals), func(a agenttest.Real) bool {
		return a.Engine != "claude" && a.Engine != "codex"
	})
	r := newRealTeam(t, agents...)
	r.worktrees = true
	r.limit(testTimeout)
	k := &panelKills{realTeam: r, reruns: map[int]int{}}
	began := time.Now()
	do(t, r.home, exitDone, k.args("no-kill")...)
	whole := time.Since(began)
	for range max(3, *kills) {
		k.kill(rand.N(whole))
	}
	do(t, r.home, exitDone, "verify")
	t.Logf("killed %d times; how many turns were rerun: %v", k.killed, k.reruns)
}

// panelKills kills the program of a panel again and again.
type panelKills struct {
	*realTeam
	killed int
	reruns map[int]int // how often a retry reran 0, 1 and 2 turns
}

// args lets each agent make a file and reply; every second time the first one replies slowly, otherwise the second one.
func (k *panelKills) args(mark string) []string {
	var names []string
	for i, a := range k.actors {
		reply := fmt.Sprintf("say <<%s, says %s>>", mark, a.name)
		if i == k.killed%len(k.actors) {
			reply = "slow 40"
		}
		a.model.Instruct(fmt.Sprintf("tool <<touch %s-by-%s>> %s", mark, a.name, reply))
		names = append(names, a.name)
	}
	return k.chatArgs("-m", mark, "--panel", strings.Join(names, ","))
}

// kill kills the program after a time, and has the rest of the panel rerun.
func (k *panelKills) kill(after time.Duration) {
	k.t.Helper()
	k.killed++
	before := len(k.events("turn.started"))
	p := start(k.t, k.home, k.args(fmt.Sprintf("kill-%d", k.killed))...)
	select {
	case <-time.After(after): // a random moment
		_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		<-p.ended
	case <-p.ended:
	}
	recorded := readFile(k.t, k.journal())
	open := k.unfinished(before)
	if len(open) > 0 {
		do(k.t, k.home, exitDone, k.chatArgs("-m", "/retry")...)
	}
	now := readFile(k.t, k.journal())
	if whole := recorded[:strings.LastIndexByte(recorded, '\n')+1]; !strings.HasPrefix(now, whole) {
		k.t.Errorf("kill %d: what the journal had has changed", k.killed)
	}
	var rerun []string
	started := k.events("turn.started")[before:]
	for _, e := range started[min(2, len(started)):] {
		rerun = append(rerun, e.Data.MemberID)
	}
	slices.Sort(rerun)
	slices.Sort(open)
	if !slices.Equal(rerun, open) {
		k.t.Errorf("kill %d: the turns of %v were rerun, those of %v were not done", k.killed, rerun, open)
	}
	if left := k.unfinished(before + len(started) - len(rerun)); len(left) > 0 {
		k.t.Errorf("kill %d: the turns of %v were not done after the retry", k.killed, left)
	}
	k.reruns[len(rerun)]++
}

// unfinished returns the members whose turns were not done, of those that started after the first ones.
func (k *panelKills) unfinished(first int) (members []string) {
	k.t.Helper()
	done := map[string]bool{}
	for _, e := range k.events("message.appended") {
		done[e.Data.TurnID] = true
	}
	for _, e := range k.events("turn.started")[first:] {
		if !done[e.Data.TurnID] {
			members = append(members, e.Data.MemberID)
		}
	}
	return members
}

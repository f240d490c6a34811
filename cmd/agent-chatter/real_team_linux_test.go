package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

func TestRealTeamsHandOver(t *testing.T) {
	agenttest.SkipUnlessReal(t)
	for name, overACP := range map[string]bool{"CLI": false, "ACP": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agents := slices.DeleteFunc(slices.Clone(agenttest.Reals),
				func(a agenttest.Real) bool { return (a.Engine == "acp") != overACP })
			newRealTeam(t, agents...).handsOver()
		})
	}
}

// handsOver makes each agent use a tool that prints its key, and hand over to the next one.
func (r *realTeam) handsOver() {
	t := r.t
	var want strings.Builder
	for i, a := range r.actors {
		next := "hugo"
		if i+1 < len(r.actors) {
			next = r.actors[i+1].name
		}
		a.model.Instruct(fmt.Sprintf("tool <<echo %s | tee made-by-%s>> say <<I, %s, have made it with %s. [NEXT: "+
			"%s]>>", a.key, a.name, a.name, a.key, next))
		fmt.Fprintf(&want, `%s: I, %s, have made it with \[REDACTED:\w+\]\.\n`, a.displayed(), a.name)
	}
	stdout, stderr := do(t, r.home, exitDone, r.chatArgs("-m", "Make something, all of you. [NEXT: ada]")...)
	if !regexp.MustCompile("^" + want.String() + "$").MatchString(stdout) {
		t.Errorf("it prints\n%s\nwant\n%s", stdout, want.String())
	}
	if n := strings.Count(stderr, "Redacted "); n != len(r.actors) {
		t.Errorf("the notice of redacted secrets appears %d times:\n%s", n, stderr)
	}
	for _, a := range r.actors {
		r.checkTurn(a)
		if made := readFile(t, filepath.Join(r.dir, "made-by-"+a.name)); made != a.key+"\n" {
			t.Errorf("the tool of %s has created %q", a.name, made)
		}
	}
	if n := len(r.events("turn.started")); n != len(r.actors) {
		t.Errorf("%d turns for %d agents", n, len(r.actors))
	}
	replayed, _ := do(t, r.home, exitDone, "replay", "latest")
	steps := regexp.MustCompile(`(?m)^  .*made-by-.*\n`)
	if n := len(steps.FindAllString(replayed, -1)); n != len(r.actors) {
		t.Errorf("replay shows %d steps for %d agents:\n%s", n, len(r.actors), replayed)
	}
	changes := regexp.MustCompile(`(?m)^\d files? changed .*: made-by-.*\n`)
	if n := len(changes.FindAllString(replayed, -1)); n != len(r.actors) {
		t.Errorf("replay shows the changes of %d agents, of %d:\n%s", n, len(r.actors), replayed)
	}
	replayed = changes.ReplaceAllString(replayed, "")
	if got, want := steps.ReplaceAllString(replayed, ""), "Hugo: Make something, all of you.\n"+stdout; got != want {
		t.Errorf("replay shows without the steps\n%s\nwant\n%s", got, want)
	}
	r.answers()
	do(t, r.home, exitDone, "verify")
}

// checkTurn checks that the agent's turn is in the journal, with its tools and its usage.
func (r *realTeam) checkTurn(a *actor) {
	r.t.Helper()
	var turn string
	for _, e := range r.events("turn.started") {
		if e.Data.MemberID == a.name {
			turn = e.Data.TurnID
		}
	}
	of := func(kind string) []realEvent {
		return slices.DeleteFunc(r.events(kind), func(e realEvent) bool { return e.Data.TurnID != turn })
	}
	started, completed, ended := of("tool.started"), of("tool.completed"), of("turn.ended")
	if len(started) != 1 || len(completed) != 1 || completed[0].Data.Error != "" {
		r.t.Errorf("%s: tools started %+v, completed %+v", a.name, started, completed)
	}
	if len(ended) != 1 {
		r.t.Fatalf("%s: the turn ended with %+v", a.name, ended)
	}
	if ended[0].Data.FinishReason != "done" || ended[0].Data.Usage.Input == 0 {
		r.t.Errorf("%s: the turn ended with %+v", a.name, ended)
	}
	r.t.Logf("%s (%s): tools: %d started, %d completed; tokens: %+v; %s", a.displayed(), a.Name, len(started),
		len(completed), ended[0].Data.Usage, ended[0].Data.FinishReason)
}

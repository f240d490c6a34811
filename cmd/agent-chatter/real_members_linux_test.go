package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// An agent whose model is changed continues its session with the other model, in the same run, in the next one, and after
// the program was killed.
func TestRealAgentsKeepTheirSessionWithAnotherModel(t *testing.T) {
	withEachRemembering(t, func(t *testing.T, r *realTeam, a *actor) {
		other := map[string]string{"claude": "claude-sonnet-4-5", "codex": "gpt-5.1"}[a.Engine]
		if err := os.WriteFile(filepath.Join(r.dir, "words"), []byte("printed-42\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		mistyped := map[string]string{"claude": "sonet", "codex": "gpt5.5"}[a.Engine]
		_, stderr := do(t, r.home, exitFailed, r.chatArgs("-m", "question-1-mark; tool <<cat words>>", "-m", "/model ada",
			"-m", "/model ada "+mistyped, "-m", "/model ada "+other+"!", "-m", "question-2-mark")...)
		t.Logf("models: %s", stderr)
		parts := []string{"Known models: ", "has no model " + mistyped + ". Did you mean ", "ada: model " + other + "\n"}
		for _, part := range parts {
			if !strings.Contains(stderr, part) {
				t.Errorf("%q is not shown: %s", part, stderr)
			}
		}
		check := func(question string) {
			t.Helper()
			bodies := a.model.Bodies()
			last := bodies[len(bodies)-1]
			var request struct{ Model string }
			if err := json.Unmarshal([]byte(last), &request); err != nil || request.Model != other {
				t.Errorf("%s: the model is %q, %v", question, request.Model, err)
			}
			for _, text := range []string{"question-1-mark", question} {
				if n := timesSent(last, text); n != 1 {
					t.Errorf("%s: %s is %d times in the request", question, text, n)
				}
			}
			if !strings.Contains(last, "printed-42") {
				t.Errorf("%s: the request lacks the output of the tool", question)
			}
		}
		check("question-2-mark")
		do(t, r.home, exitDone, r.chatArgs("-m", "question-3-mark")...)
		check("question-3-mark")
		r.killInReply(a)
		do(t, r.home, exitDone, r.chatArgs("-m", "question-4-mark")...)
		check("question-4-mark")
		ways := r.attached()
		t.Logf("attached: %q", ways)
		if slices.ContainsFunc(ways[1:], func(way string) bool { return strings.HasPrefix(way, "new") }) {
			t.Errorf("a session was begun again: %q", ways)
		}
		do(t, r.home, exitDone, "verify")
	})
}

// Permissions that were changed hold in the next turn, in the next run and after the program was killed. The team file
// stays as it is.
func TestRealAgentsHaveChangedPermissions(t *testing.T) {
	withEachRemembering(t, func(t *testing.T, r *realTeam, a *actor) {
		before := readFile(t, r.file)
		made := filepath.Join(r.dir, "made")
		try := func(want bool, args ...string) {
			t.Helper()
			os.Remove(made)
			do(t, r.home, exitDone, r.chatArgs(append(args, "-m", "do it; tool <<touch made>>")...)...)
			if _, err := os.Stat(made); (err == nil) != want {
				t.Errorf("%q: the file was made: %v", args, err == nil)
			}
		}
		try(true)
		try(false, "-m", "/permissions ada read")
		try(false)
		r.killInReply(a)
		try(false)
		try(true, "-m", "/permissions ada bypass")
		try(true)
		try(true, "-m", "/permissions ada default")
		if after := readFile(t, r.file); after != before {
			t.Error("the team file was changed")
		}
		t.Logf("attached: %q", r.attached())
	})
}

// An agent that was added to a session, and one that was removed, are so in the next run, after the program was killed
// and in a rerun. The team file stays as it is.
func TestRealAgentsAreAddedAndRemoved(t *testing.T) {
	withEachRemembering(t, func(t *testing.T, r *realTeam, ada *actor) {
		isOther := func(a agenttest.Real) bool { return a.Name != ada.Name }
		bo := r.newActor(agenttest.Reals[slices.IndexFunc(agenttest.Reals, isOther)]) // agents of a file have two names
		r.limit(testTimeout)
		before := readFile(t, r.file)
		cy := r.newActor(ada.Real)
		r.register("cy-agent", cy)
		model := cmp.Or(cy.as.Model, "claude-sonnet-4-5")
		say := func(a *actor, text string, args ...string) string {
			t.Helper()
			a.model.Instruct("say <<" + text + ">>")
			defer a.model.Instruct("")
			stdout, stderr := do(t, r.home, exitDone, r.chatArgs(append(args, "-m", "@"+a.name+" "+text)...)...)
			if want := a.displayed() + ": " + text + "\n"; stdout != want {
				t.Errorf("it prints %q, want %q\n%s", stdout, want, stderr)
			}
			return stderr
		}
		check := func(stderr string) {
			t.Helper()
			for _, line := range []string{"  bo: removed\n", "  cy: model " + model + ", added, cy-agent\n",
				"  budget session.turns: 99\n"} {
				if !strings.Contains(stderr, line) || strings.Contains(stderr, "Not in force") {
					t.Errorf("it says of the members:\n%s", stderr)
				}
			}
		}
		say(bo, "one")
		say(cy, "two", "-m", "/add cy-agent cy", "-m", "/model cy "+model, "-m", "/remove bo",
			"-m", "/budget session.turns=99")
		check(say(cy, "three"))
		r.killInReply(cy)
		asked := len(bo.model.Bodies())
		check(say(cy, "four"))
		stderr := say(ada, "five", "-m", "/members")
		if strings.Contains(stderr, "bo (Bo)") || !strings.Contains(stderr, "cy (Cy)") {
			t.Errorf("the members are:\n%s", stderr)
		}
		do(t, r.home, exitDone, r.chatArgs("-m", "@bo are you there?")...)
		ada.model.Instruct("say <<again>>")
		cy.model.Instruct("say <<again>>")
		stdout, stderr := do(t, r.home, exitDone, "replay", "latest", "--with-model", model)
		check(stderr)
		if n := strings.Count(stdout, "> Cy: again\n"); n != 4 {
			t.Errorf("the added agent answers %d times in the rerun:\n%s", n, stdout)
		}
		if n := len(bo.model.Bodies()); n != asked {
			t.Errorf("the removed agent got %d requests", n-asked)
		}
		if readFile(t, r.file) != before {
			t.Error("the team file was changed")
		}
		do(t, r.home, exitDone, "verify")
		do(t, r.home, exitDone, "sessions", "delete", listed(t, r.home)[0].ID, "--yes") // the checks at the end are of one
	})
}

// register registers an agent under a name, as a program that needs no settings of a member.
func (r *realTeam) register(name string, a *actor) {
	r.t.Helper()
	script := "#!/bin/sh\n"
	for key, value := range a.as.Env {
		script += "export " + key + "='" + value + "'\n"
	}
	script += "exec '" + a.as.Command + "'"
	for _, arg := range a.as.Args {
		script += " '" + arg + "'"
	}
	path := filepath.Join(r.dir, name, filepath.Base(a.as.Command))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(script+` "$@"`+"\n"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	do(r.t, r.home, exitDone, "agents", "register", name, path)
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An agent whose model is changed continues its session with the other model, in the same run, in the next one, and after
// the program was killed.
func TestRealAgentsKeepTheirSessionWithAnotherModel(t *testing.T) {
	withEachRemembering(t, func(t *testing.T, r *realTeam, a *actor) {
		other := map[string]string{"claude": "claude-sonnet-4-5", "codex": "gpt-5.1"}[a.Engine]
		if err := os.WriteFile(filepath.Join(r.dir, "words"), []byte("printed-42\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr := do(t, r.home, exitDone, r.chatArgs("-m", "question-1-mark; tool <<cat words>>", "-m", "/model ada",
			"-m", "/model ada "+other, "-m", "question-2-mark")...)
		t.Logf("models: %s", stderr)
		if !strings.Contains(stderr, "ada: model "+other+"\n") {
			t.Errorf("the change is not shown: %s", stderr)
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

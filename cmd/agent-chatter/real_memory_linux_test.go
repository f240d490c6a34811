package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// attachedEvent is an agent.attached event.
type attachedEvent struct {
	Type string
	Data struct{ Way, Reason, AgentSession string }
}

// attached returns the ways and reasons of all turns.
func (r *realTeam) attached() (ways []string) {
	r.t.Helper()
	for _, e := range objects[attachedEvent](r.t, wholeLines(readFile(r.t, r.journal()))) {
		if e.Type == "agent.attached" {
			ways = append(ways, strings.TrimSpace(e.Data.Way+" "+e.Data.Reason))
		}
	}
	return ways
}

// A real agent remembers in its last turn what a tool printed in its first one, also after a restart and after the
// program was killed, if its program can resume sessions. Each message is in its requests once.
func TestRealAgentsRemember(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		resumes := !strings.Contains(a.Name, "gemini")
		var words strings.Builder // the tool prints what is in no message
		for i := 1; i <= 6; i++ {
			fmt.Fprintf(&words, "printed-42-%d\n", i)
		}
		if err := os.WriteFile(filepath.Join(r.dir, "words"), []byte(words.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		say := func(first, last int) {
			var args []string
			for i := first; i <= last; i++ {
				tool := fmt.Sprintf("tool <<sed -n %dp words>>", i)
				args = append(args, "-m", fmt.Sprintf("question-%d-mark; %s", i, tool))
				if !resumes { // the model would follow an earlier message of the prompt
					a.model.Instruct(tool)
					do(t, r.home, exitDone, r.chatArgs(args...)...)
					args = nil
				}
			}
			if resumes {
				do(t, r.home, exitDone, r.chatArgs(args...)...)
			}
		}
		say(1, 2)
		say(3, 4)
		if resumes {
			r.killInReply(a)
		}
		say(5, 6)
		bodies := a.model.Bodies()
		last := bodies[len(bodies)-1]
		if got := strings.Contains(last, "printed-42-1"); got != resumes {
			t.Errorf("the last request has the output of the first tool: %v", got)
		}
		if !strings.Contains(last, "printed-42-6") {
			t.Error("the last request lacks the output of the last tool")
		}
		for i := 1; i <= 6; i++ {
			if n := timesSent(last, fmt.Sprintf("question-%d-mark", i)); n == 0 || n > 1 && i != 5 {
				t.Errorf("question %d is %d times in the last request", i, n)
			}
		}
		t.Logf("attached: %q", r.attached())
		if failed := r.lastTurn(); failed.Data.FinishReason != "done" {
			t.Errorf("the last turn is %+v", failed.Data)
		}
		do(t, r.home, exitDone, "verify")
	})
}

// timesSent returns how often a text is in the messages of a request.
func timesSent(body, text string) int {
	var request struct{ Messages, Input, Contents json.RawMessage }
	if json.Unmarshal([]byte(body), &request) != nil {
		return -1
	}
	return strings.Count(string(request.Messages)+string(request.Input)+string(request.Contents), text)
}

// killInReply kills the program while the agent replies.
func (r *realTeam) killInReply(a *actor) {
	r.t.Helper()
	a.model.Instruct("slow 50")
	defer a.model.Instruct("")
	p := r.chat("-m", "@"+a.name+" a slow one")
	r.awaitReply(a)
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		r.t.Fatal(err)
	}
	<-p.ended
}

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// largeMessage is the length of a message that some agents refuse, in bytes.
const largeMessage = 10_000_000

// largeLimits are the known limits of the prompts of agents, in bytes of ASCII letters. The others
// get the whole prompt.
var largeLimits = map[string]int{
	"codex": 1 << 20, "codex over ACP": 1 << 20,
	"gemini": 4<<20 - 64<<10, "gemini over ACP": 4<<20 - 64<<10,
}

// largeRefusals are the texts of agents that refuse a message which exceeds the context of the model.
var largeRefusals = map[string]string{
	"claude":          "Prompt is too long",
	"claude over ACP": "Prompt is too long",
}

func TestRealAgentsGetMessageOf10MB(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		message := numbered(largeMessage)
		line, err := json.Marshal(map[string]string{"content": message})
		if err != nil {
			t.Fatal(err)
		}
		a.model.Instruct("say <<I have read it.>>")
		at := time.Now()
		chat := r.chat("--input", "json")
		chat.enter(string(line))
		chat.closeInput()
		if refusal := largeRefusals[a.Name]; refusal != "" {
			chat.ends(exitFailed)
			t.Logf("%d bytes: refused after %s: %s", len(message), time.Since(at).Round(time.Millisecond),
				r.lastTurn().Data.Error)
			if !strings.Contains(chat.stderr.String(), refusal) {
				t.Errorf("%q is not in\n%s", refusal, chat.stderr)
			}
		} else {
			chat.ends(exitDone)
			t.Logf("%d bytes: answered after %s; %q", len(message), time.Since(at).Round(time.Millisecond),
				cutNotice.FindString(chat.stderr.String()))
			if got := chat.stdout.String(); got != a.displayed()+": I have read it.\n" {
				t.Errorf("the answer is %.200q", got)
			}
			checkRequest(t, a.model, message, largeLimits[a.Name])
		}
		checkCutNotice(t, chat.stderr.String(), largeLimits[a.Name])
		r.answers()
		do(t, r.home, exitDone, "verify")
	})
}

// numbered is a text of distinct words of 10 bytes.
func numbered(bytes int) string {
	var b strings.Builder
	for i := range bytes / 10 {
		fmt.Fprintf(&b, "w%08d ", i)
	}
	return strings.TrimSpace(b.String())
}

// checkRequest checks that the model got all of a message, or its beginning and its end with a note
// on what is left out.
func checkRequest(t *testing.T, model *agenttest.Model, message string, most int) {
	t.Helper()
	if most == 0 {
		if !model.Received(message) {
			t.Error("the model did not get the whole message")
		}
		return
	}
	kept := most/2 - 10_000 // the rest of the prompt is shorter than that
	for _, part := range []string{message[:kept], message[len(message)-kept:],
		" bytes of this message are left out here"} {
		if !model.Received(part) {
			t.Errorf("the model did not get the %d bytes “%.40s”", len(part), part)
		}
	}
	if model.Received(message[:most]) {
		t.Errorf("the model got more than %d bytes", most)
	}
}

// cutNotice matches the notice of a message that was cut for an agent.
var cutNotice = regexp.MustCompile(`(?m)^Ada.* (\d+) bytes .*$`)

func checkCutNotice(t *testing.T, stderr string, most int) {
	t.Helper()
	left := 0
	if match := cutNotice.FindStringSubmatch(stderr); match != nil {
		left, _ = strconv.Atoi(match[1])
	}
	if most == 0 && left > 0 || most > 0 && left < largeMessage-most {
		t.Errorf("the agent accepts %d bytes, and the notice says that %d are left out: %s", most, left, stderr)
	}
}

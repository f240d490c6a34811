//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// person sits at a terminal and reads what appears on it, in the order in which
// it appears.
type person struct{ *program }

func sit(t *testing.T, home string, args ...string) person {
	t.Helper()
	return person{startOnTerminal(t, home, args...)}
}

// sees waits for each of the texts, one behind the other, behind all that was
// seen before. It returns what came before the last of them.
func (p person) sees(texts ...string) (before string) {
	p.t.Helper()
	for _, text := range texts {
		start := p.stdout.awaited
		p.says(text)
		shown, _ := p.stdout.look()
		before = shown[start : p.stdout.awaited-len(text)]
	}
	return before
}

// enters types a line.
func (p person) enters(line string) {
	p.t.Helper()
	p.presses(line + enter)
}

// leaves ends the conversation at the prompt.
func (p person) leaves() {
	p.t.Helper()
	p.enters("/end")
	p.ends(exitDone)
}

// seesNot fails when a text was anywhere on the screen.
func (p person) seesNot(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if shown := p.stdout.String(); strings.Contains(shown, text) {
			p.t.Errorf("%q appeared:\n%s", text, shown)
		}
	}
}

// sessionRow is what a script learns of a session.
type sessionRow struct {
	ID, Team, Title string
	MessageCount    int
}

// listed are the sessions, the newest first.
func listed(t *testing.T, home string) (rows []sessionRow) {
	t.Helper()
	out, _ := do(t, home, exitDone, "sessions", "--output", "json")
	for line := range strings.Lines(out) {
		var row sessionRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// said makes a session of one message and its answer, and returns its id.
func said(t *testing.T, home, teamFile, text string) string {
	t.Helper()
	do(t, home, exitDone, "chat", "-t", teamPath(teamFile), "-m", text)
	return listed(t, home)[0].ID
}

// lastEvent is the type of the last event of a session.
func lastEvent(t *testing.T, home, id string) string {
	t.Helper()
	lines := events(t, home, id)
	return lines[len(lines)-1].Type
}

type event struct {
	Type string
	Data struct {
		MemberID, TriggerMessageID, FinishReason, Partial, Title, Reason string
		TeamTask                                                         *string
		Message                                                          struct{ ID, Content string }
	}
}

func events(t *testing.T, home, id string) (all []event) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", id+".jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("journals of %s: %q, %v", id, paths, err)
	}
	for line := range strings.Lines(readFile(t, paths[0])) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

func ofType(all []event, eventType string) []event {
	return slices.DeleteFunc(slices.Clone(all), func(e event) bool { return e.Type != eventType })
}

const (
	pairPrompt    = "you> "  // of echo-pair.json
	capturePrompt = "hugo> " // of capture.json and slow.json
)

// deploying talks to one team, and types the command that deploys another one
// with history. It returns when the question stands there.
func deploying(t *testing.T, teamFile string) (p person, home, running, earlier string) {
	t.Helper()
	home = t.TempDir()
	earlier = said(t, home, "capture.json", "hello ada")
	p = sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("good morning")
	p.sees("Upper: GOOD MORNING", pairPrompt)
	running = listed(t, home)[0].ID
	p.enters("/team deploy " + teamPath(teamFile))
	p.sees("Found previous session (just now, 2 messages)", "\n  2 messages - \"hello ada\"", "\n[R] Resume  [N] Start New")
	return p, home, running, earlier
}

func TestDeployOfATeamWithHistoryAsksAndResumes(t *testing.T) {
	for _, key := range []string{"R", "r"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p, home, running, earlier := deploying(t, "capture.json")
			p.presses(key)
			p.sees("To go on: agent-chatter chat --resume "+running, "✓ Resumed session: "+earlier+" (2 messages loaded)", "Restored - ")
			p.sees("Hugo: hello ada", "Ada: ok", capturePrompt)
			if last := lastEvent(t, home, running); last != "session.ended" {
				t.Errorf("the conversation that was left ends with %s", last)
			}
			p.enters("and again")
			p.sees("Ada: ok", capturePrompt)
			p.leaves()
			if n := len(listed(t, home)); n != 2 {
				t.Errorf("%d sessions, want 2", n)
			}
			if n := len(ofType(events(t, home, earlier), "message.appended")); n != 4 {
				t.Errorf("the resumed session has %d messages, want 4", n)
			}
		})
	}
}

func TestDeployOfATeamWithHistoryAsksAndStartsNew(t *testing.T) {
	for _, key := range []string{"N", "n"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p, home, running, earlier := deploying(t, "capture.json")
			p.presses(key)
			p.sees("To go on: agent-chatter chat --resume "+running, "You talk to the team", capturePrompt)
			if last := lastEvent(t, home, running); last != "session.ended" {
				t.Errorf("the conversation that was left ends with %s", last)
			}
			before := len(events(t, home, earlier))
			p.enters("something else")
			p.sees("Ada: ok", capturePrompt)
			p.leaves()
			p.seesNot("Resumed session", "Restored - ")
			rows := listed(t, home)
			if len(rows) != 3 || rows[0].Title != "something else" || rows[0].Team != "capture" || rows[0].MessageCount != 2 {
				t.Errorf("sessions: %+v", rows)
			}
			if after := len(events(t, home, earlier)); after != before {
				t.Error("the earlier session was written to")
			}
		})
	}
}

func TestEscapeAtTheQuestionGoesBackToTheRunningConversation(t *testing.T) {
	t.Parallel()
	p, home, running, earlier := deploying(t, "capture.json")
	before := len(events(t, home, earlier))
	p.presses(esc)
	p.sees(pairPrompt)
	p.enters("still here")
	p.sees("Upper: STILL HERE", pairPrompt)
	if last := lastEvent(t, home, running); last == "session.ended" {
		t.Error("the conversation was ended")
	}
	p.leaves()
	if n := len(ofType(events(t, home, running), "message.appended")); n != 4 {
		t.Errorf("the running conversation has %d messages, want 4", n)
	}
	if after := len(events(t, home, earlier)); after != before || len(listed(t, home)) != 2 {
		t.Error("the team was deployed all the same")
	}
}

func TestAnyOtherKeyAtTheQuestionIsAskedAgain(t *testing.T) {
	t.Parallel()
	p, _, _, earlier := deploying(t, "capture.json")
	for _, key := range []string{"x", "1", enter, "é", "\x1b[A"} {
		p.presses(key)
		p.sees("Press R to resume, N to start new, or Escape to go back.")
	}
	p.presses("r")
	p.sees("✓ Resumed session: "+earlier, capturePrompt)
	p.leaves()
}

func TestCtrlCAtTheQuestionEndsTheRunningConversationSaved(t *testing.T) {
	t.Parallel()
	p, home, running, _ := deploying(t, "capture.json")
	p.presses(ctrlC)
	p.sees("To go on: agent-chatter chat --resume " + running)
	p.ends(exitDone)
	if last := lastEvent(t, home, running); last != "session.ended" {
		t.Errorf("it ends with %s", last)
	}
}

func TestDeployWarnsOnTheTerminalOfMembersThatAreMissing(t *testing.T) {
	t.Parallel()
	p, _, _, _ := deploying(t, "minus-ada.json")
	p.presses("R")
	p.sees("⚠️  Some speakers in history are not in current team: ada", "   Their messages will be displayed with original names.")
	p.sees("Ada: ok", capturePrompt)
	p.enters("who is there")
	p.sees("Bea: ok", capturePrompt)
	p.leaves()
}

func TestDeployOfATeamWithoutHistoryAsksNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("/team deploy " + teamPath("capture.json"))
	p.sees("You talk to the team", capturePrompt)
	p.enters("hello ada")
	p.sees("Ada: ok", capturePrompt)
	p.leaves()
	p.seesNot("Found previous session")
	if rows := listed(t, home); len(rows) != 1 || rows[0].Team != "capture" {
		t.Errorf("sessions: %+v", rows)
	}
}

func TestDeployOfTheSameTeamOffersAnEarlierSessionNotTheRunningOne(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamPath("capture.json"))
	p.sees(capturePrompt)
	p.enters("the first")
	p.sees("Ada: ok", capturePrompt)
	first := listed(t, home)[0].ID
	p.enters("/team deploy " + teamPath("capture.json"))
	p.sees("To go on: agent-chatter chat --resume "+first, "You talk to the team", capturePrompt)
	p.seesNot("Found previous session")
	p.enters("the second")
	p.sees("Ada: ok", capturePrompt)
	p.enters("/team deploy " + teamPath("capture.json"))
	p.sees("  2 messages - \"the first\"", "[R] Resume  [N] Start New")
	p.presses("r")
	p.sees("✓ Resumed session: "+first, capturePrompt)
	p.leaves()
}

func TestDeployPassesOverASessionThatANewerVersionWrote(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	earlier := said(t, home, "capture.json", "hello ada")
	newer := said(t, home, "capture.json", "hello from tomorrow")
	if err := rewriteJournal(filepath.Join(home, "sessions", "capture", newer+".jsonl"), `"format":1`, `"format":2`); err != nil {
		t.Fatal(err)
	}
	p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("/resume")
	p.sees("  1. [", "hello ada", whichSession)
	p.enters("")
	p.sees(pairPrompt)
	p.seesNot("tomorrow")
	p.enters("/team deploy " + teamPath("capture.json"))
	p.sees("⚠️  Session "+newer+" has incompatible schema version: 2", "[R] Resume  [N] Start New")
	p.presses("r")
	p.sees("✓ Resumed session: "+earlier, capturePrompt)
	p.leaves()
}

func TestDeployOfWhatIsNoTeamLeavesTheConversationAsItWas(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("one")
	p.sees("Upper: ONE", pairPrompt)
	p.enters("/team deploy " + teamPath("invalid-schema.json"))
	p.sees("Invalid cli-config-v1.2:", "Please check the schema: schemas/cli-config-v1.2.json", pairPrompt)
	p.enters("/team deploy nowhere")
	p.sees("There is no team 'nowhere'", pairPrompt)
	p.enters("/team")
	p.sees("/team deploy FILE", pairPrompt)
	p.enters("two")
	p.sees("Upper: TWO", pairPrompt)
	p.leaves()
	if rows := listed(t, home); len(rows) != 1 || rows[0].MessageCount != 4 {
		t.Errorf("sessions: %+v", rows)
	}
}

func TestDeployThroughAPipeIsNeverAskedAndStartsAnew(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	earlier := said(t, home, "capture.json", "hello ada")
	before := len(events(t, home, earlier))
	p := start(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.types("one", "/team deploy "+teamPath("capture.json"), "hello again")
	p.closeInput()
	p.ends(exitDone)
	if stderr := p.stderr.String(); strings.Contains(stderr, "Found previous session") || strings.Contains(stderr, "Resumed") {
		t.Errorf("it asked, or resumed: %s", stderr)
	}
	rows := listed(t, home)
	if len(rows) != 3 || rows[0].Title != "hello again" || rows[1].Title != "one" {
		t.Errorf("sessions: %+v", rows)
	}
	if lastEvent(t, home, rows[1].ID) != "session.ended" || len(events(t, home, earlier)) != before {
		t.Error("the first was not ended, or the earlier one was written to")
	}
}

// resuming is a home with two earlier sessions, one that is empty, and a
// conversation that has begun.
func resuming(t *testing.T) (p person, home, first, second string) {
	t.Helper()
	home = t.TempDir()
	first = said(t, home, "capture.json", "first thing")
	second = said(t, home, "capture.json", "second thing")
	empty := start(t, home, "chat", "-t", teamPath("capture.json"))
	empty.types("/task nobody said anything")
	empty.closeInput()
	empty.ends(exitDone)
	p = sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("third thing")
	p.sees("Upper: THIRD THING", pairPrompt)
	return p, home, first, second
}

const whichSession = "Enter number or session ID to resume (or press Enter to cancel):"

func TestResumeListsTheOtherSessionsAndTakesANumberOrAnID(t *testing.T) {
	for name, answer := range map[string]func(id string) string{
		"number":        func(string) string { return "2" },
		"id":            func(id string) string { return id },
		"end of the id": func(id string) string { return strings.ToLower(id[16:]) },
		"title":         func(string) string { return "first thing" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, home, first, second := resuming(t)
			third := listed(t, home)[0].ID
			p.enters("/resume")
			p.sees("Recent Sessions:")
			list := regexp.MustCompile(`^\r\n  1\. \[([0-9A-Z]{4,})\] second thing \(now\)\r\n  2\. \[([0-9A-Z]{4,})\] first thing \(now\)\r\n$`)
			// Neither the empty session is offered nor this one.
			shown := p.sees(whichSession)
			if offered := list.FindStringSubmatch(shown); offered == nil || !strings.HasSuffix(second, offered[1]) || !strings.HasSuffix(first, offered[2]) {
				t.Errorf("for %s and %s is offered %q", second, first, shown)
			}
			p.enters(answer(first))
			p.sees("To go on: agent-chatter chat --resume "+third, "✓ Resumed session: "+first+" (2 messages loaded)")
			title := regexp.MustCompile(`Restored - [A-Z][a-z]{2} [1-9][0-9]?, [01][0-9]:[0-5][0-9] [AP]M\r\n`)
			if shown := p.sees("Hugo: first thing"); !title.MatchString(shown) {
				t.Errorf("the title is not that of a restored session: %q", shown)
			}
			p.sees("Ada: ok", capturePrompt)
			if last := lastEvent(t, home, third); last != "session.ended" {
				t.Errorf("the conversation that was left ends with %s", last)
			}
			p.leaves()
		})
	}
}

func TestResumeTakesASessionWithoutAskingForIt(t *testing.T) {
	for name, test := range map[string]struct {
		argument func(first string) string
		second   bool
	}{
		"id":       {func(first string) string { return first }, false},
		"--last":   {func(string) string { return "--last" }, true},
		"--latest": {func(string) string { return "--latest" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, first, second := resuming(t)
			want := first
			if test.second {
				want = second // the latest but this one
			}
			p.enters("/resume " + test.argument(first))
			p.sees("✓ Resumed session: "+want+" (2 messages loaded)", capturePrompt)
			p.leaves()
			p.seesNot("Recent Sessions:")
		})
	}
}

func TestResumeIsCancelledByEnterAndByANameThatIsNone(t *testing.T) {
	t.Parallel()
	p, home, _, _ := resuming(t)
	third := listed(t, home)[0].ID
	p.enters("/resume")
	p.sees(whichSession)
	p.enters("")
	p.sees(pairPrompt)
	for _, name := range []string{"9", "nobody"} {
		p.enters("/resume")
		p.sees(whichSession)
		p.enters(name)
		p.sees("No session is named '"+name+"'", pairPrompt)
	}
	p.enters("/resume " + third)
	p.sees("That is the session you are in.", pairPrompt)
	p.enters("still here")
	p.sees("Upper: STILL HERE", pairPrompt)
	p.leaves()
	if n := len(ofType(events(t, home, third), "message.appended")); n != 4 {
		t.Errorf("the conversation has %d messages, want 4", n)
	}
	if n := len(ofType(events(t, home, third), "session.ended")); n != 1 {
		t.Errorf("it was ended %d times", n)
	}
}

func TestResumeWithoutOtherSessionsSaysSo(t *testing.T) {
	t.Parallel()
	p := sit(t, t.TempDir(), "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("/resume")
	p.sees("There are no other sessions.", pairPrompt)
	p.enters("/resume --last")
	p.sees("There are no other sessions.", pairPrompt)
	p.enters("hello")
	p.sees("Upper: HELLO", pairPrompt)
	p.enters("/resume")
	p.sees("There are no other sessions.", pairPrompt)
	p.leaves()
}

func TestARunningSessionOfAnotherProcessIsNotTakenOver(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	other := start(t, home, "chat", "-t", teamPath("capture.json"))
	other.types("it is mine")
	other.says("Ada: ok")
	held := listed(t, home)[0].ID
	p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("/resume " + held)
	p.sees(fmt.Sprintf("Session %s is in use by process %d ", held, other.cmd.Process.Pid))
	p.sees("> ")
	p.leaves()
	other.closeInput()
	other.ends(exitDone)
}

func TestEscapeInATurnSavesEmptiesTheQueueAndGoesOn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamPath("slow.json"))
	p.sees(capturePrompt)
	p.enters("go [NEXT: ada, bea]")
	p.sees("Ada: word1", "word2")
	p.presses(esc)
	p.sees("Ada was interrupted", capturePrompt)
	p.enters("/queue")
	p.sees("Nobody waits; you are next.", capturePrompt)

	// All of it is in the file by now: a blow loses nothing.
	id, path := onlyJournal(t, home)
	all := events(t, home, id)
	ended := ofType(all, "turn.ended")
	if len(ended) != 1 || ended[0].Data.FinishReason != "cancelled" || !strings.HasPrefix(ended[0].Data.Partial, "word1 word2") {
		t.Errorf("the turn ended with %+v", ended)
	}
	if started := ofType(all, "turn.started"); len(started) != 1 {
		t.Errorf("%d agents were started", len(started))
	}

	p.enters("go on")
	p.sees("Ada: word1")
	p.presses(esc)
	p.sees("Ada was interrupted", capturePrompt)
	p.leaves()
	if !strings.Contains(readFile(t, path), `"go on"`) {
		t.Error("the conversation did not go on")
	}
	p.seesNot("Bea:")
	do(t, home, exitDone, "verify")
}

func TestATeamMayTurnEscapeOff(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamOf(t, `, "conversation": {"allowEscCancel": false}`))
	p.sees(capturePrompt)
	p.enters("wait for it")
	p.sees("is thinking 1s")
	p.presses(esc)
	p.sees("is thinking 2s")
	writeGo(t, p)
	p.sees("Ada: done", capturePrompt)
	p.seesNot("interrupted")
	p.leaves()
}

// teamOf is a team whose Ada answers once the test says so, and whose Bea at
// once.
func teamOf(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "team.json")
	content := `{"schemaVersion": "1.2",
  "agents": [
    {"name": "patient", "command": "sh", "args": ["-c", "cat >/dev/null; until [ -e \"$GO\" ]; do sleep 0.05; done; rm \"$GO\"; echo done"]},
    {"name": "quick", "command": "sh", "args": ["-c", "cat >/dev/null; echo at once"]}],
  "team": {"name": "patient", "description": "It waits", "members": [
    {"name": "hugo", "displayName": "Hugo", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "patient", "engine": "command", "baseDir": ".", "systemInstruction": "",
     "env": {"GO": "` + path + `.go"}},
    {"name": "bea", "displayName": "Bea", "role": "author", "type": "ai", "agentType": "quick", "engine": "command", "baseDir": ".", "systemInstruction": ""}]}` + more + `}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeGo lets the agent of teamOf answer.
func writeGo(t *testing.T, p person) {
	t.Helper()
	args := p.cmd.Args
	if err := os.WriteFile(args[slices.Index(args, "-t")+1]+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheSpinnerShowsWhoThinksAndForHowLongAndGoes(t *testing.T) {
	t.Parallel()
	p := sit(t, t.TempDir(), "chat", "-t", teamOf(t, ""))
	p.sees(capturePrompt)
	p.enters("hello")
	p.sees("⠋ Ada is thinking 0s", "Ada is thinking 1s")
	writeGo(t, p)
	if before := p.sees("Ada: done"); !strings.HasSuffix(before, eraseLine) {
		t.Errorf("it is not erased: %q", before)
	}
	if after := p.sees(capturePrompt); strings.Contains(after, "thinking") {
		t.Errorf("it turns on: %q", after)
	}
	p.leaves()
}

func TestATeamMayTurnTheSpinnerOff(t *testing.T) {
	t.Parallel()
	p := sit(t, t.TempDir(), "chat", "-t", teamOf(t, `, "conversation": {"showThinkingTimer": false}`))
	p.sees(capturePrompt)
	p.enters("hello")
	writeGo(t, p)
	p.sees("Ada: done", capturePrompt)
	p.leaves()
	p.seesNot("thinking")
}

func TestCtrlCEndsSavedAndSaysHowToGoOn(t *testing.T) {
	t.Run("while nobody speaks", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
		p.sees(pairPrompt)
		p.enters("one")
		p.sees("Upper: ONE", pairPrompt)
		p.presses("half a line" + ctrlC)
		id, _ := onlyJournal(t, home)
		p.sees("To go on: agent-chatter chat --resume " + id)
		p.ends(exitDone)
		if last := lastEvent(t, home, id); last != "session.ended" {
			t.Errorf("it ends with %s", last)
		}
		if n := len(ofType(events(t, home, id), "message.appended")); n != 2 {
			t.Errorf("%d messages, want 2", n)
		}
	})
	t.Run("in a turn", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		p := sit(t, home, "chat", "-t", teamPath("slow.json"))
		p.sees(capturePrompt)
		p.enters("go")
		p.sees("Ada: word1")
		p.presses(ctrlC)
		id, _ := onlyJournal(t, home)
		p.sees("To go on: agent-chatter chat --resume " + id)
		p.ends(exitInterrupted)
		all := events(t, home, id)
		if n := len(all); all[n-1].Type != "session.ended" || all[n-2].Data.FinishReason != "cancelled" {
			t.Errorf("it ends with %+v", all[n-2:])
		}
	})
	t.Run("before anything was said", func(t *testing.T) {
		t.Parallel()
		home := filepath.Join(t.TempDir(), "home")
		p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
		p.sees(pairPrompt)
		p.presses(ctrlC)
		p.ends(exitDone)
		p.seesNot("To go on")
		if _, err := os.Stat(home); err == nil {
			t.Error("it left something")
		}
	})
}

func TestHangUpOfTheTerminalSavesAndEnds(t *testing.T) {
	t.Run("while nobody speaks", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
		p.sees(pairPrompt)
		p.enters("one")
		p.sees("Upper: ONE", pairPrompt)
		p.closeInput()
		p.ends(exitDone)
		id, _ := onlyJournal(t, home)
		if last := lastEvent(t, home, id); last != "session.ended" {
			t.Errorf("it ends with %s", last)
		}
		do(t, home, exitDone, "verify")
	})
	t.Run("in a turn", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		p := sit(t, home, "chat", "-t", teamPath("slow.json"))
		p.sees(capturePrompt)
		p.enters("go")
		p.sees("Ada: word1", "word2")
		p.closeInput()
		p.ends(exitInterrupted)
		id, _ := onlyJournal(t, home)
		all := events(t, home, id)
		ended := ofType(all, "turn.ended")
		if len(ended) != 1 || ended[0].Data.FinishReason != "cancelled" || !strings.HasPrefix(ended[0].Data.Partial, "word1 word2") || all[len(all)-1].Type != "session.ended" {
			t.Errorf("it ends with %+v, %s", ended, all[len(all)-1].Type)
		}
		do(t, home, exitDone, "verify")
	})
}

func TestRetryAsksTheInterruptedMemberAgain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamPath("slow.json"))
	p.sees(capturePrompt)
	p.enters("/retry")
	p.sees("o turn was interrupted: there is nothing to retry", capturePrompt)
	p.enters("go [NEXT: bea]")
	p.sees("Bea: word1")
	p.presses(esc)
	p.sees("Bea was interrupted", capturePrompt)
	p.enters("/retry")
	p.sees("Bea: word1")

	// Killed in the turn, it is the same.
	p.signal(syscall.SIGKILL)
	<-p.ended
	p = sit(t, home, "chat", "--resume")
	p.sees("✓ Resumed session: ", "(1 messages loaded)", "Bea was interrupted in the last turn. To ask again, type: /retry", capturePrompt)
	p.enters("/retry")
	p.sees("Bea: word1")
	p.presses(esc)
	p.sees("Bea was interrupted", capturePrompt)
	p.leaves()

	id, _ := onlyJournal(t, home)
	all := events(t, home, id)
	var how []string
	for _, e := range ofType(all, "turn.ended") {
		how = append(how, e.Data.FinishReason)
	}
	if want := []string{"cancelled", "interrupted", "cancelled"}; !slices.Equal(how, want) {
		t.Errorf("turns ended with %v, want %v", how, want)
	}
	message := ofType(all, "message.appended")
	if len(message) != 1 {
		t.Fatalf("%d messages, want 1", len(message))
	}
	for _, e := range ofType(all, "turn.started") {
		if e.Data.MemberID != "bea" || e.Data.TriggerMessageID != message[0].Data.Message.ID {
			t.Errorf("asked: %+v", e.Data)
		}
	}
	do(t, home, exitDone, "verify")
}

func TestAnAnswerIsKeptWhenTheProgramIsKilledInTheNextTurn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamOf(t, ""))
	p.sees(capturePrompt)
	p.enters("go [NEXT: bea, ada]")
	p.sees("Bea: at once", "Ada is thinking")
	p.signal(syscall.SIGKILL)
	<-p.ended
	id, _ := onlyJournal(t, home)
	all := events(t, home, id)
	said, started := ofType(all, "message.appended"), ofType(all, "turn.started")
	if len(said) != 2 || said[1].Data.Message.Content != "at once" || len(started) != 2 || started[1].Data.MemberID != "ada" {
		t.Errorf("in the journal is %+v", all)
	}
	p = sit(t, home, "chat", "--resume")
	p.sees("(2 messages loaded)", "Bea: at once", "Ada was interrupted in the last turn", capturePrompt)
	p.leaves()
}

func TestMessagesFromFlagsDoNotWaitForStandardInput(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "chat", "-m", "hello")
	p.ends(exitDone) // though its standard input is open
}

func TestTheCommandsOfAConversation(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
	p.sees(pairPrompt)
	p.enters("/status")
	p.sees("nothing was said yet", pairPrompt)
	p.enters("/rename too early")
	p.sees("say something first", pairPrompt)
	p.enters("/export early.json")
	p.sees("there is nothing to export", pairPrompt)
	p.enters("/task")
	p.sees("The team has no task", pairPrompt)
	p.enters("/task Ship it by Friday")
	p.sees("The team's task is now: Ship it by Friday", pairPrompt)
	p.enters("/task")
	p.sees("Task: Ship it by Friday", pairPrompt)
	p.enters("/members")
	p.sees("you (You): human", "upper (Upper): ai, upper", "count (Count): ai, count", pairPrompt)
	p.enters("good morning")
	p.sees("Upper: GOOD MORNING", pairPrompt)
	id, _ := onlyJournal(t, home)
	p.enters("/status")
	p.sees("session "+id, `"good morning"`, "2 messages", pairPrompt)
	p.enters("/rename the  loud one")
	p.sees("This session is now called the  loud one.", pairPrompt)
	p.enters("/rename")
	p.sees("A title is missing", pairPrompt)
	p.enters("/sessions")
	p.sees("the  loud one", pairPrompt)
	p.enters("/queue")
	p.sees("Nobody waits", pairPrompt)
	p.enters("/help")
	for _, s := range slashes() {
		if s.help != "" {
			p.sees("  " + s.name + " ")
		}
	}
	p.sees(pairPrompt)
	p.enters("/team list")
	p.sees("demo  planner, critic, you  built in", pairPrompt)
	p.enters("/resume nobody")
	p.sees("No session is named 'nobody'", "To see which there are, type: /sessions", pairPrompt)
	p.enters("/resume --last")
	p.sees("There are no other sessions.", pairPrompt)
	p.enters("/team deploy nobody")
	p.sees("type: /team list", pairPrompt)
	p.enters("/nonsense with words")
	p.sees("There is no command /nonsense; nothing was sent", pairPrompt)
	p.enters("//home is a path")
	p.sees("Upper: /HOME IS A PATH", pairPrompt)
	p.enters("/clear")
	p.sees("\x1b[2J\x1b[H", pairPrompt)

	file := filepath.Join(t.TempDir(), "talk.json")
	p.enters("/export " + file)
	p.sees("Written: "+file, pairPrompt)
	p.enters("/export")
	p.sees("A file is missing", pairPrompt)
	p.leaves()

	var snapshot struct {
		SchemaVersion string
		Context       struct {
			TeamTask string
			Messages []struct{ Content string }
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, file)), &snapshot); err != nil {
		t.Fatal(err)
	}
	if c := snapshot.Context; snapshot.SchemaVersion != "1.0" || c.TeamTask != "Ship it by Friday" || len(c.Messages) != 4 || c.Messages[2].Content != "/home is a path" {
		t.Errorf("exported: %+v", snapshot)
	}
	rows := listed(t, home)
	if len(rows) != 1 || rows[0].Title != "the  loud one" || rows[0].MessageCount != 4 {
		t.Errorf("sessions: %+v", rows)
	}
}

func TestEndExitAndQuitEndTheConversation(t *testing.T) {
	for _, command := range []string{"/end", "/exit", "/quit"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			p := sit(t, home, "chat", "-t", teamPath("echo-pair.json"))
			p.sees(pairPrompt)
			p.enters("one")
			p.sees("Upper: ONE", pairPrompt)
			p.enters(command)
			id, _ := onlyJournal(t, home)
			p.sees("To go on: agent-chatter chat --resume " + id)
			p.ends(exitDone)
			if last := lastEvent(t, home, id); last != "session.ended" {
				t.Errorf("it ends with %s", last)
			}
		})
	}
}

func TestAMessageOfSeveralLines(t *testing.T) {
	for name, test := range map[string]struct{ keys, want string }{
		"a line that ends in a backslash": {"first\\" + enter + "second\\" + enter + "third" + enter, "first\nsecond\nthird"},
		"a paste":                         {"\x1b[200~first\rsecond\rthird\x1b[201~" + enter, "first\nsecond\nthird"},
		"a paste with a word behind it":   {"\x1b[200~first\rsecond\x1b[201~ and more" + enter, "first\nsecond and more"},
		"a paste behind typed text":       {"see: \x1b[200~first\rsecond\rthird\x1b[201~" + enter, "see: first\nsecond\nthird"},
		"two pastes":                      {"\x1b[200~first\rsecond\x1b[201~ and \x1b[200~more\rthird\x1b[201~" + enter, "first\nsecond and more\nthird"},
		"a paste of one line":             {"\x1b[200~only one\x1b[201~" + enter, "only one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			p := sit(t, home, "chat", "-t", teamPath("capture.json"))
			p.sees(capturePrompt)
			p.presses(test.keys)
			p.sees("Ada: ok", capturePrompt)
			p.leaves()
			id, _ := onlyJournal(t, home)
			said := ofType(events(t, home, id), "message.appended")
			if len(said) != 2 || said[0].Data.Message.Content != test.want {
				t.Errorf("it said %+v, want %q", said, test.want)
			}
		})
	}
}

func TestNamesAreBoldUnlessSomebodyMinds(t *testing.T) {
	for name, test := range map[string]struct {
		env, flag string
		bold      bool
	}{
		"nobody minds": {"-uNO_COLOR", "", true},
		"NO_COLOR":     {"NO_COLOR=1", "", false},
		"--no-color":   {"-uNO_COLOR", "--no-color", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{test.env, "agent-chatter", "chat", "-t", teamPath("echo-pair.json")}
			if test.flag != "" {
				args = append(args, test.flag)
			}
			p := person{startTerminal(t, t.TempDir(), exec.Command("env", args...))}
			p.sees(pairPrompt)
			p.enters("one")
			p.sees("Upper", "ONE", pairPrompt)
			p.leaves()
			if bold := strings.Contains(p.stdout.String(), "\x1b[1mUpper\x1b[0m: ONE"); bold != test.bold {
				t.Errorf("bold: %v, want %v\n%q", bold, test.bold, p.stdout)
			}
			if !test.bold {
				p.seesNot("\x1b[1m")
			}
		})
	}
}

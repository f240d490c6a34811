//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// leavingTeam returns the path of a team whose agent starts a process in another
// group and session, writes its own process id and that one's to the pipe pids,
// and then runs a command. In its first turn, $first is set.
func leavingTeam(t *testing.T, then string) (path, pids string) {
	t.Helper()
	programtest.Path(t, "setsid")
	dir := t.TempDir()
	pids = filepath.Join(dir, "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("cd '%s'\nmkdir turns 2>/dev/null && first=yes\n"+
		"setsid sleep 300 >/dev/null 2>&1 &\necho $$ $! >pids\n%s\n", dir, then)
	configuration := `{"schemaVersion": "1.2",
  "agents": [{"name": "leaver", "command": "sh", "args": ["` + filepath.Join(dir, "leave.sh") + `"]}],
  "team": {"name": "leaving", "description": "An agent that leaves a process running", "members": [
    {"name": "hugo", "displayName": "Hugo", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "leaver",
      "engine": "command", "baseDir": ".", "systemInstruction": ""}]}}`
	for name, content := range map[string]string{"leave.sh": script, "team.json": configuration} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "team.json"), pids
}

// startedProcesses reads the process ids of the agent and of the process that it has
// started, which ends with the test.
func startedProcesses(t *testing.T, pids string) (all []int) {
	t.Helper()
	for _, field := range strings.Fields(readFile(t, pids)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid < 2 {
			t.Fatalf("%q is no process id", field)
		}
		all = append(all, pid)
	}
	if len(all) != 2 {
		t.Fatalf("%d process ids, want 2", len(all))
	}
	t.Cleanup(func() { syscall.Kill(all[1], syscall.SIGKILL) })
	return all
}

func wantRunning(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("process %d: %v: the test proves nothing", pid, err)
	}
}

func TestOrphanedProcessHoldsNoLock(t *testing.T) {
	home := t.TempDir()
	configuration, pids := leavingTeam(t, "echo done")
	for _, end := range []struct {
		how string
		of  func(*program)
	}{
		{"the chat ended", func(p *program) { p.closeInput(); p.ends(exitDone) }},
		{"the chat was killed", func(p *program) { p.signal(syscall.SIGKILL); <-p.ended }},
	} {
		t.Run(end.how, func(t *testing.T) {
			chat := start(t, home, "chat", "-t", configuration)
			chat.enter("hello")
			stray := startedProcesses(t, pids)[1]
			chat.expect("Ada: done")
			end.of(chat)
			wantRunning(t, stray)
			resumes(t, home, pids, "Ada: done")
		})
	}
}

func TestAgentThatOutlivesChatHoldsNoLock(t *testing.T) {
	home := t.TempDir()
	configuration, pids := leavingTeam(t, `[ -z "$first" ] || exec sleep 300; echo done`)
	chat := start(t, home, "chat", "-t", configuration)
	chat.enter("hello")
	both := startedProcesses(t, pids)
	t.Cleanup(func() { syscall.Kill(both[0], syscall.SIGKILL) })
	chat.signal(syscall.SIGKILL)
	<-chat.ended
	for _, pid := range both {
		wantRunning(t, pid)
	}
	resumes(t, home, pids, "Ada: done")
}

// resumes resumes the latest session, whose agent leaves another process running.
func resumes(t *testing.T, home, pids, answer string) {
	t.Helper()
	chat := start(t, home, "chat", "--resume", "-m", "hello again")
	chat.expectNotice("Resumed session") // otherwise it exits before the agent writes its ids
	startedProcesses(t, pids)
	chat.expect(answer)
	chat.ends(exitDone)
}

func TestOneOfManyWritersWinsAndOthersAreRefused(t *testing.T) {
	skipIfShort(t)
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello")
	id, _ := onlyJournal(t, home)
	for range 5 {
		var all []*program
		for range 4 {
			all = append(all, start(t, home, "chat", "--resume", id))
		}
		// The winner waits for input, so that no other can get the lock.
		ended := make(chan *program)
		for _, p := range all {
			go func() {
				<-p.ended
				ended <- p
			}()
		}
		for range len(all) - 1 {
			(<-ended).ends(exitLocked)
		}
		var winner *program
		for _, p := range all {
			if p.running() {
				winner = p
			}
		}
		if winner == nil {
			t.Fatal("no writer has won")
		}
		holder := fmt.Sprintf("locked by process %d on ", winner.cmd.Process.Pid)
		for _, p := range all {
			said := p.stderr.String()
			if p != winner && (!strings.Contains(said, holder) || !strings.Contains(said, ", since 2") ||
				!strings.Contains(said, "agent-chatter tail -f "+id)) {
				t.Errorf("it prints %q, want %q, since when, and how to follow", said, holder)
			}
		}
		winner.enter("me")
		winner.expect("“me”")
		winner.closeInput()
		winner.ends(exitDone)
		<-ended
	}
	do(t, home, exitDone, "verify")
}

// running reports whether the program has not ended.
func (p *program) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func TestResumeAfterCrashAsksNothing(t *testing.T) {
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello")
	id, path := onlyJournal(t, home)
	lock := strings.TrimSuffix(path, ".jsonl") + ".lock"
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	// The process id of the crashed writer belongs to another program now: this one.
	stale := fmt.Sprintf(`{"pid":%d,"host":%q,"startedAt":"2026-11-21T12:00:00Z"}`, os.Getpid(), host)
	if err := os.WriteFile(lock, []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	chat := startOnTerminal(t, home, "chat", "--resume")
	chat.expect("Resumed session: " + id)
	chat.expect("you> ")
	chat.press(ctrlC + ctrlC)
	chat.ends(exitDone)
}

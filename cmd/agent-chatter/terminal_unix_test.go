//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// startOnTerminal runs agent-chatter with a terminal at both ends, and what it
// writes to either in stdout.
func startOnTerminal(t *testing.T, home string, args ...string) *program {
	t.Helper()
	cmd := exec.Command("agent-chatter", args...)
	return startTerminal(t, home, cmd)
}

func startTerminal(t *testing.T, home string, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, cmd: cmd, stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	cmd.Env = append(cmd.Environ(), "AGENT_CHATTER_HOME="+home, "TERM=xterm", "NO_COLOR=1")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	terminal = closable(t, terminal)
	p.stdin = terminal
	read := make(chan struct{})
	go func() {
		defer close(read)
		if _, err := io.Copy(p.stdout, terminal); err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, os.ErrClosed) {
			t.Errorf("read from the terminal: %v", err)
		}
	}()
	go func() {
		cmd.Wait()
		<-read // on a terminal, the end is read like everything else
		close(p.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.ended
		terminal.Close()
	})
	return p
}

// closable is a terminal whose Close does not wait for a Read, so that it can
// be hung up.
func closable(t *testing.T, terminal *os.File) *os.File {
	t.Helper()
	defer terminal.Close()
	syscall.ForkLock.RLock() // no other program may get it
	fd, err := syscall.Dup(int(terminal.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), terminal.Name())
}

// presses types keys, without the one that ends a line.
func (p *program) presses(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, keys); err != nil {
		p.t.Fatal(err)
	}
}

const (
	enter = "\r"
	ctrlC = "\x03"
	ctrlD = "\x04"
	esc   = "\x1b"
)

func TestOnATerminalAPersonTalksAndGoesOn(t *testing.T) {
	home := t.TempDir()
	chat := startOnTerminal(t, home, "chat")
	chat.says("planner, critic")
	chat.says("you> ")
	chat.presses("/nonsense" + enter)
	chat.says("There is no command /nonsense")
	chat.presses("hello there" + enter)
	chat.says("Planner: First the smallest") // as it comes: the rest is still to be said
	chat.says("Critic: I have weighed")
	chat.says("finished.")
	chat.says("you> ")
	chat.presses("/status" + enter)
	chat.says("3 messages")
	chat.presses(ctrlC)
	chat.ends(exitDone)
	id, _ := onlyJournal(t, home)
	shown := chat.stdout.String()
	if !strings.Contains(shown, "agent-chatter chat --resume "+id) {
		t.Errorf("how to go on is not said:\n%s", shown)
	}
	if strings.Contains(shown, "NEXT") {
		t.Errorf("a marker was shown:\n%s", shown)
	}
	if !strings.Contains(shown, "\r\nfinished.") {
		t.Errorf("the reply is not broken between two words:\n%q", shown)
	}

	chat = startOnTerminal(t, home, "chat", "--resume")
	chat.says("Resumed session: " + id + " (3 messages loaded)")
	chat.says("You: hello there")
	chat.says("Critic: I have weighed")
	chat.says("you> ")
	chat.presses("/end" + enter)
	chat.ends(exitDone)
	if strings.Contains(chat.stdout.String(), "NEXT") {
		t.Errorf("a marker was shown:\n%s", chat.stdout)
	}
	do(t, home, exitDone, "verify")
}

func TestAResumedChatSaysHowManyMessagesItDoesNotShow(t *testing.T) {
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "one", "-m", "two", "-m", "three")
	id, _ := onlyJournal(t, home)
	chat := startOnTerminal(t, home, "chat", "--resume")
	chat.says("(9 messages loaded)")
	chat.says("… 3 older messages not shown here. To read all, type: agent-chatter replay " + id)
	chat.says("You: two")
	chat.says("you> ")
	chat.presses("/end" + enter)
	chat.ends(exitDone)

	short := t.TempDir()
	do(t, short, exitDone, "chat", "-m", "one")
	chat = startOnTerminal(t, short, "chat", "--resume")
	chat.says("you> ")
	chat.presses("/end" + enter)
	chat.ends(exitDone)
	if strings.Contains(chat.stdout.String(), "older") {
		t.Errorf("all was shown:\n%s", chat.stdout)
	}
}

func TestOnATerminalEscapeCancelsAndCtrlCEnds(t *testing.T) {
	home := t.TempDir()
	chat := startOnTerminal(t, home, "chat", "-t", teamPath("slow.json"))
	chat.says("hugo> ")
	chat.presses("take your time" + enter)
	chat.says("word3")
	chat.presses(esc)
	chat.says("Ada was interrupted")
	chat.says("hugo> ")
	chat.presses("once more" + enter)
	chat.says("Ada: word1 word2 ")
	chat.presses(ctrlC)
	chat.ends(exitInterrupted)

	stdout, _ := do(t, home, exitDone, "replay", "latest")
	if n := strings.Count(stdout, "Ada (unfinished): word1"); n != 2 {
		t.Errorf("replay shows %d unfinished replies, want 2:\n%s", n, stdout)
	}
	events, _ := do(t, home, exitDone, "replay", "latest", "--output", "events")
	if n := strings.Count(events, `"finishReason":"cancelled"`); n != 2 {
		t.Errorf("%d turns were cancelled, want 2:\n%s", n, events)
	}
	do(t, home, exitDone, "verify")
}

func TestOnATerminalEscapeDoesNotSendWhatWasTypedAhead(t *testing.T) {
	home := t.TempDir()
	chat := startOnTerminal(t, home, "chat", "-t", teamPath("slow.json"))
	chat.says("hugo> ")
	chat.presses("take your time" + enter)
	chat.says("word3")
	chat.presses("this" + ctrlD + enter + "and that" + enter)
	chat.presses(esc)
	chat.says("Ada was interrupted")
	chat.says("hugo> this and that")
	chat.presses(", later" + enter)
	chat.says("Ada: word1 word2 ")
	chat.presses("from here" + esc + "not there" + enter) // in one read
	chat.says("Ada was interrupted")
	chat.says("from herenot there")
	chat.says("Ada: word1 word2 ")
	chat.presses(ctrlC)
	chat.ends(exitInterrupted)

	stdout, _ := do(t, home, exitDone, "replay", "latest")
	for _, said := range []string{"take your time", "this and that, later", "from herenot there"} {
		if !strings.Contains(stdout, "Hugo: "+said+"\n") {
			t.Errorf("%q was not said:\n%s", said, stdout)
		}
	}
}

func TestOnATerminalAHostileReplyIsHarmless(t *testing.T) {
	home := t.TempDir()
	t.Setenv("REPLY", "\x1b[31mred \x1b]0;title\x07 \u009b2J \x7f end [NEXT: hugo]")
	chat := startOnTerminal(t, home, "chat", "-t", teamPath("capture.json"))
	chat.says("hugo> ")
	chat.presses("hello" + enter)
	chat.says(" end")
	chat.says("hugo> ")
	chat.presses(ctrlC)
	chat.ends(exitDone)
	shown := chat.stdout.String()
	for _, harm := range []string{"\x1b[31m", "\x1b]0", "\x07", "\u009b", "\x7f", "NEXT"} {
		if strings.Contains(shown, harm) {
			t.Errorf("%q was shown:\n%q", harm, shown)
		}
	}
}

func TestOnATerminalAnEmptyListSaysThatItIs(t *testing.T) {
	home := t.TempDir()
	list := startOnTerminal(t, home, "sessions")
	list.says("There are no sessions yet.")
	list.ends(exitDone)
	if stdout, stderr := do(t, home, exitDone, "sessions"); stdout+stderr != "" {
		t.Errorf("a script is told %s%s", stdout, stderr)
	}
	agents := startOnTerminal(t, home, "agents", "list")
	agents.says("No agent is registered. To find those that are installed, type: agent-chatter agents scan")
	agents.ends(exitDone)
}

func TestOnATerminalDeleteAsks(t *testing.T) {
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello")
	id, _ := onlyJournal(t, home)
	for _, answer := range []string{"n", "", "y"} {
		onlyJournal(t, home)
		ask := startOnTerminal(t, home, "sessions", "delete", id)
		ask.says("[y/N]")
		ask.presses(answer + enter)
		ask.ends(exitDone)
	}
	if stdout, _ := do(t, home, exitDone, "sessions"); stdout != "" {
		t.Errorf("it is still there: %s", stdout)
	}
}

func TestOnATerminalAReplyThatCannotBeSavedIsShownOnce(t *testing.T) {
	t.Setenv("REPLY", strings.Repeat("all right ", 4000))
	chat := startTerminal(t, t.TempDir(), exec.Command("sh", "-c", "ulimit -f 16 && exec agent-chatter chat -t "+teamPath("capture.json")))
	chat.says("hugo> ")
	chat.presses("hello" + enter)
	chat.says("Failed to save session")
	chat.says("This conversation is not being saved")
	chat.says("hugo> ")
	chat.presses(ctrlC)
	chat.ends(exitFailed)
	if n := strings.Count(chat.stdout.String(), "Ada: "); n != 1 {
		t.Errorf("one reply is shown %d times", n)
	}
}

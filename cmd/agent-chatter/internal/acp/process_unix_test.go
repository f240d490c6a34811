//go:build unix

package acp

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/projection"
)

// program is the command as a process.
type program struct {
	*testEditor
	cmd    *exec.Cmd
	output *os.File // what the program writes
	agent  int      // the process of its member
}

// startProgram starts the command. Its member has answered a prompt in the session that is returned.
func startProgram(t *testing.T) (*program, sdk.SessionId) {
	t.Helper()
	home := t.TempDir()
	fakeTeam(t, home, "ada")
	p := &program{testEditor: &testEditor{t: t, home: home, cwd: t.TempDir(), changed: make(chan struct{})}}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), homeVariable+"="+home)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.output = write, read
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	p.input = in
	p.ClientSideConnection = sdk.NewClientSideConnection(p.testEditor, in, read)
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		read.Close()
		in.Close()
	})
	if _, err := p.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	id := p.begin()
	p.say(id, "where", sdk.StopReasonEndTurn)
	words := strings.Fields(p.text())
	if p.agent, err = strconv.Atoi(words[len(words)-1]); err != nil {
		t.Fatalf("no process in %q", p.text())
	}
	return p, id
}

// hang sends a prompt whose turn does not end by itself, and waits until it runs.
func (p *program) hang(id sdk.SessionId) (ended chan sdk.StopReason) {
	ended = make(chan sdk.StopReason, 1)
	go func() {
		r, _ := p.Prompt(context.Background(), promptOf(id, "hang"))
		ended <- r.StopReason
	}()
	p.await(says("Let me see."))
	return ended
}

// check checks that the program has ended with a code, that its last turn has a reason, and that its member has ended.
func (p *program) check(id sdk.SessionId, want projection.FinishReason) {
	p.t.Helper()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the program ended: %v", err)
	}
	if last := lastTurn(p.t, p.home, id); last.FinishReason != want {
		p.t.Errorf("the last turn is %+v", last)
	}
	if err := syscall.Kill(p.agent, 0); err != syscall.ESRCH {
		p.t.Errorf("the member's process %d is left: %v", p.agent, err)
	}
}

func TestProgramEndsWithItsClient(t *testing.T) {
	p, id := startProgram(t)
	ended := p.hang(id)
	p.input.Close()
	p.check(id, projection.Cancelled)
	if reason := <-ended; reason != sdk.StopReasonCancelled {
		t.Errorf("the prompt ended with %q", reason)
	}
}

func TestProgramEndsWhenNobodyReads(t *testing.T) {
	p, id := startProgram(t)
	p.hang(id)
	p.output.Close()
	// The answer to this cannot be written.
	if _, err := io.WriteString(p.input.(io.Writer), `{"jsonrpc":"2.0","id":99,"method":"none"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	p.check(id, projection.Cancelled)
}

func TestProgramEndsAtASignal(t *testing.T) {
	p, id := startProgram(t)
	ended := p.hang(id)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.check(id, projection.Cancelled)
	if reason := <-ended; reason != sdk.StopReasonCancelled {
		t.Errorf("the prompt ended with %q", reason)
	}
}

func TestSessionOfAKilledProgramIsLoaded(t *testing.T) {
	p, id := startProgram(t)
	p.hang(id)
	shown := p.text()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait()
	e := start(t, p.home, "")
	if _, err := e.load(id); err != nil {
		t.Fatal(err)
	}
	first := shown[:strings.LastIndex(shown, "**Ada**")] // of the second turn, the journal may lack the last two seconds
	if got := e.text(); !strings.HasPrefix(got, first) || !strings.Contains(got, "the program ended") {
		t.Errorf("loaded %q, shown before %q", got, shown)
	}
	e.say(id, "say again", sdk.StopReasonEndTurn)
	e.end()
	var reasons []projection.FinishReason
	for _, event := range payloads(t, p.home, id) {
		if ended, ok := event.(projection.TurnEnded); ok {
			reasons = append(reasons, ended.FinishReason)
		}
	}
	if len(reasons) != 3 || reasons[1] != projection.Interrupted {
		t.Errorf("the turns ended with %v", reasons)
	}
}

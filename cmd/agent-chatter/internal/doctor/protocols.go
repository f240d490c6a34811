package doctor

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

const (
	// answerTime is for a command to start, to answer one request and to end; it takes a fraction of a second.
	answerTime = 30 * time.Second
	// maxAnswer is the length of an answer in bytes, which takes about 1,000.
	maxAnswer = 1 << 20
)

// checkACP checks that this program answers an editor.
func (d *doctor) checkACP() []app.Finding {
	return d.checkProtocol("acp", "an editor", `"protocolVersion":1,"clientCapabilities":{}`)
}

// checkMCP checks that this program answers an agent that searches sessions.
func (d *doctor) checkMCP() []app.Finding {
	return d.checkProtocol("mcp", "an agent",
		`"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"doctor","version":"1"}`)
}

// checkProtocol starts a command that speaks a protocol for a client, and checks that it answers the request initialize
// with some parameters. The command gets an empty home, so that it writes nothing to this one.
func (d *doctor) checkProtocol(command, client, params string) []app.Finding {
	if d.Program == "" {
		return nil
	}
	empty, err := os.MkdirTemp("", "agent-chatter-doctor-")
	if err != nil {
		return []app.Finding{protocolText(command, client, err)}
	}
	defer os.RemoveAll(empty)
	ctx, stop := context.WithTimeout(d.ctx, answerTime)
	defer stop()
	cmd := exec.CommandContext(ctx, d.Program, "--offline", command)
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+empty)
	version, err := initialize(cmd, params)
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %s", answerTime)
	}
	if err != nil {
		return []app.Finding{protocolText(command, client, err)}
	}
	return []app.Finding{app.Fine(fmt.Sprintf("it answers %s with version %s of the protocol",
		client, tty.SafeLine(version)))}
}

// initialize starts a command, sends it the request initialize, and returns the version of the protocol in its answer.
func initialize(cmd *exec.Cmd, params string) (version string, err error) {
	var printed strings.Builder
	cmd.Stderr, cmd.WaitDelay = &printed, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	version, err = exchange(in, out, params)
	if err != nil {
		_ = cmd.Process.Kill() // it may have ended
	}
	ended := cmd.Wait()
	reason, _, _ := strings.Cut(strings.TrimSpace(printed.String()), "\n")
	if errors.Is(err, errNoAnswer) && reason != "" {
		err = errors.New(reason)
	}
	return version, cmp.Or(err, ended)
}

var (
	errNoAnswer  = errors.New("it ends without an answer")
	errNoMessage = errors.New("standard output has a line that is no answer")
	errMore      = errors.New("standard output has more than the answer")
)

// exchange sends the request, reads its answer, and then closes in, after which out must end.
func exchange(in io.WriteCloser, out io.Reader, params string) (version string, err error) {
	defer in.Close()
	// That a command has ended already shows in its missing answer.
	_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{%s}}`+"\n", params)
	answers := bufio.NewReaderSize(out, maxAnswer)
	line, err := answers.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return "", errNoAnswer
	}
	var answer struct {
		JSONRPC string
		ID      int
		Result  struct{ ProtocolVersion json.RawMessage }
	}
	if json.Unmarshal(line, &answer) != nil || answer.JSONRPC != "2.0" || answer.ID != 1 ||
		len(answer.Result.ProtocolVersion) == 0 {
		return "", errNoMessage
	}
	in.Close()
	if _, err := answers.ReadByte(); !errors.Is(err, io.EOF) {
		return "", cmp.Or(err, errMore)
	}
	return strings.Trim(string(answer.Result.ProtocolVersion), `"`), nil
}

// protocolText is for a command that does not speak its protocol.
func protocolText(command, client string, err error) app.Finding {
	return app.Wrong("it does not answer "+client+": "+tty.SafeLine(err.Error()), "",
		app.To("see what it prints", command))
}

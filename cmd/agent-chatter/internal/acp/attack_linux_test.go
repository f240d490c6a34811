package acp

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// peakMemory returns the most memory that a process had, in bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no peak in %s", status)
	}
	kilobytes, err := strconv.Atoi(string(peak[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

func TestHostileInputIsAnswered(t *testing.T) {
	home := t.TempDir()
	fakeTeam(t, home, "ada")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), homeVariable+"="+home)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	answers := bufio.NewReader(out)
	large, tooLong := strings.Repeat("x", 9_000_000), 20<<20
	if sizetest.Full() {
		tooLong = 100 << 20
	}
	for _, test := range []struct{ name, line, want string }{
		{"garbage", "\x00\xff{", `"id":null,"error":{"code":-32700`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, `"id":null,"error":{"code":-32600`},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `"id":1,"error":{"code":-32602`},
		{"initialize", `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":7}}`, `"protocolVersion":1`},
		{"an unknown method", `{"jsonrpc":"2.0","id":3,"method":"session/explode","params":{}}`, `"id":3,"error":{"code":-32601`},
		{"an extension", `{"jsonrpc":"2.0","id":4,"method":"_x","params":{}}`, `"id":4,"error":{"code":-32601`},
		{"modes", `{"jsonrpc":"2.0","id":5,"method":"session/set_mode","params":{"sessionId":"a","modeId":"b"}}`, `-32601`},
		{"a relative directory", `{"jsonrpc":"2.0","id":6,"method":"session/new","params":{"cwd":".","mcpServers":[]}}`, `-32602`},
		{"an unknown session", `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}}`, `-32002`},
		{
			"a prompt that is too long", `{"jsonrpc":"2.0","id":"big","method":"session/prompt","params":{"x":"` +
				strings.Repeat("x", tooLong) + `"}}`, `"id":"big","error":{"code":-32600`,
		},
		{
			"a prompt of 9 MB", `{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"a","prompt":[` +
				`{"type":"text","text":"` + large + `"}]}}`, `"id":8,"error":{"code":-32002`,
		},
		{"the id again", `{"jsonrpc":"2.0","id":8,"method":"session/list","params":{}}`, `"id":8,"result":{"sessions":[]}`},
	} {
		if _, err := io.WriteString(in, test.line+"\n"); err != nil {
			t.Fatal(test.name, err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil || !strings.Contains(answer, test.want) {
			t.Fatalf("%s: answered %.500q, %v; want %q", test.name, answer, err, test.want)
		}
	}
	if peak := peakMemory(t, cmd.Process.Pid); peak > 200<<20 && !racetest.Enabled { // the detector needs its own
		t.Errorf("the program took %d bytes of memory", peak)
	}
	in.Close()
	if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
		t.Errorf("at the end: %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

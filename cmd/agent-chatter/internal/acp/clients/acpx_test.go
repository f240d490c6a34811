package clients

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// TestAcpx uses acpx, a command-line client, as its users do: one prompt, then a session with two.
func TestAcpx(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if out := d.acpx(t, "exec", "@critic\nsay from acpx"); !strings.Contains(out, "from acpx") {
		t.Errorf("acpx exec: %q", out)
	}
	if out := d.acpx(t, "exec", "@critic\nask rm -r /"); !strings.Contains(out, "selected this-time") {
		t.Errorf("acpx exec with a permission: %q", out)
	}
	d.run(t, "verify")
}

// acpx runs a command of acpx with the program as its agent, approving everything, and returns its output.
func (d desk) acpx(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	agent := strings.Join([]string{d.program, "--home", d.home, "acp", "-t", d.team}, " ")
	cmd := exec.CommandContext(ctx, programtest.NodeModule(t, ".bin/acpx"),
		append([]string{"--agent", agent, "--approve-all", "--cwd", d.dir}, args...)...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "HOME="+d.home)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("acpx %v: %v\n%s", args, err, out)
	}
	return string(out)
}

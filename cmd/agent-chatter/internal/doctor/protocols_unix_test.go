//go:build unix

package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

const answer = `echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":7}}'; `

// TestDoctorChecksProtocols starts programs in the place of this one.
func TestDoctorChecksProtocols(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"it answers":                   {"read -r request; " + answer + "read -r end || true", ""},
		"it reads the whole request":   {`read -r request; case $request in *'"method":"initialize"'*) ` + answer + ` esac`, ""},
		"it writes to its home":        {`echo x > "$AGENT_CHATTER_HOME/x"; ` + answer, ""},
		"it prints something before":   {"echo Welcome; " + answer, "a line that is no answer"},
		"it prints something after":    {answer + "echo Bye", "more than the answer"},
		"it answers with an error":     {`echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603}}'`, "a line that is no answer"},
		"it answers another request":   {strings.Replace(answer, `"id":1`, `"id":2`, 1), "a line that is no answer"},
		"it prints half a line":        {`printf '{"jsonrpc":'`, "a line that is no answer"},
		"it prints a line without end": {`yes | tr -d '\n'`, "a line that is no answer"},
		"it ends at once":              {"exit 1", "it ends without an answer"},
		"it says why it ends":          {"echo 'The disk is full.' >&2; exit 1", "The disk is full."},
		"it fails after the answer":    {answer + "exit 3", "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoctor(t.Context(), testApp(t))
			d.Program = program(t, test.script)
			t.Setenv("TMPDIR", t.TempDir())
			found := d.checkACP()
			wantFiles(t, d)
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
			switch {
			case len(found) != 1:
				t.Errorf("findings: %+v", found)
			case test.want == "" && (found[0].State != app.StateOK || !strings.Contains(found[0].What, "version 7")):
				t.Errorf("finding: %+v", found[0])
			case test.want != "" && (found[0].State != app.StateWrong || !strings.Contains(found[0].What, test.want) ||
				len(found[0].Commands) != 1):
				t.Errorf("finding: %+v, want %q", found[0], test.want)
			}
		})
	}
}

// TestDoctorEndsSilentPrograms starts one that reads nothing and writes nothing. It ends with the context.
func TestDoctorEndsSilentPrograms(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	d := newDoctor(ctx, testApp(t))
	d.Program = program(t, "exec sleep 1000")
	if found := d.checkACP(); len(found) != 1 || !strings.Contains(found[0].What, "no answer within") {
		t.Errorf("findings: %+v", found)
	}
}

func TestDoctorSkipsProtocols(t *testing.T) {
	a := testApp(t)
	if found := newDoctor(t.Context(), a).checkACP(); len(found) != 0 {
		t.Errorf("without a program: %+v", found)
	}
	a.Program = "/nonexistent/agent-chatter"
	if found := newDoctor(t.Context(), a).checkACP(); len(found) != 1 || found[0].State != app.StateWrong {
		t.Errorf("a missing program: %+v", found)
	}
}

// program writes a shell script and returns its path.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

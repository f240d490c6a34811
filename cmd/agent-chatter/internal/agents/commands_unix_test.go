//go:build unix

package agents

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// programs are programs in PATH. Only in a turn do they have a version and an answer.
var programs = map[string]string{
	"claude": `#!/bin/sh
[ -n "$AGENT_CHATTER_TURN" ] || exit 1
case "$1" in
--version) echo '2.1.329 (Claude Code)' ;;
auth) echo '{"loggedIn": true}' ;;
*)
	n=0
	while read -r line; do
		case "$line" in
		*control_request*)
			n=$((n + 1))
			echo '{"type":"control_response","response":{"subtype":"success","request_id":"'$n'"}}'
			;;
		*)
			echo '{"type":"system","subtype":"init","session_id":"s"}'
			echo '{"type":"assistant","message":{"content":[{"type":"text","text":"OK"}]}}'
			echo '{"type":"result","subtype":"success","result":"OK"}'
			;;
		esac
	done
	;;
esac
`,
	"codex": `#!/bin/sh
case "$1" in
--version) echo 'no number' ;;
*) echo 'not logged in' >&2; exit 1 ;;
esac
`,
	"gemini":    "#!/no/such/program\n",
	"codex-acp": "#!/bin/sh\necho 0.1\n",
	"tool":      "#!/bin/sh\necho a tool\n",
	"silent":    "#!/bin/sh\n",
}

// varying are the parts of an output that differ between runs.
var varying = regexp.MustCompile(`20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:[0-9.]+Z)?|in \d+\.\d s`)

func TestAgentCommandsPrint(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "commands.golden"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, bin := filepath.Join(root, "home"), filepath.Join(root, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	t.Setenv("PATH", bin)
	t.Setenv("HOME", root)
	t.Setenv("AGENT_CHATTER_HOME", home)
	verifying := func(names ...string) *verify { return &verify{Name: names, Timeout: time.Minute, Output: "text"} }
	var printed strings.Builder
	for _, test := range []struct {
		line string
		home string
		cmd  interface{ Run(*app.App) error }
	}{
		{"list", home, &list{Output: "text"}},
		{"list --output json", home, &list{Output: "json"}},
		{"info mine", home, &info{Name: "mine", Output: "text"}},
		{"verify", home, verifying()},
		{"scan", home, &scan{Output: "text"}},
		{"register claude", home, &register{Name: "claude"}},
		{"register claude", home, &register{Name: "claude"}},
		{"register --display-name Mine ' mine ' bin/tool --flag 'a b'", home, &register{
			DisplayName: "Mine", Name: " mine ", Command: []string{"bin/tool", "--flag", "a b"},
		}},
		{"info mine", home, &info{Name: "mine", Output: "text"}},
		{"register --replace mine silent", home, &register{Replace: true, Name: "mine", Command: []string{"silent"}}},
		{"register ' '", home, &register{Name: " ", Command: []string{"tool"}}},
		{"register $'a\\nb' tool", home, &register{Name: "a\nb", Command: []string{"tool"}}},
		{"register mine ''", home, &register{Name: "mine", Command: []string{""}}},
		{"register unknown", home, &register{Name: "unknown"}},
		{"register gone missing", home, &register{Name: "gone", Command: []string{"missing"}}},
		{"--home here register mine tool", "here", &register{Name: "mine", Command: []string{"tool"}}},
		{"--home here delete mine", "here", &remove{Name: "mine"}},
		{"list", home, &list{Output: "text"}},
		{"list --output json", home, &list{Output: "json"}},
		{"info claude", home, &info{Name: "claude", Output: "text"}},
		{"info mine", home, &info{Name: "mine", Output: "text"}},
		{"info mine --output json", home, &info{Name: "mine", Output: "json"}},
		{"scan --output json", home, &scan{Output: "json"}},
		{"scan --register", home, &scan{Register: true, Output: "text"}},
		{"scan --register", home, &scan{Register: true, Output: "text"}},
		{"verify claude", home, verifying("claude")},
		{"verify claude mine", home, verifying("claude", "mine")},
		{"verify --skip-dry-run", home, &verify{SkipDryRun: true, Timeout: time.Minute, Output: "text"}},
		{"verify --skip-dry-run --output json mine", home, &verify{
			Name: []string{"mine"}, SkipDryRun: true, Timeout: time.Minute, Output: "json",
		}},
		{"verify --timeout 0s", home, &verify{}},
		{"verify --timeout 1ns --skip-dry-run mine", home, &verify{
			Name: []string{"mine"}, SkipDryRun: true, Timeout: 1, Output: "text",
		}},
		{"verify -t demo mine", home, &verify{Team: "demo", Name: []string{"mine"}, Timeout: time.Minute}},
		{"verify -t demo --skip-dry-run", home, &verify{
			Team: "demo", SkipDryRun: true, Timeout: time.Minute, Output: "text",
		}},
		{"verify -t missing", home, &verify{Team: "missing", Timeout: time.Minute, Output: "text"}},
		{"verify gone", home, verifying("gone")},
		{"list", home, &list{Output: "text"}},
		{"info claude", home, &info{Name: "claude", Output: "text"}},
		{"info claude --output json", home, &info{Name: "claude", Output: "json"}},
		{"delete mine", home, &remove{Name: "mine"}},
		{"delete mine", home, &remove{Name: "mine"}},
	} {
		var stdout, stderr strings.Builder
		a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: test.home})
		if err != nil {
			t.Fatal(err)
		}
		code := a.Fail(test.cmd.Run(a))
		fmt.Fprintf(&printed, "# %s\n-- stdout --\n%s-- stderr --\n%s-- exit code %d\n\n",
			test.line, stdout.String(), stderr.String(), code)
	}
	got := varying.ReplaceAllString(strings.ReplaceAll(printed.String(), root, "ROOT"), "TIME")
	apptest.Golden(t, golden, got)
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	var working []string
	for _, s := range Working(t.Context(), a) {
		working = append(working, s.Name+" "+s.Version)
	}
	if want := []string{"claude 2.1.329", "codex "}; !slices.Equal(working, want) {
		t.Errorf("working are %q, want %q", working, want)
	}
}

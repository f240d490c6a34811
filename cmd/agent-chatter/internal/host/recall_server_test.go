package host

import (
	"io"
	"os"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

func TestRecallStartsThisProgramInTheHome(t *testing.T) {
	home := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		offline bool
		teamID  string
		want    []string
	}{
		{false, "", []string{"--home", home, "mcp"}},
		{true, "-x y", []string{"--home", home, "--offline", "mcp", "--team=-x y"}},
	} {
		a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home, Offline: tt.offline})
		if err != nil {
			t.Fatal(err)
		}
		if s := RecallServer(a)(tt.teamID); s.Command != program || !slices.Equal(s.Args, tt.want) || s.Env != nil {
			t.Errorf("team %q: %s %q", tt.teamID, s.Command, s.Args)
		}
	}
}

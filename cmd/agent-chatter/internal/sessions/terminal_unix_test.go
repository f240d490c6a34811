//go:build unix

package sessions

import (
	"os"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestTerminalsWithoutColorsGetNoSequences(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	for _, tt := range []struct {
		name string
		run  func(*app.App) error
		want string
	}{
		{"list", (&List{Limit: 20, Output: "text"}).Run, "\x1b[1mTITLE\x1b[m  \x1b[1mTEAM\x1b[m"},
		{"search", (&Search{Text: "two", Output: "text"}).Run, "  \x1b[36m0T1A#6 \x1b[m  \x1b[1;36mAda\x1b[m  \x1b[1;33mtwo\x1b[m\n"},
		{"show", (&Show{ID: apptest.AliceID, Output: "text"}).Run, "\n\x1b[2mtitle\x1b[m              one\n"},
		{"replay", (&Replay{ID: apptest.AliceID, Output: "text"}).Run, "\x1b[1;36mAda\x1b[m\n"},
	} {
		for _, plain := range []bool{false, true} {
			shown := apptest.OnTerminal(t, 80, func(terminal *os.File) {
				a, err := app.New(app.IO{Stdout: terminal, Stderr: &strings.Builder{}, NoColor: plain}, app.Options{Home: home})
				if err != nil {
					t.Fatal(err)
				}
				if err := tt.run(a); err != nil {
					t.Error(err)
				}
			})
			want := tt.want
			for _, sequence := range []string{"\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[1;36m", "\x1b[1;33m", "\x1b[m"} {
				if plain {
					want = strings.ReplaceAll(want, sequence, "")
				}
			}
			if !strings.Contains(shown, want) || plain && strings.Contains(shown, "\x1b") {
				t.Errorf("%s, without colours %v: %q, want %q", tt.name, plain, shown, want)
			}
		}
	}
}

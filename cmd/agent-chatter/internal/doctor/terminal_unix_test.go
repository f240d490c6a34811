//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/google/go-cmp/cmp"
)

// findingsVariable makes the test binary print findings on its terminal instead of running tests.
const findingsVariable = "AGENT_CHATTER_TEST_FINDINGS"

func TestMain(m *testing.M) {
	os.Unsetenv("DISPLAY") // there is no web browser
	os.Unsetenv("WAYLAND_DISPLAY")
	if os.Getenv(findingsVariable) != "" {
		printFindings()
		return
	}
	os.Exit(m.Run())
}

// printFindings prints findings as doctor does. Those that depend on the machine have fixed values.
func printFindings() {
	a, err := app.New(app.IO{Stdout: os.Stdout, Stderr: os.Stderr, NoColor: os.Getenv("NO_COLOR") != ""}, app.Options{})
	if err != nil {
		panic(err)
	}
	const home = "/home/eva/.agent-chatter"
	damaged := catalog.Session{ID: apptest.AliceID}
	damaged.Damaged = "line 12 (byte 4711): the checksum does not match"
	var names []string
	for _, check := range checks {
		names = append(names, check.name)
	}
	list := view.FindingsOnTerminal(a, "text", names...)
	for _, f := range []struct {
		check string
		app.Finding
	}{
		{"home", homeText(home)},
		{"permissions", openText(home, 2, "all users", home+"/sessions/demo/"+apptest.AliceID+".jsonl", 0o644)},
		{"network", app.NetworkText(home, "nfs4")},
		{"locks", app.Fine(textExclusive)},
		{"disk", diskText(true)},
		{"space", spaceFinding(512<<20, 180_000)},
		{"sessions", sessionsText("demo", 214)},
		{"sessions", damagedText(damaged)},
		{"trash", app.Fine(textEmptyTrash)},
		{"files", app.Fine(textNoneCaptured)},
		{"trust.json", app.Fine(textNoTrust)},
	} {
		f.Check = f.check
		if err := (&Doctor{Output: "text"}).print(a, list, f.Finding); err != nil {
			panic(err)
		}
	}
	if err := list.End(checkedText(9, 2, 2), nil); err != nil {
		panic(err)
	}
}

func TestDoctorScreens(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	apptest.Screens(t, filepath.Join("testdata", "doctor"), "agent-chatter doctor", func(dir string) {
		script := "#!/bin/sh\n" + findingsVariable + "=1 exec " + binary + "\n"
		if err := os.WriteFile(filepath.Join(dir, "agent-chatter"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	})
}

// doctorOnTerminal returns what doctor prints on a wide terminal, and its exit code.
func doctorOnTerminal(t *testing.T, home string) (shown string, code int) {
	t.Helper()
	t.Setenv("AGENT_CHATTER_HOME", home)
	shown = apptest.OnTerminal(t, 500, func(terminal *os.File) {
		a, err := app.New(app.IO{Stdout: terminal, Stderr: terminal, NoColor: true}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		a.NetworkFS = func(string) string { return "" }
		code = a.Fail((&Doctor{Output: "text"}).Run(a))
	})
	return strings.ReplaceAll(shown, home, "HOME"), code
}

func TestDoctorOnATerminalSumsUp(t *testing.T) {
	unknown := regexp.MustCompile(`(?m)^. (space|watches|agents) .*\n( .*\n)*`)
	sound := "✓ home         HOME\n" +
		"✓ permissions  all files are yours and private\n" +
		"✓ network      the file system is local, as far as the system reports\n" +
		"✓ locks        they are exclusive; the system releases those of a crashed program\n" +
		"✓ disk         files can be written, synced and renamed; their names are case-sensitive\n" +
		"✓ config.json  there is none; the defaults apply\n" +
		"✓ sessions     there are none yet\n" +
		"✓ leftovers    there are no temporary files\n" +
		"✓ trash        it is empty\n" +
		"✓ files        none are captured yet\n" +
		"✓ worktrees    there are none\n" +
		"✓ trust.json   there is none; -t creates it\n" +
		"\n✓ 22 checks: no problem.\n"
	leftover := "⚠ leftovers    a crash left 1 temporary file (1 byte) that can be removed\n" +
		"               To remove them while no agent-chatter runs:\n" +
		"                 find HOME -name '*.tmp' -type f -delete\n"
	open := "✗ permissions  1 file or directory is open to all users, such as HOME (0755)\n" +
		"               To restrict them to yourself:\n" +
		"                 chmod -R go= HOME\n"
	for _, tt := range []struct {
		name    string
		change  func(home string) error
		replace []string
		code    int
	}{
		{"sound", func(string) error { return nil }, nil, app.ExitDone},
		{"a note", func(home string) error { return os.WriteFile(filepath.Join(home, "a.tmp"), []byte("x"), 0o600) },
			[]string{"✓ leftovers    there are no temporary files\n", leftover, "✓ 22 checks: no problem", "⚠ 22 checks: no problem, 1 note"},
			app.ExitDone},
		{"a problem", func(home string) error { return os.Chmod(home, 0o755) },
			[]string{"✓ permissions  all files are yours and private\n", open, "✓ 22 checks: no problem", "✗ 22 checks: 1 problem"},
			app.ExitFailed},
		{"no home", os.Remove,
			[]string{"✓ home         HOME", "⚠ home         HOME does not exist yet; nothing was written to it\n" +
				"               The first message of a chat creates it.", "22", "12", "✓ 12 checks: no problem", "⚠ 12 checks: no problem, 1 note",
				"✓ permissions  all files are yours and private\n", "", "✓ sessions     there are none yet\n", "",
				"✓ locks        they are exclusive; the system releases those of a crashed program\n", "",
				"✓ disk         files can be written, synced and renamed; their names are case-sensitive\n", "",
				"✓ leftovers    there are no temporary files\n", "", "✓ trash        it is empty\n✓ files        none are captured yet\n✓ worktrees    there are none\n", ""}, app.ExitDone},
	} {
		home := filepath.Join(t.TempDir(), "home")
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := tt.change(home); err != nil {
			t.Fatal(err)
		}
		shown, code := doctorOnTerminal(t, home)
		want := sound
		for i := 0; i < len(tt.replace); i += 2 {
			want = strings.Replace(want, tt.replace[i], tt.replace[i+1], 1)
		}
		if diff := cmp.Diff(want, unknown.ReplaceAllString(shown, "")); diff != "" || code != tt.code {
			t.Errorf("%s: exit code %d (-want +got):\n%s", tt.name, code, diff)
		}
	}
}

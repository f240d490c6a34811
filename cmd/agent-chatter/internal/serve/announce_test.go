package serve

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// newApp returns an App of a new home in a new working directory.
func newApp(t *testing.T) (a *app.App, stdout, stderr *strings.Builder) {
	t.Helper()
	t.Chdir(t.TempDir())
	stdout, stderr = new(strings.Builder), new(strings.Builder)
	a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return a, stdout, stderr
}

// announced returns what a command prints at its start.
func announced(t *testing.T, cmd Command) (stdout, stderr string, p *pairing) {
	t.Helper()
	a, out, notices := newApp(t)
	s, err := cmd.listen(a.Home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p = newPairing(a, s)
	directories, err := cmd.directories(a)
	if err == nil {
		err = cmd.announce(a, p, s.origin+"/#token=sesame", directories)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), notices.String(), p
}

func TestAddressesArePrinted(t *testing.T) {
	stdout, stderr, p := announced(t, Command{
		Addr: "127.0.0.1:0", Chat: true, Pair: true, Role: web.RoleAnswer, TLSOwn: true, Output: "text",
	})
	if stdout != p.server.origin+"/#token=sesame\n" {
		t.Errorf("the address: %s", stdout)
	}
	_, code, _ := strings.Cut(stderr, p.server.origin+"/#pair=")
	code, _, _ = strings.Cut(code, "\n")
	if g, err := p.codes.Take(code); g.Role != web.RoleAnswer || err != nil {
		t.Errorf("the code %q is for %q, %v", code, g.Role, err)
	}
	for _, want := range []string{"let agents work in " + p.app.Cwd, p.server.authority.Fingerprint(), p.server.origin + "/ca"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, "█") || strings.Contains(stderr, "Enter") {
		t.Errorf("without a terminal, there is\n%s", stderr)
	}
}

func TestAddressesAsJSON(t *testing.T) {
	stdout, stderr, p := announced(t, Command{Addr: "127.0.0.1:0", Pair: true, Role: web.RoleAll, TLSOwn: true, Output: "json"})
	var all map[string]string
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || stderr != "" {
		t.Fatalf("%s, %v, %s", stdout, err, stderr)
	}
	if all["authority"] != p.server.origin+"/ca" || all["fingerprint"] != p.server.authority.Fingerprint() ||
		all["token"] != p.server.token || !strings.HasPrefix(all["pair"], p.server.origin+"/#pair=") {
		t.Errorf("%v", all)
	}
	stdout, _, _ = announced(t, Command{Addr: "127.0.0.1:0", Output: "json"})
	if strings.Contains(stdout, "pair") || strings.Contains(stdout, "authority") {
		t.Errorf("without pairing: %s", stdout)
	}
}

func TestAllowedDirectories(t *testing.T) {
	a, _, _ := newApp(t)
	here, err := filepath.EvalSymlinks(a.Cwd)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir("work", 0o700), os.WriteFile("file", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	programtest.SkipOnWindows(t, os.Symlink("work", "link"))
	work := filepath.Join(here, "work")
	for _, test := range []struct {
		cmd  Command
		want []string
		code int
	}{
		{Command{}, nil, app.ExitDone},
		{Command{Chat: true}, []string{here}, app.ExitDone},
		{Command{Chat: true, Allow: []string{"work", "link", work, "."}}, []string{work, here}, app.ExitDone},
		{Command{Allow: []string{"work"}}, nil, app.ExitUsage},
		{Command{Chat: true, Allow: []string{"work", "missing"}}, nil, app.ExitNotFound},
		{Command{Chat: true, Allow: []string{"file"}}, nil, app.ExitNotFound},
	} {
		got, err := test.cmd.directories(a)
		if !slices.Equal(got, test.want) || app.CodeOf(err) != test.code {
			t.Errorf("%+v: %q, %v", test.cmd, got, err)
		}
	}
}

// Who could change the list of devices, or its home, would run agents.
func TestUnsafeHomesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(home string) error{
		"a list of no devices": func(home string) error {
			return os.WriteFile(filepath.Join(home, "devices.json"), []byte("{"), 0o600)
		},
		"a home that others can write": func(home string) error { return os.Chmod(home, 0o777) },
	} {
		a, _, _ := newApp(t)
		if err := spoil(a.Home); err != nil {
			t.Fatal(err)
		}
		p := newPairing(a, nil)
		if err := (&Command{}).checkHome(a, p); err != nil {
			t.Errorf("%s, reading: %v", name, err)
		}
		for _, cmd := range []Command{{Chat: true}, {Pair: true}} {
			if err := cmd.checkHome(a, p); err == nil && filepath.Separator == '/' {
				t.Errorf("%s: it is used", name)
			}
		}
	}
}

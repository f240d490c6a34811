//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// asReader runs a program as a user to whom permissions apply: not as root.
func asReader(t *testing.T, home string, args ...string) *program {
	t.Helper()
	cmd := exec.Command("agent-chatter", args...)
	if os.Getuid() == 0 {
		cmd = exec.Command(publicProgram(t), args...)
		cmd.Dir = filepath.Dir(cmd.Path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		letIn(t, home)
	}
	p := startCommand(t, home, cmd)
	p.closeInput()
	return p
}

// shareExcept makes a home readable by all users, except for one path.
func shareExcept(t *testing.T, home string, closed string) {
	t.Helper()
	if out, err := exec.Command("chmod", "-R", "a+rX", home).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(closed, 0o700) })
}

func TestUnreadableTeamDirectoryIsReportedAndSkipped(t *testing.T) {
	racetest.SkipSequential(t)
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello there")
	id, _ := onlyJournal(t, home)
	do(t, home, exitDone, "chat", "-t", teamPath("echo-pair.json"), "-m", "of another team")
	shareExcept(t, home, filepath.Join(home, "sessions", "echo-pair"))
	for _, test := range []struct {
		args  []string
		code  int
		shows string
	}{
		{[]string{"sessions"}, exitDone, "hello there"},
		{[]string{"sessions", "search", "hello"}, exitDone, "hello there"},
		{[]string{"replay", "latest"}, exitDone, "hello there"},
		{[]string{"tail", "--all"}, exitDone, "hello there"},
		{[]string{"verify"}, exitFailed, id + "  ok"},
		{[]string{"compact", "--dry-run", "--archive-after", "0s", "--keep", "0"}, exitDone, id},
		{[]string{"sessions", "clean", "--dry-run", "--older-than", "0s"}, exitFailed, id},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			p := asReader(t, home, test.args...)
			p.ends(test.code)
			if !strings.Contains(p.stdout.String(), test.shows) {
				t.Errorf("stdout is %q, want %q", p.stdout, test.shows)
			}
			if said := p.stderr.String(); strings.Count(said, "permission denied") != 1 ||
				!strings.Contains(said, "echo-pair") {
				t.Errorf("stderr is %q", said)
			}
		})
	}
	p := asReader(t, home, "replay", id)
	p.ends(exitDone)
	if said := p.stderr.String(); said != "" {
		t.Errorf("stderr for a session of another team is %q", said)
	}
}

func TestImportContinuesAfterUnreadableDirectory(t *testing.T) {
	home, there := t.TempDir(), t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello there")
	id, _ := onlyJournal(t, home)
	do(t, home, exitDone, "chat", "-t", teamPath("echo-pair.json"), "-m", "of another team")
	shareExcept(t, home, filepath.Join(home, "sessions", "echo-pair"))
	if err := os.Chmod(there, 0o777); err != nil {
		t.Fatal(err)
	}
	p := asReader(t, there, "sessions", "import", filepath.Join(home, "sessions"))
	p.ends(exitFailed)
	if !strings.Contains(p.stdout.String(), id+"  imported  3 of 3 messages") {
		t.Errorf("stdout is %q", p.stdout)
	}
	if said := p.stderr.String(); !strings.Contains(said, "echo-pair: permission denied") ||
		!strings.Contains(said, "Not imported: 1 of 2 sessions.") {
		t.Errorf("stderr is %q", said)
	}
}

func TestUnreadableJournalIsNotReportedAsDamaged(t *testing.T) {
	racetest.SkipSequential(t)
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello there")
	sound, _ := onlyJournal(t, home)
	stdout, _ := do(t, home, exitDone, "sessions", "fork", sound)
	id := strings.TrimSpace(stdout)
	path := filepath.Join(home, "sessions", "demo", id+".jsonl")
	os.Remove(filepath.Join(home, "sessions", "demo", "sessions.json"))
	shareExcept(t, home, path)
	for _, test := range []struct {
		args  []string
		code  int
		shows string
	}{
		{[]string{"sessions"}, exitDone, "[unreadable]"},
		{[]string{"sessions", "--output", "json"}, exitDone, `"unreadable":true`},
		{[]string{"sessions", "search", "hello"}, exitDone, "hello there"},
		{[]string{"replay", "latest"}, exitDone, "hello there"},
		{[]string{"replay", id}, exitFailed, ""},
		{[]string{"verify"}, exitFailed, id + "  unreadable  "},
		{[]string{"verify", id}, exitFailed, id + "  unreadable  "},
		{[]string{"repair", id}, exitFailed, ""},
		{[]string{"doctor"}, exitFailed, path + ": permission denied"},
		{[]string{"chat", "--resume", "--follow", "--output", "json"}, exitDone, sound},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			p := asReader(t, home, test.args...)
			if slices.Contains(test.args, "--follow") {
				p.expect(test.shows)
				p.signal(syscall.SIGTERM)
			}
			p.ends(test.code)
			said := p.stdout.String() + p.stderr.String()
			if !strings.Contains(p.stdout.String(), test.shows) || strings.Contains(said, "[damaged]") ||
				strings.Contains(said, "is damaged") {
				t.Errorf("stderr is %q", said)
			}
		})
	}
}

func TestUnreadableOnlySessionIsReported(t *testing.T) {
	racetest.SkipSequential(t)
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello there")
	_, path := onlyJournal(t, home)
	for _, caches := range []string{"known to the index", "without an index"} {
		shareExcept(t, home, path)
		for _, args := range [][]string{{"replay", "latest"}, {"chat", "--resume", "-m", "more"}} {
			p := asReader(t, home, args...)
			p.ends(exitFailed)
			if said := p.stderr.String(); !strings.Contains(said, "permission denied") ||
				!strings.Contains(said, "Check the permissions there") {
				t.Errorf("%s: %q prints %q", caches, args, said)
			}
		}
		os.Remove(filepath.Join(filepath.Dir(path), "sessions.json"))
	}
}

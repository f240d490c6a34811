package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// limited returns agent-chatter in a user namespace with a limit of a resource of
// inotify.
func limited(t *testing.T, resource string, limit int, args ...string) *exec.Cmd {
	t.Helper()
	script := fmt.Sprintf(`echo %d > /proc/sys/user/max_inotify_%s && exec "$0" "$@"`, limit, resource)
	namespace := []string{"--user", "--map-root-user", "sh", "-c", script}
	if err := exec.Command("unshare", append(namespace, "true")...).Run(); err != nil {
		t.Skip("there are no user namespaces:", err)
	}
	return exec.Command("unshare", append(append(namespace, "agent-chatter"), args...)...)
}

func TestTailAllWithoutInotifyPollsAndSaysSoOnce(t *testing.T) {
	skipIfShort(t)
	for name, test := range map[string]struct {
		resource string
		limit    int
		says     string
	}{
		"no watcher":   {"instances", 0, "max_user_instances"},
		"no watch":     {"watches", 0, "max_user_watches"},
		"watch of one": {"watches", 1, "max_user_watches"}, // of two directories
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			do(t, home, exitDone, "chat", "-m", "before it began")
			do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "of another team")
			tail := startCommand(t, home, limited(t, test.resource, test.limit, "tail", "-f", "--all", "-n", everything,
				"--output", "json"))
			tail.expect("of another team")
			for _, row := range listed(t, home) {
				do(t, home, exitDone, "chat", "--resume", row.ID, "-m", "more of "+row.ID)
				tail.expect("more of " + row.ID)
			}
			do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "a new one")
			sameJournals(t, home, tail)
			if said := tail.stderr.String(); strings.Count(said, "The system does not report") != 1 ||
				!strings.Contains(said, test.says) {
				t.Errorf("stderr is\n%s", said)
			}
		})
	}
}

func TestTailWithoutInotifySaysSoOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "before it began")
	tail := startCommand(t, home, limited(t, "instances", 0, "tail", "-f"))
	tail.expect("session.ended")
	for n := range 3 {
		text := fmt.Sprint("message ", n)
		do(t, home, exitDone, "chat", "--resume", "-m", text)
		tail.expect(text)
		tail.expect("session.ended")
	}
	tail.signal(syscall.SIGINT)
	tail.ends(exitDone)
	if said := tail.stderr.String(); strings.Count(said, "The system does not report") != 1 {
		t.Errorf("stderr is\n%s", said)
	}
}

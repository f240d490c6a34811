package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDiskCallsThatFail lets strace fail the system calls of the program, the
// first of a kind in each of its threads, then the second, and so on, until a
// run needs none: once, and from then on. Which one failed of all of them says
// the log.
func TestDiskCallsThatFail(t *testing.T) {
	needsDisks(t)
	t.Setenv("GOMAXPROCS", "1") // the fewer threads call, the more of the calls can be chosen
	for _, f := range []struct {
		calls   string
		err     string
		says    string
		journal bool // only those on the journal and what is written to replace it
		during  []workload
	}{
		{"fdatasync", "EIO", "input/output error", false, workloads},
		{"fsync", "EIO", "input/output error", false, workloads},
		{"write", "ENOSPC", "no space left on device", true, workloads[1:]},
		{"rename,renameat,renameat2", "EIO", "input/output error", false, workloads},
		{"ftruncate", "EIO", "input/output error", false, workloads[2:]},
	} {
		for _, how := range []string{"once", "from then on"} {
			for _, w := range f.during {
				t.Run(fmt.Sprintf("%s %s, %s", f.calls, how, w.name), func(t *testing.T) {
					said := reply(t, 300)
					runs, failed, first := 0, 0, map[int]bool{}
					for nth := 1; !t.Failed(); nth++ {
						b := &broken{t: t, home: t.TempDir(), said: said, says: f.says}
						b.prepare(w.prepare)
						if !b.talk(f.calls, f.err, fmt.Sprintf("%d%s", nth, map[string]string{"from then on": "+"}[how]), f.journal) {
							break
						}
						runs++
						first[b.firstFailed(f.calls)] = true
						if b.code == exitFailed {
							failed++
						}
						b.goOn()
						if t.Failed() {
							t.Logf("number %d failed: exit code %d\nstderr:\n%s\ncalls:\n%s", nth, b.code, b.stderr, b.calls)
						}
					}
					if runs == 0 {
						t.Error("no call failed")
					}
					t.Logf("%d runs in which a call failed, first number %v; %d could not save everything", runs, slices.Sorted(maps.Keys(first)), failed)
				})
			}
		}
	}
}

// workload is what there is before the calls fail.
type workload struct {
	name    string
	prepare func(t *testing.T, path string) // what to do to the journal of one message; nil: there is none
}

var workloads = []workload{
	{"a new session", nil},
	{"a resumed session", func(*testing.T, string) {}},
	{"a torn session", func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(`{"seq":`); err != nil {
			t.Fatal(err)
		}
	}},
}

// broken is a chat whose system calls fail.
type broken struct {
	t          *testing.T
	home       string
	path       string // of the journal; "": there is none yet
	said, says string // the replies; what the system says of the failure

	before, want []string // messages: before the chat, and those that it is to add
	calls        string   // as strace saw them
	code         int
	stderr       string
}

func (b *broken) prepare(prepare func(*testing.T, string)) {
	b.t.Helper()
	if prepare == nil {
		return
	}
	do(b.t, b.home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "zero")
	_, b.path = onlyJournal(b.t, b.home)
	b.before = dialogue(b.said, "zero")
	prepare(b.t, b.path)
}

// talk says two messages while calls fail, and reports whether one did.
func (b *broken) talk(calls, err, when string, journal bool) bool {
	b.t.Helper()
	trace := filepath.Join(b.t.TempDir(), "trace")
	args := []string{"-f", "-o", trace, "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%s", calls, err, when)}
	if journal {
		args = append(args, "-P", b.path, "-P", b.path+".tmp")
	}
	args = append(args, "agent-chatter", "chat", "-t", teamPath("capture.json"), "-m", "one", "-m", "two")
	if b.path != "" {
		args = append(args, "--resume")
	}
	p := startCommand(b.t, b.home, exec.Command("strace", args...))
	p.closeInput()
	<-p.ended
	b.code, b.stderr, b.calls = p.cmd.ProcessState.ExitCode(), p.stderr.String(), readFile(b.t, trace)
	b.want = append(slices.Clone(b.before), dialogue(b.said, "one", "two")...)
	if n := strings.Count(p.stdout.String(), "Ada: "); n != 2 {
		b.t.Errorf("it answered %d times, want 2", n)
	}
	return strings.Contains(b.calls, "(INJECTED)")
}

// firstFailed is the number of the call that was the first to fail, among those
// of all threads.
func (b *broken) firstFailed(calls string) int {
	started, number := 0, map[string]int{} // of the last call of each thread
	for line := range strings.Lines(b.calls) {
		thread, call, _ := strings.Cut(line, " ")
		name, _, _ := strings.Cut(strings.TrimSpace(call), "(")
		if slices.Contains(strings.Split(calls, ","), name) {
			started++
			number[thread] = started
		}
		if strings.Contains(line, "(INJECTED)") {
			return number[thread]
		}
	}
	return 0
}

// goOn checks what the chat left, and goes on with it.
func (b *broken) goOn() {
	b.t.Helper()
	told := strings.LastIndex(b.stderr, "Failed to save session: ")
	saved := strings.LastIndex(b.stderr, "✓ Everything is saved again.")
	if told >= 0 && !strings.Contains(b.stderr[told:], b.says) {
		b.t.Errorf("it does not say %q", b.says)
	}
	if offered := strings.Contains(b.stderr, "To go on: "); offered != (b.code == exitDone) {
		b.t.Errorf("it says how to go on: %v", offered)
	}
	var got []string
	if paths, _ := filepath.Glob(filepath.Join(b.home, "sessions", "*", "*.jsonl")); len(paths) > 0 {
		do(b.t, b.home, exitDone, "verify")
		if list, _ := do(b.t, b.home, exitDone, "sessions"); list != "" {
			got = spoken(b.t, b.home)
		}
	}
	switch {
	case b.code == exitDone && told <= saved && slices.Equal(got, b.want):
	case b.code == exitFailed && told > saved && len(got) >= len(b.before) && len(got) <= len(b.want) && slices.Equal(got, b.want[:len(got)]):
	default:
		b.t.Errorf("the session has %.500q, want %.500q", got, b.want)
	}
	args := []string{"chat", "-t", teamPath("capture.json"), "-m", "three"}
	if len(got) > 0 {
		args = append(args, "--resume")
	}
	do(b.t, b.home, exitDone, args...)
	if all := append(got, dialogue(b.said, "three")...); !slices.Equal(spoken(b.t, b.home), all) {
		b.t.Errorf("it does not go on behind %.500q", got)
	}
	if _, stderr := do(b.t, b.home, exitDone, "verify"); stderr != "" {
		b.t.Errorf("verify says %s", stderr)
	}
}

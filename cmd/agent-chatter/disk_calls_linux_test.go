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

// TestFailingDiskCalls makes strace fail a system call of the program: the first
// of a kind in each thread, then the second, and so on, until a run has no such
// call; once, and from then on. The log lists the calls that failed.
func TestFailingDiskCalls(t *testing.T) {
	needsDisks(t)
	t.Setenv("GOMAXPROCS", "1") // strace counts calls per thread: with few threads it reaches more of them
	for _, f := range []struct {
		calls   string
		err     string
		text    string // of the system
		journal bool   // only calls on the journal and its replacement
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
						b := &brokenChat{t: t, home: t.TempDir(), reply: said, systemText: f.text}
						b.prepare(w.prepare)
						if !b.talk(f.calls, f.err, fmt.Sprintf("%d%s", nth,
							map[string]string{"from then on": "+"}[how]), f.journal) {
							break
						}
						runs++
						first[b.firstFailed(f.calls)] = true
						if b.code == exitFailed {
							failed++
						}
						b.resume()
						if t.Failed() {
							t.Logf("call %d failed: exit code %d\nstderr:\n%s\ncalls:\n%s", nth, b.code, b.stderr,
								b.calls)
						}
					}
					if runs == 0 {
						t.Error("no call failed")
					}
					t.Logf("%d runs with a failed call, first numbers %v; %d could not save everything", runs,
						slices.Sorted(maps.Keys(first)), failed)
				})
			}
		}
	}
}

// workload is the state of the home before calls fail.
type workload struct {
	name    string
	prepare func(t *testing.T, path string) // changes the journal of one message; nil: there is no session
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

// brokenChat is a chat whose system calls fail.
type brokenChat struct {
	t          *testing.T
	home       string
	path       string // of the journal; "": there is none
	reply      string
	systemText string // the text of the injected error

	before, want []string // messages before and after the chat
	calls        string   // the output of strace
	code         int
	stderr       string
}

func (b *brokenChat) prepare(prepare func(*testing.T, string)) {
	b.t.Helper()
	if prepare == nil {
		return
	}
	do(b.t, b.home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "zero")
	_, b.path = onlyJournal(b.t, b.home)
	b.before = dialogue(b.reply, "zero")
	prepare(b.t, b.path)
}

// talk sends two messages while calls fail, and reports whether one failed.
func (b *brokenChat) talk(calls, err, when string, journal bool) bool {
	b.t.Helper()
	trace := filepath.Join(b.t.TempDir(), "trace")
	args := []string{"-f", "-o", trace, "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%s", calls,
		err, when)}
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
	b.want = append(slices.Clone(b.before), dialogue(b.reply, "one", "two")...)
	if n := strings.Count(p.stdout.String(), "Ada: "); n != 2 {
		b.t.Errorf("%d replies, want 2", n)
	}
	return strings.Contains(b.calls, "(INJECTED)")
}

// firstFailed returns the number of the first failed call, counted over all
// threads.
func (b *brokenChat) firstFailed(calls string) int {
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

// resume checks the session that the chat left, and resumes it.
func (b *brokenChat) resume() {
	b.t.Helper()
	failed := strings.LastIndex(b.stderr, "Failed to save session: ")
	saved := strings.LastIndex(b.stderr, "✓ Everything is saved again.")
	if failed >= 0 && !strings.Contains(b.stderr[failed:], b.systemText) {
		b.t.Errorf("the output lacks %q", b.systemText)
	}
	if offered := strings.Contains(b.stderr, "chat --resume "); offered != (b.code == exitDone) {
		b.t.Errorf("the command that resumes is printed: %v", offered)
	}
	var got []string
	if paths, _ := filepath.Glob(filepath.Join(b.home, "sessions", "*", "*.jsonl")); len(paths) > 0 {
		do(b.t, b.home, exitDone, "verify")
		if list, _ := do(b.t, b.home, exitDone, "sessions"); list != "" {
			got = spoken(b.t, b.home)
		}
	}
	switch {
	case b.code == exitDone && failed <= saved && slices.Equal(got, b.want):
	case b.code == exitFailed && failed > saved && len(got) >= len(b.before) && len(got) <= len(b.want) &&
		slices.Equal(got, b.want[:len(got)]):
	default:
		b.t.Errorf("the session has %.500q, want %.500q", got, b.want)
	}
	args := []string{"chat", "-t", teamPath("capture.json"), "-m", "three"}
	if len(got) > 0 {
		args = append(args, "--resume")
	}
	do(b.t, b.home, exitDone, args...)
	if all := append(got, dialogue(b.reply, "three")...); !slices.Equal(spoken(b.t, b.home), all) {
		b.t.Errorf("the resumed session does not follow %.500q", got)
	}
	if _, stderr := do(b.t, b.home, exitDone, "verify"); stderr != "" {
		b.t.Errorf("verify prints %s", stderr)
	}
}

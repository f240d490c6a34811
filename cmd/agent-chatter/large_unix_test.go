//go:build unix

package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

var largeSessions = flag.Int("large", 0, "number of sessions in TestLargeHome, at least 1500; if set, the "+
	"test builds the program and runs each command nine times")

// TestLargeHome lists a home with many sessions of one team, with and without an
// index, and after a session grew, one was added and one was deleted. It logs how
// long each command takes. To measure the program with more sessions:
//
//	go test ./cmd/agent-chatter -run LargeHome -large 100000 -v -timeout 1h
func TestLargeHome(t *testing.T) {
	racetest.SkipSequential(t)
	n := *largeSessions
	l := &large{t: t, home: t.TempDir(), program: "agent-chatter", runs: 1}
	if n > 0 {
		l.runs, l.program = 9, buildProgram(t)
	}
	n = max(n, 1500) // enough sessions that a chat does not rewrite the index
	l.fill(n)
	l.time("--version", "--version")
	l.time("sessions, no index", "sessions", "--limit", "20")
	newest := l.time("sessions", "sessions", "--limit", "20")
	if rows := strings.Count(newest, "\n"); rows != 20 {
		t.Fatalf("%d rows:\n%s", rows, newest)
	}
	index := l.stat("sessions.json")

	l.append(l.ids[n/2], "It is not over")
	if list := l.time("sessions, one grew", "sessions", "--limit", "20"); !strings.Contains(strings.SplitN(list, "\n",
		2)[0], l.ids[n/2][22:]) {
		t.Errorf("the session that grew is not first:\n%s", list)
	}
	do(t, l.home, exitDone, "chat", "-m", "hello")
	if list := l.time("sessions, one is new", "sessions", "--limit", "20"); !strings.HasSuffix(strings.SplitN(list,
		"\n", 2)[0], "hello") {
		t.Errorf("the new session is not first:\n%s", list)
	}
	if err := os.Remove(l.path(l.ids[3] + ".jsonl")); err != nil {
		t.Fatal(err)
	}
	if list := l.time("sessions, one is gone", "sessions", "--limit", "20"); strings.Contains(list, l.ids[3][22:]) {
		t.Errorf("the deleted session is listed:\n%s", list)
	}
	if !os.SameFile(index, l.stat("sessions.json")) {
		t.Error("the index was rewritten for three sessions")
	}
	indexed, _ := do(t, l.home, exitDone, "sessions", "--all", "--output", "json")
	l.time("sessions show ID", "sessions", "show", l.ids[n/3])
	l.time("compact --dry-run", "compact", "--dry-run")
	if err := os.Remove(l.path("sessions.json")); err != nil {
		t.Fatal(err)
	}
	if rebuilt, _ := do(t, l.home, exitDone, "sessions", "--all", "--output", "json"); rebuilt != indexed {
		t.Error("the list without an index differs")
	}
}

// large is a home with many sessions. ids lists the newest first.
type large struct {
	t       *testing.T
	home    string
	ids     []string
	program string
	runs    int
}

// buildProgram builds the program, which starts faster than the test binary, and returns its path.
func buildProgram(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "agent-chatter")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func (l *large) fill(n int) {
	l.t.Helper()
	began := time.Now()
	var err error
	l.ids, err = catalogtest.Sessions{Count: n, Newest: time.Now().Add(-time.Minute)}.Fill(filepath.Join(l.home,
		"sessions"))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Logf("%-24s %d in %v", "sessions written", n, time.Since(began).Round(time.Millisecond))
}

func (l *large) path(name string) string { return filepath.Join(l.home, "sessions", "demo", name) }

func (l *large) stat(name string) os.FileInfo {
	l.t.Helper()
	info, err := os.Stat(l.path(name))
	if err != nil {
		l.t.Fatal(err)
	}
	return info
}

func (l *large) append(id, text string) {
	l.t.Helper()
	log, err := journal.NewDir(l.path("."), journal.Options{}).Open(context.Background(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	if _, err := log.Append(projection.Record(time.Now(), projection.NewMessage(id+"-x", time.Now(), you, text,
		nil))); err != nil {
		l.t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// time runs the program l.runs times, logs the median wall and CPU times, and returns the last output.
func (l *large) time(what string, args ...string) (stdout string) {
	l.t.Helper()
	var took, cpu []time.Duration
	for range l.runs {
		cmd := exec.Command(l.program, args...)
		cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+l.home)
		began := time.Now()
		out, err := cmd.Output()
		if err != nil {
			l.t.Fatalf("%v: %v", args, err)
		}
		took = append(took, time.Since(began))
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		stdout = string(out)
	}
	slices.Sort(took)
	slices.Sort(cpu)
	l.t.Logf("%-24s %6d ms, %6d ms CPU", what, took[l.runs/2].Milliseconds(), cpu[l.runs/2].Milliseconds())
	return stdout
}

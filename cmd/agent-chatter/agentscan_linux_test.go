package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// silent puts a program into PATH, under the name of an agent, that says its process id in the
// file that is returned, and nothing else.
func silent(t *testing.T, name string) (pids string) {
	t.Helper()
	dir := t.TempDir()
	pids = filepath.Join(dir, "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho $$ >%s\nexec sleep 300\n", pids)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return pids
}

func TestAnInterruptedScanLeavesNothingRunning(t *testing.T) {
	for _, args := range [][]string{{"agents", "scan"}, {"agents", "register", "claude"}} {
		home := t.TempDir()
		pids := silent(t, "claude")
		scan := start(t, home, args...)
		pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, pids)))
		if err != nil {
			t.Fatal(err)
		}
		scan.signal(syscall.SIGINT)
		scan.ends(exitInterrupted)
		if runs(pid) {
			t.Errorf("%v: the program still runs", args)
		}
		if agents, err := team.RegisteredAgents(home); len(agents) > 0 || err != nil {
			t.Errorf("%v: registered are %v, %v", args, agents, err)
		}
	}
}

func TestAnInterruptedVerificationSaysNothingOfTheAgent(t *testing.T) {
	home := t.TempDir()
	if err := team.Register(context.Background(), home, team.Agent{Name: "claude", Command: "claude"}); err != nil {
		t.Fatal(err)
	}
	pids := silent(t, "claude")
	verify := start(t, home, "agents", "verify")
	pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, pids)))
	if err != nil {
		t.Fatal(err)
	}
	verify.signal(syscall.SIGINT)
	verify.ends(exitInterrupted)
	if said := verify.stdout.String(); said != "" || runs(pid) {
		t.Errorf("it says %q, and the program runs: %v", said, runs(pid))
	}
}

func TestWhoDoesNotAnswerHasNotSaidThatItIsNotLoggedIn(t *testing.T) {
	silent(t, "codex")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v := &verification{app: &app{}, ctx: ctx}
	f := v.authentication(verified{team.Member{Name: "codex", AgentType: "codex", Engine: "codex"}, nil})
	if f.State != stateNote || !strings.Contains(f.What, "has not said whether it is logged in") {
		t.Errorf("%+v", f)
	}
}

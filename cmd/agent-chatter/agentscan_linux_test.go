package main

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestInterruptedScanLeavesNoProcess(t *testing.T) {
	for _, args := range [][]string{{"agents", "scan"}, {"agents", "register", "claude"}} {
		home := t.TempDir()
		pids := apptest.Silent(t, "claude")
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

func TestInterruptedVerifyReportsNoAgentState(t *testing.T) {
	home := t.TempDir()
	if err := team.Register(context.Background(), home, team.Agent{Name: "claude", Command: "claude"}); err != nil {
		t.Fatal(err)
	}
	pids := apptest.Silent(t, "claude")
	verify := start(t, home, "agents", "verify")
	pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, pids)))
	if err != nil {
		t.Fatal(err)
	}
	verify.signal(syscall.SIGINT)
	verify.ends(exitInterrupted)
	if said := verify.stdout.String(); said != "" || runs(pid) {
		t.Errorf("it prints %q, and the program runs: %v", said, runs(pid))
	}
}

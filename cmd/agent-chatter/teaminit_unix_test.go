//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// startInit runs team init on a terminal, where no agent is installed.
func startInit(t *testing.T, args ...string) (p *program, dir string) {
	t.Helper()
	program, err := exec.LookPath("agent-chatter")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	cmd := exec.Command(program, append([]string{"team", "init"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+t.TempDir())
	return startTerminal(t, filepath.Join(dir, "home"), cmd), dir
}

func TestOnATerminalAPersonIsAskedAboutTheTeam(t *testing.T) {
	p, dir := startInit(t, "talk.json")
	p.says("Agents that are there: demo")
	p.says("What is the team for? [Agents and you] ")
	p.presses("To \"talk\" <it> over\r")
	p.says("Which agents take part? [demo] ")
	p.presses("demo, nobody\r")
	p.says("There is no agent nobody.")
	p.says("Which agents take part? [demo] ")
	p.presses("codex, codex\r")
	p.says("Two members would be called codex")
	p.says("Which agents take part? [demo] ")
	p.presses("codex demo\r")
	p.says("What are you called? ")
	p.presses("Anna B.\r")
	p.says("A name has letters")
	p.presses("critic\r")
	p.says("asked again? (0: no limit) [10] ")
	p.presses("many\r")
	p.says("That is a number")
	p.presses("3\r")
	p.ends(exitDone)
	team, err := team.Load(filepath.Join(dir, "talk.json"), dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range team.Members {
		names = append(names, m.Name+" "+m.Type+" "+m.AgentType)
		if real, _ := filepath.EvalSymlinks(dir); m.BaseDir != dir && m.BaseDir != real {
			t.Errorf("%s works in %s", m.Name, m.BaseDir)
		}
	}
	want := []string{"codex ai codex", "planner ai demo", "critic ai demo", "critic-human human "}
	if len(names) != len(want) || team.Description != `To "talk" <it> over` || team.Name != "talk" || team.MaxRounds != 3 {
		t.Fatalf("%+v", team)
	}
	for i := range want {
		if names[i] != want[i] {
			t.Errorf("member %d is %q, want %q", i, names[i], want[i])
		}
	}
}

func TestQuestionsThatAreNotAnsweredWriteNothing(t *testing.T) {
	p, dir := startInit(t)
	p.says("What is the team for?")
	p.presses("\x04")
	p.says("Nothing was written.")
	p.ends(exitFailed)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

func TestWithYesNothingIsAsked(t *testing.T) {
	p, dir := startInit(t, "--yes", "talk")
	p.says("talk.json")
	p.ends(exitDone)
	if _, err := team.Load(filepath.Join(dir, ".agent-chatter", "team-config", "talk.json"), dir); err != nil {
		t.Error(err)
	}
}

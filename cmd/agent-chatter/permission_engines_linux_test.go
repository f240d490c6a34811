package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// engineTeam writes a team with two members, whose engine runs a stand-in for its agent, and returns its file.
func engineTeam(t *testing.T, dir, engine string) string {
	t.Helper()
	stand := agenttest.Member()
	switch engine {
	case "claude":
		stand = agenttest.ClaudeMember(t.TempDir())
	case "codex":
		stand = agenttest.CodexMember()
	}
	type object = map[string]any
	members := []object{{
		"name": "hugo", "displayName": "Hugo", "type": "human", "role": "human", "baseDir": ".", "systemInstruction": "",
	}}
	for _, name := range []string{"Ada", "Bob"} {
		members = append(members, object{
			"name": name, "displayName": name, "type": "ai", "role": "agent", "engine": engine, "agentType": "stand-in",
			"permissions": agent.Ask, "env": stand.Env, "baseDir": ".", "systemInstruction": "",
		})
	}
	file := filepath.Join(dir, "crew.json")
	content, err := json.Marshal(object{
		"schemaVersion": "1.2", "agents": []object{{"name": "stand-in", "command": stand.Command, "args": []string{}}},
		"team": object{"name": "crew", "description": "asks", "members": members},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// An agent of each engine does what the user of a chat allows it, and nothing that is refused, interrupted, or not
// answered when the program is killed. A script refuses all.
func TestPermissionsOfEveryEngineInAChat(t *testing.T) {
	racetest.Skip(t, "TestTerminal runs the same goroutines")
	const question, prompt = "requests permission", "hugo> "
	for _, engine := range []string{"claude", "codex", "gemini", "acp"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			team := engineTeam(t, dir, engine)
			path := func(name string) string { return filepath.Join(dir, name) }
			check := func(name string, want bool) {
				t.Helper()
				if _, err := os.Stat(path(name)); (err == nil) != want {
					t.Errorf("%s was made: %t", name, err == nil)
				}
			}
			chat := startOnTerminal(t, home, "chat", "-t", team)
			chat.expect(prompt)
			ask := func(name string) {
				t.Helper()
				chat.typeLine("touch " + path(name))
				chat.expect(question)
			}
			for name, keys := range map[string]string{
				"allowed": "y" + enter, "refused": "n" + enter, "explained": "r" + enter + "too risky" + enter,
			} {
				ask(name)
				check(name, false)
				chat.press(keys)
				chat.expect(prompt)
				check(name, name == "allowed")
			}
			ask("interrupted")
			chat.press(esc)
			chat.expect("was interrupted")
			chat.expect(prompt)
			check("interrupted", false)

			ask("session")
			chat.press("s" + enter)
			chat.expect(prompt)
			check("session", true)
			if err := os.Remove(path("session")); err != nil {
				t.Fatal(err)
			}
			chat.typeLine("touch " + path("session"))
			chat.expect(prompt) // without a question
			check("session", true)

			chat.typeLine("[NEXT: Ada, Bob] touch " + path("two"))
			chat.expect("Ada " + question)
			chat.press("n" + enter)
			chat.expect("Bob " + question)
			check("two", false)
			chat.press("y" + enter)
			chat.expect(prompt)
			check("two", true)

			ask("killed")
			if err := syscall.Kill(chat.cmd.Process.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-chat.ended
			check("killed", false)

			do(t, home, exitDone, "chat", "--resume", "-t", team, "-m", "touch "+path("script"))
			check("script", false)
			check("killed", false)
			chat = startOnTerminal(t, home, "chat", "--resume", "-t", team)
			chat.expect(prompt)
			ask("resumed")
			chat.press("y" + enter)
			chat.expect(prompt)
			check("resumed", true)
			do(t, home, exitDone, "verify")
		})
	}
}

package host

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func agentSessionTexts() []apptest.Text {
	var many []AgentSession
	for i := range maxNamed + 3 {
		many = append(many, AgentSession{Agent: "codex", ID: fmt.Sprint(i)})
	}
	return []apptest.Text{
		{Function: "AgentSessionsText", Shown: AgentSessionsText([]AgentSession{
			{MemberID: "ada", Agent: "claude", ID: "5f0c", Files: []string{"/home/ben/.claude/projects/-work/5f0c.jsonl"}},
			{MemberID: apptest.Hostile, ID: apptest.Hostile},
			{MemberID: "cy", Agent: apptest.Hostile, ID: "1", Files: []string{"/" + apptest.Hostile}},
		})},
		{Function: "AgentSessionsText", Sample: "many", Shown: AgentSessionsText(many)},
	}
}

func TestAgentSessions(t *testing.T) {
	const id = "5f0c4e1a-0b6f-4a55-9a37-0d1a3f9a8b1"
	claude, codex, home := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", claude)
	t.Setenv("CODEX_HOME", codex)
	kept := filepath.Join(claude, "projects", "-work", id+"1.jsonl")
	rollout := filepath.Join(codex, "sessions", "2026", "11", "28", "rollout-2026-11-28T19-37-13-"+id+"4.jsonl")
	for _, path := range []string{kept, rollout, filepath.Join(claude, "projects", "-work", id+"3.jsonl")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	begins := func(member, agentType string) projection.TurnStarted {
		return projection.TurnStarted{TurnID: "t", MemberID: member, AgentType: agentType}
	}
	attached := func(member, session string, own bool) projection.AgentAttached {
		e := projection.AgentAttached{TurnID: "t", MemberID: member, Way: projection.AttachNew, AgentSession: session, Seen: 1}
		if own {
			e.Host = coordinator.AttachedHost(HomeKey(a, true)(), e)
		}
		return e
	}
	dir := journal.NewDir(filepath.Join(home, "sessions", "team"), journal.Options{})
	log, err := dir.Create(apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []projection.Payload{
		projection.SessionCreated{Format: projection.Format, SessionID: log.ID(), Team: projection.Team{ID: "team"}},
		begins("ada", "claude"), attached("ada", id+"1", true), attached("ada", id+"1", true),
		attached("ada", id+"2", true),  // the program has deleted it
		attached("ada", id+"3", false), // another home has written this, so that it may name any session
		begins("bo", "codex"), attached("bo", id+"4", true), begins("cy", "gemini"), attached("cy", "g", true),
		begins("dan", ""), attached("dan", "../../etc/passwd", true),
		attached("ada", strings.Repeat("x", maxAgentID+1), true),
		projection.MessageAppended{Message: projection.Message{Content: `"agent.attached"`}},
	} {
		if _, err := log.Append(projection.Record(time.Now(), p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	want := []AgentSession{
		{MemberID: "ada", Agent: "claude", ID: id + "1", Files: []string{kept}},
		{MemberID: "ada", Agent: "claude", ID: id + "3"},
		{MemberID: "bo", Agent: "codex", ID: id + "4", Files: []string{rollout}},
		{MemberID: "cy", Agent: "gemini", ID: "g"}, {MemberID: "dan", ID: "../../etc/passwd"},
	}
	check := func(want []AgentSession) {
		t.Helper()
		r, err := dir.Reader(log.ID(), journal.Position{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if diff := cmp.Diff(want, AgentSessions(t.Context(), a, r)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	check(want)
	if err := os.Remove(filepath.Join(home, "id")); err != nil { // the home was copied
		t.Fatal(err)
	}
	for i := range want {
		want[i].Files = nil
	}
	check([]AgentSession{want[0], {MemberID: "ada", Agent: "claude", ID: id + "2"}, want[1], want[2], want[3], want[4]})
}

package coordinator_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// withServers returns a coordinator of the test team with options that change sets, whose first member recalls.
func withServers(t *testing.T, recall string, change func(*coordinator.Options), script ...turnFunc) *fixture {
	s := newFixture(t, &store.Memory{}, script...)
	o := s.options(&store.Memory{})
	change(&o)
	s.Coordinator = coordinator.New(o)
	members := testTeam()
	for i := range members.Members {
		if members.Members[i].ID == "ada" {
			members.Members[i].Recall = recall
		}
	}
	s.setTeam(members, "")
	return s
}

func TestMembersGetServersOfTheirTurn(t *testing.T) {
	recall := func(teamID string) agent.MCPServer {
		return agent.MCPServer{Name: "agent-chatter", Command: "mcp " + teamID}
	}
	given := []agent.MCPServer{{Name: "agent-chatter", Command: "x"}, {Name: "my files\n", URL: "http://h"}, {Name: "…"}}
	for recalls, want := range map[string][]string{
		"":              {"agent-chatter x", "my-files- http://h", "server "},
		team.RecallAll:  {"agent-chatter mcp  recall read-only", "agent-chatter-2 x", "my-files- http://h", "server "},
		team.RecallTeam: {"agent-chatter mcp ensemble recall read-only", "agent-chatter-2 x", "my-files- http://h", "server "},
	} {
		s := withServers(t, recalls, func(o *coordinator.Options) { o.MCPServers, o.Recall = given, recall }, says("ok"))
		s.say("go")
		var got []string
		for _, server := range s.engine.turns[0].MCPServers {
			text := server.Name + " " + server.Command + server.URL
			if server.Setting != "" {
				text += " " + server.Setting
			}
			if server.ReadOnly {
				text += " read-only"
			}
			got = append(got, text)
		}
		checkEqual(t, "the servers of a member with recall "+recalls, got, want)
	}
}

func TestRecallWithoutServerIsReported(t *testing.T) {
	s := withServers(t, team.RecallAll, func(*coordinator.Options) {}, says("ok"))
	s.say("go")
	if want := "notice SettingUnsupported ada recall"; !slices.Contains(s.recorder.lines, want) {
		t.Errorf("no %q in %q", want, s.recorder.lines)
	}
}

func TestSecretsOfServersAreReplaced(t *testing.T) {
	servers := []agent.MCPServer{
		{Name: "a", Env: map[string]string{"FILES_TOKEN": "token-of-the-files", "MODE": "fast-and-loose"}},
		{Name: "b", Headers: map[string]string{"Authorization": "Bearer bearer-of-b-4711xyz", "Accept": "application/json"}},
	}
	text := "token-of-the-files fast-and-loose bearer-of-b-4711xyz application/json"
	s := withServers(t, "", func(o *coordinator.Options) { o.MCPServers = servers }, says(text))
	s.say("go")
	messages := s.messages()
	got := messages[len(messages)-1].Content
	if strings.Contains(got, "token-of") || strings.Contains(got, "bearer-of-b") ||
		!strings.Contains(got, "fast-and-loose") || !strings.Contains(got, "application/json") {
		t.Errorf("recorded %q", got)
	}
}

func TestNewSessionHasTheGivenID(t *testing.T) {
	const id = "01KB6ZZZZZZZZZZZZZZZZZZZZZ"
	s := newFixture(t, &store.Memory{}, says("ok"), says("ok"))
	if err := s.SetTeam(t.Context(), testTeam(), coordinator.SetTeamOptions{SessionID: id}); err != nil {
		t.Fatal(err)
	}
	s.say("go")
	if got := s.Session().ID; got != id {
		t.Errorf("the session is %s", got)
	}
	s.stop()
	s.say("go")
	if got := s.Session().ID; got == id {
		t.Error("the next session has the same ID")
	}
	var invalid *store.InvalidIDError
	err := s.SetTeam(t.Context(), testTeam(), coordinator.SetTeamOptions{SessionID: "../x"})
	if !errors.As(err, &invalid) {
		t.Errorf("an invalid ID: %v", err)
	}
}

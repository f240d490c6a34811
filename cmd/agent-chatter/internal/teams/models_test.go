package teams

import (
	"cmp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestModelsOfAgents(t *testing.T) {
	for _, tt := range []struct {
		models  string
		want    string // the models of the members
		notices int
		refused bool
	}{
		{"", "old,,,", 0, false},
		{"new", "new,new,,", 1, false},
		{"ada=new", "new,,,", 0, false},
		{"bo=new", "old,new,,", 0, false},
		{"new bo=other", "new,other,,", 1, false},
		{"bo=other new", "new,new,,", 1, false},
		{"one two", "two,two,,", 1, false}, // the notice is printed once
		{"demo=new", "old,,,", 1, false},
		{"ada=", "", 0, true},
		{"=", "", 0, true},
		{"you=new", "", 0, true},
		{"eve=new", "", 0, true},
	} {
		members := []team.Member{
			{ID: "1", Name: "ada", Type: team.AI, Model: "old", AgentType: "claude"},
			{ID: "2", Name: "bo", Type: team.AI, AgentType: "codex"},
			{ID: "3", Name: "demo", Type: team.AI, Engine: "demo"},
			{ID: "4", Name: "you", Type: team.Human},
		}
		before := &team.Team{Members: members}
		var notices strings.Builder
		a, err := app.New(app.IO{Stdout: &notices, Stderr: &notices}, app.Options{Home: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := Models(a, before, strings.Fields(tt.models))
		if (err != nil) != tt.refused || app.CodeOf(err) != app.ExitUsage && tt.refused {
			t.Errorf("%s: %v", tt.models, err)
		}
		if n := strings.Count(notices.String(), "has no models"); n != tt.notices {
			t.Errorf("%s: %d notices, want %d: %s", tt.models, n, tt.notices, notices.String())
		}
		if before.Members[0].Model != "old" {
			t.Errorf("%s: the team was changed", tt.models)
		}
		if err != nil {
			continue
		}
		var got []string
		for _, m := range before.Members {
			got = append(got, cmp.Or(chosen[m.ID], m.Model))
		}
		if strings.Join(got, ",") != tt.want {
			t.Errorf("%s: the models are %q, want %q", tt.models, got, tt.want)
		}
	}
}

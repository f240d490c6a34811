package filestest

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A Turn is what happens in a directory: a person changes it, then the agent Ada. nil: nothing.
type Turn struct{ Person, Agent func(dir string) }

// engine is an agent's program whose turns change files.
type engine struct {
	dir   string
	turns []Turn
	ran   int
}

func (*engine) CommandLine(agent.Member) []string { return []string{"editor"} }

// Run implements agent.Engine.
func (e *engine) Run(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if change := e.turns[e.ran].Agent; change != nil {
			change(e.dir)
		}
		e.ran++
		yield(agent.Text{Text: "Done."}, nil)
	}
}

// Write writes a session in the home of the App. Its turns change files in a directory.
func Write(t testing.TB, a *app.App, dir, title string, turns ...Turn) catalog.Session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := coordinator.New(coordinator.Options{
		Store: store.NewFiles(a.Catalog), Engines: map[string]agent.Engine{"editor": &engine{dir: dir, turns: turns}},
		App: projection.App{Name: "test", Version: "1"}, CWD: dir,
		HomeKey:   func() []byte { key, _ := home.Key(a.Home); return key },
		Workspace: func(dir string) (*workspace.Workspace, error) { return workspace.Open(a.Home, dir) },
	})
	members := []team.Member{
		{ID: "eva", Name: "eva", DisplayName: "Eva", Type: team.Human},
		{ID: "ada", Name: "ada", DisplayName: "Ada", Type: team.AI, AgentType: "editor", Engine: "editor"},
	}
	shop := &team.Team{ID: "shop", Name: "shop", DisplayName: "Shop", Members: members}
	if err := c.SetTeam(t.Context(), shop, coordinator.SetTeamOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		if turn.Person != nil {
			turn.Person(dir)
		}
		if err := c.Say(t.Context(), "eva", title); err != nil {
			t.Fatal(err)
		}
	}
	id := c.Session().ID
	if err := c.Stop("end"); err != nil {
		t.Fatal(err)
	}
	s, err := a.Catalog.Team("shop").Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Files returns a change that writes files; "" removes one. A content that begins with "->" is that of a link.
func Files(t testing.TB, contents map[string]string) func(dir string) {
	return func(dir string) {
		for name, content := range contents {
			path := filepath.Join(dir, name)
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			target, isLink := strings.CutPrefix(content, "->")
			switch {
			case err != nil:
			case isLink:
				err = os.Symlink(target, path)
			case content == "":
				err = os.Remove(path)
			default:
				err = os.WriteFile(path, []byte(content), 0o644)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
}

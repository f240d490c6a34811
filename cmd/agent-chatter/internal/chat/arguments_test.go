package chat

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func newTestApp(t *testing.T) *app.App {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a.Cwd = t.TempDir()
	return a
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestArgumentsAreCompleted(t *testing.T) {
	a := newTestApp(t)
	t.Chdir(a.Cwd)
	writeFile(t, filepath.Join(a.Cwd, "out", "notes.md"), "")
	writeFile(t, filepath.Join(a.Cwd, "crew.json"), "{}")
	writeFile(t, filepath.Join(a.Cwd, "other.txt"), "")
	configured := &team.Team{ID: "crew", Name: "crew", Members: []team.Member{
		{ID: "ada", Name: "ada", DisplayName: "Ada", Type: team.AI, AgentType: "claude", Model: "opus"},
		{ID: "bob", Name: "bob", DisplayName: "Bob", Type: team.AI, AgentType: "claude", Model: "haiku", Permissions: "ask"},
		{ID: "demo", Name: "demo", DisplayName: "Demo", Type: team.AI, AgentType: "demo"},
		{ID: "you", Name: "you", DisplayName: "You", Type: team.Human},
	}}
	c := coordinator.New(coordinator.Options{Store: &store.Memory{}})
	if err := c.SetTeam(t.Context(), configured, coordinator.SetTeamOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.RemoveMember("demo"); err != nil {
		t.Fatal(err)
	}
	of := (&repl{app: a, c: c}).arguments()
	of.files, of.turns, of.title = os.DirFS(a.Cwd), 12, "The kettle"
	sources := editor.Sources{Arguments: of.Of, Members: []editor.Choice{{Text: "@ada"}}}
	for typed, want := range map[string]string{
		"/model ":             "ada bob",
		"/MODEL b":            "bob",
		"/model ada ":         "opus haiku default",
		"/model ada h":        "haiku",
		"/model ada opus ":    "",
		"/model you ":         "",
		"/model @":            "@ada",
		"/permissions bob ":   "ask allow deny read edit bypass default",
		"/permissions bob al": "allow",
		"/remove ":            "ada bob",
		"/remove ada ":        "",
		"/compact ":           "ada bob",
		"/add de":             "demo",
		"/team ":              "deploy list",
		"/team deploy crew":   "crew.json",
		"/team deploy o":      "out/",
		"/team list ":         "",
		"/export o":           "other.txt out/",
		"/export out/":        "out/notes.md",
		"/export ../":         "",
		"/fork turn:1":        "turn:12 turn:11 turn:10",
		"/rename ":            "The kettle",
		"/resume ":            "--last",
		"/task ":              "",
		"/nothing ":           "",
		"//model ":            "",
		"say /model ":         "",
	} {
		choices, _ := editor.Complete(typed, true, sources)
		var texts []string
		for _, c := range choices {
			texts = append(texts, c.Text)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
	if choices, _ := editor.Complete("/model ", false, sources); len(choices) > 0 {
		t.Errorf("in another line: %v", choices)
	}
}

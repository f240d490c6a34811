package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestDefaultNameStandsForNoOtherTeam(t *testing.T) {
	for _, tt := range []struct {
		directory, teams, want string // teams are those of the home
	}{
		{"work", "", "work"},
		{"demo", "", "demo-team"},
		{" demo. ", "", "demo-team"},
		{"demo", "own/demo-team", "demo-team-2"},
		{"demo", "own/demo-team own/demo-team-2", "demo-team-3"},
		{"work", "own/work", "work-team"},
		{"My Work.v2", "", "My-Work-v2"},
		{".work", "", "work"},
		{"..", "", "team"},
		{"-!_", "", "team"},
		{"チーム", "", "team"},
		{"チーム", "own/team", "team-team"},
		{strings.Repeat("x", 300), "", strings.Repeat("x", 64)},
		{strings.Repeat("x", 63) + " xx", "", strings.Repeat("x", 63)},
		{"/", "", "team"},
	} {
		dir := t.TempDir()
		a := &app.App{
			Home: filepath.Join(dir, "own"),
			Cwd:  filepath.Join(dir, "parent") + "/" + tt.directory,
		}
		if tt.directory == "/" {
			a.Cwd = "/"
		}
		for path := range strings.FieldsSeq(tt.teams) {
			home, name, _ := strings.Cut(path, "/")
			writeFile(t, filepath.Join(dir, home, "team-config", name+".json"))
		}
		if got := defaultName(a); got != tt.want {
			t.Errorf("the name in %q is %q, want %q", tt.directory, got, tt.want)
		}
	}
}

// In the parent of the home, a team of the working directory is one of the home.
func TestDefaultNameOfATeamOfTheHome(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mia")
	a := &app.App{Home: filepath.Join(dir, ".agent-chatter"), Cwd: dir}
	path, name := (&teamInit{}).place(a)
	writeFile(t, path)
	if found, err := team.Find(name, a.Places()); err != nil || found.Path != path {
		t.Errorf("%s stands for %+v, %v", name, found, err)
	}
	if again, _ := (&teamInit{}).place(a); again != path {
		t.Errorf("the team is in %s, then in %s", path, again)
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

package chat

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
)

func TestUsesAreAddedToThoseOfTheFile(t *testing.T) {
	home := t.TempDir()
	var one, other commandUses
	one.add("/status")
	one.add("/status")
	one.add("/model")
	other.add("/status")
	for _, u := range []*commandUses{&one, &other, &one} { // the last has no more
		if err := u.save(home); err != nil {
			t.Fatal(err)
		}
	}
	uses, err := readUses(home)
	if diff := cmp.Diff(map[string]int{"/status": 3, "/model": 1}, uses); err != nil || diff != "" {
		t.Error(err, diff)
	}
	info, err := os.Stat(filepath.Join(home, usesFile))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestManyUsesAreHalved(t *testing.T) {
	home := t.TempDir()
	content := `{"schemaVersion":"1.0","uses":{"/status":1000,"/model":501,"/keys":1,"/huge":2000000000}}`
	if err := os.WriteFile(filepath.Join(home, usesFile), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	var u commandUses
	u.add("/status")
	if err := u.save(home); err != nil {
		t.Fatal(err)
	}
	uses, _ := readUses(home)
	if diff := cmp.Diff(map[string]int{"/status": 500, "/model": 250, "/huge": maxUses}, uses); diff != "" {
		t.Error(diff)
	}
}

func TestFilesOfUses(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          int // uses of /status after one more; 0: the file stays as it is
	}{
		{"missing", "", 1},
		{"valid", `{"schemaVersion":"1.0","uses":{"/status":4}}`, 5},
		{"invalid", `{"schemaVersion":"1.0","uses":{"/status":-4}}`, 1},
		{"newer", `{"schemaVersion":"1.1","uses":{"/status":4}}`, 0},
		{"too long", `{"schemaVersion":"1.0","uses":{"/status":4}}` + strings.Repeat(" ", maxUsesFile), 0},
	} {
		home := t.TempDir()
		if tt.content != "" {
			if err := os.WriteFile(filepath.Join(home, usesFile), []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var u commandUses
		u.add("/status")
		err := u.save(home)
		after, _ := os.ReadFile(filepath.Join(home, usesFile))
		if uses, _ := readUses(home); tt.want > 0 && (err != nil || uses["/status"] != tt.want) {
			t.Errorf("%s: %v, %v", tt.name, uses, err)
		}
		if tt.want == 0 && (err == nil || string(after) != tt.content) {
			t.Errorf("%s: %v, it becomes %.100s", tt.name, err, after)
		}
	}
	var u commandUses
	u.add("/status")
	missing := filepath.Join(t.TempDir(), "home")
	if err := u.save(missing); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("it creates the home")
	}
}

func TestCommandsAreInTheOrderOfTheirUses(t *testing.T) {
	commands := []editor.Choice{{Text: "/help"}, {Text: "/status"}, {Text: "/model"}, {Text: "/keys"}}
	got := byUse(commands, map[string]int{"/model": 7, "/keys": 1, "/removed": 9})
	want := []editor.Choice{{Text: "/model"}, {Text: "/keys"}, {Text: "/help"}, {Text: "/status"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

//go:build unix

package filechanges

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
)

// historyOf returns a history of trees, each with the member who made it from the tree before; "": a person.
func historyOf(t *testing.T, dir string, members []string, trees ...files) *history {
	h := newHistory(dir, "")
	root := put(t, h, dir, trees[0], 0)
	for i, member := range members {
		s := step{seq: uint64(i + 2), at: uint64(i + 2), dir: dir, before: root, after: put(t, h, dir, trees[i+1], i+1)}
		if member != "" {
			s.turn, s.changed = i+1, &projection.FilesChanged{MemberID: member, TurnID: fmt.Sprint(i + 1)}
			h.turns[s.changed.TurnID] = turn{i + 1, member}
		}
		h.steps, root = append(h.steps, s), s.after
	}
	return h
}

// text returns a file with a text.
func text(content string) side { return side{gitFile, []byte(content)} }

// contents describes which paths a patch has, and why it leaves out others.
func (p *patch) contents() string {
	var lines []string
	for _, path := range p.paths() {
		lines = append(lines, strings.TrimSuffix(path+": "+p.chains[path].why, ": "))
	}
	return strings.Join(lines, "\n")
}

func TestPatchHasOnlyChangesOfItsAgents(t *testing.T) {
	one, two, three := text("1\n"), text("2\n"), text("3\n")
	for _, test := range []struct {
		name, member string
		members      []string
		trees        []files
		want         string
	}{
		{"of all agents", "", []string{"ada", "bea"}, []files{{}, {"a": one}, {"a": two, "b": one}}, "a\nb"},
		{"of one, another before", "bea", []string{"ada", "bea"}, []files{{}, {"a": one}, {"a": two, "b": one}},
			"a: ada changed it in turn 1\nb"},
		{"of one, another after", "ada", []string{"ada", "bea"}, []files{{}, {"a": one}, {"a": two, "b": one}}, "a"},
		{"a person before", "", []string{"", "ada"}, []files{{"a": one}, {"a": two}, {"a": three, "b": one}},
			"a: you or another program changed it before event 2\nb"},
		{"a person after", "", []string{"ada", ""}, []files{{"a": one}, {"a": two}, {"a": three}}, "a"},
		{"a person sets it back", "", []string{"ada", "", "bea"},
			[]files{{"a": one}, {"a": two}, {"a": one}, {"a": one, "b": one}}, "b"},
		{"a person sets it back, an agent changes it again", "", []string{"ada", "", "bea"},
			[]files{{"a": one}, {"a": two}, {"a": one}, {"a": three}}, "a"},
		{"a person makes a file in the place of a directory", "", []string{"", "ada"},
			[]files{{"a": one}, {}, {"a/b": one}}, "a/b: there is a file in the place of its directory a"},
		{"a person removes what is in the place of a file", "", []string{"", "ada"},
			[]files{{"a/b": one}, {}, {"a": one}}, "a: there is a directory in its place"},
	} {
		dir := t.TempDir()
		h := historyOf(t, dir, test.members, test.trees...)
		p, err := newPatch(h, dir, test.member, h.steps)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, p.contents()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// The contents of files are shown on a terminal without their control characters.
func TestContentsAreSafeForTerminals(t *testing.T) {
	dir := t.TempDir()
	h := historyOf(t, dir, []string{"ada"}, files{"a": text("old\n")}, files{"a": text("new \x1b]0;title\a\u009b2J\n")})
	p, err := newPatch(h, dir, "", h.steps)
	if err != nil {
		t.Fatal(err)
	}
	changes := []projection.FileChange{{Path: "a", Kind: projection.FileModified}}
	for name, print := range map[string]func(a *app.App) error{
		"patch": p.print,
		"show":  func(a *app.App) error { return (&Show{}).print(a, []byte("\x1b]0;title\a")) },
		"diff": func(a *app.App) error {
			return h.printDiff(a.Stdout, row{h.steps[0], changes}, view.Style{Plain: true}, true)
		},
	} {
		shown := apptest.OnTerminal(t, 80, func(terminal *os.File) {
			out := &app.Output{File: terminal, Terminal: true}
			a, err := app.New(app.IO{Stdin: terminal, Stdout: out, Stderr: new(bytes.Buffer)}, app.Options{Home: dir})
			if err == nil {
				err = print(a)
			}
			if err != nil {
				t.Error(err)
			}
		})
		if strings.ContainsAny(shown, "\x1b\a\u009b") || !strings.Contains(shown, "title") {
			t.Errorf("%s prints %q", name, shown)
		}
	}
}

package app

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestDumbTerminalIsPlain(t *testing.T) {
	for term, want := range map[string]bool{"dumb": true, "xterm": false, "": false} {
		t.Setenv("TERM", term)
		var shown strings.Builder
		a, err := New(IO{Stdout: &shown, Stderr: &shown}, Options{Home: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if a.Plain != want || a.NoColor != want {
			t.Errorf("TERM=%s: plain %v, no colour %v", term, a.Plain, a.NoColor)
		}
	}
}

func TestUnreadableDirectoryIsReportedOnce(t *testing.T) {
	var shown strings.Builder
	a, err := New(IO{Stdout: &shown, Stderr: &shown}, Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if a.HasUnreadable() {
		t.Error("a directory is unreadable before it was read")
	}
	for _, path := range []string{"/a", "/b", "/a"} {
		a.ReportUnreadable(path, errors.New("it failed"))
	}
	if want := unreadableText("/a", errors.New("it failed")) + "\n" + unreadableText("/b", errors.New("it failed")) +
		"\n"; shown.String() != want || !a.HasUnreadable() {
		t.Errorf("it printed %q, want %q", shown.String(), want)
	}
}

// Ten sessions are listed, of more their number.
func TestListsOfSessionsAreCut(t *testing.T) {
	for n, more := range map[int]string{9: "", 10: "", 11: "1 more", 12: "2 more"} {
		var sessions []catalog.Session
		var ids []string
		for i := range n {
			id := fmt.Sprintf("ID-%02d", i)
			ids, sessions = append(ids, id), append(sessions, catalog.Session{ID: id})
		}
		for name, text := range map[string]string{
			"ambiguous":    ambiguousText(&catalog.AmbiguousError{Name: "x", Candidates: sessions}).String(),
			"in the trash": notInTrashText("x", ids).String(),
		} {
			if strings.Count(text, "ID-") != min(n, 10) || regexp.MustCompile("[0-9]+ more").FindString(text) != more {
				t.Errorf("%s: of %d it shows\n%s", name, n, text)
			}
		}
	}
}

func TestFindingIsResolvedOnce(t *testing.T) {
	a := &App{}
	f := a.Resolve(Wrong("it fails", "Mend it.", To("mend it", "repair", "x")))
	want := "Mend it.\nTo mend it, type: agent-chatter repair x"
	if again := a.Resolve(f); f.Help != want || again.Help != want {
		t.Errorf("%q, then %q, want %q", f.Help, again.Help, want)
	}
}

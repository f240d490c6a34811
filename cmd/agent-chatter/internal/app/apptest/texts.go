package apptest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Text is the result of a function for sample values.
type Text struct {
	Function, Sample string
	Shown            any // a string or a Stringer

	IsContent bool // lines of a prompt or message that the user asked for are shown as they are
}

// Promise is a text that other programs rely on and that must not change.
type Promise struct{ Behaviour, Got, Want string }

// Session ids for samples.
const (
	AliceID = "01JDQ3W7ZK8M5N6P7Q8R9S0T1A"
	BobID   = "01JDQ3W7ZK8M5N6P7Q8R9S0T1B"
)

// Hostile is a name with control characters, and with commands that a shell would run
// if a printed command did not quote it.
const Hostile = "a\x1b[31m\nb\u202ec$(touch pwned)`touch pwned`;touch pwned"

// FirstLine returns text up to its first newline.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// CheckTexts compares texts with testdata/messages.golden and rewrites that
// file if the test runs with -update. It fails if a text contains a control
// character, if a value of Hostile makes a line of its own in it, if a command in it runs another one when it is pasted
// into a shell, and if a function of the package that is called …Text has no sample.
func CheckTexts(t *testing.T, texts []Text) {
	t.Helper()
	for _, function := range textFunctions(t) {
		if !slices.ContainsFunc(texts, func(s Text) bool { return strings.EqualFold(s.Function, function) }) {
			t.Errorf("%s has no sample", function)
		}
	}
	slash := strings.NewReplacer(filepath.Join("sessions", "review"), "sessions/review")
	var got strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&got, "## %s\n%s\n\n", strings.TrimSuffix(text.Function+": "+text.Sample, ": "),
			slash.Replace(fmt.Sprint(text.Shown)))
		checkCommands(t, fmt.Sprint(text.Shown))
		if line, found := forged(fmt.Sprint(text.Shown)); found && !text.IsContent {
			t.Errorf("%s (%s) prints a line that a value made: %q", text.Function, text.Sample, line)
		}
		if r, found := Acting(fmt.Sprint(text.Shown)); found {
			t.Errorf("%s (%s) contains %U: %q", text.Function, text.Sample, r, fmt.Sprint(text.Shown))
		}
	}
	Golden(t, filepath.Join("testdata", "messages.golden"), got.String())
}

// CheckPromises compares texts that must not change.
func CheckPromises(t *testing.T, promised []Promise) {
	t.Helper()
	for _, p := range promised {
		if diff := cmp.Diff(p.Want, p.Got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Behaviour, diff)
		}
	}
}

// forged finds a line that begins as the second line of Hostile does, after what indents or marks it.
func forged(text string) (line string, found bool) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t-"), "b\uFFFDc$(touch") {
			return line, true
		}
	}
	return "", false
}

// Acting finds a control character that is neither newline nor tab, or a byte
// that is no text.
func Acting(text string) (r rune, found bool) {
	for i, r := range text {
		control := r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
		if control || r == '\uFFFD' && !strings.HasPrefix(text[i:], "\uFFFD") {
			return r, true
		}
	}
	return 0, false
}

// textFunctions are the functions called …Text of the package in the working
// directory.
func textFunctions(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if ok && function.Recv == nil && strings.HasSuffix(function.Name.Name, "Text") &&
				function.Name.Name != "Text" {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names
}

// checkCommands gives the commands in a text to a shell as words, without running
// them. The names in them must run nothing.
func checkCommands(t *testing.T, text string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	for line := range strings.Lines(text) {
		_, command, found := strings.Cut(strings.TrimSpace(line), ", type: ")
		if !found || strings.HasPrefix(command, "/") { // a slash command
			continue
		}
		shell := exec.Command("sh", "-c", "set -- "+command)
		shell.Dir = t.TempDir()
		if output, err := shell.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", command, err, output)
		}
		if ran, err := os.ReadDir(shell.Dir); err != nil || len(ran) > 0 {
			t.Errorf("%s: pasting it runs a command: %v, %v", command, ran, err)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// The manual and the README are tested as they are printed. In a fenced block of
// the language console, lines that start with "$ " are commands and the lines
// that follow are their output: "…" stands for any text within a line, a line
// "…" for any number of lines. Without output lines, the output is not compared.
// In a block of the language sh, every line is a command. A command has to exit
// with code 0, unless the next one is "echo $?".
//
// An HTML comment before a block changes that:
//
//	<!-- file: PATH -->       the block is the content of a file, which is written
//	<!-- not run: REASON -->  the commands are not run
//	<!-- two commands -->     the commands are run by .ci/run
//
// Each page starts with the sessions of guide/testdata and a transcript of Claude
// Code in the home, in an empty directory. For the page hub, AGENT_CHATTER_HUB names a server.

const (
	manualDir  = "guide"
	readmePath = "../../README.md"
	// mostNotRun bounds the commands that are not run.
	mostNotRun = 25
)

// A block is a fenced code block of a page.
type block struct {
	line     int    // of its fence, from 1
	note     string // the HTML comment before it
	language string
	text     string
}

func blocksOf(page string) []block {
	var blocks []block
	var open *block
	note := ""
	for i, line := range strings.Split(page, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		comment, isComment := strings.CutPrefix(line, "<!-- ")
		switch {
		case open != nil && isFence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		case isFence:
			open, note = &block{line: i + 1, note: note, language: fence}, ""
		case isComment:
			note = strings.TrimSuffix(comment, " -->")
		case line != "":
			note = ""
		}
	}
	return blocks
}

// An example is a command of a block, with the output that the page shows.
type example struct {
	line    int
	command string
	output  []string
}

func (b block) examples() []example {
	var examples []example
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case b.language == "sh":
			examples = append(examples, example{line: b.line + i + 1, command: line})
		case isCommand:
			examples = append(examples, example{line: b.line + i + 1, command: command})
		case len(examples) > 0:
			last := &examples[len(examples)-1]
			last.output = append(last.output, line)
		}
	}
	return examples
}

// pattern matches the output that the page shows.
func (e example) pattern() *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range e.output {
		if line == "…" {
			b.WriteString(`(?:[^\n]*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), "…", `[^\n]*`) + ` *\n`)
	}
	return regexp.MustCompile(b.String() + `\z`)
}

// representativePages are the pages whose examples are run without -full.
var representativePages = []string{"start", "sessions", "teams", "tail", "trust", "README"}

func TestManualExamples(t *testing.T) {
	skipIfShort(t)
	racetest.Skip(t, "TestScript runs the same goroutines")
	ran, notRun := 0, []string{}
	for _, path := range manualPages(t) {
		blocks := blocksOf(readText(t, path))
		for _, b := range blocks {
			switch reason, excluded := strings.CutPrefix(b.note, "not run: "); {
			case excluded:
				for _, e := range b.examples() {
					notRun = append(notRun, fmt.Sprintf("%s:%d: %s (%s)", path, e.line, e.command, reason))
				}
			case b.isRun():
				ran += len(b.examples())
			}
		}
		page := strings.TrimSuffix(filepath.Base(path), ".md")
		if !sizetest.Full() && !namesSubtest() && !slices.Contains(representativePages, page) {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			if filepath.Base(path) == "hub.md" {
				s.env = append(s.env, "AGENT_CHATTER_HUB="+startHub(t))
			}
			s.follow(path, blocks)
		})
	}
	t.Logf("%d commands run, %d not run:\n%s", ran, len(notRun), strings.Join(notRun, "\n"))
	if len(notRun) > mostNotRun {
		t.Errorf("%d commands are not run; at most %d may be", len(notRun), mostNotRun)
	}
}

// startHub starts a server for a hub and returns its URL.
func startHub(t *testing.T) string {
	t.Helper()
	url, stop, err := natstest.Start(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url
}

// The command guide and Markdown do not show the comments: the text before a file has its path.
func TestManualNamesFiles(t *testing.T) {
	files := 0
	for _, path := range manualPages(t) {
		page := readText(t, path)
		for _, b := range blocksOf(page) {
			file, isFile := strings.CutPrefix(b.note, "file: ")
			if !isFile {
				continue
			}
			files++
			lines := strings.Split(page, "\n")[:b.line-2] // the last one is the comment
			if before := strings.Join(lines, "\n"); !strings.Contains(before, "`"+file+"`") {
				t.Errorf("%s:%d: the text before the block does not name the file %s", path, b.line, file)
			}
		}
	}
	if files == 0 {
		t.Error("no files")
	}
}

// isRun reports whether the commands of a block are run here.
func (b block) isRun() bool {
	isScript := b.language == "console" || b.language == "sh"
	return isScript && b.note != "two commands" && !strings.HasPrefix(b.note, "not run: ")
}

func manualPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(manualDir, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages: %v, %v", pages, err)
	}
	return append(pages, readmePath)
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A shell runs the examples of a page, in a home and a directory of their own.
type shell struct {
	t          *testing.T
	home, work string
	env        []string
	code       int // of the last command
}

func newShell(t *testing.T) *shell {
	t.Helper()
	for _, tool := range []string{"sh", "jq", "awk", "sed"} {
		programtest.Path(t, tool)
	}
	dir := t.TempDir()
	s := &shell{t: t, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	s.env = append(os.Environ(), "HOME="+s.home, "TZ=UTC", "LC_ALL=C.UTF-8")
	s.env = slices.DeleteFunc(s.env, func(v string) bool { return strings.HasPrefix(v, "AGENT_CHATTER_") })
	if err := os.MkdirAll(s.work, 0o700); err != nil {
		t.Fatal(err)
	}
	sessions, err := filepath.Glob(filepath.Join(manualDir, "testdata", "sessions", "*", "*.jsonl"))
	if err != nil || len(sessions) == 0 {
		t.Fatalf("sessions: %v, %v", sessions, err)
	}
	for _, path := range sessions {
		team := filepath.Base(filepath.Dir(path))
		s.write("~/.agent-chatter/sessions/"+team+"/"+filepath.Base(path), readText(t, path))
	}
	transcript := "../../projection/interchange/testdata/claude/one-tool.jsonl"
	s.write("~/.claude/projects/project/"+filepath.Base(transcript), readText(t, transcript))
	return s
}

// write creates a file in the working directory, or below "~/" in the home.
func (s *shell) write(path, content string) {
	s.t.Helper()
	file := filepath.Join(s.work, path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		file = filepath.Join(s.home, rest)
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600))
	if err != nil {
		s.t.Fatal(err)
	}
}

// follow does what a page says, from top to bottom.
func (s *shell) follow(path string, blocks []block) {
	s.t.Helper()
	for _, b := range blocks {
		file, isFile := strings.CutPrefix(b.note, "file: ")
		switch {
		case isFile:
			s.write(file, b.text)
		case b.isRun():
			s.run(path, b.examples())
		case !slices.Contains([]string{"console", "sh", "text"}, b.language):
			s.t.Errorf("%s:%d: a block of language %q needs a comment with its file name", path, b.line, b.language)
		}
	}
}

func (s *shell) run(page string, examples []example) {
	s.t.Helper()
	for i, e := range examples {
		output := s.exec(e.command)
		if e.output != nil && !e.pattern().MatchString(output) {
			s.t.Errorf("%s:%d: %s prints\n%s", page, e.line, e.command, output)
		}
		checked := i+1 < len(examples) && examples[i+1].command == "echo $?"
		if s.code != 0 && !checked {
			s.t.Errorf("%s:%d: %s exits with code %d:\n%s", page, e.line, e.command, s.code, output)
		}
	}
}

// exec runs one command, for which $? is the exit code of the previous one.
func (s *shell) exec(command string) (output string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("(exit %d); %s", s.code, command))
	var both bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.work, s.env, &both, &both
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	s.code = cmd.ProcessState.ExitCode()
	return both.String()
}

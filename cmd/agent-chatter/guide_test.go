package main

import (
	"bytes"
	"context"
	"encoding/json"
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
// Each page starts with the sessions of guide/testdata, in an empty directory.

const (
	manualDir  = "guide"
	readmePath = "../../README.md"
	// mostNotRun bounds the commands that are not run.
	mostNotRun = 26
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

func TestManualExamples(t *testing.T) {
	for _, tool := range []string{"sh", "jq", "awk", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
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
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			t.Parallel()
			newShell(t).follow(path, blocks)
		})
	}
	t.Logf("%d commands run, %d not run:\n%s", ran, len(notRun), strings.Join(notRun, "\n"))
	if len(notRun) > mostNotRun {
		t.Errorf("%d commands are not run; at most %d may be", len(notRun), mostNotRun)
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

// linkTarget matches the target of a Markdown link or image.
var linkTarget = regexp.MustCompile(`\]\(([^)]+)\)`)

// repositoryPath matches a code span that is a path of the repository.
var repositoryPath = regexp.MustCompile("`((?:cmd|coordinator|projection|journal|schemas|testdata|\\.ci)/[^` ]*)`")

func TestManualLinks(t *testing.T) {
	for _, path := range manualPages(t) {
		for _, match := range linkTarget.FindAllStringSubmatch(readText(t, path), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if strings.HasPrefix(target, "https://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), target)); err != nil {
				t.Errorf("%s: link to %s: %v", path, match[1], err)
			}
		}
		for _, match := range repositoryPath.FindAllStringSubmatch(readText(t, path), -1) {
			if _, err := os.Stat(filepath.Join("../..", match[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestManualIndexIsComplete(t *testing.T) {
	index := readText(t, filepath.Join(manualDir, "README.md"))
	for _, path := range manualPages(t) {
		name := filepath.Base(path)
		if name == "README.md" {
			continue
		}
		topic := strings.TrimSuffix(name, ".md")
		if strings.Count(index, "\n- ["+topic+"]("+name+"): ") != 1 {
			t.Errorf("guide/README.md does not list %s once", topic)
		}
		if !strings.HasPrefix(readText(t, path), "# ") {
			t.Errorf("%s does not start with a title", path)
		}
	}
}

func TestReadmeSize(t *testing.T) {
	text := readText(t, readmePath)
	const maxLines, maxBytes = 150, 9 << 10
	if lines := strings.Count(text, "\n"); lines > maxLines || len(text) > maxBytes {
		t.Errorf("README.md has %d lines and %d bytes; limits %d, %d", lines, len(text), maxLines, maxBytes)
	}
}

// helpOf is what --help of a command prints.
func helpOf(t *testing.T, command string) string {
	t.Helper()
	help, err := exec.Command("agent-chatter", append(strings.Fields(command), "--help")...).Output()
	if err != nil {
		t.Fatalf("%s --help: %v", command, err)
	}
	return string(help)
}

var (
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z]+(?: [a-z]+)?)(?:  |$)`)
	helpFlag    = regexp.MustCompile(`(?m)^ +(?:(-[a-z]), +)?(--[a-z-]+)`)
	pageFlag    = regexp.MustCompile(`(^|[\s` + "`" + `])(--[a-z][a-z-]*)`)
)

// foreignFlags are the flags of other programs that the manual names.
var foreignFlags = []string{
	"--acp", "--approval-mode", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-skip-permissions",
	"--json", "--last", "--latest", "--output-format",
}

func TestManualNamesCommandsAndFlags(t *testing.T) {
	var manual strings.Builder
	for _, path := range manualPages(t) {
		manual.WriteString(readText(t, path))
	}
	_, commands, _ := strings.Cut(helpOf(t, ""), "Commands:\n")
	short := map[string]string{} // by the long name of the flag; "" if it has none
	for _, match := range helpCommand.FindAllStringSubmatch(commands, -1) {
		command := match[1]
		if !regexp.MustCompile("agent-chatter " + command + `\b|` + "`" + command + `\b`).MatchString(manual.String()) {
			t.Errorf("no page names the command %s", command)
		}
		for _, flag := range helpFlag.FindAllStringSubmatch(helpOf(t, command), -1) {
			short[flag[2]] = flag[1]
		}
	}
	if len(short) == 0 {
		t.Fatal("no flags in the help of the commands")
	}
	for long, short := range short {
		named := regexp.MustCompile(long + `\b`).MatchString(manual.String())
		if !named && (short == "" || !strings.Contains(manual.String(), "`"+short)) {
			t.Errorf("no page names the flag %s", long)
		}
	}
	for _, match := range pageFlag.FindAllStringSubmatch(manual.String(), -1) {
		flag := match[2]
		if _, known := short[flag]; !known && !slices.Contains(foreignFlags, flag) {
			t.Errorf("the manual names %s, which is no flag of any command", flag)
		}
	}
}

// slashCommand matches a command in what /help prints.
var slashCommand = regexp.MustCompile(`(?m)^  (/[a-z]+)`)

func TestManualNamesSlashCommands(t *testing.T) {
	chat := readText(t, filepath.Join(manualDir, "chat.md"))
	commands := slashCommand.FindAllStringSubmatch(newShell(t).exec("echo /help | agent-chatter chat"), -1)
	if len(commands) == 0 {
		t.Fatal("/help lists no commands")
	}
	for _, match := range commands {
		if !strings.Contains(chat, "`"+match[1]) {
			t.Errorf("guide/chat.md does not name %s", match[1])
		}
	}
}

// directModule matches a direct requirement of go.mod.
var directModule = regexp.MustCompile(`(?m)^\t(?:github\.com/)?(\S+?)(?:/v[0-9]+)? v\S+$`)

func TestManualNamesModules(t *testing.T) {
	libraries := readText(t, filepath.Join(manualDir, "libraries.md"))
	for _, match := range directModule.FindAllStringSubmatch(readText(t, "../../go.mod"), -1) {
		if !strings.Contains(libraries, match[1]) {
			t.Errorf("guide/libraries.md does not name %s", match[1])
		}
	}
}

// jsonRow matches a row of the table of JSON fields.
var jsonRow = regexp.MustCompile("(?m)^\\| `([a-z -]+)`(?:, `([a-z -]+)`)? \\| (.*) \\|$")

func TestManualListsJSONFields(t *testing.T) {
	_, table, found := strings.Cut(readText(t, filepath.Join(manualDir, "scripting.md")), "## JSON output")
	if !found {
		t.Fatal("scripting.md has no section JSON output")
	}
	listed := map[string]string{}
	for _, row := range jsonRow.FindAllStringSubmatch(table, -1) {
		listed[row[1]], listed[row[2]] = row[3], row[3]
	}
	listed["sessions show"] += listed["sessions list"]
	s := newShell(t)
	s.write("bad.json", "{}")
	s.exec("agent-chatter agents register upper tr a-z A-Z")
	s.exec("agent-chatter sessions export --all --format bundle -o all.bundle")
	for command, args := range map[string]string{
		"sessions list":      "",
		"sessions show":      "7QN3",
		"sessions search":    "calculator",
		"sessions import":    "all.bundle",
		"sessions clean":     "--older-than 1s --dry-run",
		"replay":             "7QN3",
		"replay --with-team": "demo 7QN3",
		"verify":             "",
		"repair":             "7QN3",
		"compact":            "--dry-run",
		"doctor":             "",
		"guide":              "start",
		"team list":          "",
		"team show":          "demo",
		"team validate":      "bad.json",
		"agents list":        "",
		"agents info":        "upper",
		"agents scan":        "",
		"agents verify":      "upper",
	} {
		output := s.exec("agent-chatter " + command + " " + args + " --output json 2>/dev/null")
		if output == "" {
			t.Errorf("%s prints nothing", command)
		}
		for line := range strings.Lines(output) {
			var object map[string]any
			if err := json.Unmarshal([]byte(line), &object); err != nil {
				t.Fatalf("%s prints %s: %v", command, line, err)
			}
			for field := range object {
				if !strings.Contains(listed[command], "`"+field+"`") {
					t.Errorf("scripting.md does not list the field %s of %s", field, command)
				}
			}
		}
	}
}

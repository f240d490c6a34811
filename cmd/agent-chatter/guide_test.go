package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

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

func TestReadmeNamesLimits(t *testing.T) {
	_, limits, _ := strings.Cut(readText(t, readmePath), "\n## Limits\n")
	limits, _, _ = strings.Cut(limits, "\n## ")
	words := strings.Join(strings.Fields(limits), " ")
	for _, limit := range []string{
		"Files are set back by `agent-chatter files restore` only, not by resuming or forking; databases and git commits never.",
		"Models answer differently each time.",
	} {
		if !strings.Contains(words, "- "+limit) {
			t.Errorf("README.md, Limits: %q is missing", limit)
		}
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
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z]+(?: [a-z]+)?)(?: \([a-z]+\))?(?:  |$)`)
	helpFlag    = regexp.MustCompile(`(?m)^ +(?:(-[a-z]), +)?(--[a-z-]+)`)
	pageFlag    = regexp.MustCompile(`(^|[\s` + "`" + `])(--[a-z][a-z-]*)`)
)

// foreignFlags are the flags of other programs that the manual names.
var foreignFlags = []string{
	"--acp", "--allow-dangerously-skip-permissions", "--allowed-tools", "--approval-mode", "--approve-for-me",
	"--ask-for-approval", "--cd", "--color", "--conversation", "--dangerously-bypass-approvals-and-sandbox",
	"--dangerously-skip-permissions", "--full-auto", "--input-format", "--last", "--latest", "--mode", "--output-format",
	"--output-last-message", "--permission-mode", "--print", "--sandbox", "--scope", "--skip-git-repo-check", "--skip-trust",
	"--yolo",
}

func TestManualNamesCommandsAndFlags(t *testing.T) {
	racetest.SkipSequential(t)
	var manual strings.Builder
	for _, path := range manualPages(t) {
		manual.WriteString(readText(t, path))
	}
	_, commands, _ := strings.Cut(helpOf(t, "--all"), "Commands:\n")
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
var slashCommand = regexp.MustCompile(`(?m)(?:^  |, )(/[a-z]+)`)

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

// testCommand matches a go test command, its packages and its -run or -fuzz.
var testCommand = regexp.MustCompile(`(?m)^\$ go test ((?:\./\S+ )+)(?:-run '\^\$' )?-(?:run|fuzz) (\w+)`)

func TestManualNamesTests(t *testing.T) {
	commands := testCommand.FindAllStringSubmatch(readText(t, filepath.Join(manualDir, "development.md")), -1)
	if len(commands) == 0 {
		t.Fatal("development.md runs no tests")
	}
	for _, match := range commands {
		test := regexp.MustCompile(`(?m)^func \w*` + match[2])
		for _, dir := range strings.Fields(match[1]) {
			files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(file string) bool { return test.MatchString(readText(t, file)) }) {
				t.Errorf("development.md runs %s, which %s does not have", match[2], dir)
			}
		}
	}
}

// indentedCode matches a block of Go in a list.
var indentedCode = regexp.MustCompile("(?ms)^  ```go\n(.*?)^  ```$")

// The engine and the importer of the manual are compiled and run as files of their packages' tests.
func TestManualHasFilesOfTests(t *testing.T) {
	blocks := indentedCode.FindAllStringSubmatch(readText(t, filepath.Join(manualDir, "development.md")), -1)
	files := []string{"../../coordinator/agent/echo_test.go", "../../projection/interchange/telegram_test.go"}
	if len(blocks) != len(files) {
		t.Fatalf("development.md has %d blocks of Go in lists, want %d", len(blocks), len(files))
	}
	for i, path := range files {
		if got := regexp.MustCompile("(?m)^  ").ReplaceAllString(blocks[i][1], ""); got != readText(t, path) {
			t.Errorf("development.md has another text than %s:\n%s", path, got)
		}
	}
}

// quotedMessage matches a message that a row of a table starts with.
var quotedMessage = regexp.MustCompile(`(?m)^\| "([^"]+)"`)

func TestManualQuotesMessages(t *testing.T) {
	files, err := filepath.Glob("internal/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("source: %v, %v", files, err)
	}
	var source strings.Builder
	for _, path := range files {
		if !strings.HasSuffix(path, "_test.go") {
			source.WriteString(readText(t, path))
		}
	}
	for _, match := range quotedMessage.FindAllStringSubmatch(readText(t, "guide/troubleshooting.md"), -1) {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(match[1]), "…", "%[a-z]")
		if !regexp.MustCompile(pattern).MatchString(source.String()) {
			t.Errorf("guide/troubleshooting.md quotes %q, which is no message", match[1])
		}
	}
}

//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestTerminal runs testdata/terminal: one behaviour in each file, of programs that
// a person uses on a terminal or that run in the background. These commands are
// added to those of TestScript; they act on the program that was started last,
// or on the one that use names.
//
//	terminal NAME PROGRAM [ARG]…  start a program on a terminal of 24 rows and 200 columns
//	start NAME PROGRAM [ARG]…     start a program with pipes
//	use NAME                      act on that program from now on
//	enter TEXT                    type a line; what is drawn of it before Enter satisfies no later expect
//	press KEY…                    type keys: esc, enter, tab, up, ctrl-c, ctrl-d, or text with Go escapes
//	expect TEXT…                  wait until the output has each text, after those expected before
//	expect -without TEXT TEXT…    the same; the output up to there does not contain the first
//	expect -re PATTERN…           the same with patterns; a group (?P<NAME>…) sets $NAME
//	notice TEXT…                  expect for standard error
//	never TEXT…                   the output so far contains none of the texts
//	output, errors                copy the standard output or error so far to stdout
//	signal NAME                   send INT, TERM, HUP or KILL
//	close                         end the input, or hang up the terminal
//	ends [CODE]                   wait until the program exits, with that code (default 0)
//	tailed                        wait until tail --all has printed every event of the home, end it, and
//	                              check that it has printed each once
//
// In the arguments of expect, notice and never, Go escapes are interpreted. $PID is
// the process id of the program that was started last.
//
// Without -full, the smallest script of each topic of terminalTopics runs.
func TestTerminal(t *testing.T) {
	skipIfShort(t)
	params := scriptParams(t, "testdata/terminal", terminalTopics())
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		err := setup(env)
		env.Values[terminalKey{}] = &terminalScript{env: env, programs: map[string]*program{}}
		return err
	}
	for name, run := range terminalCommands {
		params.Cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			s := ts.Value(terminalKey{}).(*terminalScript)
			s.ts = ts
			if neg {
				ts.Fatalf("unsupported: ! %s", name)
			}
			if s.current == nil && name != "terminal" && name != "start" {
				ts.Fatalf("%s without a program", name)
			}
			run(s, args)
		}
	}
	testscript.Run(t, params)
}

// terminalTopics returns topics for each kind of input and output of a terminal: lines, keys, questions, signals, what
// follows a session, what is drawn while an agent answers. With the race detector it returns more.
func terminalTopics() []string {
	topics := []string{
		"attach", "ctrl", "deploy", "follow", "hangup", "hostile", "killed", "multiline", "permission", "resume", "slash", "team", "tool",
	}
	if racetest.Enabled {
		topics = append(topics,
			"bold", "complete", "conversation", "delete", "doctor", "editor", "empty", "end", "escape", "first", "guide",
			"history", "long", "message", "narrow", "no", "plain", "plan", "replay", "rerun", "retry", "second", "signal",
			"spinner", "tail", "trust", "typed", "unsaved")
	}
	return topics
}

type terminalKey struct{}

// terminalScript has the programs of one script.
type terminalScript struct {
	env      *testscript.Env
	ts       *testscript.TestScript
	programs map[string]*program
	current  *program
}

// The methods of tester, for the programs.

func (s *terminalScript) Helper() {}

func (s *terminalScript) Fatal(args ...any) { s.ts.Fatalf("%s", fmt.Sprint(args...)) }

func (s *terminalScript) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }

func (s *terminalScript) Errorf(format string, args ...any) { s.ts.Fatalf(format, args...) }

func (s *terminalScript) Cleanup(f func()) { s.ts.Defer(f) }

var terminalCommands = map[string]func(*terminalScript, []string){
	"terminal": func(s *terminalScript, args []string) { s.start(args, startTerminal) },
	"start":    func(s *terminalScript, args []string) { s.start(args, startCommand) },
	"use":      func(s *terminalScript, args []string) { s.use(args) },
	"enter":    func(s *terminalScript, args []string) { s.enter(args) },
	"press":    func(s *terminalScript, args []string) { s.press(args) },
	"expect":   func(s *terminalScript, args []string) { s.expect(s.current.stdout, args) },
	"notice":   func(s *terminalScript, args []string) { s.expect(s.current.stderr, args) },
	"never":    func(s *terminalScript, args []string) { s.never(args) },
	"output":   func(s *terminalScript, _ []string) { fmt.Fprint(s.ts.Stdout(), s.current.stdout) },
	"errors":   func(s *terminalScript, _ []string) { fmt.Fprint(s.ts.Stdout(), s.current.stderr) },
	"tailed":   func(s *terminalScript, _ []string) { sameJournals(s, s.ts.Getenv("AGENT_CHATTER_HOME"), s.current) },
	"signal":   func(s *terminalScript, args []string) { s.signal(args) },
	"close":    func(s *terminalScript, _ []string) { s.current.closeInput() },
	"ends":     func(s *terminalScript, args []string) { s.ends(args) },
}

// start runs a program with the environment and the directory of the script.
func (s *terminalScript) start(args []string, start func(tester, string, *exec.Cmd) *program) {
	if len(args) < 2 {
		s.ts.Fatalf("usage: terminal|start NAME PROGRAM [ARG]…")
	}
	path := args[1]
	if !strings.ContainsRune(path, filepath.Separator) {
		for _, dir := range filepath.SplitList(s.ts.Getenv("PATH")) {
			if info, err := os.Stat(filepath.Join(dir, path)); err == nil && !info.IsDir() {
				path = filepath.Join(dir, path)
				break
			}
		}
	}
	cmd := exec.Command(path, args[2:]...)
	cmd.Args[0] = args[1]
	cmd.Dir = s.ts.MkAbs(".")
	for _, variable := range slices.Concat(s.env.Vars, []string{"REPLY="}) {
		name, _, _ := strings.Cut(variable, "=")
		if value := s.ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	s.current = start(s, s.ts.Getenv("AGENT_CHATTER_HOME"), cmd)
	s.programs[args[0]] = s.current
	s.ts.Setenv("PID", strconv.Itoa(cmd.Process.Pid))
}

func (s *terminalScript) use(args []string) {
	if len(args) != 1 || s.programs[args[0]] == nil {
		s.ts.Fatalf("usage: use NAME, of a program that was started")
	}
	s.current = s.programs[args[0]]
}

func (s *terminalScript) enter(args []string) {
	if len(args) != 1 {
		s.ts.Fatalf("usage: enter TEXT")
	}
	if s.current.terminal {
		s.current.typeLine(args[0])
	} else {
		s.current.enter(args[0])
	}
}

var keys = map[string]string{
	"esc": esc, "enter": enter, "tab": "\t", "up": "\x1b[A", "right": "\x1b[C", "backspace": "\x7f", "ctrl-c": ctrlC, "ctrl-d": ctrlD,
}

func (s *terminalScript) press(args []string) {
	var all strings.Builder
	for _, arg := range args {
		if key, ok := keys[arg]; ok {
			all.WriteString(key)
		} else {
			all.WriteString(s.unescape(arg))
		}
	}
	s.current.press(all.String()) // one write: a program may read all of it at once
}

// unescape interprets the escapes of Go strings.
func (s *terminalScript) unescape(text string) string {
	plain, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		s.ts.Fatalf("%s: %v", text, err)
	}
	return plain
}

func (s *terminalScript) expect(o *output, args []string) {
	if len(args) > 0 && args[0] == "-re" {
		for _, pattern := range args[1:] {
			s.expectPattern(o, pattern)
		}
		return
	}
	without := ""
	if len(args) > 2 && args[0] == "-without" {
		without, args = s.unescape(args[1]), args[2:]
	}
	start := o.awaited
	for _, arg := range args {
		s.current.await(o, s.unescape(arg))
	}
	if content, _ := o.look(); without != "" && strings.Contains(content[start:o.awaited], without) {
		s.ts.Fatalf("the output contains %q: %q", without, content[start:o.awaited])
	}
}

// expectPattern waits for a match and sets the variables that its groups name.
func (s *terminalScript) expectPattern(o *output, text string) {
	pattern, err := regexp.Compile(text)
	s.ts.Check(err)
	var match []int
	var content string
	s.current.awaitThat(o, text, func(output string) (end int, found bool) {
		if match = pattern.FindStringSubmatchIndex(output); match == nil {
			return 0, false
		}
		content = output
		return match[1], true
	})
	for i, name := range pattern.SubexpNames() {
		if name != "" {
			s.ts.Setenv(name, content[match[2*i]:match[2*i+1]])
		}
	}
}

func (s *terminalScript) never(args []string) {
	shown := s.current.stdout.String() + s.current.stderr.String()
	for _, arg := range args {
		if text := s.unescape(arg); strings.Contains(shown, text) {
			s.ts.Fatalf("the output contains %q:\n%s", text, shown)
		}
	}
}

func (s *terminalScript) signal(args []string) {
	signals := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL,
	}
	if len(args) != 1 || signals[args[0]] == 0 {
		s.ts.Fatalf("usage: signal INT|TERM|HUP|KILL")
	}
	s.current.signal(signals[args[0]])
	if args[0] == "KILL" {
		<-s.current.ended
	}
}

func (s *terminalScript) ends(args []string) {
	code := exitDone
	if len(args) == 1 {
		var err error
		code, err = strconv.Atoi(args[0])
		s.ts.Check(err)
	}
	s.current.ends(code)
}

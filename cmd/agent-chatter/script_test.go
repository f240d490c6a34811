package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	_ "time/tzdata" // for the scripts that set TZ

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/rogpeppe/go-internal/testscript"
)

// programs can be started by name in tests, as installed programs can.
var programs = map[string]func(){"agent-chatter": main, "acp-agent": agenttest.PlayACP}

// TestMain makes this test binary run as any of the programs: the tests start it
// as agent-chatter.
func TestMain(m *testing.M) {
	// By default, the race detector delays the exit of every program by a second.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	agenttest.Play()
	if _, isProgram := programs[filepath.Base(os.Args[0])]; !isProgram {
		journaltest.UseMemoryForTempDir()
		os.Setenv("PAGER", "cat")
	}
	testscript.Main(m, programs)
}

// TestScript runs testdata/script, one behaviour in each file. These commands are
// added to those of testscript:
//
//	exits CODE PROGRAM [ARG]…      run a program and check its exit code
//	session NAME                   set $NAME to the id of the newest session, $NAME_FILE to its journal
//	pick [-type TYPE] FILE FIELD…  print fields of each JSON line of a file or stdout, or of each event of a type
//	sums FILE DIR                  write the checksum of every file below a directory to a file
//	damage HOW FILE LINE           change, remove, double or swap a line of a file; cut the file in that line
//	rewrite FILE OLD NEW           replace text in the events of a journal, and correct the sums
//	hub                            start a server for a hub, and set $AGENT_CHATTER_HUB to its URL
//	harmless FILE…                 check that files, or stdout, have no control characters
//
// The condition program:NAME is true if a program is installed. Where programtest requires it, the
// script fails without it.
//
// Without -full, the smallest script of each topic of representativeTopics runs, unless -run names a script. The topic
// is what the name begins with: tail.txtar, tail_all.txtar and tail_follow.txtar have one.
func TestScript(t *testing.T) {
	skipIfShort(t)
	params := scriptParams(t, "testdata/script", representativeTopics)
	if racetest.Enabled {
		params.Dir, params.Files = "", concurrentScripts(t)
	}
	testscript.Run(t, params)
}

// representativeTopics are topics for each kind of command: one that talks, lists, reads, changes, exports, imports,
// checks, configures or refuses.
var representativeTopics = []string{
	"agents", "bundle", "chat", "completion", "damage", "doctor", "exit", "export", "failed", "hub", "import", "merge",
	"queue", "replay", "resume", "retention", "search", "slash", "tail", "team", "trash", "trust",
}

// topicScripts returns the smallest script of each of these topics in a directory.
func topicScripts(t *testing.T, dir string, topics []string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	smallest, sizes := map[string]string{}, map[string]int64{}
	for _, file := range all {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		topic, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txtar"), "_")
		if !slices.Contains(topics, topic) {
			continue
		}
		if size, seen := sizes[topic]; !seen || info.Size() < size {
			smallest[topic], sizes[topic] = file, info.Size()
		}
	}
	for _, topic := range topics {
		if smallest[topic] == "" {
			t.Fatalf("no scripts of the topic %s in %s", topic, dir)
		}
	}
	return slices.Sorted(maps.Values(smallest))
}

// skipIfShort skips a test that starts many programs in a short test run. The race detector and the flag -run with the
// name of a subtest look for something in such a test.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() && !racetest.Enabled && !namesSubtest() {
		t.Skip("it starts many programs")
	}
}

// namesSubtest reports whether the flag -run names a subtest.
func namesSubtest() bool { return strings.Contains(flag.Lookup("test.run").Value.String(), "/") }

// concurrentScripts returns the scripts of commands that use several goroutines. The other scripts run the same ones, in
// their chats, or none.
func concurrentScripts(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{
		"agents_scan", "agents_verify*", "bundle", "chat_*", "compact", "doctor", "doctor_agents", "export_running",
		"failed_turn*", "hub_chat", "hub_fetch", "hub_held", "import_transcripts", "log", "permission_*", "queue_*",
		"reindex", "rerun", "retention_auto", "search", "slash_commands", "snapshot_resume", "tail*", "verify_caches",
	} {
		found, err := filepath.Glob(filepath.Join("testdata/script", pattern+".txtar"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no script %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// scriptParams returns the parameters of the scripts in a directory. Without -full, these are the smallest ones of the
// topics, unless -run names a script.
func scriptParams(t *testing.T, dir string, topics []string) testscript.Params {
	t.Helper()
	programtest.Path(t, "sh")
	teams, err := filepath.Abs("../../testdata/teams")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("agent-chatter")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	if !sizetest.Full() && !namesSubtest() {
		files, dir = topicScripts(t, dir, topics), ""
	}
	return testscript.Params{
		Dir:                 dir,
		Files:               files,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("AGENT_CHATTER_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("SESSIONS", filepath.Join(env.WorkDir, "home", "sessions"))
			env.Setenv("TEAMS", teams)
			env.Setenv("PAGER", "cat")
			env.Setenv("PROGRAMS", filepath.Dir(program))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Condition: installed,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"session":    session,
			"pick":       pick,
			"sums":       sums,
			"damage":     damage,
			"rewrite":    rewrite,
			"harmless":   harmless,
			"hub":        startServer,
			"uncaptured": uncaptured,
		},
	}
}

// installed evaluates the condition program:NAME.
func installed(condition string) (bool, error) {
	name, found := strings.CutPrefix(condition, "program:")
	if !found {
		return false, fmt.Errorf("unknown condition %q", condition)
	}
	_, err := exec.LookPath(name)
	if err != nil && programtest.Required() {
		return false, err
	}
	return err == nil, nil
}

// uncaptured turns off the capture of files in the home: its events would depend on the directory, and shift the numbers
// of the others.
func uncaptured(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: uncaptured")
	}
	home := ts.Getenv("AGENT_CHATTER_HOME")
	ts.Check(os.MkdirAll(home, 0o700))
	ts.Check(os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"files":{"capture":"off"}}`), 0o600))
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG]…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: hub")
	}
	url, stop, err := natstest.Start(ts.MkAbs("hub"), nil)
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("AGENT_CHATTER_HUB", url)
}

func session(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: session NAME")
	}
	ts.Check(ts.Exec("agent-chatter", "sessions", "--limit", "1", "--output", "json"))
	var newest struct{ ID string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &newest))
	files, err := filepath.Glob(filepath.Join(ts.Getenv("SESSIONS"), "*", newest.ID+".jsonl"))
	ts.Check(err)
	ts.Setenv(args[0], newest.ID)
	if len(files) == 1 {
		ts.Setenv(args[0]+"_FILE", files[0])
	}
}

func pick(ts *testscript.TestScript, neg bool, args []string) {
	onlyType := ""
	if len(args) > 2 && args[0] == "-type" {
		onlyType, args = args[1], args[2:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pick [-type TYPE] FILE FIELD…")
	}
	var picked strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			ts.Fatalf("%v in the line %s", err, line)
		}
		if onlyType != "" && object["type"] != onlyType {
			continue
		}
		for i, path := range args[1:] {
			if i > 0 {
				picked.WriteByte('\t')
			}
			picked.WriteString(field(object, path))
		}
		picked.WriteByte('\n')
	}
	fmt.Fprint(ts.Stdout(), picked.String())
}

// field returns the value at a path such as speaker.name, strings without quotes
// and on one line; "-" if there is none.
func field(object map[string]any, path string) string {
	var value any = object
	for name := range strings.SplitSeq(path, ".") {
		inner, ok := value.(map[string]any)
		if !ok || inner[name] == nil {
			return "-"
		}
		value = inner[name]
	}
	if text, ok := value.(string); ok {
		return strings.ReplaceAll(text, "\n", `\n`)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func sums(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sums FILE DIR")
	}
	var list bytes.Buffer
	dir := ts.MkAbs(args[1])
	ts.Check(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&list, "%x %s\n", sha256.Sum256(content), strings.TrimPrefix(path, dir))
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), list.Bytes(), 0o600))
}

func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: damage HOW FILE LINE")
	}
	how, path := args[0], ts.MkAbs(args[1])
	content, err := os.ReadFile(path)
	ts.Check(err)
	lines := bytes.SplitAfter(content, []byte("\n"))
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	i := n - 1
	if i < 0 || i >= len(lines)-1 {
		ts.Fatalf("%s has no line %d", path, n)
	}
	switch how {
	case "change":
		at := bytes.Index(lines[i], []byte(`"time":"2`)) + len(`"time":"`)
		lines[i][at]++
	case "remove":
		lines = slices.Delete(lines, i, i+1)
	case "double":
		lines = slices.Insert(lines, i, lines[i])
	case "swap":
		lines[i], lines[i+1] = lines[i+1], lines[i]
	case "cut":
		lines = append(lines[:i], lines[i][:len(lines[i])/2])
	default:
		ts.Fatalf("unknown damage: %s", how)
	}
	ts.Check(os.WriteFile(path, bytes.Join(lines, nil), 0o600))
}

func harmless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: harmless FILE…")
	}
	for _, name := range args {
		if r, found := acting(ts.ReadFile(name)); found {
			ts.Fatalf("%s contains %U", name, r)
		}
	}
}

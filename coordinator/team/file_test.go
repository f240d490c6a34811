package team_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// samples is the directory of the sample teams.
const samples = "../../testdata/teams"

func TestValidSampleTeamsLoad(t *testing.T) {
	for file, want := range map[string]struct {
		id      string
		members []string
	}{
		"capture.json":   {"capture", []string{"hugo", "ada", "bea"}},
		"minus-ada.json": {"capture", []string{"hugo", "bea"}},
		"slow.json":      {"slow", []string{"hugo", "ada", "bea"}},
		"fail.json":      {"fail", []string{"hugo", "ada", "bea"}},
		"echo-pair.json": {"echo-pair", []string{"you", "upper", "count"}},
	} {
		t.Run(file, func(t *testing.T) {
			loaded := load(t, filepath.Join(samples, file), t.TempDir())
			if loaded.ID != want.id || !slices.Equal(ids(loaded), want.members) {
				t.Errorf("team %q of %q, want %q of %q", loaded.ID, ids(loaded), want.id, want.members)
			}
			for _, m := range loaded.Members {
				if m.Type == team.AI {
					checkCommand(t, m)
				}
			}
		})
	}
}

func TestSampleTeamsOfRealAgentsLoad(t *testing.T) {
	for file, want := range map[string][]string{
		"review.json":    {"author claude edit", "reviewer codex read", "you  "},
		"all-local.json": {"planner openai ", "critic openai ", "you  "},
		"demo.json":      {"planner demo ", "critic demo ", "you  "},

		"plan-and-work.json": {"instructor claude read", "worker claude edit", "you  "},

		"asking.json": {"hugo  ", "ada acp ", "bea acp allow", "cleo acp deny"},
	} {
		var got []string
		for _, m := range load(t, filepath.Join(samples, file), t.TempDir()).Members {
			engine := ""
			if m.Type == team.AI {
				engine = m.EngineName()
			}
			got = append(got, m.Name+" "+engine+" "+m.Permissions)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", file, got, want)
		}
	}
}

func TestDemoFileEqualsBuiltInTeam(t *testing.T) {
	loaded, builtIn := load(t, filepath.Join(samples, "demo.json"), t.TempDir()), team.Demo()
	loaded.Source = nil
	for i := range loaded.Members {
		loaded.Members[i].BaseDir, loaded.Members[i].InstructionFile = "", ""
	}
	checkEqual(t, "the team", loaded, builtIn)
}

// checkCommand checks that the member has the engine "command" and an executable script.
func checkCommand(t *testing.T, m team.Member) {
	t.Helper()
	if m.EngineName() != "command" {
		t.Errorf("%s has the engine %q", m.ID, m.EngineName())
	}
	if !filepath.IsAbs(m.Command) {
		return // a standard tool
	}
	if info, err := os.Stat(m.Command); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%s: %s is not executable: %v", m.ID, m.Command, err)
	}
}

func TestInvalidSampleTeamsReportEveryProblem(t *testing.T) {
	for file, want := range map[string][]string{
		"invalid-schema.json": {
			"/", // unknown field
			"/conversation/maxAgentResponseTime",
			"/maxRounds",
			"/team", // missing description
			"/team/members/0/displayName",
			"/team/members/1", // missing agentType
			"/team/members/1/name",
			"/team/members/1/systemInstruction/1",
		},
		"invalid-rules.json": {
			"/agents/1",     // missing command
			"/team/members", // no human
			"/team/members/0/engine",
			"/team/members/1/name",
			"/team/members/1/order",
			"/team/members/2/agentType",
			"/team/members/2/model",
		},
		"invalid-both.json": {
			"/maxRounds",
			"/team/members", // no human
			"/team/members/0/agentType",
			"/team/members/0/systemInstruction",
			"/team/members/1", // missing role
			"/team/members/1/name",
		},
	} {
		t.Run(file, func(t *testing.T) {
			checkProblems(t, filepath.Join(samples, file), t.TempDir(), want)
		})
	}
}

func TestEverySampleTeamIsTested(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples, "*.json"))
	if err != nil || len(files) != 13 {
		t.Errorf("%d samples (%v), want 13: %q", len(files), err, files)
	}
}

// ask runs a member of a sample team as its engine would and returns its output.
func ask(t *testing.T, file, id, prompt string, env ...string) (stdout, stderr string, err error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the samples are shell scripts")
	}
	m, _ := load(t, filepath.Join(samples, file), t.TempDir()).Member(id)
	var out, failure strings.Builder
	cmd := exec.Command(m.Command, m.Args...)
	cmd.Dir = m.BaseDir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(prompt), &out, &failure
	err = cmd.Run()
	return out.String(), failure.String(), err
}

func TestCaptureSampleKeepsPromptsInOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	for i, prompt := range []string{"one", "two", "three"} {
		answer, _, err := ask(t, "capture.json", "ada", prompt, "CAPTURE="+dir)
		if err != nil || answer != "ok [NEXT: hugo]\n" {
			t.Errorf("the reply is %q, %v", answer, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i+1))); string(got) != prompt {
			t.Errorf("prompt %d is %q (%v), want %q", i+1, got, err, prompt)
		}
	}
}

func TestCaptureSampleRepliesWithREPLY(t *testing.T) {
	answer, _, err := ask(t, "capture.json", "bea", "hello", "REPLY=-n 100% [NEXT: ada]")
	if err != nil || answer != "-n 100% [NEXT: ada]\n" {
		t.Errorf("the reply is %q, %v", answer, err)
	}
}

func TestFailSampleFails(t *testing.T) {
	answer, failure, err := ask(t, "fail.json", "ada", "hello")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || answer != "" || failure != "broken\n" {
		t.Errorf("the reply is %q and %q, %v", answer, failure, err)
	}
}

func TestEchoPairSampleRepliesWithLastLine(t *testing.T) {
	const prompt = "You are Upper. Write [NEXT: name] to hand over.\n\nMessage from You:\nhello world\n"
	answer, _, err := ask(t, "echo-pair.json", "upper", prompt)
	if err != nil || answer != "HELLO WORLD\n" {
		t.Errorf("the reply of upper is %q, %v", answer, err)
	}
	answer, _, err = ask(t, "echo-pair.json", "count", prompt)
	if err != nil || strings.TrimSpace(answer) != "14" {
		t.Errorf("the reply of count is %q, %v", answer, err)
	}
}

// member returns a member of a team file.
func member(name, kind string, more ...string) string {
	fields := append([]string{fmt.Sprintf(
		`"name":%q,"displayName":%q,"type":%q,"role":"","baseDir":".","systemInstruction":""`,
		name, strings.ToUpper(name), kind)}, more...)
	return "{" + strings.Join(fields, ",") + "}"
}

var (
	human = member("hugo", "human")
	demo  = member("ada", "ai", `"agentType":"demo"`)
)

// config returns a team file with these members and fields.
func config(members []string, more ...string) string {
	fields := append([]string{
		`"schemaVersion":"1.2"`,
		`"team":{"name":"crew","description":"","members":[` + strings.Join(members, ",") + `]}`,
	}, more...)
	return "{" + strings.Join(fields, ",") + "}"
}

// write creates a file in a new directory and returns its path.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// registered returns a home with a registry of these agents.
func registered(t testing.TB, agents string) (home string) {
	t.Helper()
	path := write(t, "agents/config.json", `{"schemaVersion":"1.1","agents":{`+agents+`}}`)
	return filepath.Dir(filepath.Dir(path))
}

func load(t *testing.T, path, home string) *team.Team {
	t.Helper()
	loaded, err := team.Load(path, home)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// loadConfig loads a team file with this content, without a registry.
func loadConfig(t *testing.T, content string) (loaded *team.Team, dir string) {
	t.Helper()
	path := write(t, "crew.json", content)
	return load(t, path, t.TempDir()), filepath.Dir(path)
}

// checkProblems checks that loading reports problems at exactly these paths.
func checkProblems(t *testing.T, path, home string, want []string) {
	t.Helper()
	loaded, err := team.Load(path, home)
	var invalid *schemas.InvalidError
	if loaded != nil || !errors.As(err, &invalid) {
		t.Fatalf("got %v, %v, want an InvalidError", loaded, err)
	}
	if prefix := "team file " + path + ": "; !strings.HasPrefix(err.Error(), prefix) {
		t.Errorf("the error does not start with %q: %v", prefix, err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.Path)
		if p.Message == "" {
			t.Errorf("the problem at %s has no message", p.Path)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s%v", diff, err)
	}
}

func ids(loaded *team.Team) []string {
	var ids []string
	for _, m := range loaded.Members {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestMinimalTeamFileGetsDefaults(t *testing.T) {
	loaded, dir := loadConfig(t, config([]string{human, demo}))
	loaded.Source = nil
	want := &team.Team{
		ID: "crew", Name: "crew", DisplayName: "crew",
		Members: []team.Member{
			{ID: "hugo", Name: "hugo", DisplayName: "HUGO", Type: "human", BaseDir: dir},
			{ID: "ada", Name: "ada", DisplayName: "ADA", Type: "ai", AgentType: "demo", BaseDir: dir,
				InstructionFile: filepath.Join(dir, "AGENTS.md")},
		},
		MaxRounds: 50, MaxAgentResponseTime: 30 * time.Minute, ShowThinkingTimer: true, AllowEscCancel: true,
	}
	if diff := cmp.Diff(want, loaded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadSetsEveryField(t *testing.T) {
	loaded, dir := loadConfig(t, `{
		"schemaVersion": "1.1",
		"files": {"capture": "off"}, "maxRounds": 3.0,
		"conversation": {"maxAgentResponseTime": 1500, "showThinkingTimer": false, "allowEscCancel": false},
		"agents": [{"name": "claude", "command": "bin/claude", "args": ["-p"], "usePty": false}],
		"team": {
			"name": "crew", "displayName": "The Crew", "description": "All of it", "instructionFile": "docs/TEAM.md",
			"members": [
				{"name": "hugo", "displayName": "Hugo", "type": "human", "role": "boss", "baseDir": ".",
				 "systemInstruction": ""},
				{"name": "ada", "displayName": "Ada", "type": "ai", "role": "author", "agentType": "claude",
				 "engine": "command", "model": "large", "permissions": "ask", "maxAgentIdleTime": 60000, "thinking": false, "recall": "all",
				 "endpoint": "http://x/v1", "apiKeyEnv": "KEY", "headers": {"X-Title": "chat"}, "themeColor": "red", "unheardOf": 1,
				 "systemInstruction": ["one", "two"], "baseDir": "work", "env": {"A": "b"}}
			]
		}
	}`)
	loaded.Source = nil
	thinking := false
	want := &team.Team{
		ID: "crew", Name: "crew", DisplayName: "The Crew", Description: "All of it",
		InstructionFile: filepath.Join(dir, "docs/TEAM.md"),
		Members: []team.Member{
			{ID: "hugo", Name: "hugo", DisplayName: "Hugo", Type: "human", Role: "boss", BaseDir: dir},
			{
				ID: "ada", Name: "ada", DisplayName: "Ada", Type: "ai", Role: "author", ThemeColor: "red", AgentType: "claude",
				Engine: "command", Model: "large", Permissions: "ask", MaxAgentIdleTime: time.Minute,
				Recall: team.RecallAll, Thinking: &thinking, Endpoint: "http://x/v1", APIKeyEnv: "KEY",
				Headers: map[string]string{"X-Title": "chat"}, SystemInstruction: "one\ntwo",
				BaseDir: filepath.Join(dir, "work"), InstructionFile: filepath.Join(dir, "work", "CLAUDE.md"),
				Command: filepath.Join(dir, "bin/claude"), Args: []string{"-p"}, Env: map[string]string{"A": "b"},
			},
		},
		MaxRounds: 3, MaxAgentResponseTime: 1500 * time.Millisecond, FilesOff: true,
	}
	if diff := cmp.Diff(want, loaded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSourceIsPathAndHashOfFile(t *testing.T) {
	path := write(t, "crew.json", "\xef\xbb\xbf"+config([]string{human, demo}))
	t.Chdir(filepath.Dir(path))
	bom := load(t, "crew.json", t.TempDir()).Source
	if err := os.WriteFile(path, []byte(config([]string{human, demo})), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := load(t, "crew.json", t.TempDir()).Source
	if !filepath.IsAbs(bom.Path) || filepath.Base(bom.Path) != "crew.json" {
		t.Errorf("path %q, want an absolute path", bom.Path)
	}
	if len(bom.SHA256) != 64 || bom.SHA256 == plain.SHA256 {
		t.Errorf("hash %q with a byte order mark, %q without", bom.SHA256, plain.SHA256)
	}
}

func TestHugeNumbersDoNotOverflow(t *testing.T) {
	loaded, _ := loadConfig(t, config([]string{human, demo}, `"conversation":{"maxAgentResponseTime":1e300}`,
		`"maxRounds":1e300`))
	if loaded.MaxAgentResponseTime != math.MaxInt64 || loaded.MaxRounds < 1e9 {
		t.Errorf("response time %v, %d rounds", loaded.MaxAgentResponseTime, loaded.MaxRounds)
	}
}

// The longest response time in milliseconds is not the longest duration.
func TestResponseTimeUpToTheLongestDuration(t *testing.T) {
	for ms, want := range map[string]time.Duration{
		"9223372036853": 9223372036853 * time.Millisecond,
		"9223372036854": math.MaxInt64,
	} {
		loaded, _ := loadConfig(t, config([]string{human, demo}, `"conversation":{"maxAgentResponseTime":`+ms+`}`))
		if got := loaded.MaxAgentResponseTime; got != want {
			t.Errorf("%s ms: %v, want %v", ms, got, want)
		}
	}
}

func TestNumberOutOfRangeIsRejected(t *testing.T) {
	path := write(t, "crew.json", config([]string{human, demo}, `"maxRounds":1e999`))
	if loaded, err := team.Load(path, t.TempDir()); err == nil {
		t.Errorf("loaded with %d rounds", loaded.MaxRounds)
	}
}

func TestMembersAreSortedByOrder(t *testing.T) {
	loaded, _ := loadConfig(t, config([]string{
		human,
		member("last", "ai", `"agentType":"demo"`, `"order":9`),
		member("first", "human", `"order":0`),
		member("next", "ai", `"agentType":"demo"`, `"order":0.5`),
	}))
	if want := []string{"hugo", "first", "next", "last"}; !slices.Equal(ids(loaded), want) {
		t.Errorf("got %q, want %q", ids(loaded), want)
	}
}

func TestBaseDirAndCommandsAreAbsolute(t *testing.T) {
	userHome := t.TempDir()
	t.Setenv("HOME", userHome)
	t.Setenv("USERPROFILE", userHome)
	for _, test := range []struct{ baseDir, command, wantDir, wantCommand string }{
		{".", "tool", "DIR", "tool"},
		{"", "./tool", "DIR", "DIR/tool"},
		{"a/../b", "../tool", "DIR/b", "DIR/../tool"},
		{"~", "~/bin/tool", "HOME", "HOME/bin/tool"},
		{"~/a", "/usr/bin/tool", "HOME/a", "/usr/bin/tool"},
		{"~a", "~tool", "DIR/~a", "~tool"},
	} {
		ada := fmt.Sprintf(`{"name":"ada","displayName":"Ada","type":"ai","agentType":"x","role":"",`+
			`"baseDir":%q,"systemInstruction":""}`, test.baseDir)
		loaded, dir := loadConfig(t, config([]string{human, ada},
			fmt.Sprintf(`"agents":[{"name":"x","command":%q}]`, test.command)))
		m, _ := loaded.Member("ada")
		place := func(path string) string {
			path = strings.NewReplacer("DIR", dir, "HOME", userHome).Replace(path)
			if filepath.IsAbs(path) {
				path = filepath.Clean(path)
			}
			return path
		}
		if m.BaseDir != place(test.wantDir) || m.Command != place(test.wantCommand) {
			t.Errorf("%q, %q: got %q, %q", test.baseDir, test.command, m.BaseDir, m.Command)
		}
	}
}

func TestTildeNeedsAHome(t *testing.T) {
	for _, name := range []string{"HOME", "USERPROFILE", "home"} {
		t.Setenv(name, "")
	}
	ada := strings.Replace(member("ada", "ai", `"agentType":"x"`), `"."`, `"~/a"`, 1)
	checkProblems(t, write(t, "crew.json", config([]string{human, ada}, `"agents":[{"name":"x","command":"x"}]`)),
		t.TempDir(), []string{"/team/members/1/baseDir"})
	loaded, _ := loadConfig(t, config([]string{human, member("ada", "ai", `"agentType":"x"`)},
		`"agents":[{"name":"x","command":"~/tool"}]`))
	if m, _ := loaded.Member("ada"); m.Command != "~/tool" { // starting it fails
		t.Errorf("the command is %q", m.Command)
	}
}

func TestInstructionFileDefaultsByAgentType(t *testing.T) {
	for _, test := range []struct{ agentType, file, want string }{
		{"claude", "", "CLAUDE.md"},
		{"codex", "", "AGENTS.md"},
		{"gemini", "", "GEMINI.md"},
		{"other", "", "AGENTS.md"},
		{"claude", "docs/ME.md", "docs/ME.md"},
	} {
		ada := member("ada", "ai", fmt.Sprintf(`"agentType":%q,"instructionFile":%q`, test.agentType, test.file))
		loaded, dir := loadConfig(t, config([]string{human, ada},
			fmt.Sprintf(`"agents":[{"name":%q,"command":"x"}]`, test.agentType)))
		m, _ := loaded.Member("ada")
		if want := filepath.Join(dir, test.want); m.InstructionFile != want {
			t.Errorf("type %q, file %q: got %q, want %q", test.agentType, test.file, m.InstructionFile, want)
		}
	}
}

func TestTeamFileOverridesRegisteredArguments(t *testing.T) {
	home := registered(t, `"x":{"name":"x","displayName":"X","command":"/opt/x","args":["-a","-b"],"usePty":false}`)
	for _, test := range []struct {
		name, agents string
		args         []string
	}{
		{"nothing", ``, []string{"-a", "-b"}},
		{"other arguments", `{"name":"x","args":["-c"]}`, []string{"-c"}},
		{"no arguments", `{"name":"x","args":[]}`, []string{}},
		{"usePty", `{"name":"x","usePty":true}`, []string{"-a", "-b"}},
		{"the same command", `{"name":"x","command":"/opt/x"}`, []string{"-a", "-b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, "crew.json", config([]string{human, member("ada", "ai", `"agentType":"x"`)},
				`"agents":[`+test.agents+`]`))
			m, _ := load(t, path, home).Member("ada")
			if m.Command != "/opt/x" || !slices.Equal(m.Args, test.args) {
				t.Errorf("got %q %q, want /opt/x %q", m.Command, m.Args, test.args)
			}
		})
	}
}

func TestRegisteredPathIsRelativeToTheRegistry(t *testing.T) {
	home := registered(t, `"x":{"name":"x","displayName":"X","command":"./bin/x","args":[],"usePty":false}`)
	path := write(t, "crew.json", config([]string{human, member("ada", "ai", `"agentType":"x"`)}))
	want := filepath.Join(home, "agents", "bin", "x")
	if m, _ := load(t, path, home).Member("ada"); m.Command != want {
		t.Errorf("the command is %s, want %s", m.Command, want)
	}
}

func TestRulesBeyondSchema(t *testing.T) {
	home := registered(t, `"x":{"name":"x","displayName":"X","command":"/opt/x","args":[],"usePty":false}`)
	ai := func(name, more string) string { return member(name, "ai", more) }
	for _, test := range []struct {
		name    string
		members []string
		agents  string
		want    []string
	}{
		{"no human", []string{demo, ai("bea", `"agentType":"demo"`)}, ``, []string{"/team/members"}},
		{"no AI", []string{human, member("eve", "human")}, ``, []string{"/team/members"}},
		{"the same name", []string{human, demo, demo}, ``, []string{"/team/members/2/name"}},
		{"a similar name", []string{human, demo, ai("A_D-A", `"agentType":"demo"`)}, ``,
			[]string{"/team/members/2/name"}},
		{"names of separators only", []string{member("-", "human"), demo, member("_", "human")}, ``, nil},
		{"unknown engine", []string{human, ai("bea", `"agentType":"demo","engine":"steam"`)}, ``,
			[]string{"/team/members/1/engine"}},
		{"engine demo needs no command", []string{human, ai("bea", `"agentType":"y","engine":"demo"`)}, ``, nil},
		{"engine command needs a command", []string{human, ai("bea", `"agentType":"demo","engine":"command"`)}, ``,
			[]string{"/team/members/1/agentType"}},
		{"a known agent needs no command", []string{human, ai("bea", `"agentType":"claude","permissions":"edit"`)}, ``,
			nil},
		{"model that is an option", []string{human, ai("bea", `"agentType":"claude","model":"--resume"`)}, ``,
			[]string{"/team/members/1/model"}},
		{"model of an API", []string{human, ai("bea", `"agentType":"openai","endpoint":"http://a/v1","model":"-m"`)}, ``, nil},
		{"variables that stand for others", []string{human, ai("bea", `"agentType":"demo","env":{"A=B":"c","":"d"}`)}, ``,
			[]string{"/team/members/1/env", "/team/members/1/env"}},
		{"unknown permissions", []string{human, ai("bea", `"agentType":"codex","permissions":"yolo"`)}, ``,
			[]string{"/team/members/1/permissions"}},
		{"unknown permissions", []string{human,
			ai("bea", `"agentType":"gemini","engine":"acp","permissions":"sometimes"`)}, ``,
			[]string{"/team/members/1/permissions"}},
		{"an agent that cannot ask", []string{human, ai("bea", `"agentType":"agy","permissions":"ask"`)}, ``,
			[]string{"/team/members/1/permissions"}},
		{"an agent that cannot ask", []string{human, ai("bea", `"agentType":"antigravity","permissions":"deny"`)}, ``, nil},
		{"a known ACP agent needs no command", []string{human,
			ai("bea", `"agentType":"gemini-cli","engine":"acp","permissions":"ask"`)}, ``, nil},
		{"an unknown ACP agent needs a command", []string{human, ai("bea", `"agentType":"mine","engine":"acp"`)}, ``,
			[]string{"/team/members/1/agentType"}},
		{"an API needs no command", []string{human,
			ai("bea", `"agentType":"llama","engine":"openai","endpoint":"http://localhost:11434/v1"`)}, ``, nil},
		{"headers", []string{human, ai("bea", `"agentType":"llama","engine":"openai","endpoint":"http://x/v1",
			"headers":{"X-Title":"chat","api-key":"$KEY","Authorization":"${KEY}"}`)}, ``, nil},
		{"a secret in a header", []string{human, ai("bea", `"agentType":"llama","engine":"openai",
			"endpoint":"http://x/v1","headers":{"api-key":"4711","authorization":"Bearer $KEY","Cookie":"a"}`)}, ``,
			[]string{
				"/team/members/1/headers/Cookie", "/team/members/1/headers/api-key",
				"/team/members/1/headers/authorization",
			}},
		{"headers that cannot be sent", []string{human, ai("bea", `"agentType":"llama","engine":"openai",
			"endpoint":"http://x/v1","headers":{"X Title":"chat","X-Line":"a\nb"}`)}, ``,
			[]string{"/team/members/1/headers", "/team/members/1/headers/X-Line"}},
		{"headers by name, not by number", []string{human, ai("bea", `"agentType":"llama","engine":"openai",
			"endpoint":"http://x/v1","headers":{"x":"\u0007","1":"\u0007","-":"\u0007"}`)}, ``,
			[]string{"/team/members/1/headers/-", "/team/members/1/headers/1", "/team/members/1/headers/x"}},
		{"no endpoint", []string{human, ai("bea", `"agentType":"llama","engine":"openai"`)}, ``,
			[]string{"/team/members/1/endpoint"}},
		{"an endpoint that is not a URL", []string{human,
			ai("bea", `"agentType":"llama","engine":"openai","endpoint":"localhost:11434"`)}, ``,
			[]string{"/team/members/1/endpoint"}},
		{"an endpoint that cannot be parsed", []string{human,
			ai("bea", `"agentType":"llama","engine":"openai","endpoint":"http://[::1"`)}, ``,
			[]string{"/team/members/1/endpoint"}},
		{"an endpoint without a host", []string{human,
			ai("bea", `"agentType":"llama","engine":"openai","endpoint":"http:///v1"`)}, ``,
			[]string{"/team/members/1/endpoint"}},
		{"an endpoint of another protocol", []string{human,
			ai("bea", `"agentType":"llama","engine":"openai","endpoint":"ftp://x/v1"`)}, ``,
			[]string{"/team/members/1/endpoint"}},
		{"an encrypted endpoint", []string{human,
			ai("bea", `"agentType":"llama","engine":"openai","endpoint":"https://x/v1"`)}, ``, nil},
		{"unknown agent", []string{human, ai("bea", `"agentType":"y"`)}, ``, []string{"/team/members/1/agentType"}},
		{"empty agent", []string{human, ai("bea", `"agentType":""`)}, ``, []string{"/team/members/1/agentType"}},
		{"an agent without a command", []string{human, ai("bea", `"agentType":"y"`)}, `{"name":"y"}`,
			[]string{"/agents/0"}},
		{"a command other than the registered", []string{human, ai("bea", `"agentType":"x"`)},
			`{"name":"x","command":"/opt/y"}`, []string{"/agents/0/command"}},
		{"agents without a name", []string{human, demo}, `{"name":""},{"name":""}`,
			[]string{"/agents/0/name", "/agents/1/name"}},
		{"an agent without a name before a duplicate one", []string{human, demo},
			`{"name":""},{"name":"y","command":"a"},{"name":"y","command":"b"}`,
			[]string{"/agents/0/name", "/agents/2/name"}},
		{"a member without a name before a duplicate one", []string{human, ai("", `"agentType":"demo"`), demo, demo}, ``,
			[]string{"/team/members/1/displayName", "/team/members/1/name", "/team/members/3/name"}},
		{"a duplicate agent", []string{human, demo}, `{"name":"y","command":"a"},{"name":"y","command":"b"}`,
			[]string{"/agents/1/name"}},
		{
			"index 10 after index 2", []string{
				human, demo, ai("ada", `"agentType":"y"`), ai("a4", `"agentType":"demo"`),
				ai("a5", `"agentType":"demo"`),
				ai("a6", `"agentType":"demo"`), ai("a7", `"agentType":"demo"`), ai("a8", `"agentType":"demo"`),
				ai("a9", `"agentType":"demo"`), ai("b1", `"agentType":"demo"`), ai("b2", `"agentType":"y"`),
			}, ``, []string{"/team/members/2/agentType", "/team/members/2/name", "/team/members/10/agentType"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, "crew.json", config(test.members, `"agents":[`+test.agents+`]`))
			if test.want == nil {
				load(t, path, home)
				return
			}
			checkProblems(t, path, home, test.want)
		})
	}
}

func TestEqualNamesAreTold(t *testing.T) {
	const same = `"ada" is also the name of another member`
	const equal = `"A_D-A" equals "ada" in a marker, which ignores case, '-' and '_'`
	_, err := team.Load(write(t, "crew.json", config([]string{human, demo, demo,
		member("A_D-A", "ai", `"agentType":"demo"`)})), t.TempDir())
	var invalid *schemas.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v, want an InvalidError", err)
	}
	checkEqual(t, "the problems", invalid.Problems, []schemas.Problem{
		{Path: "/team/members/2/name", Message: same}, {Path: "/team/members/3/name", Message: equal},
	})
}

// A path that is relative to a working directory needs one.
func TestRelativePathsNeedAWorkingDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a working directory cannot be removed")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	path := write(t, "crew.json", config([]string{human, demo}))
	if got := load(t, path, "home").Source.Home; got != filepath.Join(dir, "home") {
		t.Errorf("the home is %s", got)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for _, arg := range [][2]string{{"crew.json", t.TempDir()}, {path, "home"}} {
		if loaded, err := team.Load(arg[0], arg[1]); loaded != nil || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, %v", arg, loaded, err)
		}
	}
}

// A file of another program may leave out what it never checked, and names built-in agents without a
// command.
func TestFileOfOtherProgramsLoadsWithWarnings(t *testing.T) {
	loaded, dir := loadConfig(t, `{
		"schemaVersion": "1.2",
		"agents": [{"name": "claude", "args": ["--verbose"]}, {"name": "claude-code"}],
		"team": {
			"name": "crew",
			"members": [
				{"name": "ada", "type": "ai", "agentType": "claude"},
				{"name": "hugo", "displayName": "Hugo", "role": "boss", "type": "human", "baseDir": "x"}
			]
		}
	}`)
	var got []string
	for _, w := range loaded.Warnings {
		got = append(got, w.Path+" "+w.Missing)
	}
	want := []string{
		"/team description", "/team/members/0 baseDir", "/team/members/0 displayName", "/team/members/0 role",
		"/team/members/0 systemInstruction", "/team/members/1 systemInstruction",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	ada, _ := loaded.Member("ada")
	if ada.DisplayName != "ada" || ada.BaseDir != dir || ada.Command != "" || !slices.Equal(ada.Args, []string{"--verbose"}) {
		t.Errorf("ada is %+v", ada)
	}
}

func TestFileWithoutWhatHasNoDefaultIsRejected(t *testing.T) {
	for name, tt := range map[string]struct {
		old, new string
		want     []string
	}{
		"team name":   {`"name":"crew",`, ``, []string{"/team"}},
		"member name": {`"name":"ada",`, ``, []string{"/team/members/1"}},
		"member type": {`"type":"ai",`, ``, []string{"/team/members", "/team/members/1"}},
		"agent type":  {`,"agentType":"demo"`, ``, []string{"/team/members/1"}},
		"version":     {`"schemaVersion":"1.2",`, ``, []string{"/"}},
		"members":     {`,"members":[`, `,"others":[`, []string{"/team", "/team"}},
		"command": {`"agentType":"demo"`, `"agentType":"demo","engine":"command"`,
			[]string{"/team/members/1/agentType"}},
	} {
		t.Run(name, func(t *testing.T) {
			content := config([]string{human, demo}, `"agents":[{"name":"demo"}]`)
			changed := strings.Replace(content, tt.old, tt.new, 1)
			if changed == content {
				t.Fatal("nothing was replaced")
			}
			checkProblems(t, write(t, "crew.json", changed), t.TempDir(), tt.want)
		})
	}
}

// What only a newer minor version may know is left out with a warning, unless it limits what a team does.
func TestFileOfNewerMinorVersionLoadsWithWarnings(t *testing.T) {
	home := t.TempDir()
	const memory, conversation = `"memory":{"size":1}`, `"conversation":{"mood":"calm"}`
	newer := func(rest ...string) string {
		content := strings.Replace(config([]string{human, demo}, rest...), `"1.2"`, `"1.10"`, 1)
		return write(t, "crew.json", content)
	}
	var unknown []string
	for _, w := range load(t, newer(memory, conversation), home).Warnings {
		unknown = append(unknown, w.Path+" "+w.Unknown)
	}
	if want := []string{"/ memory", "/conversation mood"}; !slices.Equal(unknown, want) {
		t.Errorf("warnings about %q, want %q", unknown, want)
	}
	checkProblems(t, write(t, "known.json", config([]string{human, demo}, memory)), home, []string{"/"})
	for _, limit := range []string{`"permissions":{"write":false}`, `"hub":{}`, `"redaction":"strict"`} {
		checkProblems(t, newer(limit), home, []string{"/"})
	}
	checkProblems(t, newer(memory, `"maxRounds":-1`), home, []string{"/", "/maxRounds"})
}

func TestInvalidRegistryFailsOnlyIfNeeded(t *testing.T) {
	home := registered(t, `"x":5`)
	registry := filepath.Join(home, "agents", "config.json")

	own := write(t, "own.json", config([]string{human, member("ada", "ai", `"agentType":"x"`)},
		`"agents":[{"name":"x","command":"y"}]`))
	load(t, own, home)

	needing := write(t, "needing.json", config([]string{human, member("ada", "ai", `"agentType":"x"`)}))
	_, err := team.Load(needing, home)
	var invalid *schemas.InvalidError
	if !errors.As(err, &invalid) || invalid.Schema != schemas.AgentRegistry {
		t.Fatalf("got %v, want a problem of the registry", err)
	}
	for _, path := range []string{needing, registry} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name %s: %v", path, err)
		}
	}

	both := write(t, "both.json", config([]string{demo, member("bea", "ai", `"agentType":"x"`)}))
	_, err = team.Load(both, home)
	if !errors.As(err, &invalid) || invalid.Schema != schemas.CLIConfig || !strings.Contains(err.Error(), registry) {
		t.Errorf("got %v, want problems of the team and the registry", err)
	}
}

func TestLoadRejectsOtherFiles(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		_, err := team.Load(filepath.Join(t.TempDir(), "none.json"), "")
		if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "none.json") != 1 {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
	})
	t.Run("a directory", func(t *testing.T) {
		if _, err := team.Load(t.TempDir(), ""); err == nil {
			t.Error("a directory was loaded")
		}
	})
	t.Run("another version", func(t *testing.T) {
		newer := strings.Replace(config([]string{human}), "1.2", "2.0", 1)
		_, err := team.Load(write(t, "crew.json", newer), "")
		var version *schemas.VersionError
		if !errors.As(err, &version) || !version.Newer {
			t.Errorf("got %v, want a newer version", err)
		}
	})
	for name, content := range map[string]string{
		"empty": "", "no JSON": "team", "half": `{"schemaVersion":"1.2",`, "an array": "[]", "null": "null",
		"two": config([]string{human, demo}) + "{}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := team.Load(write(t, "crew.json", content), "")
			var invalid *schemas.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("got %v, want an InvalidError", err)
			}
		})
	}
}

func TestFindTriesHomeThenBuiltInThenCwd(t *testing.T) {
	p := team.Places{Home: t.TempDir(), Cwd: t.TempDir()}
	local, global := filepath.Join(p.Cwd, ".agent-chatter", "team-config"), filepath.Join(p.Home, "team-config")
	for _, path := range []string{
		filepath.Join(p.Cwd, "file.json"), filepath.Join(p.Cwd, "sub", "deep.json"), filepath.Join(p.Cwd, "plain"),
		filepath.Join(p.Cwd, "both"), filepath.Join(p.Cwd, "demo"),
		filepath.Join(local, "file.json"), filepath.Join(local, "here.json"), filepath.Join(local, "both.json"),
		filepath.Join(local, "demo.json"), filepath.Join(local, "sub.json"),
		filepath.Join(global, "both.json"), filepath.Join(global, "home.json"),
	} {
		place(t, filepath.Dir(path), filepath.Base(path), "")
	}
	for name, want := range map[string]team.File{
		"file.json":           {Path: filepath.Join(p.Cwd, "file.json")},
		"./file.json":         {Path: filepath.Join(p.Cwd, "file.json")},
		"sub/deep.json":       {Path: filepath.Join(p.Cwd, "sub", "deep.json")},
		"./plain":             {Path: filepath.Join(p.Cwd, "plain")},
		"file":                {Path: filepath.Join(local, "file.json"), Origin: team.FoundHere},
		"here":                {Path: filepath.Join(local, "here.json"), Origin: team.FoundHere},
		"here.json":           {Path: filepath.Join(local, "here.json"), Origin: team.FoundHere},
		"both":                {Path: filepath.Join(global, "both.json"), Origin: team.FoundAtHome},
		"both.json":           {Path: filepath.Join(global, "both.json"), Origin: team.FoundAtHome},
		"home":                {Path: filepath.Join(global, "home.json"), Origin: team.FoundAtHome},
		"plain":               {Path: filepath.Join(p.Cwd, "plain"), Origin: team.FoundHere},
		"sub":                 {Path: filepath.Join(local, "sub.json"), Origin: team.FoundHere}, // sub is a directory in Cwd
		"demo":                {Origin: team.BuiltIn},
		"demo.json":           {Origin: team.BuiltIn},
		global + "/home.json": {Path: filepath.Join(global, "home.json")},
	} {
		got, err := team.Find(name, p)
		if err != nil || filepath.Clean(got.Path) != filepath.Clean(want.Path) || got.Origin != want.Origin {
			t.Errorf("%q is %v (%v), want %v", name, got, err, want)
		}
	}
	place(t, global, "demo.json", "")
	if got, err := team.Find("demo", p); err != nil || got.Origin != team.FoundAtHome {
		t.Errorf("the user's own demo is %v (%v)", got, err)
	}
}

func TestNotFoundErrorListsTriedPaths(t *testing.T) {
	p := team.Places{Home: t.TempDir(), Cwd: t.TempDir()}
	file := filepath.Join(p.Cwd, "missing")
	for name, looked := range map[string][]string{
		"missing": {filepath.Join(p.Home, "team-config", "missing.json"),
			filepath.Join(p.Cwd, ".agent-chatter", "team-config", "missing.json"), file},
		"sub/missing": {filepath.Join(p.Cwd, "sub", "missing")},
		"../missing":  {filepath.Join(filepath.Dir(p.Cwd), "missing")},
		file:          {file},
		"":            nil,
		"no\x00body/": {filepath.Join(p.Cwd, "no\x00body")},
	} {
		_, err := team.Find(name, p)
		var missing *team.NotFoundError
		if !errors.Is(err, team.ErrNotFound) || !errors.As(err, &missing) {
			t.Errorf("%q: got %v, want a NotFoundError", name, err)
			continue
		}
		if missing.Name != name || !slices.Equal(missing.Looked, looked) || missing.Directory != "" {
			t.Errorf("%q: looked for %q in %q, want %q", name, missing.Name, missing.Looked, looked)
		}
		checkEqual(t, "the hint", missing.Hint(), hint.Hint{Kind: hint.Command, Argv: []string{"team", "list"}})
		for _, path := range append(looked, fmt.Sprintf("%q", name)) {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("%q: %v does not name %s", name, err, path)
			}
		}
	}
}

func TestNotFoundErrorNamesDirectory(t *testing.T) {
	p := team.Places{Home: t.TempDir(), Cwd: t.TempDir()}
	dir := filepath.Dir(place(t, p.Cwd, "teams/a.json", ""))
	for _, name := range []string{"teams", "./teams", "teams/", dir} {
		_, err := team.Find(name, p)
		var missing *team.NotFoundError
		if !errors.As(err, &missing) || missing.Directory != dir || !strings.Contains(err.Error(), "is a directory") {
			t.Errorf("%q: %v, want an error that says that it is a directory", name, err)
		}
	}
}

func ExampleLoad() {
	loaded, err := team.Load("../../testdata/teams/echo-pair.json", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range loaded.Members {
		fmt.Println(m.Name, m.Type)
	}
	// Output:
	// you human
	// upper ai
	// count ai
}

// A CLI is registered for its own engine; its ACP server is another program.
func TestRegisteredCLIIsNotUsedForACP(t *testing.T) {
	home := t.TempDir()
	for name, command := range map[string]string{"claude": "/opt/claude", "gemini": "/opt/gemini",
		"own": "/opt/server"} {
		if err := team.Register(context.Background(), home, team.Agent{Name: name, Command: command}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ agentType, engine, command string }{
		{"claude", "acp", ""},
		{"claude", "", "/opt/claude"},
		{"gemini", "acp", "/opt/gemini"},
		{"own", "acp", "/opt/server"},
		{"claude-acp", "", ""},
		{"opencode", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "team.json")
		document := fmt.Sprintf(`{"schemaVersion": "1.2", "team": {"name": "t", "description": "", "members": [
			{"name": "a", "displayName": "A", "role": "", "type": "ai", "agentType": %q, "engine": %q, "baseDir": ".",
			 "systemInstruction": ""},
			{"name": "y", "displayName": "Y", "role": "", "type": "human", "baseDir": ".", "systemInstruction": ""}
			]}}`, tt.agentType, tt.engine)
		if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := team.Load(path, home)
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
		} else if m := loaded.Members[0]; m.Command != tt.command || tt.engine == "" && tt.agentType != "claude" &&
			m.EngineName() != "acp" {
			t.Errorf("%+v: command %q, engine %s", tt, m.Command, m.EngineName())
		}
	}
}

func TestDefectLoadersIgnoredSchemas(t *testing.T) {
	var invalid *schemas.InvalidError
	_, err := team.Load("../../testdata/teams/invalid-schema.json", t.TempDir())
	if !errors.As(err, &invalid) || len(invalid.Problems) < 5 {
		t.Errorf("the team file: %v", err)
	}
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "agents", "config.json"),
		[]byte(`{"schemaVersion": "1.1", "agents": {"x": {}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := team.RegisteredAgents(home); !errors.As(err, &invalid) {
		t.Errorf("the registry: %v", err)
	}
}

func TestFilesListsTeamsInFindsOrder(t *testing.T) {
	p := team.Places{Home: t.TempDir(), Cwd: t.TempDir()}
	local, global := filepath.Join(p.Cwd, ".agent-chatter", "team-config"), filepath.Join(p.Home, "team-config")
	for _, path := range []string{
		filepath.Join(global, "both.json"), filepath.Join(global, ".json"), filepath.Join(global, "notes.txt"),
		filepath.Join(local, "both.json"), filepath.Join(local, "demo.json"), filepath.Join(local, "dir.json", "x"),
	} {
		place(t, filepath.Dir(path), filepath.Base(path), "")
	}
	got, err := team.Files(p)
	want := []team.File{
		{Name: "both", Path: filepath.Join(global, "both.json"), Origin: team.FoundAtHome},
		{Name: "both", Path: filepath.Join(local, "both.json"), Origin: team.FoundHere, Hidden: true},
		{Name: "demo", Origin: team.BuiltIn},
		{Name: "demo", Path: filepath.Join(local, "demo.json"), Origin: team.FoundHere, Hidden: true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, f := range got {
		if found, err := team.Find(f.Name, p); err != nil || (found.Path == f.Path) == f.Hidden {
			t.Errorf("%v is found as %v, %v", f, found, err)
		}
	}
	if _, err := team.Files(team.Places{Home: filepath.Dir(place(t, t.TempDir(), "team-config", "")), Cwd: p.Cwd}); err == nil {
		t.Error("a file was read as a directory of teams")
	}
	p.Home = filepath.Join(p.Cwd, ".agent-chatter") // as in the user's own directory
	if got, err := team.Files(p); err != nil || len(got) != 3 || got[0].Origin != team.FoundAtHome {
		t.Errorf("the home in the working directory has %v, %v", got, err)
	}
}

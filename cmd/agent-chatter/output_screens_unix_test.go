//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// outputScreens are the commands whose output on a terminal TestOutputScreens compares.
var outputScreens = []struct{ name, command string }{
	{"sessions", "agent-chatter sessions"},
	{"search", "agent-chatter sessions search --team review er"},
	{"search_regex", "agent-chatter sessions search --team review --regex 'divi[a-z]*|%d|除算'"},
	{"diff", "agent-chatter sessions diff 3KQD 8VRE"},
	{"replay", "agent-chatter replay 3KQD"},
	{"replay_dumb", "TERM=dumb agent-chatter replay 8VRE"},
	{"teams", "agent-chatter team list"},
	{"team", "agent-chatter team show review"},
	{"agents_scan", "HOME=$PWD PATH=$PWD/bin agent-chatter agents scan"},
	{"agents", "agent-chatter agents"},
	{"agent", "agent-chatter agents info 設計"},
}

// TestOutputScreens compares what commands print on a terminal with golden files, and draws it. Without -full it does
// so for a list and for a conversation only.
func TestOutputScreens(t *testing.T) {
	skipIfShort(t)
	racetest.SkipSequential(t)
	t.Parallel()
	for _, s := range outputScreens {
		if s.name != "sessions" && s.name != "replay" && !apptest.EveryScreen() && !namesSubtest() {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			apptest.Screens(t, filepath.Join("testdata", "screens", "print_"+s.name), s.command, func(dir string) {
				fillShownHome(t, filepath.Join(dir, "home"))
				fillShownPath(t, filepath.Join(dir, "bin"))
			})
		})
	}
}

// A shownSession is a session of the home of TestOutputScreens.
type shownSession struct {
	id, team string
	age      time.Duration
	payloads []projection.Payload
	after    func(t *testing.T, dir *journal.Dir, s shownSession)
}

var (
	shownYou  = projection.Speaker{ID: "you", Name: "you", DisplayName: "Eva", Type: projection.TypeHuman}
	shownAda  = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	shownHugo = projection.Speaker{ID: "hugo", Name: "hugo", DisplayName: "Hugo the Reviewer", Type: projection.TypeAI}
)

// shownTurn is the beginning of two sessions.
var shownTurn = []projection.Payload{
	projection.NewMessage("m1", time.Unix(0, 0), shownYou, "A division by zero should be an error", nil),
	projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
	projection.TurnText{TurnID: "t1", Text: "I look for where it divides."},
	projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{
		{Content: "Find the division", Status: projection.Completed},
		{Content: "Return an error", Status: projection.InProgress}}},
	projection.ToolStarted{TurnID: "t1", ToolID: "1", Name: "Grep", Input: json.RawMessage(`{"pattern":"a / b"}`)},
	projection.ToolCompleted{TurnID: "t1", ToolID: "1", Output: "calc.go:12:\treturn a / b, nil"},
	projection.ToolStarted{TurnID: "t1", ToolID: "2", Name: "Edit", Input: json.RawMessage(
		`{"file_path":"calc.go","old_string":"\treturn a / b, nil","new_string":"\tif b == 0 {\n\t\treturn 0, ErrZero\n\t}\n\treturn a / b, nil"}`)},
	projection.ToolCompleted{TurnID: "t1", ToolID: "2", Output: "ok"},
	projection.NewMessage("m2", time.Unix(0, 0), shownAda, "I look for where it divides.\n\n`calc.Div` returns **ErrZero** now.", nil),
	projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 21_300},
}

// shownSessions are the sessions of the home, the newest first.
func shownSessions() []shownSession {
	say := func(speaker projection.Speaker, text string) projection.Payload {
		return projection.NewMessage("m", time.Unix(0, 0), speaker, text, nil)
	}
	return []shownSession{
		{id: "01KB1F2M9V0R7S1JQ4TZW6N5K8", team: "review", age: 2 * time.Hour, payloads: []projection.Payload{
			say(shownYou, "A division by zero should be an error"),
			say(shownAda, "I return an error, since **an error** is what a caller expects of a division that has no result: "+
				"neither infinity nor a panic says where the zero was."),
			say(shownHugo, "The errors need a position.\n\n\t\treturn fmt.Errorf(\"%d:%d: division by zero\", line, column)"),
		}},
		{id: "01KB0ZC7A5X4D2V8YHGE3MP6QT", team: "release", age: 5 * time.Hour, payloads: []projection.Payload{
			say(shownYou, "Release plan"),
			projection.SessionRenamed{Title: "Release plan for the summer, with everything that has to be done before it, and after"},
			projection.SessionPinned{Pinned: true},
			say(shownHugo, "First the tests."),
		}},
		{id: "01KAZP4T8J6E1N3W9CRB7XF2HD", team: "review", age: 26 * time.Hour, payloads: []projection.Payload{
			say(shownYou, "計算機のエラー処理を改善する：ゼロ除算は例外にするべきか、それとも特別な値を返すべきか"),
			say(shownAda, "例外です。"),
		}},
		{id: "01KAWS6Y3Q9M5B7G2DKF4VZ1NE", team: "release", age: 4 * 24 * time.Hour, payloads: []projection.Payload{
			say(shownYou, "🚀 Launch of the server in 東京, with everything that was promised ✅"),
		}},
		{id: "01KAS2N8R4H7T6P1WQXJ5CG9VB", team: "parser", age: 12 * 24 * time.Hour, after: damageLast,
			payloads: []projection.Payload{say(shownYou, "Why is the parser slow?"), say(shownAda, "It copies.")}},
		{id: "01KAQ9M2C5W8H4T1Y6ZJNB3KQD", team: "calc", age: 20 * 24 * time.Hour, payloads: slices.Concat(shownTurn, []projection.Payload{
			say(shownYou, "Now the same for `%`, with a test."),
			projection.TurnStarted{TurnID: "t2", MemberID: "ada"},
			projection.ToolStarted{TurnID: "t2", ToolID: "3", Name: "Bash", Input: json.RawMessage(`{"command":"go test ./..."}`)},
			projection.ToolCompleted{TurnID: "t2", ToolID: "3", Output: "ok  calc\nok  calc/parser\nok  calc/lexer\nok  calc/cmd\n"},
			say(shownAda, "Done. The rest by zero is an error, too:\n\n| input | result |\n|---|---|\n| `7 % 2` | 1 |\n| `7 % 0` | division by zero |"),
			projection.TurnEnded{TurnID: "t2", MemberID: "ada", FinishReason: projection.Done, DurationMS: 8_100},
		})},
		{id: "01KAQB7X1F6R3P9D5SMWGT8VRE", team: "calc", age: 21 * 24 * time.Hour, payloads: slices.Concat(shownTurn, []projection.Payload{
			say(shownYou, "Rather return **infinity**, as [IEEE 754](https://ieeexplore.ieee.org/document/8766229) wants it."),
			projection.TurnStarted{TurnID: "t3", MemberID: "hugo"},
			say(shownHugo, "I would not:\n\n1. An integer has no infinity.\n2. 無限大は比較できますが、計算には使えません。だから、エラーのほうがいいと思います。\n\n"+
				"```go\nif b == 0 {\n\treturn 0, fmt.Errorf(\"%d / 0: %w\", a, ErrDivisionByZero) // as math/big does\n}\n```"),
			projection.TurnEnded{TurnID: "t3", MemberID: "hugo", FinishReason: projection.Done, DurationMS: 12_400},
			say(shownYou, "Fine."),
			projection.TurnStarted{TurnID: "t4", MemberID: "ada"},
			projection.TurnEnded{TurnID: "t4", MemberID: "ada", FinishReason: projection.Interrupted, DurationMS: 700, Partial: "I keep the err"},
		})},
		{id: "01KA5K3D7Z2F8M4X6RTVE1YJ9S", team: "review", age: 63 * 24 * time.Hour, after: archive,
			payloads: []projection.Payload{
				say(shownYou, "What does the first version need?"), say(shownHugo, "A tokenizer."), say(shownAda, "And tests."),
			}},
		{id: "01KA2G6H1W9C3Q5N8SBPZ7TD4M", team: "review", age: 70 * 24 * time.Hour},
	}
}

// damageLast changes a byte of the last message.
func damageLast(t *testing.T, dir *journal.Dir, s shownSession) {
	path := filepath.Join(dir.Path(), s.id+".jsonl")
	data := []byte(readFile(t, path))
	err := os.WriteFile(path, bytes.Replace(data, []byte("It copies"), []byte("It copied"), 1), 0o600)
	if err := errors.Join(err, os.Chtimes(path, time.Time{}, time.Now().Add(-s.age-time.Second))); err != nil {
		t.Fatal(err)
	}
}

func archive(t *testing.T, dir *journal.Dir, s shownSession) {
	if err := journaltest.Archive(t.Context(), dir, s.id); err != nil {
		t.Fatal(err)
	}
}

// fillShownHome writes the sessions. The first stays open until the test ends.
func fillShownHome(t *testing.T, home string) {
	t.Helper()
	team := `{"schemaVersion": "1.2", "agents": [{"name": "claude", "command": "claude"}], "team": {"name": "%s",
		"displayName": "%[1]s", "description": "", "members": [{"name": "eva", "displayName": "Eva", "role": "owner",
		"type": "human", "baseDir": ".", "systemInstruction": ""}, {"name": "ada", "displayName": "Ada", "role": "developer",
		"type": "ai", "agentType": "claude", "baseDir": ".", "systemInstruction": ""}]}}`
	teams := filepath.Join(home, "team-config")
	registry := `{"schemaVersion": "1.1", "agents": {"claude": {"name": "claude", "displayName": "Claude Code", "usePty": false,
		"command": "claude", "args": ["--verbose"], "version": "2.1.0", "installedAt": "2025-01-02T03:04:05Z"},
		"設計": {"name": "設計", "displayName": "設計", "usePty": false,
		"command": "/opt/sekkei/bin/agent", "args": ["--model", "large",
		"--endpoint", "https://agents.example.com/v1"]}}}`
	if err := errors.Join(os.MkdirAll(teams, 0o700), os.Mkdir(filepath.Join(home, "agents"), 0o700),
		os.WriteFile(filepath.Join(home, "agents", "config.json"), []byte(registry), 0o600),
		os.WriteFile(filepath.Join(teams, "review.json"), fmt.Appendf(nil, team, "review"), 0o600),
		os.WriteFile(filepath.Join(teams, "demo.json"), fmt.Appendf(nil, team, "demo"), 0o600),
		os.WriteFile(filepath.Join(teams, "設計チーム.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	root := catalog.New(filepath.Join(home, "sessions"), journal.Options{})
	for i, s := range shownSessions() {
		dir := root.Team(s.team).Journals()
		log, err := dir.Create(s.id)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-s.age - time.Second)
		var members []projection.Member
		for _, m := range []projection.Speaker{shownYou, shownAda, shownHugo} {
			members = append(members, projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
		}
		records := []journal.Record{projection.Record(at, projection.SessionCreated{
			Format: projection.Format, SessionID: s.id, CWD: "/home/eva/calc",
			Team: projection.Team{ID: s.team, Name: s.team, Members: members},
		})}
		for _, p := range s.payloads {
			records = append(records, projection.Record(at, p))
		}
		if _, err := log.Append(records...); err != nil {
			t.Fatal(err)
		}
		if err := log.Sync(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			t.Cleanup(func() { log.Close() })
			continue
		}
		if _, err := log.Append(projection.Record(at, projection.SessionEnded{Reason: "end"})); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if s.after != nil {
			s.after(t, dir, s)
		}
	}
}

// fillShownPath writes the programs that can be run: of the agents, one that works and one that does not start.
func fillShownPath(t *testing.T, dir string) {
	t.Helper()
	program, err := exec.LookPath("agent-chatter")
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(program, filepath.Join(dir, "agent-chatter")),
		os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\necho 2.1.0 '(Claude Code)'\n"), 0o700),
		os.WriteFile(filepath.Join(dir, "codex"), []byte("#!/missing/node\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// jsonCommands print all fields of their rows in the table of JSON fields, together.
var jsonCommands = []struct{ row, command string }{
	{"sessions list", "agent-chatter sessions list --json"},
	{"sessions show", "agent-chatter sessions show " + unknownID + " --json"},
	{"sessions show", "agent-chatter sessions show K2WD --json"},
	{"sessions show", "agent-chatter sessions show " + filesID + " --json"},
	{"sessions search", "agent-chatter sessions search plug --json"},
	{"sessions diff", "agent-chatter sessions diff 7QN3 $(agent-chatter sessions fork 7QN3 --at turn:1) --json"},
	{"sessions diff --member", "agent-chatter chat -m 'hello [NEXT: planner | critic]' >/dev/null; " +
		"agent-chatter sessions diff latest --member planner,critic --json"},
	{"sessions fork", "agent-chatter sessions fork 7QN3 --json"},
	{"sessions merge", "agent-chatter sessions merge 7QN3 $(agent-chatter sessions fork 7QN3) --json"},
	{"sessions reindex", "agent-chatter sessions reindex --json"},
	{"sessions clean", "agent-chatter sessions clean --older-than 1s --dry-run --json"},
	{"sessions clean", "agent-chatter sessions delete " + attachedID + " --yes; agent-chatter sessions clean --trash --dry-run --json"},
	{"sessions import", "agent-chatter sessions import branches.jsonl bad.json --json"},
	{"sessions import", "agent-chatter sessions import fork.jsonl --json"},
	{"sessions import", "grep -v a.go tool.jsonl > grows.jsonl; agent-chatter sessions import grows.jsonl --json; " +
		"cat tool.jsonl > grows.jsonl; agent-chatter sessions import grows.jsonl --json"},
	{"sessions export --format json", "agent-chatter sessions export 7QN3 --format json"},
	{"replay", "agent-chatter replay " + unknownID + " --json"},
	{"replay", "agent-chatter replay " + filesID + " --json"},
	{"replay --with-team", "agent-chatter replay --with-team demo 7QN3 --json"},
	{"tail", "agent-chatter tail --json"},
	{"chat --show-prompt", "agent-chatter chat -m hello --show-prompt --json"},
	{"verify", "agent-chatter verify --json"},
	{"repair", "agent-chatter repair " + tornID + " --json"},
	{"repair", "agent-chatter repair K2WD --json"},
	{"repair --seal", "agent-chatter repair --seal --json"},
	{"compact", "agent-chatter compact --dry-run --json"},
	{"files list", "agent-chatter files list " + changesID + " --json"},
	{"files blame", "cd edits; agent-chatter chat -t team.json -m first >/dev/null; echo mine >> log.txt; " +
		"agent-chatter chat --resume latest -m second >/dev/null; agent-chatter files blame latest log.txt --json"},
	{"files restore", "cd edits; echo mine >> log.txt; agent-chatter files restore latest --at turn:1 --dry-run --json"},
	{"files drop", inWorktree + "echo out > .gitignore; echo out > out; head -c 40000000 /dev/zero > big; $git add .gitignore; " +
		"$git commit -qm work; agent-chatter files drop latest ada --dry-run --json; " +
		"agent-chatter files drop latest ada --force --yes --json"},
	{"sessions clean", inWorktree + "agent-chatter sessions clean --worktrees --dry-run --json"},
	{"files merge", inWorktree + "echo mine > $OLDPWD/log.txt; agent-chatter files merge latest ada --dry-run --json"},
	{"usage", "for by in day member model team session; do agent-chatter usage --by $by --json; done"},
	{"devices list", "agent-chatter devices list --json"},
	{"devices revoke", "agent-chatter devices revoke k7qmz2ab --json"},
	{"doctor", "agent-chatter doctor --json"},
	{"guide", "agent-chatter guide start --json"},
	{"team list", "agent-chatter team list --json"},
	{"team show", "agent-chatter team show limits.json --json"},
	{"team show", "agent-chatter team show demo --json"},
	{"team validate", "agent-chatter team validate bad.json --json"},
	{"team validate", "agent-chatter team validate limits.json --json"},
	{"team validate", "agent-chatter team validate missing.json --json"},
	{"team trust", "agent-chatter team trust limits.json --json"},
	{"agents scan", "PATH=$PWD/bin:$PATH agent-chatter agents scan --register --json"},
	{"agents verify", "agent-chatter agents verify upper --json"},
	{"agents list", "agent-chatter agents list --json"},
	{"agents info", "agent-chatter agents info claude --json"},
	{"agents info", "agent-chatter agents info upper --json"},
}

// Sessions of TestManualListsJSONFields.
const (
	unknownID = "01KAHV6T3R8Q4Y2M0N7C5B9XZE" // has an unknown event, a tool and a shortened reply
	tornID    = "01KAHV6T3R8Q4Y2M0N7C5B0002" // has a torn tail
	invalidID = "01KAHV6T3R8Q4Y2M0N7C5B0003" // has an invalid event
	newerID   = "01KAHV6T3R8Q4Y2M0N7C5B0004" // was written by a newer version

	filesID    = "01KF0000000000000000000F11" // has messages with files
	changesID  = "01KAHV6T3R8Q4Y2M0N7C5B0005" // has changes of files
	attachedID = "01M8HJ4JENM5RWMN2P01QZ4J03" // has sessions of agents
)

// unprinted are fields that these commands do not print, after their row, and why.
var unprinted = map[string]string{
	"sessions list unreadable":     "root can read every file",
	"sessions reindex unreadable":  "root can read every file",
	"chat sessionId":               "tail --all does not end",
	"tail sessionId":               "tail --all does not end",
	"sessions diff --member files": "the agents of the demo change no files",
	"usage model":                  "the demo has one model",
}

// writeSessions adds the sessions to the home of a shell.
func writeSessions(t *testing.T, s *shell) {
	t.Helper()
	original := readText(t, "../../projection/testdata/journals/v1.jsonl")
	for id, change := range map[string][2]string{
		unknownID: {`"partial":"I am plugging"`, `"partial":"I am plugging","partialBytes":99999`}, tornID: {},
		invalidID: {`"finishReason":"done"`, `"finishReason":"bored"`},
		newerID:   {`"format":1`, `"format":2`},
	} {
		relative := ".agent-chatter/sessions/kitchen/" + id + ".jsonl"
		s.write("~/"+relative, original)
		path := filepath.Join(s.home, relative)
		for _, c := range [][2]string{{unknownID, id}, change} {
			if c[0] == c[1] {
				continue
			}
			if err := rewriteJournal(path, c[0], c[1]); err != nil {
				t.Fatal(err)
			}
		}
		if text := readText(t, path); id == tornID {
			s.write("~/"+relative, text[:len(text)-20])
		}
	}
	s.write("~/.agent-chatter/sessions/ensemble/"+attachedID+".jsonl",
		readText(t, "../../projection/testdata/journals/attached.jsonl"))
	s.write("~/.agent-chatter/sessions/pair/"+filesID+".jsonl",
		readText(t, "../../projection/testdata/journals/files.jsonl"))
	changes := ".agent-chatter/sessions/kitchen/" + changesID + ".jsonl"
	s.write("~/"+changes, readText(t, "../../projection/testdata/journals/filechanges.jsonl"))
	for from, to := range map[string]string{
		unknownID: changesID, `"bytes":30,`: `"bytes":30,"skipped":[{"path":"a.iso","why":"too large"}],"skippedMore":2,`,
	} {
		if err := rewriteJournal(filepath.Join(s.home, changes), from, to); err != nil {
			t.Fatal(err)
		}
	}
	changed := ".agent-chatter/sessions/demo/01KAHAM61B9SDF4W7TZ3YPK2WD.jsonl"
	s.write("~/"+changed, strings.Replace(readText(t, filepath.Join(s.home, changed)), `"time":"2`, `"time":"3`, 1))
}

var (
	// jsonRow matches a row of the table of JSON fields.
	jsonRow = regexp.MustCompile("(?m)^\\| `([a-z -]+)`(?:, `([a-z -]+)`)? \\| (.*) \\|$")
	// jsonField matches a field in it.
	jsonField = regexp.MustCompile("`([A-Za-z0-9]+)`")
	// jsonFieldsOf matches a reference to the fields of another row.
	jsonFieldsOf = regexp.MustCompile("the fields of `([a-z -]+)`")
)

func TestManualListsJSONFields(t *testing.T) {
	skipIfShort(t)
	racetest.SkipSequential(t)
	_, table, found := strings.Cut(readText(t, filepath.Join(manualDir, "scripting.md")), "## JSON output")
	if !found {
		t.Fatal("scripting.md has no section JSON output")
	}
	rows := map[string]string{}
	for _, row := range jsonRow.FindAllStringSubmatch(table, -1) {
		rows[row[1]] = row[3]
		if row[2] != "" {
			rows[row[2]] = row[3]
		}
	}
	s := newShell(t)
	writeSessions(t, s)
	s.write("bad.json", "{}")
	s.write("branches.jsonl", readText(t, "../../projection/interchange/testdata/pi/branches.jsonl"))
	s.write("fork.jsonl", claudeUser("f1", "", `"go"`)+claudeUser("f2", "f1", `"this way"`)+claudeUser("f3", "f1", `"that way"`))
	use := `[{"type":"text","text":"I look."},{"type":"tool_use","id":"u1","name":"Bash","input":{"command":"ls"}}]`
	s.write("tool.jsonl", claudeUser("t1", "", `"look"`)+strings.ReplaceAll(claudeUser("t2", "t1", use), "user", "assistant")+
		claudeUser("t3", "t2", `[{"type":"tool_result","tool_use_id":"u1","content":"a.go"}]`)+claudeUser("t4", "t2", `"and?"`))
	s.write("AGENTS.md", "Be brief.")
	s.write("~/.agent-chatter/devices.json", readText(t, "../../schemas/testdata/valid/devices.json"))
	s.write("limits.json", limitsTeam)
	s.write(".agent-chatter/team-config/limits.json", limitsTeam)
	s.write("bin/claude", "#!/bin/sh\necho '2.1.329 (Claude Code)'\n")
	s.write("bin/codex", "#!/no/such/program\n")
	s.write("edits/team.json", editsTeam)
	s.exec("chmod 755 bin/*; agent-chatter agents register upper tr a-z A-Z")
	printed := map[string]map[string]bool{}
	for _, c := range jsonCommands {
		output := s.exec("{ " + c.command + "; } 2>/dev/null")
		if printed[c.row] == nil {
			printed[c.row] = map[string]bool{}
		}
		for decoder := json.NewDecoder(strings.NewReader(output)); ; {
			var object map[string]any
			if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s prints %s: %v", c.command, output, err)
				break
			}
			for field := range object {
				printed[c.row][field] = true
			}
		}
	}
	for row, fields := range rows {
		checkFields(t, row, fields, rows, printed[row])
	}
}

// editsTeam has an agent that appends a line to a file.
const editsTeam = `{"schemaVersion": "1.1",
  "agents": [{"name": "edits", "command": "sh", "args": ["-c", "cat >/dev/null; echo entry >>log.txt; echo done"]}],
  "team": {"name": "edits", "description": "An agent that changes a file", "members": [
    {"name": "you", "displayName": "You", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "edits", "engine": "command",
     "baseDir": ".", "systemInstruction": ""}]}}`

// inWorktree makes a worktree of the agent of editsTeam, in a repository, and enters it.
const inWorktree = `mkdir copy-$$; cd copy-$$; git='git -c user.name=a -c user.email=a@example.com'
sed 's/"engine"/"worktree": {}, "engine"/; s/1\.1/1.3/' ../edits/team.json > team.json; git init -q; $git add .
$git commit -qm first; agent-chatter chat -t team.json -m first >/dev/null; cd $(git worktree list | sed -n '$s/ .*//p')
`

// claudeUser returns a line of a transcript of Claude Code.
func claudeUser(id, parent, content string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"sessionId":"session-%.1s","timestamp":"2026-11-21T02:30:00Z",`+
		`"message":{"role":"user","content":%s}}`+"\n", id, parent, id, content)
}

// checkFields compares the fields of a row with those that its commands have printed.
func checkFields(t *testing.T, row, fields string, rows map[string]string, printed map[string]bool) {
	t.Helper()
	listed := map[string]bool{}
	for _, field := range jsonField.FindAllStringSubmatch(jsonFieldsOf.ReplaceAllString(fields, ""), -1) {
		listed[field[1]] = true
	}
	for field := range listed {
		if !printed[field] && unprinted[row+" "+field] == "" {
			t.Errorf("%s: no command prints the field %s, only %q", row, field, slices.Sorted(maps.Keys(printed)))
		}
	}
	if strings.Contains(fields, "the lines of the journal") || strings.Contains(fields, "also lines") {
		for _, field := range []string{"seq", "synced", "time", "type", "data", "sum"} {
			listed[field] = true
		}
	}
	for _, other := range jsonFieldsOf.FindAllStringSubmatch(fields, -1) {
		for _, field := range jsonField.FindAllStringSubmatch(rows[other[1]], -1) {
			listed[field[1]] = true
		}
	}
	for field := range printed {
		if !listed[field] {
			t.Errorf("%s: scripting.md does not list the field %s", row, field)
		}
	}
}

const limitsTeam = `{"schemaVersion": "1.3", "maxRounds": 5, "budget": {"day": {"turns": 9}}, "agents": [{"name": "upper", "command": "tr", "args": ["a-z", "A-Z"]}],
  "team": {"name": "limits", "displayName": "Limits", "description": "", "instructionFile": "AGENTS.md", "members": [
    {"name": "you", "displayName": "You", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "upper", "displayName": "Upper", "role": "author", "type": "ai", "agentType": "upper", "baseDir": "."}]}}
`

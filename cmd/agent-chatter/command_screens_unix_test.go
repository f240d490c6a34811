//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// commandScreens are commands that print and end.
var commandScreens = []struct {
	name    string
	command string
	setUp   func(t *testing.T, dir string)
}{
	{"guide", "agent-chatter guide", nil},
	{"guide_page", "agent-chatter guide platforms", nil},
	{"agents_verify", "agent-chatter agents verify", addAgents},
	{"verify", "agent-chatter verify", addFaults},
	{"repair", "agent-chatter repair JXCM", addFaults},
	{"repair_dry_run", "agent-chatter repair JXCM --dry-run", addFaults},
	{"repair_seal", "agent-chatter repair --seal", addFaults},
	{"compact_dry_run", "agent-chatter compact --keep 0 --archive-after 0 --dry-run", addFaults},
	{"clean", "agent-chatter sessions clean --keep 2", func(t *testing.T, dir string) { addSessions(t, dir, 5) }},
	{"reindex", "agent-chatter sessions reindex", addFaults},
	{"team_validate", "agent-chatter team validate invalid-schema.json", addTeams},
	{"team_trust", "agent-chatter team trust review.json", addTeams},
	{"verify_intact", "agent-chatter verify", func(t *testing.T, dir string) { addSessions(t, dir, 6) }},
}

// addTeams adds team files.
func addTeams(t *testing.T, dir string) {
	for _, name := range []string{"invalid-schema.json", "review.json"} {
		content := readFile(t, filepath.Join("..", "..", "testdata", "teams", name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// addSessions adds sealed sessions to a home and returns the paths of their journals, the newest first.
func addSessions(t *testing.T, dir string, n int) (paths []string) {
	root := filepath.Join(dir, "home", "sessions")
	ids, err := (catalogtest.Sessions{Count: n}).Fill(root)
	journals := catalog.New(root, journal.Options{}).Team("demo").Journals()
	for _, id := range ids {
		if err == nil {
			_, err = journals.Seal(t.Context(), id)
		}
		paths = append(paths, filepath.Join(journals.Path(), id+".jsonl"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// addFaults adds a session that is intact, one with a damaged line, one with a torn tail, one without a sync mark, and a
// file that is none.
func addFaults(t *testing.T, dir string) {
	paths := addSessions(t, dir, 4)
	unknown := filepath.Join(filepath.Dir(paths[0]), "conversation about the release, not a journal.txt")
	if err := os.WriteFile(unknown, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(string) string{
		func(s string) string { return strings.Replace(s, `"message.appended"`, `"message.appendix"`, 1) },
		func(s string) string { return s + `{"seq":5,"time"` },
		func(s string) string { return s[:strings.LastIndex(strings.TrimSuffix(s, "\n"), "\n")+1] },
	} {
		if err := os.WriteFile(paths[i], []byte(change(readFile(t, paths[i]))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// standInClaude is a shell script that replies as Claude Code does.
const standInClaude = `n=0
while read -r line; do
	case "$line" in
	*control_request*)
		n=$((n + 1))
		echo '{"type":"control_response","response":{"subtype":"success","request_id":"'$n'"}}'
		;;
	*)
		echo '{"type":"system","subtype":"init","session_id":"s"}'
		echo '{"type":"assistant","message":{"content":[{"type":"text","text":"OK"}]}}'
		echo '{"type":"result","subtype":"success","result":"OK"}'
		;;
	esac
done`

// addAgents registers an agent that works, one that is not logged in, and one whose program is missing.
func addAgents(t *testing.T, dir string) {
	for name, script := range map[string]string{
		"claude": `case "$1" in
--version) echo '2.1.329 (Claude Code)' ;;
auth) echo '{"loggedIn": true}' ;;
*)
` + standInClaude + ` ;;
esac`,
		"codex": `case "$1" in
--version) echo 'codex-cli 0.169.0' ;;
login) exit 1 ;;
*)
	n=0 t=01a20000-0000-7000-8000-000000000001
	note() { echo '{"method":"'$1'","params":{"threadId":"'$t'","turnId":"'$t'",'"$2"'}}'; }
	while read -r line; do
		case "$line" in *'"id":'*) n=$((n + 1)) ;; esac
		case "$line" in
		*'"method":"thread/start"'*)
			echo '{"id":'$n',"result":{"thread":{"id":"'$t'"},"approvalPolicy":"never","approvalsReviewer":"user",' \
				'"sandbox":{"type":"readOnly"},"activePermissionProfile":{"id":"agent-chatter","extends":":read-only"}}}'
			;;
		*'"method":"turn/start"'*)
			echo '{"id":'$n',"result":{"turn":{"id":"'$t'","status":"inProgress"}}}'
			note turn/completed '"turn":{"id":"'$t'","status":"failed","error":{"message":"401 Unauthorized"}}'
			;;
		*'"id":'*) echo '{"id":'$n',"result":{}}' ;;
		esac
	done ;;
esac`,
		"gemini": "",
	} {
		path := filepath.Join(dir, name)
		err := team.Register(t.Context(), filepath.Join(dir, "home"), team.Agent{Name: name, Command: path})
		if script != "" {
			err = errors.Join(err, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCommandScreens compares what commands print on a terminal with golden files, and draws it. Without -full it does
// so for verify only.
func TestCommandScreens(t *testing.T) {
	skipIfShort(t)
	racetest.SkipSequential(t)
	t.Parallel()
	for _, s := range commandScreens {
		if s.name != "verify" && !apptest.EveryScreen() && !namesSubtest() {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			apptest.Screens(t, filepath.Join("testdata", "screens", s.name), s.command, func(dir string) {
				if s.setUp != nil {
					s.setUp(t, dir)
				}
			})
		})
	}
}

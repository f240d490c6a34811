package transfer

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// runCommand runs a command with a home, and returns what it prints and its exit code.
func runCommand(t *testing.T, home string, cmd interface{ Run(*app.App) error }) (stdout, stderr string, code int) {
	t.Helper()
	var out, notices bytes.Buffer
	a, err := app.New(app.IO{Stdout: &out, Stderr: &notices}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Run(a)
	if err != nil {
		notices.WriteString(app.Explain(err).String())
	}
	return out.String(), notices.String(), app.CodeOf(err)
}

func TestExportAndImportCommands(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	apptest.CrashedSession(t, home)
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"rollout.jsonl": rollout + `{"type":"response_item","payload":{"type":"message","role":"user","content":` +
			`[{"type":"input_text","text":"go"}]}}` + "\n",
		"empty.jsonl": rollout, "unknown.json": "{}", "empty.bundle": "",
		"team.json": `{"schemaVersion":"1.2","team":{"name":"x"}}`,
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name           string
		cmd            interface{ Run(*app.App) error }
		code           int
		stdout, stderr string // patterns
	}{
		{"text", &Export{Format: "md"}, 0, `^# one\n`, `^$`},
		{"standard output", &Export{Format: "md", To: "-"}, 0, `^# one\n`, `^$`},
		{"bundle", &Export{All: true, Format: "auto", To: at("a.bundle")}, 0, `^$`, `^Written: .*a\.bundle\n$`},
		{"journal", &Export{ID: []string{apptest.AliceID}, Format: "auto", To: at("a.JSONL")}, 0, `^$`, `^Written: .*a\.JSONL\n$`},
		{"all", &Export{All: true, Format: "html", To: at("all") + string(filepath.Separator)}, 0, `^$`, `^Written: .*all.` + apptest.AliceID + `\.html\n$`},
		{"all and a name", &Export{All: true, ID: []string{"x"}, Format: "md"}, app.ExitUsage, `^$`, `Name sessions or use --all`},
		{"two sessions", &Export{ID: []string{"latest", "latest"}, Format: "md"}, app.ExitUsage, `^$`, `2 sessions need a directory`},
		{"unknown session", &Export{ID: []string{"x"}, Format: "md"}, app.ExitNotFound, `^$`, `x`},
		{"same bundle", &Import{Path: []string{at("a.bundle")}, Format: "auto"}, 0, `unchanged  0 of 4 messages  .*a\.bundle\n$`, `^$`},
		{"transcript", &Import{Path: []string{at("rollout.jsonl")}, Format: "auto"}, 0, `imported  1 of 1 message  `, `^$`},
		{"as an object", &Import{Path: []string{at("rollout.jsonl")}, Format: "auto", Output: "json"}, 0, `"action":"unchanged"`, `^$`},
		{"team is ignored", &Import{Path: []string{at("a.bundle")}, Format: "auto", Team: "x"}, 0, `unchanged`, `^--team is ignored for .*a\.bundle`},
		{"without messages", &Import{Path: []string{at("empty.jsonl")}, Format: "auto"}, 0, `^$`, `^Skipped 1 session without messages\.\n$`},
		{"without messages in this format", &Import{Path: []string{at("empty.jsonl")}, Format: "codex"}, 1, `^$`,
			`it has no messages\nNot imported: 1 of 1 session\.$`},
		{"unknown format", &Import{Path: []string{at("unknown.json")}, Format: "auto"}, 1, `^$`, `has an unknown format`},
		{"team", &Import{Path: []string{at("team.json")}, Format: "auto"}, 1, `^$`, `is the configuration of a team`},
		{"bundle without sessions", &Import{Path: []string{at("empty.bundle"), at("rollout.jsonl")}, Format: "bundle"}, 1, ``, `Not imported: 2 of 2`},
		{"missing file", &Import{Path: []string{at("none")}, Format: "auto"}, 1, `^$`, `^There is no file or directory .*none`},
		{"directory", &Import{Path: []string{dir}, Format: "auto"}, 0, `(?s)unchanged.*unchanged`,
			`^Skipped 3 files without a session, 1 session without messages\.\n$`},
	} {
		stdout, stderr, code := runCommand(t, home, test.cmd)
		if code != test.code || !regexp.MustCompile(test.stdout).MatchString(stdout) ||
			!regexp.MustCompile(test.stderr).MatchString(stderr) {
			t.Errorf("%s: exit code %d, want %d; printed\n%s\nand\n%s", test.name, code, test.code, stdout, stderr)
		}
	}
}

// A session may disappear after it was listed.
func TestExporterWithoutSession(t *testing.T) {
	e, session := newSession(t)
	lost := session
	lost.ID = strings.Replace(session.ID, "0", "1", 1)
	if e := newExporter(e.app, []catalog.Session{lost, session}); e.redactor == nil {
		t.Error("no redactor")
	}
	if r := ImportBundle(context.Background(), e.app, filepath.Join(t.TempDir(), "none"), false); len(r) != 1 || r[0].Err == nil {
		t.Errorf("%+v", r)
	}
}

package schemas

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusals has the expected error of each file in testdata/invalid.
var refusals = map[string]string{
	"agent-registry-bad-date.json":                             `/agents/claude/installedAt: "yesterday" is not a date-time such as 2026-11-21T02:30:10Z`,
	"agent-registry-extra-field.json":                          `/agents/claude: unknown property "shell"`,
	"agent-registry-empty-command.json":                        `/agents/claude/command: must not be empty`,
	"agent-registry-missing-required.json":                     `/agents/claude: missing property "command"`,
	"agent-registry-newer.json":                                `Schema version 1.2 is not supported. Please upgrade agent-chatter.`,
	"agent-registry-older.json":                                `Schema version 1.0 is deprecated. Please migrate to version 1.1.`,
	"agent-registry-wrong-version.json":                        `/schemaVersion: must be "1.1", not "one"`,
	"cli-config-agent-extra-field.json":                        `/agents/0: unknown property "shell"`,
	"cli-config-ai-missing-agentType.json":                     `/team/members/0: missing property "agentType"`,
	"cli-config-array.json":                                    `/: must be an object, not an array`,
	"cli-config-conversation-extra-field.json":                 `/conversation: unknown property "mood"`,
	"cli-config-cut-off.json":                                  `/: not valid JSON: line 2, column 25: unexpected end of JSON input`,
	"cli-config-empty-name.json":                               `/team/name: must not be empty`,
	"cli-config-instruction-object.json":                       `/team/members/1/systemInstruction: must be a string or an array, not an object`,
	"cli-config-max-rounds-fraction.json":                      `/maxRounds: must be a whole number, not 1.5`,
	"cli-config-max-rounds-huge.json":                          `/: not valid JSON: line 2, column 16: the number 1e999999999 is out of range`,
	"cli-config-member-engine.json":                            `/team/members/1/engine: must be a string, not true`,
	"cli-config-member-env.json":                               `/team/members/1/env/A~1B~0C: must be a string, not 1`,
	"cli-config-member-idle-time.json":                         `/team/members/1/maxAgentIdleTime: must be at least 1000, not 999`,
	"cli-config-member-name.json":                              `/team/members/1/name: "../bo" does not match ^[a-zA-Z0-9_-]+$`,
	"cli-config-member-order.json":                             `/team/members/1/order: must be at least 0, not -1`,
	"cli-config-member-type.json":                              `/team/members/1/type: must be "ai" or "human", not "robot"`,
	"cli-config-missing-schema-version.json":                   `/: missing property "schemaVersion"`,
	"cli-config-missing-team.json":                             `/: missing property "team"`,
	"cli-config-mixed-instruction-array.json":                  `/team/members/1/systemInstruction/1: must be a string, not 2`,
	"cli-config-response-time.json":                            `/conversation/maxAgentResponseTime: must be at least 1000, not 999`,
	"cli-config-role-extra-field.json":                         `/team/roleDefinitions/0: unknown property "rank"`,
	"cli-config-root-extra-field.json":                         `/: unknown property "colour"`,
	"cli-config-schema-version-number.json":                    `/schemaVersion: must be "1.1" or "1.2", not 1.2`,
	"cli-config-single-member.json":                            `/team/members: must have at least 2 items, not 1`,
	"cli-config-team-extra-field.json":                         `/team: unknown property "colour"`,
	"cli-config-trailing-comma.json":                           `/: not valid JSON: line 3, column 10: invalid character '}' looking for beginning of object key string`,
	"cli-config-version-0.9.json":                              `Schema version 0.9 is deprecated. Please migrate to version 1.2.`,
	"cli-config-version-1.0.json":                              `Schema version 1.0 is deprecated. Please migrate to version 1.2.`,
	"cli-config-version-1.10.json":                             `Schema version 1.10 is not supported. Please upgrade agent-chatter.`,
	"cli-config-version-1.3.json":                              `Schema version 1.3 is not supported. Please upgrade agent-chatter.`,
	"cli-config-version-2.0.json":                              `Schema version 2.0 is not supported. Please upgrade agent-chatter.`,
	"cli-config-wrong-schema-version.json":                     `/schemaVersion: must be "1.1" or "1.2", not "latest"`,
	"journal-event-data-array.json":                            `/data: must be an object, not an array`,
	"journal-event-extra-field.json":                           `/: unknown property "note"`,
	"journal-event-finish-reason.json":                         `/data/finishReason: must be one of "done", "error", "cancelled", "timeout", "interrupted", not "bored"`,
	"journal-event-fork-seq.json":                              `/data/parent/seq: must be at least 1, not 0`,
	"journal-event-format.json":                                `/data/format: must be 1, not 2`,
	"journal-event-journal-recovered-without-reason.json":      `/data: missing property "reason"`,
	"journal-event-legacy-speaker.json":                        `/data/message/speaker: missing property "displayName"`,
	"journal-event-member.json":                                `/data/team/members/0: missing property "displayName"`,
	"journal-event-message-appended-without-message.json":      `/data: missing property "message"`,
	"journal-event-no-data.json":                               `/: missing property "data"`,
	"journal-event-payload-version.json":                       `/data/v: must be at least 1, not 0`,
	"journal-event-raw.json":                                   `/data/raw: must be text in base64`,
	"journal-event-resumed-missing.json":                       `/data/missing/0: missing property "name"`,
	"journal-event-seq-zero.json":                              `/seq: must be at least 1, not 0`,
	"journal-event-session-created-without-team.json":          `/data: missing property "team"`,
	"journal-event-session-ended-without-reason.json":          `/data: missing property "reason"`,
	"journal-event-session-imported-without-taken.json":        `/data: missing property "taken"`,
	"journal-event-session-purged-without-reason.json":         `/data: missing property "reason"`,
	"journal-event-session-pinned-without-pinned.json":         `/data: missing property "pinned"`,
	"journal-event-session-renamed-without-title.json":         `/data: missing property "title"`,
	"journal-event-session-resumed-without-app.json":           `/data: missing property "app"`,
	"journal-event-sum.json":                                   `/sum: "9F1C2AB4" does not match ^[0-9a-f]{8}$`,
	"journal-event-task-set-without-task.json":                 `/data: missing property "task"`,
	"journal-event-time.json":                                  `/time: "noon" is not a date-time such as 2026-11-21T02:30:10Z`,
	"journal-event-tool-completed-without-toolId.json":         `/data: missing property "toolId"`,
	"journal-event-permission-answered-without-by.json":        `/data: missing property "by"`,
	"journal-event-tool-started-without-name.json":             `/data: missing property "name"`,
	"journal-event-turn-ended-without-durationMs.json":         `/data: missing property "durationMs"`,
	"journal-event-queue-changed-without-waiting.json":         `/data: missing property "waiting"`,
	"journal-event-turn-started-without-triggerMessageId.json": `/data: missing property "triggerMessageId"`,
	"journal-event-turn-text-without-text.json":                `/data: missing property "text"`,
	"journal-event-type-form.json":                             `/type: "SessionPinned" does not match ^[a-z]+\.[a-z]+$`,
	"session-bundle-end.json":                                  `/events: must be at least 0, not -1`,
	"session-bundle-event.json":                                `/: missing property "sum"`,
	"session-bundle-version.json":                              `/bundle: must be "1.0", not "2.0"`,
	"session-checkpoint-no-state.json":                         `/: missing property "state"`,
	"session-checkpoint-open-turn.json":                        `/state/openTurns/0: missing property "turnId"`,
	"session-checkpoint-recent.json":                           `/state/recent/0: missing property "seq"`,
	"session-index-extra-field.json":                           `/: unknown property "note"`,
	"session-index-row.json":                                   `/sessions/0: missing property "sum"`,
	"session-index-version.json":                               `/version: must be "1.0.0", not "2.0.0"`,
	"session-snapshot-addressee.json":                          `/context/messages/0/routing/resolvedAddressees/0/memberId: must be a string or null, not 4`,
	"session-snapshot-bad-date.json":                           `/createdAt: "nope" is not a date-time such as 2026-11-21T02:30:10Z`,
	"session-snapshot-bad-message-date.json":                   `/context/messages/0/timestamp: "2026-11-20 09:00" is not a date-time such as 2026-11-21T02:30:10Z`,
	"session-snapshot-context-version.json":                    `/context/version: must be 1, not 2`,
	"session-snapshot-impossible-date.json":                    `/updatedAt: "2026-02-30T00:00:00Z" is not a date-time such as 2026-11-21T02:30:10Z`,
	"session-snapshot-invalid-legacy-speaker.json":             `/context/messages/0/speaker: missing property "roleName"`,
	"session-snapshot-invalid-speaker.json":                    `/context/messages/0/speaker: missing property "displayName"`,
	"session-snapshot-message-extra-field.json":                `/context/messages/0: unknown property "todos"`,
	"session-snapshot-missing-context.json":                    `/: missing property "context"`,
	"session-snapshot-newer.json":                              `Schema version 1.1 is not supported. Please upgrade agent-chatter.`,
	"session-snapshot-no-task.json":                            `/context: missing property "teamTask"`,
	"session-snapshot-older.json":                              `Schema version 0.9 is deprecated. Please migrate to version 1.0.`,
	"session-snapshot-speaker-of-both.json":                    `/context/messages/0/speaker: unknown property "roleId"`,
	"session-snapshot-speaker-string.json":                     `/context/messages/0/speaker: must be an object, not "bo"`,
	"session-snapshot-speaker-type.json":                       `/context/messages/0/speaker/type: must be one of "ai", "human", "system", not "robot"`,
	"team-config-no-description.json":                          `/: missing property "description"`,
}

func TestValidSamplesAreAccepted(t *testing.T) {
	for _, file := range samples(t, "valid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if err := Check(schemaOf(t, file), read(t, file)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInvalidSamplesAreRejectedWithReasons(t *testing.T) {
	files := samples(t, "invalid")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, found := refusals[filepath.Base(file)]
			if !found {
				t.Fatal("the table has no error for this file")
			}
			err := Check(schemaOf(t, file), read(t, file))
			if err == nil {
				t.Fatal("was accepted")
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got:\n%v\nwant in it: %s", err, want)
			}
		})
	}
	if len(files) != len(refusals) {
		t.Errorf("%d rows for %d files", len(refusals), len(files))
	}
}

func TestEverySchemaHasValidAndInvalidSamples(t *testing.T) {
	for _, dir := range []string{"valid", "invalid"} {
		seen := map[string]bool{}
		for _, file := range samples(t, dir) {
			seen[schemaOf(t, file)] = true
		}
		for _, name := range Names() {
			if !seen[name] {
				t.Errorf("testdata/%s has nothing for %s", dir, name)
			}
		}
	}
}

func TestEveryKnownEventTypeHasASample(t *testing.T) {
	definitions := lookup(source(t, JournalEvent), "/definitions").(map[string]any)
	for name := range definitions {
		if noun, verb, isType := strings.Cut(name, "."); isType {
			mustFind(t, "testdata/valid/journal-event-*"+noun+"-*.json")
			mustFind(t, "testdata/invalid/journal-event-"+noun+"-"+verb+"-without-*.json")
		}
	}
}

func TestMostInvalidSamplesHaveOneProblem(t *testing.T) {
	several := map[string]bool{
		"cli-config-member-engine.json": true, "journal-event-legacy-speaker.json": true,
		"session-snapshot-addressee.json": true, "session-snapshot-invalid-speaker.json": true,
	}
	for _, file := range samples(t, "invalid") {
		var invalid *InvalidError
		if !errors.As(Check(schemaOf(t, file), read(t, file)), &invalid) {
			continue
		}
		if n := len(invalid.Problems); (n > 1) != several[filepath.Base(file)] {
			t.Errorf("%s has %d problems:\n%v", file, n, invalid)
		}
	}
}

func samples(t testing.TB, dir string) []string {
	t.Helper()
	return mustFind(t, "testdata/"+dir+"/*.json")
}

func mustFind(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Errorf("no file %s (%v)", pattern, err)
	}
	return files
}

// schemaOf returns the schema of a sample by the prefix of its file name.
func schemaOf(t testing.TB, file string) string {
	t.Helper()
	for _, name := range Names() {
		kind, _, _ := strings.Cut(name, "-v")
		if strings.HasPrefix(filepath.Base(file), kind) {
			return name
		}
	}
	t.Fatalf("no schema for %s", file)
	return ""
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	document, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

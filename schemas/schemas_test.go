package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// pair is a team file that is valid except for the text that replaces the marks.
const pair = `{
  "schemaVersion": "1.2"ROOT,
  "team": {"name": "pair", "description": "Two.", "members": [
    {"displayName": "Ada", "name": "ada", "role": "owner", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"displayName": "Bo", "name": "bo", "role": "dev", "type": "ai", "baseDir": ".", "systemInstruction": ""MEMBER}
  ]}
}`

func pairWith(root, member string) []byte {
	return []byte(strings.NewReplacer("ROOT", root, "MEMBER", member).Replace(pair))
}

func TestErrorListsAllProblems(t *testing.T) {
	err := Check(CLIConfig, pairWith(`, "maxRounds": -1, "colour": "red", "agents": [{"usePty": "yes"}]`, ``))
	const want = `Invalid cli-config-v1.3:
  - /: unknown property "colour"
  - /agents/0: missing property "name"
  - /agents/0/usePty: must be a boolean, not "yes"
  - /maxRounds: must be at least 0, not -1
  - /team/members/1: missing property "agentType"

Please check the schema: schemas/cli-config-v1.3.json`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestProblemsAreSortedAndUnique(t *testing.T) {
	items := slices.Repeat([]string{`{"name": 1, "x": 1, "y": 1}`}, 11)
	document := pairWith(`, "agents": [`+strings.Join(items, ",")+`]`, `, "agentType": "demo"`)
	first := problems(t, CLIConfig, document)
	for range 5 {
		if again := problems(t, CLIConfig, document); !reflect.DeepEqual(first, again) {
			t.Fatalf("another answer for the same document:\n%v\n%v", first, again)
		}
	}
	var want []Problem
	for i := range items {
		want = append(want,
			Problem{Path: fmt.Sprintf("/agents/%d", i), Message: `unknown property "x"`, Unknown: "x"},
			Problem{Path: fmt.Sprintf("/agents/%d", i), Message: `unknown property "y"`, Unknown: "y"},
			Problem{Path: fmt.Sprintf("/agents/%d/name", i), Message: `must be a string, not 1`})
	}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("got  %v\nwant %v", first, want)
	}
}

// Several keywords may report the same violation.
func TestSameProblemIsReportedOnce(t *testing.T) {
	var document any
	if err := json.Unmarshal(pairWith(`, "maxRounds": -1`, ``), &document); err != nil {
		t.Fatal(err)
	}
	r, err := ruleOf(CLIConfig)
	if err != nil {
		t.Fatal(err)
	}
	faults := r.check(document)
	once, twice := explain(faults), explain(slices.Concat(faults, faults))
	if len(once) != 2 || !reflect.DeepEqual(twice, once) {
		t.Errorf("got %v, want %v", twice, once)
	}
}

// A speaker that fits neither of two forms equally badly is explained by the first, the newer one.
func TestDrawIsExplainedByFirstAlternative(t *testing.T) {
	document := bytes.Replace(read(t, "testdata/valid/session-snapshot-new-format.json"),
		[]byte(`"speaker": {`), []byte(`"speaker": {"type": "human"}, "x": {`), 1)
	var missing []string
	for _, p := range problems(t, SessionSnapshot, document) {
		if strings.HasSuffix(p.Path, "/speaker") {
			missing = append(missing, p.Missing)
		}
	}
	if want := []string{"displayName", "id", "name"}; !slices.Equal(missing, want) {
		t.Errorf("missing are %q, want %q", missing, want)
	}
}

func TestMessageShowsAValue(t *testing.T) {
	sixty := strings.Repeat("é", 60)
	for _, tt := range []struct{ schema, document, path, want string }{
		{CLIConfig, string(pairWith(`, "maxRounds": "`+sixty+`"`, ``)), "/maxRounds",
			`must be a whole number, not "` + sixty + `"`},
		{CLIConfig, string(pairWith(`, "maxRounds": "`+sixty+`x"`, ``)), "/maxRounds",
			`must be a whole number, not "` + sixty + `…"`},
		{JournalEvent, `{"seq": 1, "time": 5, "type": "turn.started", "data": {}, "sum": "00000000"}`, "/time",
			"must be a string, not 5"},
	} {
		var got []string
		for _, p := range problems(t, tt.schema, []byte(tt.document)) {
			if p.Path == tt.path {
				got = append(got, p.Message)
			}
		}
		if !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: got %q, want %q", tt.document, got, tt.want)
		}
	}
}

func TestMembersMayHaveOtherFields(t *testing.T) {
	if err := Check(CLIConfig, pairWith(``, `, "agentType": "demo", "mood": {"good": true}`)); err != nil {
		t.Error(err)
	}
}

func TestSyntaxErrorsAreLocated(t *testing.T) {
	tests := []struct{ document, want string }{
		{"", "line 1, column 1: it is empty"},
		{" \n", "line 1, column 1: it is empty"},
		{"\xef\xbb\xbf{}", "line 1, column 1: it begins with a byte order mark"},
		{"{\n  \"é\" 1}", "line 2, column 7: invalid character '1' after object key"},
		{"{}\n{}", "line 2, column 1: invalid character '{' after top-level value"},
		{"{\"a\":", "line 1, column 6: unexpected end of JSON input"},
		{"[1,\n 1e400, 2]", "line 2, column 2: the number 1e400 is out of range"},
		{"-1e400", "line 1, column 1: the number -1e400 is out of range"},
		{strings.Repeat("[", 20000), "exceeded max depth"},
	}
	for _, test := range tests {
		got := problems(t, SessionIndex, []byte(test.document))
		if len(got) != 1 || got[0].Path != "/" || !strings.HasPrefix(got[0].Message, "not valid JSON: ") ||
			!strings.Contains(got[0].Message, test.want) {
			t.Errorf("%.20q: got %v, want %s", test.document, got, test.want)
		}
	}
}

func TestExtremeNumbersAreValidated(t *testing.T) {
	for _, number := range []string{"1e-999999999", "1e308", "-0", "123456789012345678901234567890"} {
		document := fmt.Sprintf(`{"version": "1.0.0", "updatedAt": "nope", "sessions": [{"size": %s}]}`, number)
		if got := problems(t, SessionIndex, []byte(document)); len(got) < 2 {
			t.Errorf("%s: %v", number, got)
		}
	}
}

func TestDateTimesAreEnforced(t *testing.T) {
	tests := map[string]bool{
		"2026-11-21T02:30:10Z":              true,
		"2026-11-21T02:30:10.123456Z":       true,
		"2026-11-21T02:30:10.5+02:00":       true,
		"2024-02-29T00:00:00Z":              true,
		"2026-02-29T00:00:00Z":              false,
		"2026-11-21T23:59:60Z":              false,
		"2026-11-21T02:30:10,5Z":            false,
		"2026-11-21T24:00:00Z":              false,
		"2026-11-21T2:30:10Z":               false,
		"2026-11-21T02:30:10":               false,
		"2026-11-21 02:30:10Z":              false,
		"2026-11-21":                        false,
		"Sat, 21 Nov 2026 02:30:10 +0000":   false,
		"2026-11-21T02:30:10Z and the rest": false,
		"":                                  false,
	}
	for text, valid := range tests {
		document := fmt.Sprintf(`{"version": "1.0.0", "sessions": [], "updatedAt": %q}`, text)
		if err := Check(SessionIndex, []byte(document)); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestErrorEscapesControlCharacters(t *testing.T) {
	name := `bad\u001b[2J\u202e\nname`
	err := Check(CLIConfig, pairWith(`, "`+name+`": 1`, `, "agentType": "demo", "env": {"`+name+`": 1}, "model": {}`))
	if err == nil {
		t.Fatal("was accepted")
	}
	if got := strings.Count(err.Error(), "\n"); got != 5 {
		t.Errorf("%d line breaks in %q", got, err)
	}
	if strings.ContainsAny(err.Error(), "\x1b\u202e") {
		t.Errorf("control characters in %q", err)
	}
	if !strings.Contains(err.Error(), `/team/members/1/env/bad\x1b[2J\u202e\nname: must be a string`) {
		t.Errorf("the path is missing in %q", err)
	}
}

func TestMessagesAreShortForLongValues(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	err := Check(CLIConfig, pairWith(`, "`+long+`": 1`, `, "agentType": "demo", "name": "`+long+`"`))
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("%.1200v", err)
	}
}

func TestEmptyPropertyNameIsRejected(t *testing.T) {
	got := problems(
		t,
		AgentRegistry,
		[]byte(
			`{"schemaVersion": "1.1", "agents": {`+
				`"": {}, "name": {}, "displayName": {}, "command": {}, "args": {}, "usePty": {}}}`,
		),
	)
	if len(got) < 6 || got[0].Path != "/agents/" {
		t.Errorf("got %v", got)
	}
}

func TestSchemasAreValidDraft07(t *testing.T) {
	meta, err := jsonschema.NewCompiler().Compile("http://json-schema.org/draft-07/schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names() {
		parsed := source(t, name)
		if parsed["$schema"] != "http://json-schema.org/draft-07/schema#" || parsed["$id"] != baseURL+name+".json" {
			t.Errorf("%s: $schema %v, $id %v", name, parsed["$schema"], parsed["$id"])
		}
		if err := meta.Validate(any(parsed)); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
		if _, err := ruleOf(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A rule knows certain keywords: a schema that uses another needs a change there.
func TestSchemasUseOnlyKnownKeywords(t *testing.T) {
	known := strings.Fields(`$schema $id $ref title description default definitions properties items allOf anyOf
		if then else type const enum format pattern minLength minItems minimum required additionalProperties
		contentEncoding`)
	for _, name := range names() {
		eachKeyword(source(t, name), func(keyword string, argument any) {
			if !slices.Contains(known, keyword) {
				t.Errorf("%s uses %q", name, keyword)
			}
			switch {
			case keyword == "minLength" && argument != 1.0:
				t.Errorf("%s: minLength %v is explained as 1", name, argument)
			case keyword == "format" && argument != "date-time", keyword == "contentEncoding" && argument != "base64",
				keyword == "const" && argument == nil:
				t.Errorf("%s: %s %v is not checked", name, keyword, argument)
			}
		})
	}
}

func eachKeyword(schema any, visit func(keyword string, argument any)) {
	keywords, _ := schema.(map[string]any)
	for keyword, argument := range keywords {
		visit(keyword, argument)
		switch keyword {
		case "properties", "definitions":
			for _, sub := range argument.(map[string]any) {
				eachKeyword(sub, visit)
			}
		case "allOf", "anyOf":
			for _, sub := range argument.([]any) {
				eachKeyword(sub, visit)
			}
		case "items", "if", "then", "else", "additionalProperties":
			eachKeyword(argument, visit)
		}
	}
}

func TestSchemaFilesAreNamedAndEmbedded(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil || len(entries) != len(names()) {
		t.Errorf("%d files, %d names, %v", len(entries), len(names()), err)
	}
	for _, name := range names() {
		text, err := files.ReadFile(name + ".json")
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: %v", name, err)
		}
		onDisk := read(t, name+".json")
		if !bytes.Equal(text, onDisk) {
			t.Errorf("%s: the embedded text is another", name)
		}
	}
}

func TestCheckReportsUnknownSchemas(t *testing.T) {
	for _, name := range []string{"", "nonsense", "../doc", CLIConfig + ".json"} {
		var invalid *InvalidError
		if err := Check(name, []byte(`{}`)); err == nil || errors.As(err, &invalid) {
			t.Errorf("Check %q: %v", name, err)
		}
	}
}

func TestCheckIsSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for _, dir := range []string{"valid", "invalid"} {
				for _, file := range samples(t, dir)[i:] {
					if err := Check(schemaOf(t, file), read(t, file)); (err == nil) != (dir == "valid") {
						t.Errorf("%s: %v", file, err)
					}
				}
			}
		})
	}
	group.Wait()
}

func FuzzCheck(f *testing.F) {
	for _, dir := range []string{"valid", "invalid"} {
		for _, file := range samples(f, dir) {
			f.Add(slices.Index(names(), schemaOf(f, file)), read(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, which int, document []byte) {
		if which < 0 || which >= len(names()) {
			return
		}
		name := names()[which]
		err := Check(name, document)
		var invalid *InvalidError
		var version *VersionError
		switch {
		case err == nil:
			if !json.Valid(document) {
				t.Error("accepted what is not JSON")
			}
		case errors.As(err, &invalid):
			if len(invalid.Problems) == 0 || strings.Count(err.Error(), "\n") != len(invalid.Problems)+2 {
				t.Errorf("%q", err)
			}
		case !errors.As(err, &version):
			t.Error(err)
		}
	})
}

func problems(t testing.TB, name string, document []byte) []Problem {
	t.Helper()
	var invalid *InvalidError
	if err := Check(name, document); !errors.As(err, &invalid) {
		t.Fatalf("%.200s: got %v, want an InvalidError", document, err)
	}
	return invalid.Problems
}

func source(t testing.TB, name string) (parsed map[string]any) {
	t.Helper()
	if err := json.Unmarshal(read(t, name+".json"), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Verifying a journal may check every line.
func BenchmarkCheckJournalEvent(b *testing.B) {
	line := read(b, "testdata/valid/journal-event-message-appended.json")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if err := Check(JournalEvent, line); err != nil {
			b.Fatal(err)
		}
	}
}

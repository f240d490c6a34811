package schemas

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusals returns the expected error of each file in testdata/invalid.
func refusals(t *testing.T) map[string]string {
	t.Helper()
	errors := map[string]string{}
	for line := range strings.Lines(string(read(t, "testdata/invalid/errors.txt"))) {
		file, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		errors[file] = message
	}
	return errors
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
	files, refusals := samples(t, "invalid"), refusals(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, found := refusals[filepath.Base(file)]
			if !found {
				t.Fatal("errors.txt has no line for this file")
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
		t.Errorf("errors.txt has %d lines for %d files", len(refusals), len(files))
	}
}

func TestEverySchemaHasValidAndInvalidSamples(t *testing.T) {
	for _, dir := range []string{"valid", "invalid"} {
		seen := map[string]bool{}
		for _, file := range samples(t, dir) {
			seen[schemaOf(t, file)] = true
		}
		for _, name := range names() {
			if !seen[name] {
				t.Errorf("testdata/%s has nothing for %s", dir, name)
			}
		}
	}
}

func TestEveryKnownEventTypeHasASample(t *testing.T) {
	definitions := source(t, JournalEvent)["definitions"].(map[string]any)
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
		"trust-no-path.json": true,
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
	for _, name := range names() {
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

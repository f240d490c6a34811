//go:build unix

package chattest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An Entry is an event without what differs between two conversations.
type Entry struct {
	Type string
	Data any
}

// sessions is how many sessions the conversation has: it is forked twice.
const sessions = 3

// Journals returns the events of the sessions, the oldest session first.
func (p *Place) Journals(t *testing.T) (all [][]Entry) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(p.Home, "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) != sessions {
		t.Fatalf("the journals are %q, %v", paths, err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var entries []Entry
		for line := range strings.Lines(string(data)) {
			var e Entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v: %s", path, err, line)
			}
			if e.Type != "input.received" && e.Type != "turn.text" {
				entries = append(entries, Entry{e.Type, p.normal(e.Data)})
			}
		}
		all = append(all, entries)
	}
	return all
}

var (
	ulids  = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`)
	hashes = regexp.MustCompile(`\b[0-9a-f]{40,64}\b`)
)

// different are the names of values that differ: devices, times, numbers of events, and digests of the directories.
var different = []string{
	"device", "timestamp", "app", "host", "secrets", "settings", "sum", "team", "seen", "from", "seq", "lastSeq", "id",
}

// normal returns a value without ids, times, durations, devices and the paths of the place.
func (p *Place) normal(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, of := range v {
			switch {
			case strings.HasSuffix(name, "Ms"), slices.Contains(different, name):
				delete(v, name)
			default:
				v[name] = p.normal(of)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = p.normal(v[i])
		}
		return v
	case string:
		v = strings.ReplaceAll(v, p.root(), "ROOT")
		return hashes.ReplaceAllString(ulids.ReplaceAllString(v, "ID"), "HASH")
	}
	return value
}

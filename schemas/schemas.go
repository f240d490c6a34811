package schemas

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// The names of the schemas. The file of a schema is its name with the extension .json.
const (
	CLIConfig       = "cli-config-v1.3"
	TeamConfig      = "team-config-v1.3"
	AgentRegistry   = "agent-registry-v1.1"
	SessionSnapshot = "session-snapshot-v1.0"
	JournalEvent    = "journal-event-v1.0"
	SessionIndex    = "session-index-v1.0"
	Checkpoint      = "session-checkpoint-v1.0"
	BundleLine      = "session-bundle-v1.0"
	Trust           = "trust-v1.0"
	TeamOffer       = "team-offered-v1.0"
	HubMark         = "hub-mark-v1.0"
	HomeKey         = "home-key-v1.0"
	UsageDay        = "usage-day-v1.0"
	CommandUses     = "command-uses-v1.0"
	Devices         = "devices-v1.0"
)

//go:embed *.json
var files embed.FS

// schema is one of the embedded schemas.
type schema struct {
	name     string
	versions versions // zero: documents have no schemaVersion
}

var all = []schema{
	{CLIConfig, versions{oldest: "1.1", newest: "1.3", minors: true}},
	{TeamConfig, versions{}},
	{AgentRegistry, versions{oldest: "1.1", newest: "1.1"}},
	{SessionSnapshot, versions{oldest: "1.0", newest: "1.0"}},
	{JournalEvent, versions{}},
	{SessionIndex, versions{}},
	{Checkpoint, versions{}},
	{BundleLine, versions{}},
	{Trust, versions{oldest: "1.0", newest: "1.0"}},
	{TeamOffer, versions{oldest: "1.0", newest: "1.0"}},
	{HubMark, versions{}},
	{HomeKey, versions{}},
	{UsageDay, versions{oldest: "1.0", newest: "1.0"}},
	{CommandUses, versions{oldest: "1.0", newest: "1.0"}},
	{Devices, versions{oldest: "1.0", newest: "1.0"}},
}

// rules has the rule of each schema that was used: most runs of the program use one or none.
var rules sync.Map

// ruleOf returns the rule of a schema, which must not be changed.
func ruleOf(name string) (*rule, error) {
	if r, ok := rules.Load(name); ok {
		return r.(*rule), nil
	}
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, err
	}
	var r rule
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if err := r.prepare(&r); err != nil {
		return nil, err
	}
	rules.Store(name, &r) // another goroutine may have stored its own, which is equal
	return &r, nil
}

// names returns the names of all schemas.
func names() []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.name
	}
	return names
}

// Check validates a document against a schema. It returns nil if the document is valid, a
// [*VersionError] if its version is too new or too old, and an [*InvalidError] if it is not
// JSON or does not match the schema. Any other error means that no schema has the name.
func Check(name string, document []byte) error {
	s, err := find(name)
	if err != nil {
		return err
	}
	value, problem := decode(document)
	if problem != nil {
		return &InvalidError{Schema: name, Problems: []Problem{*problem}}
	}
	newer, err := s.versions.check(name, value)
	if err != nil {
		return err
	}
	return s.check(value, newer)
}

func find(name string) (schema, error) {
	for _, s := range all {
		if s.name == name {
			return s, nil
		}
	}
	return schema{}, fmt.Errorf("no schema named %q, only %s", name, strings.Join(names(), ", "))
}

// check validates a value. The version of one with a newer minor version is right, whatever the schema says.
func (s schema) check(value any, newer bool) error {
	r, err := ruleOf(s.name)
	if err != nil {
		return fmt.Errorf("schema %s: %w", s.name, err)
	}
	problems := explain(r.check(value))
	if newer {
		problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.Path == "/schemaVersion" })
	}
	if len(problems) == 0 {
		return nil
	}
	return &InvalidError{Schema: s.name, Problems: problems, Newer: newer}
}

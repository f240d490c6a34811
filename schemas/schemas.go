package schemas

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The names of the schemas. The file of a schema is its name with the extension .json.
const (
	CLIConfig       = "cli-config-v1.2"
	TeamConfig      = "team-config-v1.2"
	AgentRegistry   = "agent-registry-v1.1"
	SessionSnapshot = "session-snapshot-v1.0"
	JournalEvent    = "journal-event-v1.0"
	SessionIndex    = "session-index-v1.0"
	Checkpoint      = "session-checkpoint-v1.0"
	BundleLine      = "session-bundle-v1.0"
	Trust           = "trust-v1.0"
	TeamOffer       = "team-offered-v1.0"
	HubMark         = "hub-mark-v1.0"
)

// baseURL is the prefix of the $id values of the schemas. Nothing is fetched from it.
const baseURL = "https://github.com/agent-chatter/agent-chatter/raw/main/schemas/"

//go:embed *.json
var files embed.FS

// schema is one of the embedded schemas.
type schema struct {
	name     string
	versions versions // zero: documents have no schemaVersion
	compile  func() (*jsonschema.Schema, error)
}

var all = []schema{
	newSchema(CLIConfig, versions{oldest: "1.1", newest: "1.2"}),
	newSchema(TeamConfig, versions{}),
	newSchema(AgentRegistry, versions{oldest: "1.1", newest: "1.1"}),
	newSchema(SessionSnapshot, versions{oldest: "1.0", newest: "1.0"}),
	newSchema(JournalEvent, versions{}),
	newSchema(SessionIndex, versions{}),
	newSchema(Checkpoint, versions{}),
	newSchema(BundleLine, versions{}),
	newSchema(Trust, versions{oldest: "1.0", newest: "1.0"}),
	newSchema(TeamOffer, versions{oldest: "1.0", newest: "1.0"}),
	newSchema(HubMark, versions{}),
}

// newSchema does not compile the schema: most runs of the program use one or none.
func newSchema(name string, v versions) schema {
	return schema{name: name, versions: v, compile: sync.OnceValues(func() (*jsonschema.Schema, error) {
		c := jsonschema.NewCompiler()
		c.LoadURL = openEmbedded
		c.Formats["date-time"] = isDateTime
		return c.Compile(baseURL + name + ".json")
	})}
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
	if err := s.versions.check(name, value); err != nil {
		return err
	}
	return s.check(value)
}

func find(name string) (schema, error) {
	for _, s := range all {
		if s.name == name {
			return s, nil
		}
	}
	return schema{}, fmt.Errorf("no schema named %q, only %s", name, strings.Join(names(), ", "))
}

func (s schema) check(value any) error {
	compiled, err := s.compile()
	if err != nil {
		return fmt.Errorf("schema %s: %w", s.name, err)
	}
	err = compiled.Validate(value)
	if err == nil {
		return nil
	}
	failure, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return fmt.Errorf("schema %s: %w", s.name, err)
	}
	return &InvalidError{Schema: s.name, Problems: explain(value, failure)}
}

// openEmbedded opens the schema that a $ref refers to, instead of fetching it.
func openEmbedded(url string) (io.ReadCloser, error) {
	if !strings.HasPrefix(url, baseURL) {
		return nil, fmt.Errorf("%s is not one of our schemas", url)
	}
	return files.Open(path.Base(url))
}

// isDateTime accepts a time only if it is RFC 3339 and package time can parse it. Package time
// also parses "T2:30:00Z", which is not RFC 3339, and rejects leap seconds, which are.
func isDateTime(value any) bool {
	text, ok := value.(string)
	if !ok {
		return true // keyword "type" reports it
	}
	return jsonschema.Formats["date-time"](text) && new(time.Time).UnmarshalText([]byte(text)) == nil
}

// sources has the decoded schema files by URL. Decoding one takes longer than to validate most documents, and a journal
// may have many invalid events.
var sources sync.Map

// parsedSource returns the decoded schema file at a URL; nil if there is none. Callers must not change it.
func parsedSource(url string) any {
	if parsed, ok := sources.Load(url); ok {
		return parsed
	}
	text, _ := files.ReadFile(path.Base(url))
	var parsed any
	json.Unmarshal(text, &parsed)
	sources.Store(url, parsed)
	return parsed
}

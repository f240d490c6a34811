package acptest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The files of the schema in the module of the SDK, with their SHA-256.
const (
	module       = "github.com/coder/acp-go-sdk"
	stableFile   = "schema.json"
	stableSum    = "0da9fe718746ccc2e8ef789efa6687e64a252dea3a8789faae9a1acbe60e0d3b"
	unstableFile = "schema.unstable.json"
	unstableSum  = "9e1a31a28775e2a4194a60912278d6b34a03f3ab7e95d63aa4bab6e5618390e2"
)

// A schema has the types of messages.
type schema struct {
	types   map[typeKey]*jsonschema.Schema
	updates []string           // the kinds of session updates
	fault   *jsonschema.Schema // of an error response
}

// A typeKey says which message a type is for. The side is that which handles the request or notification.
type typeKey struct {
	method, side string
	kind         kind
}

// A kind is the end of the name that the types of such messages have.
type kind string

const (
	request      kind = "Request"
	response     kind = "Response"
	notification kind = "Notification"
)

// schemas returns the stable and the unstable schema. They are read once.
var schemas = sync.OnceValues(func() ([]*schema, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return nil, fmt.Errorf("find the module %s: %w", module, err)
	}
	var all []*schema
	for _, file := range [][2]string{{stableFile, stableSum}, {unstableFile, unstableSum}} {
		path := filepath.Join(strings.TrimSpace(string(dir)), "schema", file[0])
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != file[1] {
			return nil, fmt.Errorf("%s has the SHA-256 %s, want %s", path, sum, file[1])
		}
		s, err := compile(file[0], data)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
})

// compile compiles the types that have a method.
func compile(name string, data []byte) (*schema, error) {
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, bytes.NewReader(data)); err != nil {
		return nil, err
	}
	s := &schema{types: map[typeKey]*jsonschema.Schema{}}
	definitions, err := definitions(data)
	if err != nil {
		return nil, err
	}
	for _, update := range definitions["SessionUpdate"].Updates {
		s.updates = append(s.updates, update.Properties.Kind.Const)
	}
	for typeName, of := range definitions {
		if of.Method == "" && typeName != "Error" {
			continue
		}
		compiled, err := compiler.Compile(name + "#/$defs/" + typeName)
		if err != nil {
			return nil, err
		}
		if typeName == "Error" {
			s.fault = compiled
			continue
		}
		for _, kind := range []kind{request, response, notification} {
			if strings.HasSuffix(typeName, string(kind)) {
				s.types[typeKey{of.Method, of.Side, kind}] = compiled
			}
		}
	}
	return s, nil
}

// A definition is a type of the schema.
type definition struct {
	Method string `json:"x-method"`
	Side   string `json:"x-side"`

	Updates []struct {
		Properties struct {
			Kind struct {
				Const string `json:"const"`
			} `json:"sessionUpdate"`
		} `json:"properties"`
	} `json:"oneOf"` // of SessionUpdate
}

func definitions(schema []byte) (map[string]definition, error) {
	var all struct {
		Definitions map[string]definition `json:"$defs"`
	}
	err := json.Unmarshal(schema, &all)
	return all.Definitions, err
}

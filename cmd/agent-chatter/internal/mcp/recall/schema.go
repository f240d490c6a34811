package recall

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// explainInvalid adds to the error of a call with wrong arguments which ones the tool has. Other results stay as they
// are.
func explainInvalid(result sdk.Result, tool string, arguments []string) {
	called, ok := result.(*sdk.CallToolResult)
	if !ok || !called.IsError || len(called.Content) == 0 {
		return
	}
	text, ok := called.Content[0].(*sdk.TextContent)
	if !ok {
		return
	}
	if reason, ok := strings.CutPrefix(text.Text, `validating "arguments": `); ok {
		reason = strings.TrimPrefix(reason, "validating root: ")
		text.Text = fmt.Sprintf("Wrong arguments of %s: %s.\nIts arguments are: %s.",
			tool, reason, strings.Join(arguments, ", "))
	}
}

// schemaWithoutNull says of each list that it is never null, as it may be in Go.
func schemaWithoutNull(s *jsonschema.Schema) {
	if s.Items != nil {
		s.Type, s.Types = "array", nil
		schemaWithoutNull(s.Items)
	}
	for _, property := range s.Properties {
		schemaWithoutNull(property)
	}
}

// schemaBounded limits the length of a text, in characters.
func schemaBounded(s *jsonschema.Schema, least, most int) {
	s.MaxLength = new(most)
	if least > 0 {
		s.MinLength = new(least)
	}
}

// schemaBetween limits a number and sets its default.
func schemaBetween(s *jsonschema.Schema, least, most, initial int) {
	s.Minimum, s.Maximum = new(float64(least)), new(float64(most))
	s.Default, _ = json.Marshal(initial)
}

// schemaOneOf limits a text to some values, the first of which is the default.
func schemaOneOf(s *jsonschema.Schema, values ...string) {
	for _, value := range values {
		s.Enum = append(s.Enum, value)
	}
	s.Default, _ = json.Marshal(values[0])
}

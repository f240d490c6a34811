package recall

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestExplainChangesOnlyWrongArguments(t *testing.T) {
	for _, test := range []struct {
		failed     bool
		text, want string
	}{
		{true, `validating "arguments": validating root: required: missing properties: ["path"]`,
			"Wrong arguments of find: required: missing properties: [\"path\"].\nIts arguments are: path, since."},
		{true, "There is no session x.", "There is no session x."},
		{false, `validating "arguments": quoted`, `validating "arguments": quoted`},
	} {
		content := &sdk.TextContent{Text: test.text}
		result := &sdk.CallToolResult{IsError: test.failed, Content: []sdk.Content{content}}
		explainInvalid(result, "find", []string{"path", "since"})
		if content.Text != test.want {
			t.Errorf("%q: got %q, want %q", test.text, content.Text, test.want)
		}
	}
	explainInvalid(&sdk.CallToolResult{IsError: true}, "find", nil)
	explainInvalid((*sdk.ListToolsResult)(nil), "find", nil)
}

package schemas_test

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/schemas"
)

func ExampleCheck() {
	fmt.Println(
		schemas.Check(schemas.AgentRegistry, []byte(`{"schemaVersion": "1.1", "agents": {"demo": {"name": 1}}}`)),
	)
	fmt.Println()
	fmt.Println(schemas.Check(schemas.CLIConfig, []byte(`{"schemaVersion": "2.10"}`)))
	// Output:
	// Invalid agent-registry-v1.1:
	//   - /agents/demo: missing property "args"
	//   - /agents/demo: missing property "command"
	//   - /agents/demo: missing property "displayName"
	//   - /agents/demo: missing property "usePty"
	//   - /agents/demo/name: must be a string, not 1
	//
	// Please check the schema: schemas/agent-registry-v1.1.json
	//
	// Schema version 2.10 is not supported. Please upgrade agent-chatter.
}

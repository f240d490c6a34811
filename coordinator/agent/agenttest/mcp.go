package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// mcpArgument is the first argument of a process that is an MCP server.
const mcpArgument = "__agenttest-mcp"

// MCPToken is a variable whose value the tools of an MCPServer show.
const MCPToken = "AGENT_TEST_TOKEN"

// MCPServer returns a server, which is this program, with the tools look, which changes nothing, and change. Both
// take a text and return it, with the value of MCPToken.
func MCPServer(name string, env map[string]string) agent.MCPServer {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return agent.MCPServer{Name: name, Command: program, Args: []string{mcpArgument}, Env: env}
}

// playMCP is the server's main function.
func playMCP(in io.Reader, out io.Writer) {
	requests, responses := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var m rpcMessage
		if requests.Decode(&m) != nil {
			return
		}
		if m.ID == nil {
			continue
		}
		answer := rpcMessage{JSONRPC: "2.0", ID: m.ID, Result: mcpResult(m)}
		if answer.Result == nil {
			answer.Error = object{"code": -32601, "message": "Method not found"}
		}
		if responses.Encode(answer) != nil {
			return
		}
	}
}

// mcpResult returns the result of a request; nil for an unknown method.
func mcpResult(m rpcMessage) any {
	var params struct {
		ProtocolVersion string
		Name            string
		Arguments       struct{ Text string }
	}
	_ = json.Unmarshal(m.Params, &params)
	switch m.Method {
	case "initialize":
		return object{
			"protocolVersion": params.ProtocolVersion, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": "agenttest", "version": "1"},
		}
	case "ping":
		return object{}
	case "tools/list":
		return object{"tools": []object{mcpTool("look", true), mcpTool("change", false)}}
	case "tools/call":
		text := fmt.Sprintf("%s of %s with %s", params.Name, params.Arguments.Text, os.Getenv(MCPToken))
		return object{"content": []object{{"type": "text", "text": text}}}
	}
	return nil
}

func mcpTool(name string, readOnly bool) object {
	return object{
		"name": name, "description": "returns a text", "annotations": object{"readOnlyHint": readOnly},
		"inputSchema": object{"type": "object", "properties": object{"text": object{"type": "string"}}},
	}
}

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
// take a text and return it, with the value of MCPToken. Its tool choose asks the user for a wood, a number and a note,
// and returns the answer of the client.
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
		if m.calls("choose") {
			answer.Result = choose(requests, responses)
		}
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
		return object{"tools": []object{
			mcpTool("look", true), mcpTool("change", false), mcpTool("choose", true),
		}}
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

// calls reports whether a message calls the tool.
func (m rpcMessage) calls(tool string) bool {
	var params struct{ Name string }
	_ = json.Unmarshal(m.Params, &params)
	return m.Method == "tools/call" && params.Name == tool
}

// choose asks the user, and returns the result of the tool: the answer of the client.
func choose(requests *json.Decoder, responses *json.Encoder) object {
	schema := object{"type": "object", "required": []string{"wood"}, "properties": object{
		"wood":   object{"type": "string", "title": "Which wood?", "enum": []string{"oak", "pine"}},
		"number": object{"type": "integer", "title": "How many?"},
		"note":   object{"type": "string", "title": "Anything else?"},
	}}
	params, _ := json.Marshal(object{"message": "What shall it be?", "requestedSchema": schema})
	_ = responses.Encode(rpcMessage{
		JSONRPC: "2.0", ID: json.RawMessage(`"choice"`), Method: "elicitation/create", Params: params,
	})
	for {
		var m rpcMessage
		if err := requests.Decode(&m); err != nil {
			return object{}
		}
		if m.Method == "" && string(m.ID) == `"choice"` {
			answer := encode(object{"answer": m.Result, "error": m.Error})
			return object{"content": []object{{"type": "text", "text": answer}}}
		}
	}
}

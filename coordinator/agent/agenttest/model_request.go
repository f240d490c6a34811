package agenttest

import (
	"encoding/json"
	"strings"
)

// A modelRequest has the parts of a request that the model's reply depends on.
type modelRequest struct {
	user     string // the text of the last item with the role user; "" if that item has only results of tools
	toolDone bool   // the last item is the result of a tool
	tools    []modelTool
}

// A modelTool is a tool that the model may use.
type modelTool struct {
	name       string
	properties map[string]json.RawMessage // of its input
}

// shellNames are the names of the agents' shell tools.
var shellNames = []string{
	"Bash", "bash", "exec_command", "shell", "shell_command", "local_shell", "run_shell_command",
}

func (r modelRequest) shell() (modelTool, bool) {
	for _, name := range shellNames {
		for _, tool := range r.tools {
			if tool.name == name {
				return tool, true
			}
		}
	}
	return modelTool{}, false
}

// input returns the input with which t, a shell tool, runs the command: outside of its sandbox if escalate
// is set and the tool has that option.
func (t modelTool) input(command string, escalate bool) object {
	var kind struct{ Type string }
	_ = json.Unmarshal(t.properties["command"], &kind)
	input := object{"command": command}
	switch {
	case t.properties["cmd"] != nil:
		input = object{"cmd": command}
	case kind.Type == "array":
		input = object{"command": []string{"bash", "-lc", command}}
	}
	if t.properties["description"] != nil {
		input["description"] = "as instructed"
	}
	if escalate && t.properties["sandbox_permissions"] != nil {
		input["sandbox_permissions"], input["justification"] = "require_escalated", "as instructed"
	}
	return input
}

// textIn returns the text of a message's content, which is a string or a list of parts. Parts without
// text, such as the results of tools, are left out.
func textIn(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts)
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// A schema is the part of a JSON Schema that modelTool needs.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// decodeMessages decodes a request to Anthropic's Messages API or to OpenAI's Chat Completions API.
func decodeMessages(body []byte) (r modelRequest) {
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Name        string
			InputSchema schema `json:"input_schema"`
			Function    struct {
				Name       string
				Parameters schema
			}
		}
	}
	_ = json.Unmarshal(body, &request)
	for _, m := range request.Messages {
		switch m.Role {
		case "user":
			r.user, r.toolDone = textIn(m.Content), strings.Contains(string(m.Content), `"tool_result"`)
		case "tool":
			r.toolDone = true
		case "assistant":
			r.toolDone = false
		}
	}
	for _, t := range request.Tools {
		tool := modelTool{t.Name, t.InputSchema.Properties} // Anthropic's
		if t.Function.Name != "" {
			tool = modelTool{t.Function.Name, t.Function.Parameters.Properties} // OpenAI's
		}
		r.tools = append(r.tools, tool)
	}
	return r
}

// decodeResponses decodes a request to OpenAI's Responses API.
func decodeResponses(body []byte) (r modelRequest) {
	var request struct {
		Input []struct {
			Type, Role string
			Content    json.RawMessage
		}
		Tools []struct {
			Name, Type string
			Parameters schema
		}
	}
	_ = json.Unmarshal(body, &request)
	for _, i := range request.Input {
		r.toolDone = strings.HasSuffix(i.Type, "_output")
		if i.Role == "user" {
			r.user = textIn(i.Content)
		}
	}
	for _, t := range request.Tools {
		name := t.Name
		if name == "" {
			name = t.Type
		}
		r.tools = append(r.tools, modelTool{name, t.Parameters.Properties})
	}
	return r
}

// decodeContents decodes a request to the Gemini API.
func decodeContents(body []byte) (r modelRequest) {
	var request struct {
		Contents []struct {
			Role  string
			Parts json.RawMessage
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string
				Parameters           schema
				ParametersJSONSchema schema `json:"parametersJsonSchema"`
			}
		}
	}
	_ = json.Unmarshal(body, &request)
	for _, c := range request.Contents {
		if c.Role != "model" {
			r.user, r.toolDone = textIn(c.Parts), strings.Contains(string(c.Parts), `"functionResponse"`)
		}
	}
	for _, t := range request.Tools {
		for _, f := range t.FunctionDeclarations {
			properties := f.Parameters.Properties
			if properties == nil {
				properties = f.ParametersJSONSchema.Properties
			}
			r.tools = append(r.tools, modelTool{f.Name, properties})
		}
	}
	return r
}

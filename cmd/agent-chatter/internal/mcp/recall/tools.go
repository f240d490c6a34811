package recall

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTools adds the tools to a server.
func (r *Recall) addTools(s *sdk.Server) {
	add(r, s, tool[searchInput, searchOutput]{
		name: searchTool, title: "Search earlier conversations", call: r.Search,
		description: "Find messages of saved conversations that contain a text. Returns lines with the match, the " +
			"newest session first, each cited as ID#seq. Use it before answering from memory about earlier work or " +
			"decisions. Read around a hit with read_session.",
		limits: func(p map[string]*jsonschema.Schema) {
			schemaBounded(p["query"], 1, 1000)
			schemaBounded(p["speaker"], 0, 200)
			schemaBounded(p["since"], 0, 40)
			schemaBounded(p["directory"], 0, 4096)
			schemaBounded(p["session"], 0, maxName)
			schemaBetween(p["limit"], 1, 100, 20)
		},
	})
	add(r, s, tool[listInput, listOutput]{
		name: listTool, title: "List saved conversations", call: r.List,
		description: "List saved conversations with their ids, titles, teams, directories and times, the most " +
			"recently updated first. Use it to find the id of a session, or for an overview of earlier work.",
		limits: func(p map[string]*jsonschema.Schema) {
			schemaBounded(p["text"], 0, 1000)
			schemaBounded(p["team"], 0, 200)
			schemaBounded(p["directory"], 0, 4096)
			schemaOneOf(p["sort"], "updated", "created", "messages", "title")
			schemaBetween(p["limit"], 1, 100, 20)
		},
	})
	add(r, s, tool[readInput, readOutput]{
		name: readTool, title: "Read a saved conversation", call: r.Read,
		description: "Read a saved conversation: messages and tool calls in order, each cited as ID#seq. Give the " +
			"session alone to read it from the start, ID#seq or around to read around an event, from and to for a " +
			"range of events. A long answer ends with a cursor.",
		limits: func(p map[string]*jsonschema.Schema) {
			schemaBounded(p["session"], 1, maxName)
			for _, name := range []string{"around", "from", "to"} {
				p[name].Minimum, p[name].Maximum = new(float64(1)), new(float64(1<<53))
			}
			schemaOneOf(p["tools"], toolCalls, toolResults, toolNone)
		},
	})
	add(r, s, tool[touchedInput, touchedOutput]{
		name: touchedTool, title: "Find who worked on a file", call: r.Touched,
		description: "Find the tool calls of agents that named a file or a directory, in saved conversations: who " +
			"read or changed it, when, and in which turn. Each is cited as ID#seq; read_session shows the turn " +
			"around it.",
		limits: func(p map[string]*jsonschema.Schema) {
			schemaBounded(p["path"], 1, 4096)
			schemaBounded(p["since"], 0, 40)
			schemaBounded(p["directory"], 0, 4096)
			schemaBetween(p["limit"], 1, 100, 20)
		},
	})
}

// A tool is a function that a model can call.
type tool[In, Out any] struct {
	name, title, description string

	// call returns the result, and the same as a text.
	call func(context.Context, In) (out Out, text string, err error)
	// limits adds to the schemas of the arguments what their types do not say.
	limits func(arguments map[string]*jsonschema.Schema)
}

// add adds a tool to a server.
func add[In, Out any](r *Recall, s *sdk.Server, t tool[In, Out]) {
	input, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a type of this package
	}
	schemaBounded(input.Properties["cursor"], 0, maxCursor)
	t.limits(input.Properties)
	r.arguments[t.name] = input.PropertyOrder
	output, err := jsonschema.For[Out](nil)
	if err != nil {
		panic(err)
	}
	schemaWithoutNull(output)
	no := false
	sdk.AddTool(s, &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: input, OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no,
		},
	}, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		out, text, err := limited(ctx, r, func(ctx context.Context) (Out, string, error) { return t.call(ctx, in) })
		if err != nil {
			return nil, out, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, out, nil
	})
}

// limited calls a function when a call may run, for at most MaxTime. Its errors say what to call next.
func limited[Out any](
	ctx context.Context, r *Recall, call func(context.Context) (Out, string, error),
) (out Out, text string, err error) {
	ctx, stop := context.WithTimeout(ctx, MaxTime)
	defer stop()
	leave, err := take(ctx, r.calls)
	if err != nil {
		return out, "", explained(err)
	}
	defer leave()
	if out, text, err = call(ctx); err != nil {
		return out, "", explained(err)
	}
	return out, text, nil
}

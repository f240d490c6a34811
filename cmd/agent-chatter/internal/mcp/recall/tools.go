package recall

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTools adds the tools to a server.
func (r *Recall) addTools(s *sdk.Server) {
	add(r, s, tool[SearchInput, SearchOutput]{
		name: searchTool, title: "Search earlier conversations", call: r.Search,
		description: "Find messages of saved conversations that contain a text. Returns lines with the match, the " +
			"newest session first, each cited as ID#seq. Use it before answering from memory about earlier work or " +
			"decisions. Read around a hit with read_session.",
		limits: func(p map[string]*jsonschema.Schema) {
			bounded(p["query"], 1, 1000)
			bounded(p["speaker"], 0, 200)
			bounded(p["since"], 0, 40)
			bounded(p["directory"], 0, 4096)
			bounded(p["session"], 0, maxName)
			between(p["limit"], 1, 100, 20)
		},
	})
	add(r, s, tool[ListInput, ListOutput]{
		name: listTool, title: "List saved conversations", call: r.List,
		description: "List saved conversations with their ids, titles, teams, directories and times, the most " +
			"recently updated first. Use it to find the id of a session, or for an overview of earlier work.",
		limits: func(p map[string]*jsonschema.Schema) {
			bounded(p["text"], 0, 1000)
			bounded(p["team"], 0, 200)
			bounded(p["directory"], 0, 4096)
			one(p["sort"], "updated", "created", "messages", "title")
			between(p["limit"], 1, 100, 20)
		},
	})
	add(r, s, tool[ReadInput, ReadOutput]{
		name: readTool, title: "Read a saved conversation", call: r.Read,
		description: "Read a saved conversation: messages and tool calls in order, each cited as ID#seq. Give the " +
			"session alone to read it from the start, ID#seq or around to read around an event, from and to for a " +
			"range of events. A long answer ends with a cursor.",
		limits: func(p map[string]*jsonschema.Schema) {
			bounded(p["session"], 1, maxName)
			for _, name := range []string{"around", "from", "to"} {
				p[name].Minimum, p[name].Maximum = new(float64(1)), new(float64(1<<53))
			}
			one(p["tools"], toolCalls, toolResults, toolNone)
		},
	})
	add(r, s, tool[TouchedInput, TouchedOutput]{
		name: touchedTool, title: "Find who worked on a file", call: r.Touched,
		description: "Find the tool calls of agents that named a file or a directory, in saved conversations: who " +
			"read or changed it, when, and in which turn. Each is cited as ID#seq; read_session shows the turn " +
			"around it.",
		limits: func(p map[string]*jsonschema.Schema) {
			bounded(p["path"], 1, 4096)
			bounded(p["since"], 0, 40)
			bounded(p["directory"], 0, 4096)
			between(p["limit"], 1, 100, 20)
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
	bounded(input.Properties["cursor"], 0, maxCursor)
	t.limits(input.Properties)
	output, err := jsonschema.For[Out](nil)
	if err != nil {
		panic(err)
	}
	withoutNull(output)
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

// withoutNull says of each list that it is never null, as it may be in Go.
func withoutNull(s *jsonschema.Schema) {
	if s.Items != nil {
		s.Type, s.Types = "array", nil
		withoutNull(s.Items)
	}
	for _, property := range s.Properties {
		withoutNull(property)
	}
}

// bounded limits the length of a text, in characters.
func bounded(s *jsonschema.Schema, least, most int) {
	s.MaxLength = new(most)
	if least > 0 {
		s.MinLength = new(least)
	}
}

// between limits a number and sets its default.
func between(s *jsonschema.Schema, least, most, initial int) {
	s.Minimum, s.Maximum = new(float64(least)), new(float64(most))
	s.Default, _ = json.Marshal(initial)
}

// one limits a text to some values, the first of which is the default.
func one(s *jsonschema.Schema, values ...string) {
	for _, value := range values {
		s.Enum = append(s.Enum, value)
	}
	s.Default, _ = json.Marshal(values[0])
}

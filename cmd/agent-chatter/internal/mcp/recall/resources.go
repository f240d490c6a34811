package recall

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// The templates of the URIs of sessions.
const (
	sessionTemplate = scheme + "{id}"
	eventTemplate   = scheme + "{id}/{seq}"
)

const mimeType = "text/plain"

// addResources adds the sessions as resources. The SDK has a fixed list of them: this one is read when it is asked for.
func (r *Recall) addResources(s *sdk.Server) {
	for _, t := range []*sdk.ResourceTemplate{
		{Name: "session", Title: "A saved conversation", URITemplate: sessionTemplate, MIMEType: mimeType,
			Description: "The start of a conversation. The tool read_session reads the rest."},
		{Name: "event", Title: "An event of a saved conversation", URITemplate: eventTemplate, MIMEType: mimeType,
			Description: "The conversation around an event, which a citation names as ID#seq."},
	} {
		s.AddResourceTemplate(t, r.readResource)
	}
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
			if asked, ok := request.GetParams().(*sdk.ListResourcesParams); ok && method == "resources/list" {
				return r.listResources(ctx, asked)
			}
			return next(ctx, method, request)
		}
	})
}

// resourcesInPage is the number of sessions in a page of the list of resources.
const resourcesInPage = 100

// listResources returns a page of the sessions.
func (r *Recall) listResources(ctx context.Context, asked *sdk.ListResourcesParams) (*sdk.ListResourcesResult, error) {
	var from listPosition
	if asked != nil && asked.Cursor != "" {
		if err := r.position(asked.Cursor, "resources/list", nil, &from); err != nil {
			return nil, wireError(err)
		}
	}
	list, _, err := limited(ctx, r, func(ctx context.Context) (*catalog.Result, string, error) {
		list, err := r.list(ctx, catalog.Query{Limit: resourcesInPage, After: from.After})
		return list, "", err
	})
	if err != nil {
		return nil, wireError(err)
	}
	result := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
	secrets := r.redactors()
	for _, s := range list.Sessions {
		d := described(s, secrets(s.Source))
		result.Resources = append(result.Resources, &sdk.Resource{
			URI: scheme + s.ID, Name: s.ID, Title: d.Title, MIMEType: mimeType,
			Description: "A saved conversation. Its title is a quotation.",
			Annotations: &sdk.Annotations{LastModified: d.UpdatedAt},
		})
	}
	if list.Next != "" {
		result.NextCursor = r.cursorAt("resources/list", nil, listPosition{list.Next})
	}
	return result, nil
}

// readResource returns the start of a session, or what is around an event.
func (r *Recall) readResource(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	in := readInput{Session: request.Params.URI, Tools: toolCalls}
	_, text, err := limited(ctx, r, func(ctx context.Context) (readOutput, string, error) { return r.Read(ctx, in) })
	if err != nil {
		return nil, wireError(err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
		{URI: request.Params.URI, MIMEType: mimeType, Text: text},
	}}, nil
}

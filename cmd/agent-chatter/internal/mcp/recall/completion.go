package recall

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// maxCompletions is the number of values that the protocol allows.
const maxCompletions = 100

// complete completes the id of a session in the URI of a resource. Nothing else has values to choose from.
func (r *Recall) complete(ctx context.Context, request *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	values := []string{}
	asked := request.Params
	if asked.Ref.Type != "ref/resource" || !strings.HasPrefix(asked.Ref.URI, scheme) || asked.Argument.Name != "id" {
		return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values}}, nil
	}
	list, _, err := limited(ctx, r, func(ctx context.Context) (*catalog.Result, string, error) {
		list, err := r.list(ctx, catalog.Query{})
		return list, "", err
	})
	if err != nil {
		return nil, wireError(err)
	}
	begin, total := strings.ToUpper(asked.Argument.Value), 0
	for _, e := range list.Matches {
		if id := e.Key().ID; strings.HasPrefix(id, begin) {
			if total++; len(values) < maxCompletions {
				values = append(values, id)
			}
		}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
		Values: values, Total: total, HasMore: total > len(values),
	}}, nil
}

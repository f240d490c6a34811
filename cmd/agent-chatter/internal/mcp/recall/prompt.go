package recall

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxTopic is the length of the longest topic, in bytes.
const maxTopic = 4 << 10

// addPrompt adds the prompt recall, which a user can choose in a client.
func addPrompt(s *sdk.Server) {
	s.AddPrompt(&sdk.Prompt{
		Name: "recall", Title: "Recall what was said before",
		Description: "Find out what earlier conversations say about a topic, with citations.",
		Arguments: []*sdk.PromptArgument{
			{Name: "topic", Required: true, Description: "what to recall, such as a decision, an error or a file"},
		},
	}, func(_ context.Context, request *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		topic := request.Params.Arguments["topic"]
		switch {
		case topic == "":
			return nil, wireError(failure("The prompt recall needs the argument topic."))
		case len(topic) > maxTopic:
			return nil, wireError(failure("The topic is longer than %d bytes.", maxTopic))
		}
		return &sdk.GetPromptResult{
			Description: "Recall what was said before",
			Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: fmt.Sprintf(recallText, topic)}},
			},
		}, nil
	})
}

const recallText = `Recall what my earlier conversations say about this:

%s

Search them with search_sessions, with several words and spellings if the first finds nothing; use who_touched if it ` +
	`is about a file. Read around the best hits with read_session. Then answer briefly: what was said, decided or ` +
	`done, by whom and when, and what is still open. Cite each statement as ID#seq, and say so if the conversations ` +
	`do not answer. ` +
	quoteNotice

// wireError returns an error as the protocol has it.
func wireError(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

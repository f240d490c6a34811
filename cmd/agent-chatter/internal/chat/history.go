package chat

import (
	"context"
	"slices"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// maxFound is how many messages findInHistory returns.
const maxFound = 50

// findInHistory returns the newest messages of people in all sessions that contain a text, each once.
func findInHistory(ctx context.Context, c *catalog.Catalog, text string) (found []string) {
	result, err := search.Search(ctx, c, search.Query{Text: text})
	if err != nil {
		return nil
	}
	var session []string // messages of the session that is being read, the oldest first
	id := ""
	end := func() {
		for _, message := range slices.Backward(session) {
			if len(found) < maxFound && !slices.Contains(found, message) {
				found = append(found, message)
			}
		}
		session = session[:0]
	}
	for hit, err := range result.Hits {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil || hit.Speaker.Type != projection.TypeHuman:
			continue
		case hit.Session.ID != id:
			if end(); len(found) == maxFound {
				return found
			}
			id = hit.Session.ID
		}
		session = append(session, hit.Content)
	}
	end()
	return found
}

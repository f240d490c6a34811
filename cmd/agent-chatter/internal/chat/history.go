package chat

import (
	"context"
	"slices"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// maxFound is how many messages history.find returns.
const maxFound = 50

// A history is where the messages of people are searched: the sessions of a directory, and the own session first.
type history struct {
	catalog *catalog.Catalog
	cwd     string // "": all
	own     string // id of the session; "": none
}

// find returns the newest messages of people that contain a text, each once.
func (h history) find(ctx context.Context, text string) (found []string) {
	query := search.Query{Sessions: catalog.Query{CWD: h.cwd, Sort: catalog.ByUpdated}, Text: text}
	result, err := search.Search(ctx, h.catalog, query)
	if err != nil {
		return nil
	}
	var own, others []string
	var session []string // messages of the session that is being read, the oldest first
	id := ""
	end := func() {
		into := &others
		if id == h.own {
			into = &own
		}
		for _, message := range slices.Backward(session) {
			if !slices.Contains(*into, message) {
				*into = append(*into, message)
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
			end()
			id = hit.Session.ID
		}
		if len(others) >= maxFound {
			break
		}
		session = append(session, hit.Content)
	}
	end()
	for _, message := range append(own, others...) {
		if len(found) < maxFound && !slices.Contains(found, message) {
			found = append(found, message)
		}
	}
	return found
}

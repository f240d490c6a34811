package api

import (
	"iter"
	"net/http"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A comparisonJSON says where two sessions diverge.
type comparisonJSON struct {
	Messages int    `json:"messages"` // that they have in common
	A        uint64 `json:"a"`        // the last common event in each of them; 0: they have none in common
	B        uint64 `json:"b"`
}

// compare finds where the sessions a and b of a request diverge.
func (d *Server) compare(r *http.Request) (comparisonJSON, error) {
	var keys [2]catalog.Key
	for i, name := range []string{"a", "b"} {
		team, id, _ := strings.Cut(r.FormValue(name), "/")
		key, err := d.named(team, id)
		if err != nil {
			return comparisonJSON{}, err
		}
		keys[i] = key
	}
	ctx := r.Context()
	events := func(key catalog.Key) iter.Seq2[journal.Event, error] {
		return d.app.Catalog.At(key.Dir).Events(ctx, key.ID)
	}
	found, err := projection.Diverge(events(keys[0]), events(keys[1]))
	return comparisonJSON{found.Messages, found.A, found.B}, err
}

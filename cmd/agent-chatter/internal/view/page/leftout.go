package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
)

// LeftOut is what a document does not have. The zero LeftOut is nothing.
type LeftOut struct {
	Events       uint64         // of the session, of which the document has a part; 0: it has all
	Damaged      bool           // what follows the last event cannot be read
	Torn         journal.Torn   // after the last event
	Truncated    bool           // the end may be missing
	InMemory     bool           // the session has no journal
	Invalid      int            // events
	FirstInvalid uint64         // the first of them
	Newer        map[string]int // events of a newer version, by type
	Secrets      map[string]int // that were replaced, by kind
}

// leftOut says in sentences what the document does not have.
func (d *Document) leftOut() []string {
	var texts []string
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	if d.LeftOut.Events > 0 {
		add("This is a part of the session: events %d to %d of %d. Its first turn is shown from its beginning.",
			d.First, d.Session.Seq, d.LeftOut.Events)
	}
	if d.LeftOut.Damaged {
		add("The session is damaged after event %d: what follows cannot be read.", d.Session.Seq)
	}
	if d.LeftOut.Torn.Bytes > 0 {
		what, _ := view.DescribeTorn(d.LeftOut.Torn)
		add("The session has %s.", what)
	}
	if d.LeftOut.InMemory {
		add("Tool calls are missing: a conversation in memory does not keep them.")
	}
	if d.LeftOut.Truncated {
		add("The end of the session may be missing: it had more events.")
	}
	if n := d.LeftOut.Invalid; n > 0 {
		add("%s cannot be read, first event %d. What is shown may be incomplete.",
			app.Count(n, "invalid event"), d.LeftOut.FirstInvalid)
	}
	if n := total(d.LeftOut.Newer); n > 0 {
		add("%s of a newer version: %s.", app.Count(n, "event"), counts(d.LeftOut.Newer))
	}
	if n := total(d.LeftOut.Secrets); n > 0 {
		add("%s replaced: %s.", app.Count(n, "secret"), counts(d.LeftOut.Secrets))
	}
	return texts
}

func total(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// maxCounts is the number of names that counts lists.
const maxCounts = 30

// counts lists numbers by their names: "a (2), b (1)".
func counts(of map[string]int) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if len(texts) == maxCounts {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, fmt.Sprintf("%s (%d)", name, of[name]))
	}
	return strings.Join(texts, ", ")
}

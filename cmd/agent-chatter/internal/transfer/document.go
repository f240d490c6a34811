package transfer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page/document"
)

// document returns the document of the part.
func (x *sessionExport) document() *document.Document {
	return &document.Document{
		ID: x.session.ID, Session: x.state, Stats: x.part.Stats,
		LeftOut: x.leftOut(), Chart: x.chart,
	}
}

// leftOut says in sentences what of the session its document does not have.
func (x *sessionExport) leftOut() []string {
	var texts []string
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	last := max(x.session.LastSeq, x.state.Seq) // the former is 0 if the session is damaged
	if x.first > 1 || x.exporter.span.To != nil && x.state.Seq < last {
		add("This is a part of the session: events %d to %d of %d. Its first turn is shown from its beginning.",
			x.first, x.state.Seq, last)
	}
	if x.damage != nil {
		add("The session is damaged after event %d: what follows cannot be read.", x.state.Seq)
	}
	if torn := x.replay.Torn(); torn.Bytes > 0 && x.state.Seq >= last {
		what, _ := view.DescribeTorn(torn)
		add("The session has %s.", what)
	}
	if x.exporter.events != nil {
		add("Tool calls are missing: a conversation in memory does not keep them.")
	}
	if x.session.Truncated {
		add("The end of the session may be missing: it had more events.")
	}
	if n := x.part.Row.Invalid; n > 0 {
		add("%s cannot be read, first event %d. What is shown may be incomplete.",
			app.Count(n, "invalid event"), x.part.Row.FirstInvalid)
	}
	if n := total(x.part.Unknown); n > 0 {
		add("%s of a newer version: %s.", app.Count(n, "event"), counts(x.part.Unknown))
	}
	if n := total(x.marks); n > 0 {
		add("%s replaced: %s.", app.Count(n, "secret"), counts(x.marks))
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

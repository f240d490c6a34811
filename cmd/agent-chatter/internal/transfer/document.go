package transfer

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
)

// document returns the document of the part.
func (x *sessionExport) document() *page.Document {
	last := max(x.session.LastSeq, x.state.Seq) // the former is 0 if the session is damaged
	left := page.LeftOut{
		InMemory: x.exporter.events != nil, Damaged: x.damage != nil, Truncated: x.session.Truncated,
		Invalid: x.part.Row.Invalid, FirstInvalid: x.part.Row.FirstInvalid, Newer: x.part.Unknown, Secrets: x.marks,
	}
	if x.first > 1 || x.exporter.span.To != nil && x.state.Seq < last {
		left.Events = last
	}
	if x.state.Seq >= last {
		left.Torn = x.replay.Torn()
	}
	return &page.Document{
		ID: x.session.ID, Session: x.state, First: x.first, Stats: x.part.Stats, Chart: x.chart, LeftOut: left,
	}
}

package api

import (
	"context"
	"iter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// maxLooked is how many bytes of the end of a session are read for the contexts of its members: it is read again and
// again while it runs.
const maxLooked = 256 << 10

// addFigures adds what the members used, and how full their contexts are, to the head of a session with an end. What is
// unknown is left out.
func (d *Server) addFigures(
	ctx context.Context, head *headJSON, s catalog.Session, r *journal.Reader, end journal.Position,
) {
	var prices spending.Prices
	if config, err := d.app.Config(); err == nil { // other requests report it
		prices = config.Prices
	}
	used, all := spending.OfSession(s.Spent.Usage, prices)
	var full map[string]projection.Usage
	if head.Live {
		full = contexts(conversation.Until(ctx, r.Before(end)), len(head.Members))
	}
	for i := range head.Members {
		m := &head.Members[i]
		u := full[m.ID]
		m.Figures = known(view.ContextText(u.Context, u.Window), used[m.ID].CostText())
	}
	if tokens := all.Tokens(); tokens > 0 {
		head.Figures = append(head.Figures, view.ShortCount(tokens)+" tokens")
	}
	head.Figures = append(head.Figures, known(all.CostText())...)
}

// known returns the texts that say something.
func known(texts ...string) (figures []string) {
	for _, text := range texts {
		if text != "" && text != "-" && text != "unknown" {
			figures = append(figures, text)
		}
	}
	return figures
}

// contexts returns what agents reported of their contexts when their last turns were done, by the id of the member.
// events are those of a session, the last one first.
func contexts(events iter.Seq2[journal.Event, error], members int) map[string]projection.Usage {
	found := map[string]projection.Usage{}
	bytes := 0
	for e, err := range events {
		if bytes += len(e.Data); err != nil || bytes > maxLooked {
			break
		}
		if e.Type != "turn.ended" {
			continue
		}
		ended, ok := projection.DecodeEvent(e).Payload.(projection.TurnEnded)
		if !ok || ended.FinishReason != projection.Done || ended.Usage == nil || ended.Usage.Window == 0 {
			continue
		}
		if _, later := found[ended.MemberID]; !later {
			found[ended.MemberID] = *ended.Usage
		}
		if len(found) == members {
			break
		}
	}
	return found
}

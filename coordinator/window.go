package coordinator

import (
	"cmp"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Window limits how much of the conversation a prompt has besides the triggering message. With the zero Window, the
// limit is that of the member's engine, and the window moves in steps of a quarter: the beginning of the prompt stays
// the same for several turns, so that caches of the provider apply.
type Window struct {
	Messages int // 0: 20, or any if Bytes is 0, too
	Bytes    int // of the messages, the triggering one included; 0: 256 KiB, or as the engine if Messages is 0, too
}

const (
	windowBytes = 256 << 10
	// endpointBytes is the default for engines that send each prompt to an API, whose models may be small.
	endpointBytes = 64 << 10
	// tokenBytes is how long a token is at least, on average.
	tokenBytes = 3
)

func (w Window) messages() int { return cmp.Or(w.Messages, 20) }
func (w Window) bytes() int    { return cmp.Or(w.Bytes, windowBytes) }

// windowOf returns the limit of a member's window in bytes.
func (c *Coordinator) windowOf(m team.Member) int {
	if c.o.Window != (Window{}) {
		return c.o.Window.bytes()
	}
	if m.ContextWindow > 0 {
		return int(min(m.ContextWindow, 1<<30) * tokenBytes)
	}
	if info, _ := agent.Lookup(m.EngineName()); info.Endpoint {
		return endpointBytes
	}
	return windowBytes
}

// history returns the messages within the window, the triggering one excluded, and the one to which
// that is a reply.
func (c *Coordinator) history(next instructed) history {
	if c.o.Window == (Window{}) {
		return c.steppedHistory(next)
	}
	t, w := next.trigger, c.o.Window
	others := slices.DeleteFunc(slices.Clone(c.newest()), func(e projection.Entry) bool { return e.ID == t.id })
	bytes := w.bytes() - len(t.text)
	h := history{entries: newestWithin(others, w.messages(), bytes)}
	if m := c.repliedTo(t, h.entries); m != nil && len(m.Content) <= bytes {
		// A smaller window has fewer messages, so that it does not contain m either.
		h = history{entries: newestWithin(others, w.messages(), bytes-len(m.Content)), repliedTo: m}
	}
	return c.cleaned(h)
}

// cleaned removes secrets from a history whose entries belong to the caller.
func (c *Coordinator) cleaned(h history) history {
	for i := range h.entries {
		h.entries[i] = *c.withoutSecrets(h.entries[i])
	}
	return h
}

// newestWithin returns the newest entries within the limits, the oldest first.
func newestWithin(entries []projection.Entry, count, bytes int) []projection.Entry {
	from := len(entries)
	for from > 0 && len(entries)-from < count {
		bytes -= len(entries[from-1].Content)
		if bytes < 0 {
			break
		}
		from--
	}
	return entries[from:]
}

// steppedHistory is history with a window that moves in steps. It begins at a multiple of a quarter of its size in the
// conversation, so that where it begins depends on the conversation alone.
func (c *Coordinator) steppedHistory(next instructed) history {
	const rounding = 1 << 10 // what the other sections take changes rarely
	summary := c.summary(next.member)
	h := history{summary: summary.Text}
	bare := instructed{item: item{member: next.member}, ofTeam: next.ofTeam, ofMember: next.ofMember}
	others := len(c.prompt(bare, h))
	size := int64(c.windowOf(next.member) - (others/rounding+1)*rounding)
	if size <= 0 {
		return history{}
	}
	step := max(size/4, 1)
	length := c.conv.state.Length
	begin := int64(0)
	if length > size {
		begin = (length - size + step - 1) / step * step
	}
	at := length
	for _, e := range slices.Backward(c.newestFrom(begin)) {
		if at -= e.Length(); at < begin || e.Seq <= summary.To {
			break
		}
		if e.ID != next.trigger.id {
			h.entries = append(h.entries, e)
		}
	}
	slices.Reverse(h.entries)
	m := c.repliedTo(next.trigger, h.entries)
	if m != nil && int64(len(m.Content)) <= size-(length-begin) {
		h.repliedTo = m
	}
	return c.cleaned(h)
}

// newestFrom returns at least the messages after the first begin bytes of the conversation, as State.Length counts
// them.
func (c *Coordinator) newestFrom(begin int64) []projection.Entry {
	state, length := c.conv.state, int64(0)
	for _, e := range state.Recent {
		length += e.Length()
	}
	if length >= state.Length-begin || c.conv.unsaved() {
		return state.Recent
	}
	length = 0
	entries, err := readNewest(c.conv.log, func(oldest projection.Entry, _, _ int) bool {
		length += oldest.Length()
		return length >= state.Length-begin
	})
	if err != nil {
		return state.Recent
	}
	return entries
}

// newest returns at least the newest messages that fit into the window. The state has them unless
// the window is larger than what it keeps.
func (c *Coordinator) newest() []projection.Entry {
	state, w := c.conv.state, c.o.Window
	kept := len(state.Recent) == state.Stats.Messages ||
		w.messages() < projection.RecentMessages && w.bytes() <= projection.RecentBytes
	if kept || c.conv.unsaved() {
		return state.Recent
	}
	newest, err := readNewest(c.conv.log, func(_ projection.Entry, n, bytes int) bool {
		return n > w.messages() || bytes > w.bytes()
	})
	if err != nil {
		return state.Recent
	}
	return newest
}

// readNewest reads messages from the end of the journal, until those that were read, of which it gets the oldest, their
// number and the bytes of their contents, are enough.
func readNewest(
	log store.Log, enough func(oldest projection.Entry, n, bytes int) bool,
) ([]projection.Entry, error) {
	var newest []projection.Entry
	bytes := 0
	for e, err := range log.Backward() {
		if err != nil {
			return nil, err
		}
		p, _ := projection.Decode(e)
		if said, ok := p.(projection.MessageAppended); ok {
			newest = append(newest, projection.Entry{Seq: e.Seq, Message: said.Message, Attachments: said.Attachments})
			bytes += len(said.Message.Content)
			if enough(newest[len(newest)-1], len(newest), bytes) {
				break
			}
		}
	}
	slices.Reverse(newest)
	return newest, nil
}

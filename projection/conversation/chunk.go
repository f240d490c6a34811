package conversation

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The bounds of a chunk. After Enough bytes, it ends where another one can begin: before an event that starts a turn,
// or a message of a person, if no turn is open. After MostBytes or MostEvents it also ends between two tool calls, and
// after twice as many anywhere.
const (
	Enough     = 32 << 10
	MostBytes  = 4 << 20
	MostEvents = 4096
)

// A Chunk is a run of events that can be laid out alone. The zero Chunk is empty.
type Chunk struct {
	From, To journal.Position // before the first event and after the last one
	Events   []projection.Event
	Bytes    int // of their data

	open openTurns // after the last event, of those that began in the chunk
	over []string  // ids of those that later events show to be over
}

// Add appends an event, whose Data must remain valid.
func (c *Chunk) Add(e projection.Event) {
	c.Events = append(c.Events, e)
	c.Bytes += len(e.Data)
	c.open.follow(e)
}

// EndsAt reports whether a chunk of at least some bytes ends before an event.
func (c *Chunk) EndsAt(e projection.Event, least int) bool {
	return c.exceeds(e) || c.Bytes >= least && c.ClosedBy(e)
}

// ClosedBy reports whether another chunk can begin with an event that follows: no turn of the chunk goes on after it.
func (c *Chunk) ClosedBy(e projection.Event) bool { return begins(e) && c.open.none(e) }

// exceeds reports whether a chunk ends before an event, or begins with it, because of its bounds.
func (c *Chunk) exceeds(e projection.Event) bool {
	size := max(c.Bytes/MostBytes, len(c.Events)/MostEvents)
	_, call := e.Payload.(projection.ToolStarted)
	return size >= 2 || size == 1 && call
}

// begins reports whether a chunk can begin with an event.
func begins(e projection.Event) bool {
	switch p := e.Payload.(type) {
	case projection.TurnStarted:
		return true
	case projection.MessageAppended:
		return p.Message.Speaker.Type == projection.TypeHuman
	}
	return false
}

// Divided reports whether the chunk has events of a turn that began before it.
func (c *Chunk) Divided() bool {
	earlier := turnIDs{}
	for _, e := range slices.Backward(c.Events) {
		earlier.back(e)
	}
	return c.From.Seq > 0 && len(earlier) > 0
}

// Join returns the chunk and the one that follows it as one.
func (c Chunk) Join(next Chunk) Chunk {
	joined := Chunk{From: c.From, To: next.To}
	for _, e := range slices.Concat(c.Events, next.Events) {
		joined.Add(e)
	}
	return joined
}

// FollowOpen reads the events after the chunk, at most maxSearch, until they tell which of its open turns are over
// without an end. It reads none if no turn is open. What cannot be read leaves a turn open.
func (c *Chunk) FollowOpen(ctx context.Context, r *journal.Reader) {
	open := openTurns{resumed: c.open.resumed}
	for _, t := range c.open.turns {
		open.turns = append(open.turns, &Turn{ID: t.ID, Speaker: t.Speaker, Began: t.Began, replied: t.replied})
	}
	left := slices.Clone(open.turns)
	if len(left) == 0 {
		return
	}
	for e, err := range Until(ctx, r.ScanAfter(c.To)) {
		if err != nil || e.Seq-c.To.Seq > maxSearch {
			return
		}
		event := projection.DecodeEvent(e)
		for _, t := range open.endBefore(event.Payload) {
			if slices.Contains(left, t) {
				c.over = append(c.over, t.ID)
			}
		}
		open.follow(event)
		left = slices.DeleteFunc(left, func(t *Turn) bool { return !slices.Contains(open.turns, t) })
		if len(left) == 0 {
			return
		}
	}
}

// Items returns the items of the chunk. A turn without an end is Open unless FollowOpen found that it is over, and so
// is one that began before the chunk. members names the members.
func (c *Chunk) Items(members []projection.Speaker) []*Item {
	conversation := &Conversation{members: slices.Clip(members), middle: c.From.Seq > 0}
	var items Items
	for _, e := range c.Events {
		for _, d := range conversation.Apply(e) {
			items.Add(d)
		}
	}
	over := conversation.open.remove(func(t *Turn) bool { return slices.Contains(c.over, t.ID) })
	for _, d := range conversation.abandon(Source{}, over) {
		items.Add(d)
	}
	return items.TakeAll()
}

// All yields the events.
func (c *Chunk) All() iter.Seq2[projection.Event, error] {
	return func(yield func(projection.Event, error) bool) {
		for _, e := range c.Events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// turnIDs are turns of which events were read backwards, but not the start.
type turnIDs map[string]bool

// back adds the event before.
func (ids turnIDs) back(e projection.Event) {
	id := turnID(e.Payload)
	if _, start := e.Payload.(projection.TurnStarted); start {
		delete(ids, id)
	} else if id != "" {
		ids[id] = true
	}
}

// turnID returns the turn of an event; "": it has none, or it is a message whose turn is known by its order only.
func turnID(p projection.Payload) string {
	switch p := p.(type) {
	case projection.MessageAppended:
		return p.TurnID
	case projection.TurnStarted:
		return p.TurnID
	case projection.TurnText:
		return p.TurnID
	case projection.ToolStarted:
		return p.TurnID
	case projection.ToolCompleted:
		return p.TurnID
	case projection.PermissionAnswered:
		return p.TurnID
	case projection.PermissionBypassed:
		return p.TurnID
	case projection.AgentAttached:
		return p.TurnID
	case projection.AgentCompacted:
		return p.TurnID
	case projection.PlanUpdated:
		return p.TurnID
	case projection.TurnSteered:
		return p.TurnID
	case projection.TurnEnded:
		return p.TurnID
	}
	return ""
}

// Before returns the events before a position, back to one with which a chunk can begin, after least bytes. An error of
// reading ends it early.
func Before(ctx context.Context, r *journal.Reader, to journal.Position, least int) (Chunk, error) {
	c := Chunk{From: to, To: to}
	earlier := turnIDs{}
	var err error
	for e, failed := range Until(ctx, r.Before(to)) {
		if err = failed; err != nil {
			break
		}
		event := projection.DecodeEvent(e)
		earlier.back(event)
		c.Events = append(c.Events, event)
		c.Bytes += len(e.Data)
		c.From = r.Position()
		if c.exceeds(event) || c.Bytes >= least && begins(event) && len(earlier) == 0 {
			break
		}
	}
	slices.Reverse(c.Events)
	for _, e := range c.Events {
		c.open.follow(e)
	}
	return c, err
}

// After returns the events after a position, up to one with which another chunk can begin, after least bytes. next is
// that event; its Seq is 0 if there is none. The events end at last, 0 being the end of the journal. An error of
// reading ends the chunk early.
func After(
	ctx context.Context, r *journal.Reader, from journal.Position, least int, last uint64,
) (c Chunk, next projection.Event, err error) {
	c = Chunk{From: from, To: from}
	for e, err := range Until(ctx, r.ScanAfter(from)) {
		if err != nil {
			return c, next, err
		}
		if last > 0 && e.Seq > last {
			break
		}
		e.Data = bytes.Clone(e.Data) // that of the reader is valid until the next event
		event := projection.DecodeEvent(e)
		if len(c.Events) > 0 && c.EndsAt(event, least) {
			return c, event, nil
		}
		c.Add(event)
		c.To = r.Position()
	}
	return c, next, nil
}

// Around returns the chunk that has an event and, unless the journal ends before it, the event after it. It has no
// events if the event cannot be read.
func Around(
	ctx context.Context, r *journal.Reader, seq uint64, least int, last uint64,
) (c Chunk, next projection.Event, err error) {
	at, err := r.Find(seq)
	if err != nil {
		return Chunk{}, next, err
	}
	c, next, err = After(ctx, r, at, least, last)
	if len(c.Events) == 0 || !c.Divided() {
		return c, next, err
	}
	earlier, failed := Before(ctx, r, at, 0)
	if failed != nil {
		return Chunk{}, next, failed
	}
	return earlier.Join(c), next, err
}

// maxNewest is how many chunks Newest reads.
const maxNewest = 16

// Newest returns the newest n messages and partial replies before a position, or fewer if the journal has no more, or
// they are far from its end. members names the members. An error of reading ends it early.
func Newest(
	ctx context.Context, r *journal.Reader, end journal.Position, members []projection.Speaker, n int,
) (newest []*Item, err error) {
	for range maxNewest {
		c, err := Before(ctx, r, end, Enough)
		items := slices.DeleteFunc(c.Items(members), func(i *Item) bool { _, ok := i.Entry(); return !ok })
		newest = slices.Concat(items, newest)
		if err != nil || len(newest) >= n || c.From.Seq == 0 {
			return newest[max(0, len(newest)-n):], err
		}
		end = c.From
	}
	return newest, nil
}

// End returns the position after the last event that can be read, the torn tail, and why no more can be read. known is
// a position that may be near it; zero: none is known.
func End(r *journal.Reader, known journal.Position) (end journal.Position, torn journal.Torn, err error) {
	if end = known; end.Seq > 0 && r.Holds(end) {
		size := 0
		for e, err := range r.ScanAfter(end) {
			if err != nil {
				return end, torn, err
			}
			if size += len(e.Data); size > MostBytes {
				break
			}
			end = r.Position()
		}
		if size <= MostBytes {
			return end, r.Torn(), nil
		}
	}
	if end, err = r.End(); err == nil {
		return end, r.Torn(), nil
	}
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) {
		if end, failed := r.Find(uint64(corrupt.Line)); failed == nil {
			return end, torn, err
		}
	}
	return journal.Position{}, torn, err
}

// maxSearch is how many events before a place OpenAt reads.
const maxSearch = 1 << 14

// maxInterjections is how many messages in a row people may write while a turn is open.
const maxInterjections = 16

// OpenAt returns a position, or that before the start of the oldest turn that is open there. It reads back to the
// message of a person that precedes the start or the end of a turn, over maxInterjections messages in a row, to the
// start of a run, or over maxSearch events.
func OpenAt(r *journal.Reader, p journal.Position) journal.Position {
	open, ended := p, map[string]bool{}
	messages, seen := 0, false // messages in a row; whether a turn began or ended
	for e, err := range r.Before(p) {
		if err != nil || p.Seq-e.Seq > maxSearch {
			break
		}
		if !turnBounds[e.Type] {
			messages = 0
			continue
		}
		switch p := projection.DecodeEvent(e).Payload.(type) {
		case projection.TurnStarted:
			if seen = true; !ended[p.TurnID] {
				open = r.Position()
			}
		case projection.TurnEnded:
			seen, ended[p.TurnID] = true, true
		case projection.SessionResumed:
			return open
		case projection.MessageAppended:
			messages++
			if messages > maxInterjections || seen && p.Message.Speaker.Type == projection.TypeHuman {
				return open
			}
			continue
		}
		messages = 0
	}
	return open
}

// turnBounds are the types of events that OpenAt decodes.
var turnBounds = map[string]bool{
	typeTurnStarted: true, projection.TypeOf(projection.TurnEnded{}): true,
	projection.TypeOf(projection.SessionResumed{}): true, projection.TypeOf(projection.MessageAppended{}): true,
}

// Until yields events until ctx is done, and then its error.
func Until(ctx context.Context, events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// maxHeader is how many events may precede the one that names the members.
const maxHeader = 16

// Team returns the members that the first events of a session name, as far as they can be read.
func Team(events iter.Seq2[projection.Event, error]) ([]projection.Member, error) {
	for e, err := range events {
		if err != nil || e.Seq > maxHeader {
			return nil, err
		}
		if created, ok := e.Payload.(projection.SessionCreated); ok {
			return created.Team.Members, nil
		}
	}
	return nil, nil
}

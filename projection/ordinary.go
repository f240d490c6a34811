package projection

import (
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// ordinary are readers for the payloads that a session is full of, in the very
// layout that Record gives them: ten times as fast as package json, which reads
// what any of them gives up on. Each has to say the same as package json would.
var ordinary = map[string]func(*layout.Cursor) Payload{
	MessageAppended{}.eventType(): readMessageAppended,
	TurnStarted{}.eventType():     readTurnStarted,
	TurnText{}.eventType():        readTurnText,
	TurnEnded{}.eventType():       readTurnEnded,
	ToolStarted{}.eventType():     readToolStarted,
	ToolCompleted{}.eventType():   readToolCompleted,
}

// The types of events of which there are many, and which not everybody reads.
var (
	turnText      = TurnText{}.eventType()
	toolStarted   = ToolStarted{}.eventType()
	toolCompleted = ToolCompleted{}.eventType()
)

// decodeOrdinary reports false when the payload has to be decoded in another
// way.
func decodeOrdinary(e journal.Event) (Payload, bool) {
	return readOrdinary(e.Type, layout.At(e.Data))
}

// readOrdinary reads the payload where a cursor stands. An ordinary payload has
// no "v", and so is of the first version.
func readOrdinary(eventType string, c layout.Cursor) (Payload, bool) {
	read, ok := ordinary[eventType]
	if !ok || len(upcasters[eventType]) > 0 {
		return nil, false
	}
	p := read(&c)
	return p, c.End()
}

func readMessageAppended(c *layout.Cursor) Payload {
	var p MessageAppended
	c.Literal(`{"message":{`)
	p.Message = readMessage(c)
	c.Literal(`}}`)
	return p
}

// readMessage reads what stands between the braces of a message.
func readMessage(c *layout.Cursor) (m Message) {
	c.Literal(`"id":`)
	m.ID = c.String()
	c.Literal(`,"timestamp":`)
	m.Timestamp = c.String()
	c.Literal(`,"speaker":{"id":`)
	m.Speaker.ID = c.String()
	c.Literal(`,"name":`)
	m.Speaker.Name = c.String()
	c.Literal(`,"displayName":`)
	m.Speaker.DisplayName = c.String()
	c.Literal(`,"type":`)
	m.Speaker.Type = c.String()
	c.Literal(`},"content":`)
	m.Content = c.Text()
	if c.Has(`,"routing":{"rawNextMarkers":[`) {
		m.Routing = readRouting(c)
	}
	return m
}

// readRouting reads on behind the bracket of the first list.
func readRouting(c *layout.Cursor) *Routing {
	r := &Routing{RawNextMarkers: []string{}, ResolvedAddressees: []Addressee{}}
	for more := !c.Has(`]`); more; more = nextItem(c) {
		r.RawNextMarkers = append(r.RawNextMarkers, c.String())
	}
	c.Literal(`,"resolvedAddressees":[`)
	for more := !c.Has(`]`); more; more = nextItem(c) {
		r.ResolvedAddressees = append(r.ResolvedAddressees, readAddressee(c))
	}
	c.Literal(`}`)
	return r
}

// nextItem reports whether another item of a list follows, and reads what
// stands before it or ends the list.
func nextItem(c *layout.Cursor) bool {
	if c.Has(`,`) {
		return true
	}
	c.Literal(`]`)
	return false
}

func readAddressee(c *layout.Cursor) (a Addressee) {
	c.Literal(`{"identifier":`)
	a.Identifier = c.String()
	c.Literal(`,"memberId":`)
	a.MemberID = readStringOrNull(c)
	c.Literal(`,"memberName":`)
	a.MemberName = readStringOrNull(c)
	c.Literal(`}`)
	return a
}

func readStringOrNull(c *layout.Cursor) *string {
	if c.Has(`null`) {
		return nil
	}
	s := c.String()
	return &s
}

func readTurnStarted(c *layout.Cursor) Payload {
	var p TurnStarted
	c.Literal(`{"turnId":`)
	p.TurnID = c.String()
	c.Literal(`,"memberId":`)
	p.MemberID = c.String()
	c.Literal(`,"agentType":`)
	p.AgentType = c.String()
	p.Model = readIf(c, `,"model":`)
	c.Literal(`,"triggerMessageId":`)
	p.TriggerMessageID = c.String()
	c.Literal(`}`)
	return p
}

// readIf reads a string with its name, if that comes next.
func readIf(c *layout.Cursor, name string) string {
	if c.Has(name) {
		return c.Text()
	}
	return ""
}

func readTurnText(c *layout.Cursor) Payload {
	var p TurnText
	c.Literal(`{"turnId":`)
	p.TurnID = c.String()
	c.Literal(`,"text":`)
	p.Text = c.Text()
	c.Literal(`}`)
	return p
}

func readTurnEnded(c *layout.Cursor) Payload {
	var p TurnEnded
	c.Literal(`{"turnId":`)
	p.TurnID = c.String()
	c.Literal(`,"memberId":`)
	p.MemberID = c.String()
	c.Literal(`,"finishReason":`)
	p.FinishReason = FinishReason(c.String())
	c.Literal(`,"durationMs":`)
	p.DurationMS = c.Int()
	if c.Has(`,"usage":{"inputTokens":`) {
		p.Usage = &Usage{InputTokens: c.Int()}
		c.Literal(`,"outputTokens":`)
		p.Usage.OutputTokens = c.Int()
		c.Literal(`}`)
	}
	p.Error = readIf(c, `,"error":`)
	p.Partial = readIf(c, `,"partial":`)
	if c.Has(`,"partialBytes":`) {
		p.PartialBytes = c.Int()
	}
	p.AgentSession = readIf(c, `,"agentSession":`)
	c.Literal(`}`)
	return p
}

func readToolStarted(c *layout.Cursor) Payload {
	var p ToolStarted
	c.Literal(`{"turnId":`)
	p.TurnID = c.String()
	c.Literal(`,"toolId":`)
	p.ToolID = c.String()
	c.Literal(`,"name":`)
	p.Name = c.String()
	if c.Has(`,"input":`) {
		p.Input = c.Raw()
	}
	c.Literal(`}`)
	return p
}

func readToolCompleted(c *layout.Cursor) Payload {
	var p ToolCompleted
	c.Literal(`{"turnId":`)
	p.TurnID = c.String()
	c.Literal(`,"toolId":`)
	p.ToolID = c.String()
	p.Name = readIf(c, `,"name":`)
	p.Output = readIf(c, `,"output":`)
	if c.Has(`,"outputBytes":`) {
		p.OutputBytes = c.Int()
	}
	p.Error = readIf(c, `,"error":`)
	c.Literal(`}`)
	return p
}

// decodeForFold is Decode without what no fold looks at, which is half of a
// session: what tools were given and what they answered.
func decodeForFold(e journal.Event) (Payload, error) {
	if e.Type == toolStarted || e.Type == toolCompleted {
		if p, ok := readOrdinary(e.Type, layout.Glance(e.Data)); ok {
			return p, nil
		}
	}
	return Decode(e)
}

package projection

import (
	"bytes"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// CutRecent takes State.Recent out of the JSON of a State, or of what has one in
// it, and returns it and the rest. Nearly all of such a text is messages, which
// are read here many times as fast as by encoding/json.
//
// It reports false when there are none, or when they are not written as
// encoding/json writes them. Of a text that has more than one list of that name
// it takes the first out.
func CutRecent(text []byte) (recent []Entry, rest []byte, ok bool) {
	// Within a string the quotes would have backslashes.
	begin, behind, ok := bytes.Cut(text, []byte(`,"recent":[`))
	if !ok {
		return nil, nil, false
	}
	c := layout.At(behind)
	for more := true; more; more = nextItem(&c) {
		recent = append(recent, readEntry(&c))
	}
	return recent, slices.Concat(begin, c.Rest()), c.OK()
}

func readEntry(c *layout.Cursor) (e Entry) {
	c.Literal(`{"seq":`)
	e.Seq = uint64(c.Int())
	e.Partial = c.Has(`,"partial":true`)
	if c.Has(`,"said":`) {
		e.Said = c.Int()
	}
	c.Literal(`,`)
	e.Message = readMessage(c)
	c.Literal(`}`)
	return e
}

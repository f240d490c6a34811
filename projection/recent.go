package projection

import (
	"bytes"
	"fmt"
	"math"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// CutRecent takes the messages of State.Recent out of the JSON of a State, or of
// what has one in it. Nearly all of such a text is messages, which are read here
// many times as fast as by encoding/json. One entry stays, with the number Cut: it
// tells who decodes the rest whether this was State.Recent.
//
// It reports false when there are no messages, or when they are not written as
// encoding/json writes them.
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
	return recent, fmt.Appendf(nil, `%s,"recent":[{"seq":%d}]%s`, begin, uint64(Cut), c.Rest()), c.OK()
}

// Cut is the number of no event.
const Cut = math.MaxUint64

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

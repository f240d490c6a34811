package journal

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// Event is one line of a journal.
type Event struct {
	Seq    uint64          // 1, 2, 3 … without a gap
	Synced uint64          // the highest Seq known to be on the disk when this was written; 0: not stated
	Time   time.Time       // UTC, microseconds; information only, Seq is the order
	Type   string          // noun.verb
	Data   json.RawMessage // the payload, a JSON object; owned by the receiver, unless a Reader's Scan yielded it
	Sum    Sum             // of this line, chained to the previous line
}

// Record is an event to be appended. The journal adds the other fields.
type Record struct {
	Type string          // noun.verb, letters and dots
	Data json.RawMessage // a JSON object; written compact
	Time time.Time       // zero: now

	// Compact declares that Data was written by Marshal or an Encoder of package
	// encoding/json, so that Append need not validate and compact it.
	Compact bool
}

// Fits returns the error that Append would return for the record, such as a
// *TooLongError. maxLine is Options.MaxLine, 0 for the default.
func (r Record) Fits(maxLine int) error {
	_, err := r.normalize(time.Now(), lineLimit(maxLine))
	return err
}

// Position is the end of a line, where the next one starts. The zero Position is
// the beginning of a journal.
type Position struct {
	Seq    uint64 `json:"seq"`    // of the previous line
	Offset int64  `json:"offset"` // in bytes, of the uncompressed journal
	Sum    Sum    `json:"sum"`    // of the previous line
}

// Line returns the line of the event, without the newline.
func (e Event) Line() []byte {
	return appendTrailer(appendBody(nil, e), e.Sum)
}

// Next returns the event that a record becomes when it is appended at p, and the
// position after it. It needs no journal and has no limit of length.
func (p Position) Next(r Record) (Event, Position, error) {
	r.Data = bytes.Clone(r.Data)
	r, err := r.normalize(time.Now(), math.MaxInt)
	if err != nil {
		return Event{}, p, err
	}
	e := Event{Seq: p.Seq + 1, Time: r.Time, Type: r.Type, Data: r.Data}
	line := encode(nil, &e, p.Sum)
	return e, p.after(e, len(line)), nil
}

// after returns the position after an event whose line, with its newline, has
// the given length.
func (p Position) after(e Event, length int) Position {
	return Position{Seq: e.Seq, Offset: p.Offset + int64(length), Sum: e.Sum}
}

// TypeRecovered is the type of an event that the journal itself appends: after
// it set bytes aside, or after a write or sync failed. Its payload is a
// Recovered.
const TypeRecovered = "journal.recovered"

// TypeSealed is the type of an event without a payload whose line has a sync mark
// that covers all lines before it: the end of a journal that was written as a whole.
const TypeSealed = "journal.sealed"

// Recovered is the payload of TypeRecovered.
type Recovered struct {
	Reason   string `json:"reason"`             // what had happened
	Aside    string `json:"aside,omitempty"`    // name of the file that holds the bytes; "": none
	Offset   int64  `json:"offset"`             // where the bytes were in the journal
	Bytes    int64  `json:"bytes"`              // set aside, or written of a line when a write failed
	FirstSeq uint64 `json:"firstSeq,omitempty"` // the first sequence number found in the bytes
	LastSeq  uint64 `json:"lastSeq,omitempty"`  // the last one
}

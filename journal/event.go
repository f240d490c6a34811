package journal

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// Event is one line of a journal, as it was read or appended.
type Event struct {
	Seq    uint64          // 1, 2, 3 … without a gap
	Synced uint64          // the highest Seq known to be on the disk when this was written; 0: not said
	Time   time.Time       // UTC, microseconds; information only, Seq is the order
	Type   string          // what happened, noun.verb
	Data   json.RawMessage // the payload, a JSON object; owned by the receiver, unless a Reader's Scan yielded it
	Sum    Sum             // of this line, chained to the one before
}

// Record is an event to be appended. The journal adds the rest.
type Record struct {
	Type string          // noun.verb, letters and dots
	Data json.RawMessage // a JSON object; written compact
	Time time.Time       // zero: now

	// Compact says that Data comes from package json's Marshal or Encoder, so
	// that nobody need look through it for what is not JSON, or white space.
	Compact bool
}

// Fits returns the error with which an Append would refuse the record, such as
// a *TooLongError; maxLine is Options.MaxLine, 0 for the default.
func (r Record) Fits(maxLine int) error {
	_, err := compactRecord(r, time.Now(), lineLimit(maxLine))
	return err
}

// Position is the place behind a line, where the next one starts. The zero
// Position is the beginning of a journal.
type Position struct {
	Seq    uint64 `json:"seq"`    // of the line before
	Offset int64  `json:"offset"` // in bytes, of the uncompressed journal
	Sum    Sum    `json:"sum"`    // of the line before
}

// Line is one event in the layout of the file, without the newline.
func (e Event) Line() []byte {
	return appendLine(nil, e)
}

// Next is the event that a record becomes behind a position, and the position
// behind it, without a journal. It may be of any length.
func (p Position) Next(r Record) (Event, Position, error) {
	r.Data = bytes.Clone(r.Data)
	r, err := compactRecord(r, time.Now(), math.MaxInt)
	if err != nil {
		return Event{}, p, err
	}
	e := Event{Seq: p.Seq + 1, Time: r.Time, Type: r.Type, Data: r.Data}
	line := encode(nil, &e, p.Sum)
	return e, p.after(e, len(line)), nil
}

// after is the position behind an event whose line, with its newline, has the
// given length.
func (p Position) after(e Event, length int) Position {
	return Position{Seq: e.Seq, Offset: p.Offset + int64(length), Sum: e.Sum}
}

// TypeRecovered is the one type of event that the journal itself appends, when
// bytes had to be set aside or a write or sync failed. Its payload is a
// Recovered.
const TypeRecovered = "journal.recovered"

// Recovered is the payload of TypeRecovered.
type Recovered struct {
	Reason   string `json:"reason"`             // what had happened
	Aside    string `json:"aside,omitempty"`    // the name of the file that has the bytes; "": they stayed where they were
	Offset   int64  `json:"offset"`             // where they were in the journal
	Bytes    int64  `json:"bytes"`              // how many were set aside, or had been written of a line when a write failed
	FirstSeq uint64 `json:"firstSeq,omitempty"` // the first and last sequence numbers that
	LastSeq  uint64 `json:"lastSeq,omitempty"`  // could still be read in them
}

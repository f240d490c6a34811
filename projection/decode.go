package projection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// Record converts a payload to an event. With the zero time, the time of appending is
// used.
func Record(at time.Time, p Payload) journal.Record {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	var written any = p
	if ended, ok := p.(TurnEnded); ok {
		written = turnEndedV2{V: 2, TurnEnded: ended}
	}
	if err := enc.Encode(written); err != nil {
		panic(
			fmt.Sprintf("payload of %s: %v", p.eventType(), err),
		) // cannot happen: payloads are structs of plain fields
	}
	return journal.Record{
		Type:    p.eventType(),
		Data:    bytes.TrimSuffix(data.Bytes(), []byte("\n")),
		Time:    at,
		Compact: true,
	}
}

// ErrNewer means that a newer version of the program wrote a payload.
var ErrNewer = errors.New("payload of a newer version")

var errUnknownType = errors.New("unknown event type")

// Decode decodes the payload of an event into the struct of its type, converting older
// versions. It returns an error if the type is unknown, ErrNewer if the version is, and
// an error of encoding/json if the payload does not match the struct.
func Decode(e journal.Event) (Payload, error) {
	decodings.Add(1)
	return decode(e, true)
}

// Decodings returns how many events the process has decoded, and so whether it decodes one more often than needed.
func Decodings() uint64 { return decodings.Load() }

var decodings atomic.Uint64

// Event is an event with its payload, so that several folds of the same events decode it
// once. DecodeEvent makes one.
type Event struct {
	journal.Event
	Payload Payload // nil if Err is not
	Err     error   // of Decode

	fits bool // the payload is known to match its schema
}

// DecodeEvent returns an event with its payload, as Decode returns it.
func DecodeEvent(e journal.Event) Event {
	decodings.Add(1)
	if e.Type == (ToolCompleted{}).eventType() { // decodeFitting would omit the output
		if p, ok := fittingResult(e.Data); ok {
			return Event{Event: e, Payload: p, fits: true}
		}
	} else if p, ok := decodeFitting(e); ok {
		return Event{Event: e, Payload: p, fits: true}
	}
	p, err := decode(e, true)
	return Event{Event: e, Payload: p, Err: err}
}

// invalid returns the error of Validate for the event, whatever its Seq.
func (e Event) invalid() error {
	if e.fits {
		return nil
	}
	return validate(e.Event, e.Payload, e.Err)
}

// decode is Decode. With fast it tries the layout in which Record writes a payload
// first, which takes a fifth of the time.
func decode(e journal.Event, fast bool) (Payload, error) {
	decoder, ok := decoders[e.Type]
	if !ok {
		return nil, fmt.Errorf("event %d, %s: %w", e.Seq, e.Type, errUnknownType)
	}
	p, err := decoder(e, fast)
	if err != nil {
		return nil, fmt.Errorf("event %d, %s: %w", e.Seq, e.Type, err)
	}
	return p, nil
}

var decoders = map[string]func(e journal.Event, fast bool) (Payload, error){
	SessionCreated{}.eventType():  decodeAs[SessionCreated],
	SessionResumed{}.eventType():  decodeAs[SessionResumed],
	SessionRenamed{}.eventType():  decodeAs[SessionRenamed],
	SessionPinned{}.eventType():   decodeAs[SessionPinned],
	SessionEnded{}.eventType():    decodeAs[SessionEnded],
	SessionImported{}.eventType(): decodeAs[SessionImported],
	TaskSet{}.eventType():         decodeAs[TaskSet],
	MessageAppended{}.eventType(): decodeAs[MessageAppended],
	QueueChanged{}.eventType():    decodeAs[QueueChanged],
	TurnStarted{}.eventType():     decodeAs[TurnStarted],
	TurnText{}.eventType():        decodeAs[TurnText],
	ToolStarted{}.eventType():     decodeAs[ToolStarted],
	ToolCompleted{}.eventType():   decodeAs[ToolCompleted],
	PlanUpdated{}.eventType():     decodeAs[PlanUpdated],
	TurnEnded{}.eventType():       decodeTurnEnded,

	PermissionAnswered{}.eventType(): decodeAs[PermissionAnswered],
	PermissionBypassed{}.eventType(): decodeAs[PermissionBypassed],
	AgentAttached{}.eventType():      decodeAs[AgentAttached],
	AgentCompacted{}.eventType():     decodeAs[AgentCompacted],
	InputReceived{}.eventType():      decodeAs[InputReceived],
	TurnSteered{}.eventType():        decodeAs[TurnSteered],
	SummaryWritten{}.eventType():     decodeAs[SummaryWritten],
	MemberChanged{}.eventType():      decodeAs[MemberChanged],
	BudgetChanged{}.eventType():      decodeAs[BudgetChanged],
	FilesCaptured{}.eventType():      decodeAs[FilesCaptured],
	FilesChanged{}.eventType():       decodeAs[FilesChanged],
	FilesRestoring{}.eventType():     decodeAs[FilesRestoring],
	FilesRestored{}.eventType():      decodeAs[FilesRestored],
	FilesDropped{}.eventType():       decodeAs[FilesDropped],
	WorktreeCreated{}.eventType():    decodeAs[WorktreeCreated],
	WorktreeMerged{}.eventType():     decodeAs[WorktreeMerged],
	WorktreeDropped{}.eventType():    decodeAs[WorktreeDropped],

	JournalRecovered{}.eventType(): decodeAs[JournalRecovered],
	JournalSealed{}.eventType():    decodeAs[JournalSealed],
	SessionArchived{}.eventType():  decodeAs[SessionArchived],
	SessionTrashed{}.eventType():   decodeAs[SessionTrashed],
	SessionPurged{}.eventType():    decodeAs[SessionPurged],
}

// payloadAs decodes a payload into its struct. The layout of a struct is that of the first
// version of its type, which has no "v", so that it is tried only while there is no other.
func payloadAs[P Payload](e journal.Event, fast bool) (p P, err error) {
	if fast && len(upcasters[e.Type]) == 0 && layout.Decode(e.Data, &p) {
		return p, nil
	}
	data, err := upcast(e.Type, e.Data)
	if err != nil {
		return p, err
	}
	var unread P
	err = json.Unmarshal(data, &unread)
	return unread, err
}

// decodeAs is payloadAs for any type of payload.
func decodeAs[P Payload](e journal.Event, fast bool) (Payload, error) { return payloadAs[P](e, fast) }

package projection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Validate checks an event against the schema of journal events. It returns an error
// that wraps ErrNewer for an event of a newer version, and else the error of package
// schemas, or that of Decode if the payload matches the schema and still cannot be
// decoded. An unknown type is checked against the schema only.
func Validate(e journal.Event) error {
	if fits(e) {
		return nil
	}
	p, err := Decode(e)
	return validate(e, p, err)
}

// validate is Validate with the result of Decode, for an event that does not fit.
func validate(e journal.Event, p Payload, decodeErr error) error {
	if created, ok := p.(SessionCreated); ok && created.Format > Format {
		return fmt.Errorf("event %d, %s: %w (format %d, this program knows %d)",
			e.Seq, e.Type, ErrNewer, created.Format, Format)
	}
	if errors.Is(decodeErr, ErrNewer) {
		return decodeErr
	}
	err := schemas.Check(schemas.JournalEvent, e.Line())
	if err == nil && !errors.Is(decodeErr, errUnknownType) {
		err = decodeErr
	}
	return err
}

// fits reports whether an event is known to match the schema. It does not
// evaluate the schema, which takes a hundred times as long. False means unknown.
func fits(e journal.Event) bool {
	_, ok := decodeFitting(e)
	return ok && e.Seq > 0
}

// decodeFitting decodes a payload in the layout of Record. That layout implies the
// fields and their types; the remaining rules of the schema are checked here. False
// means that it is unknown whether the payload matches the schema. A ToolCompleted is
// returned without Output and OutputBytes.
func decodeFitting(e journal.Event) (Payload, bool) {
	decode, ok := fitting[e.Type]
	if !ok {
		return nil, false
	}
	return decode(e.Data)
}

// fitting has, by event type, the function that decodeFitting calls.
var fitting = map[string]func(data []byte) (Payload, bool){
	SessionCreated{}.eventType(): fittingAs(func(p SessionCreated, data []byte) bool {
		t := p.Team
		return p.Format == Format && p.SessionID != "" && t.ID != "" && validSource(t.Source, data) &&
			p.validBudget() &&
			(p.Parent == nil || p.Parent.SessionID != "" && p.Parent.Seq > 0) &&
			!slices.ContainsFunc(t.Members, func(m Member) bool { return !validMember(m) })
	}),
	SessionResumed{}.eventType(): fittingAs(func(p SessionResumed, data []byte) bool {
		return validSource(p.Source, data) && p.validBudget()
	}),
	SessionRenamed{}.eventType():  fittingAs(func(SessionRenamed, []byte) bool { return true }),
	SessionPinned{}.eventType():   fittingAs(func(SessionPinned, []byte) bool { return true }),
	SessionEnded{}.eventType():    fittingAs(func(SessionEnded, []byte) bool { return true }),
	SessionImported{}.eventType(): fittingAs(func(SessionImported, []byte) bool { return true }),
	TaskSet{}.eventType():         fittingAs(func(TaskSet, []byte) bool { return true }),
	MessageAppended{}.eventType(): fittingAs(func(p MessageAppended, _ []byte) bool {
		speaker := p.Message.Speaker.Type
		return validTimestamp(p.Message.Timestamp) &&
			!slices.ContainsFunc(p.Attachments, func(f File) bool { return !f.valid() }) &&
			(speaker == TypeAI || speaker == TypeHuman || speaker == TypeSystem)
	}),
	QueueChanged{}.eventType(): fittingAs(func(p QueueChanged, data []byte) bool {
		return !slices.ContainsFunc(p.Changes, func(c QueueChange) bool {
			return c.Action == "" || !slices.Contains([]string{"", "P1", "P2", "P3"}, c.Intent)
		}) && lacks(data, `"more":0`, `"intent":""`)
	}),
	TurnStarted{}.eventType(): fittingAs(func(p TurnStarted, _ []byte) bool {
		return p.TurnID != "" && p.MemberID != "" &&
			(p.Panel == nil || p.Panel.ID != "" && p.Panel.Index > 0 && p.Panel.Of > 0)
	}),
	TurnText{}.eventType(): fittingAs(func(p TurnText, _ []byte) bool { return p.TurnID != "" }),
	TurnEnded{}.eventType(): func(data []byte) (Payload, bool) {
		p, ok := turnEndedOf(journal.Event{Data: data})
		return p, ok && validEnd(p, data)
	},
	ToolStarted{}.eventType(): fittingAs(func(p ToolStarted, _ []byte) bool {
		return p.TurnID != "" && !OutOfRange(p.Input)
	}),
	ToolCompleted{}.eventType(): func(data []byte) (Payload, bool) {
		var p toolCompleted
		ok := layout.Decode(data, &p) && p.TurnID != ""
		return ToolCompleted{TurnID: p.TurnID, ToolID: p.ToolID, Name: p.Name, Error: p.Error}, ok
	},
	PlanUpdated{}.eventType(): fittingAs(func(p PlanUpdated, data []byte) bool {
		return p.TurnID != "" && lacks(data, `"more":0`, `"priority":""`) &&
			!slices.ContainsFunc(p.Entries, func(e PlanEntry) bool {
				return !slices.Contains([]PlanStatus{Pending, InProgress, Completed}, e.Status) ||
					!slices.Contains([]string{"", "high", "medium", "low"}, e.Priority)
			})
	}),
	PermissionAnswered{}.eventType(): fittingAs(func(p PermissionAnswered, _ []byte) bool {
		return p.TurnID != "" && slices.Contains([]Decider{ByPerson, ByPolicy, ByDefault}, p.By) &&
			(len(p.Answers) == 0 || len(p.Answers) == len(p.Questions)) &&
			!slices.ContainsFunc(p.Answers, func(answer []string) bool { return answer == nil })
	}),
	PermissionBypassed{}.eventType(): fittingAs(func(p PermissionBypassed, _ []byte) bool { return p.TurnID != "" }),
	AgentAttached{}.eventType(): fittingAs(func(p AgentAttached, _ []byte) bool {
		return p.TurnID != "" && p.MemberID != "" && p.Seen > 0 &&
			slices.Contains([]AttachWay{AttachNew, AttachContinued, AttachResumed, AttachForked, AttachImported}, p.Way)
	}),
	SummaryWritten{}.eventType(): fittingAs(func(p SummaryWritten, _ []byte) bool {
		return p.MemberID != "" && p.To > 0 && p.From > 0 && p.Seen > 0 &&
			(p.Usage == nil || valid(p.Usage.Cost) && valid(p.Usage.Total))
	}),
	AgentCompacted{}.eventType(): fittingAs(func(p AgentCompacted, _ []byte) bool {
		return p.TurnID != "" && p.MemberID != "" && p.Before >= 0 && p.After >= 0
	}),
	MemberChanged{}.eventType(): fittingAs(func(p MemberChanged, _ []byte) bool {
		return p.MemberID != "" && (p.Added == nil || validMember(*p.Added))
	}),
	BudgetChanged{}.eventType():   fittingAs(func(p BudgetChanged, _ []byte) bool { return p.valid() }),
	FilesCaptured{}.eventType():   fittingAs(func(p FilesCaptured, data []byte) bool { return p.valid(data) }),
	FilesChanged{}.eventType():    fittingAs(func(p FilesChanged, data []byte) bool { return p.valid(data) }),
	FilesRestoring{}.eventType():  fittingAs(func(p FilesRestoring, data []byte) bool { return p.valid(data) }),
	FilesDropped{}.eventType():    fittingAs(func(p FilesDropped, _ []byte) bool { return p.valid() }),
	FilesRestored{}.eventType():   fittingAs(func(p FilesRestored, data []byte) bool { return p.valid(data) }),
	WorktreeCreated{}.eventType(): fittingAs(func(p WorktreeCreated, data []byte) bool { return p.valid(data) }),
	WorktreeMerged{}.eventType():  fittingAs(func(p WorktreeMerged, _ []byte) bool { return p.valid() }),
	WorktreeDropped{}.eventType(): fittingAs(func(p WorktreeDropped, data []byte) bool { return p.valid(data) }),
	InputReceived{}.eventType(): fittingAs(func(p InputReceived, _ []byte) bool {
		return p.MessageID != "" && p.Device != ""
	}),
	TurnSteered{}.eventType(): fittingAs(func(p TurnSteered, _ []byte) bool {
		return p.TurnID != "" && p.MessageID != ""
	}),
	JournalRecovered{}.eventType(): fittingAs(func(p JournalRecovered, data []byte) bool {
		return p.Offset >= 0 && p.Bytes >= 0 && lacks(data, `"firstSeq":0`, `"lastSeq":0`)
	}),
	JournalSealed{}.eventType(): fittingAs(func(JournalSealed, []byte) bool { return true }),
}

// fittingResult is like the function of fitting for a ToolCompleted, and decodes all of it.
var fittingResult = fittingAs(func(p ToolCompleted, _ []byte) bool { return p.TurnID != "" })

// fittingAs returns a function that decodes a P in the layout of Record and passes it to
// matches, with its JSON.
func fittingAs[P Payload](matches func(p P, data []byte) bool) func(data []byte) (Payload, bool) {
	return func(data []byte) (Payload, bool) {
		var p P
		if !layout.Decode(data, &p) || !matches(p, data) {
			return nil, false
		}
		return p, true
	}
}

// lacks reports whether none of the texts, such as `"more":0`, is in data. The schema
// forbids these explicit zero values, which look like missing fields in the struct.
func lacks(data []byte, texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(data, []byte(text)) })
}

func (l Limits) validBudget() bool {
	for _, most := range l.Budget {
		if most < 0 {
			return false
		}
	}
	return true
}

func validMember(m Member) bool { return m.ID != "" && (m.Type == TypeAI || m.Type == TypeHuman) }

func validSource(s *Source, data []byte) bool {
	return s == nil || isSHA256(s.SHA256) && lacks(data, `"sha256":""`)
}

func validEnd(p TurnEnded, data []byte) bool {
	return p.TurnID != "" && p.MemberID != "" &&
		slices.Contains([]FinishReason{Done, Failed, Cancelled, TimedOut, Interrupted}, p.FinishReason) &&
		(p.PromptSHA256 == "" && lacks(data, `"promptSha256":""`) || isSHA256(p.PromptSHA256)) &&
		(p.Instructions == "" && lacks(data, `"instructionsSha256":""`) || isSHA256(p.Instructions)) &&
		(p.Usage == nil || valid(p.Usage.Cost) && valid(p.Usage.Total))
}

func valid(c *Cost) bool { return c == nil || c.Valid() }

func isSHA256(hex string) bool {
	return len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// validTimestamp reports whether a text is a time as FormatTime returns it.
func validTimestamp(text string) bool {
	if isPlainTimestamp(text) {
		return true
	}
	at, err := time.Parse(timestampLayout, text)
	return err == nil && FormatTime(at) == text
}

// isPlainTimestamp is validTimestamp in a tenth of the time, for the days 1 to 28 only.
// False means unknown.
func isPlainTimestamp(text string) bool {
	const least, most = "0000-01-01T00:00:00.000Z", "9999-12-28T23:59:59.999Z"
	if len(text) != len(least) {
		return false
	}
	for i := range least {
		isDigit := '0' <= text[i] && text[i] <= '9'
		if want := least[i]; isDigit != ('0' <= want && want <= '9') || !isDigit && text[i] != want {
			return false
		}
	}
	within := func(i int) bool { return text[i:i+2] >= least[i:i+2] && text[i:i+2] <= most[i:i+2] }
	return within(5) && within(8) && within(11) && within(14) && within(17)
}

// OutOfRange reports whether a JSON value has a number that is out of the range of a
// float64, and so matches no schema. Such a number has an exponent or many digits.
func OutOfRange(value json.RawMessage) bool {
	const many = 300 // the largest float64 has 309 digits
	digits := 0
	for _, c := range value {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case digits > 0 && (c == 'e' || c == 'E'):
			digits = many
		default:
			digits = 0
		}
		if digits >= many {
			return json.Unmarshal(value, new(any)) != nil
		}
	}
	return false
}

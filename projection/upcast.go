package projection

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// An upcaster converts a payload of one version to the next.
type upcaster func(json.RawMessage) (json.RawMessage, error)

// upcasters has the upcasters of each type of event: from version 1 to 2, from 2 to 3,
// and so on. Types that it lacks have their first version.
var upcasters = map[string][]upcaster{
	TurnEnded{}.eventType(): {upcastTurnEnded},
}

// upcast converts a payload to the newest version of its type.
func upcast(eventType string, data json.RawMessage) (json.RawMessage, error) {
	steps := upcasters[eventType]
	version := payloadVersion(data)
	if version > len(steps)+1 {
		return nil, fmt.Errorf("%w (%d, this program knows %d)", ErrNewer, version, len(steps)+1)
	}
	for ; version <= len(steps); version++ {
		var err error
		if data, err = steps[version-1](data); err != nil {
			return nil, fmt.Errorf("upcast from version %d: %w", version, err)
		}
	}
	return data, nil
}

// payloadVersion returns the "v" of a payload; 1 if there is none.
func payloadVersion(data json.RawMessage) int {
	if !bytes.Contains(data, []byte(`"v"`)) {
		return 1
	}
	var p struct {
		V int `json:"v"`
	}
	if json.Unmarshal(data, &p) != nil || p.V < 1 {
		return 1
	}
	return p.V
}

// turnEndedV2 has the layout of version 2 of a TurnEnded.
type turnEndedV2 struct {
	V int `json:"v"`
	TurnEnded
}

// turnEndedV1 has the layout of version 1 of a TurnEnded. The tokens of a cache are
// input, and those of thoughts output, as far as an agent counted them.
type turnEndedV1 struct {
	TurnID       string       `json:"turnId"`
	MemberID     string       `json:"memberId"`
	FinishReason FinishReason `json:"finishReason"`
	DurationMS   int64        `json:"durationMs"`
	Usage        *usageV1     `json:"usage,omitempty"`
	Error        string       `json:"error,omitempty"`
	Partial      string       `json:"partial,omitempty"`
	PartialBytes int64        `json:"partialBytes,omitempty"`
	AgentSession string       `json:"agentSession,omitempty"`
}

type usageV1 struct {
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
}

func (p turnEndedV1) upcast() TurnEnded {
	ended := TurnEnded{
		TurnID: p.TurnID, MemberID: p.MemberID, FinishReason: p.FinishReason, DurationMS: p.DurationMS,
		Error: p.Error, Partial: p.Partial, PartialBytes: p.PartialBytes, AgentSession: p.AgentSession,
	}
	if p.Usage != nil {
		ended.Usage = &Usage{Input: p.Usage.InputTokens, Output: p.Usage.OutputTokens}
	}
	return ended
}

func upcastTurnEnded(data json.RawMessage) (json.RawMessage, error) {
	var p turnEndedV1
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	return json.Marshal(p.upcast())
}

// turnEnded decodes a TurnEnded of any version, as payloadAs does.
func turnEnded(e journal.Event, fast bool) (TurnEnded, error) {
	if fast {
		if p, ok := turnEndedOf(e); ok {
			return p, nil
		}
	}
	return payloadAs[TurnEnded](e, false)
}

// decodeTurnEnded is turnEnded for any type of payload.
func decodeTurnEnded(e journal.Event, fast bool) (Payload, error) { return turnEnded(e, fast) }

// turnEndedOf decodes a TurnEnded that has the layout of its version.
func turnEndedOf(e journal.Event) (TurnEnded, bool) {
	var second turnEndedV2
	if layout.Decode(e.Data, &second) && second.V == 2 {
		return second.TurnEnded, true
	}
	var first turnEndedV1
	if !layout.Decode(e.Data, &first) {
		return TurnEnded{}, false
	}
	return first.upcast(), true
}

package coordinator

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// The limits of what an agent reports, in bytes.
const (
	maxLabel      = 1 << 10 // the id and the name of a tool, the id of a session
	maxSessionID  = 200     // of an agent's session and of a point in it; no longer ones are continued
	maxTitle      = 4 << 10 // of a request for permission
	maxError      = 8 << 10 // of a turn, or of a request that is repeated
	maxToolOutput = 64 << 10
	maxToolInput  = 64 << 10
)

// recordable returns the payload as it is recorded. Every event passes it before it is appended, and
// whatever an agent reports, the result matches the schema of events: without secrets, within the
// limits, and with numbers that can be read again. IDs that the program assigns stay; names and IDs
// that agents assign do not.
func (c *Coordinator) recordable(p projection.Payload) projection.Payload {
	clean := c.secrets.Text
	switch p := p.(type) {
	case projection.MessageAppended:
		p.Message.Content = clean(p.Message.Content)
		if p.Raw != nil {
			p.Raw = []byte(clean(string(p.Raw)))
		} // its attachments are recordable: see recordableFile
		return p
	case projection.TaskSet:
		if p.Task != nil {
			task := clean(*p.Task)
			p.Task = &task
		}
		return p
	case projection.SessionRenamed:
		p.Title = clean(p.Title)
		return p
	case projection.SessionEnded:
		p.Reason = clean(p.Reason)
		return p
	case projection.TurnText:
		p.Text = clean(p.Text)
		return p
	case projection.PermissionAnswered:
		p.ToolID, p.Name = c.bounded(p.ToolID, maxLabel), c.bounded(p.Name, maxLabel)
		p.Title, p.Reason = c.bounded(p.Title, maxTitle), c.bounded(p.Reason, maxTitle)
		p.Device = c.bounded(p.Device, maxLabel)
		return c.recordableQuestions(p)
	case projection.PermissionBypassed:
		p.ToolID, p.Name = c.bounded(p.ToolID, maxLabel), c.bounded(p.Name, maxLabel)
		p.Title = c.bounded(p.Title, maxTitle)
		return p
	case projection.InputReceived:
		p.Device, p.InputID = c.bounded(p.Device, maxLabel), c.bounded(p.InputID, maxLabel)
		return p
	case projection.AgentAttached:
		p.AgentSession, p.Point = c.bounded(p.AgentSession, maxSessionID), c.bounded(p.Point, maxSessionID)
		return p
	case projection.ToolStarted:
		p.ToolID, p.Name, p.Input = c.bounded(p.ToolID, maxLabel), c.bounded(p.Name, maxLabel), c.toolInput(p.Input)
		return p
	case projection.ToolCompleted:
		return c.recordableResult(p)
	case projection.PlanUpdated:
		return c.recordablePlan(p)
	case projection.TurnEnded:
		p.Error, p.Partial = c.bounded(p.Error, maxError), clean(p.Partial)
		p.AgentSession, p.Point = c.bounded(p.AgentSession, maxLabel), c.bounded(p.Point, maxSessionID)
		p.Usage = recordableUsage(p.Usage)
		return p
	}
	return p
}

// bounded returns the beginning of a text, as cut does.
func (c *Coordinator) bounded(text string, limit int) string {
	text, _ = c.cut(text, limit)
	return text
}

// cut returns the beginning of a text, without secrets, as valid UTF-8, and whether it is complete.
// Secrets are replaced before it is cut because part of a secret is not recognized; of a long text only
// the beginning is searched.
func (c *Coordinator) cut(text string, limit int) (bounded string, complete bool) {
	if complete = len(text) <= 2*limit; complete {
		bounded = validUTF8(c.secrets.Text(text))
	} else {
		bounded = validUTF8(c.secrets.Stream().Next(text[:2*limit]))
	}
	if len(bounded) > limit {
		return runecut.Prefix(bounded, limit), false
	}
	return bounded, complete
}

// recordableResult is recordable for the result of a tool, whose OutputBytes is the length of its output.
func (c *Coordinator) recordableResult(p projection.ToolCompleted) projection.ToolCompleted {
	kept := int64(len(p.Output))
	p.ToolID, p.Name = c.bounded(p.ToolID, maxLabel), c.bounded(p.Name, maxLabel)
	output, complete := c.cut(p.Output, maxToolOutput)
	if complete && p.OutputBytes <= kept {
		p.OutputBytes = 0
	}
	p.Output, p.Error = output, c.bounded(p.Error, maxToolOutput)
	return p
}

func (c *Coordinator) recordablePlan(p projection.PlanUpdated) projection.PlanUpdated {
	if more := len(p.Entries) - projection.MaxPlanEntries; more > 0 {
		p.Entries, p.More = p.Entries[:projection.MaxPlanEntries], p.More+more
	}
	p.Entries = append([]projection.PlanEntry{}, p.Entries...)
	for i := range p.Entries {
		e := &p.Entries[i]
		e.Content = c.bounded(e.Content, projection.MaxPlanContent)
		if e.Status != projection.InProgress && e.Status != projection.Completed {
			e.Status = projection.Pending
		}
		if e.Priority != "high" && e.Priority != "medium" && e.Priority != "low" {
			e.Priority = ""
		}
	}
	return p
}

func recordableUsage(u *projection.Usage) *projection.Usage {
	if u == nil {
		return nil
	}
	used := *u
	for _, n := range []*int64{&used.Input, &used.CachedRead, &used.CachedWrite, &used.Output, &used.Thought} {
		*n = max(0, *n)
	}
	if used.Context <= 0 || used.Window <= 0 {
		used.Context, used.Window = 0, 0
	}
	if used.Cost != nil && !used.Cost.Valid() {
		used.Cost = nil
	}
	if used.Total != nil && !used.Total.Valid() {
		used.Total = nil
	}
	return &used
}

// toolInput returns the input of a tool; nil if it is too long or not JSON. Numbers beyond the range of
// a float64, which most readers cannot decode, become strings.
func (c *Coordinator) toolInput(input json.RawMessage) json.RawMessage {
	if len(input) > maxToolInput || !utf8.Valid(input) {
		return nil
	}
	input = c.secrets.JSON(input)
	decodes := func() error {
		var value any
		return json.Unmarshal(slices.Concat([]byte(`{"data":{"input":`), input, []byte("}}")), &value)
	}
	err := decodes()
	if _, isRange := errors.AsType[*json.UnmarshalTypeError](err); isRange {
		input = quoteHugeNumbers(input)
		err = decodes()
	}
	if err != nil { // not JSON, or nested too deeply for an event
		return nil
	}
	return input
}

// quoteHugeNumbers returns a JSON value with the numbers beyond the range of a float64 as strings.
func quoteHugeNumbers(value []byte) (quoted []byte) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	copied := 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return append(quoted, value[copied:]...)
		}
		number, ok := token.(json.Number)
		if !ok {
			continue
		}
		if _, err := number.Float64(); err != nil {
			end := int(decoder.InputOffset())
			start := end - len(number)
			quoted = append(append(quoted, value[copied:start]...), strconv.Quote(number.String())...)
			copied = end
		}
	}
}

// notifyRedacted notifies the listener of the secrets that were replaced since the last call.
func (c *Coordinator) notifyRedacted() {
	if found := c.secrets.Found(); len(found) > 0 {
		c.notify(SecretsRedacted{redact.Kinds(found), len(found)})
	}
}

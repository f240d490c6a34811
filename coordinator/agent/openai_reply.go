package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// An openaiParser parses the lines of a reply: server-sent events, each of which is a chunk of the reply, or objects
// without a stream. Lines that are no field of an event are taken as objects or as text, since servers write their
// errors so.
//
// Source of the format: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream. An
// event whose first data line is an object ends with that line, as some servers leave out the empty line.
type openaiParser struct {
	text     replyText
	over     bool     // the stream has ended with its mark
	unparsed string   // an excerpt of the first line that is not a completion
	lost     bool     // an event was not a completion
	verdict  *verdict // the last one

	event   string // the type of the event that is being read
	data    []byte // its data lines so far
	pending bool   // it has some
}

// A completion is a chunk of a reply, a complete one, or an error.
type completion struct {
	Choices []struct {
		Index   int            `json:"index"`
		Delta   messageContent `json:"delta"`
		Message messageContent `json:"message"`
		Finish  string         `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct { // the input includes cached tokens
		Input        int64 `json:"prompt_tokens"`
		Output       int64 `json:"completion_tokens"`
		Total        int64 `json:"total_tokens"`
		InputDetails struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		OutputDetails struct {
			Thought int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`

	// Of an error.
	Error        json.RawMessage `json:"error"`
	Object       string          `json:"object"`
	Type         string          `json:"type"`
	Message      string          `json:"message"`
	ErrorMessage string          `json:"error_message"`
	Detail       json.RawMessage `json:"detail"`
}

// A messageContent is the text of a message, or why the model refuses to write one.
type messageContent struct {
	Content json.RawMessage `json:"content"` // a string, or a list of parts of which some are text
	Refusal json.RawMessage `json:"refusal"`
}

// parse returns the events of a line without its end. It keeps the last verdict.
func (p *openaiParser) parse(line []byte) []Event {
	name, value, isField := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case len(line) == 0:
		return p.endEvent()
	case isField && len(name) == 0: // a comment
	case isField && string(name) == "event":
		p.event = string(value)
	case isField && (string(name) == "id" || string(name) == "retry"):
	case isField && string(name) == "data":
		return p.addData(value)
	default:
		return p.chunk(line)
	}
	return nil
}

// addData adds a data line to the current event.
func (p *openaiParser) addData(value []byte) []Event {
	if !p.pending {
		switch trimmed := bytes.TrimSpace(value); {
		case string(trimmed) == "[DONE]":
			p.over = true
			return nil
		case json.Valid(trimmed):
			return p.chunk(trimmed)
		}
		p.data, p.pending = append(p.data[:0], value...), true
		return nil
	}
	p.data = append(append(p.data, '\n'), value...)
	return nil
}

// endEvent returns the events of the current event, if it has data.
func (p *openaiParser) endEvent() (events []Event) {
	if p.pending {
		events = p.chunk(p.data)
		p.lost = p.lost || slices.ContainsFunc(events, func(e Event) bool { _, lost := e.(unparsedLine); return lost })
	}
	p.event, p.pending = "", false
	return events
}

// tooLong reports whether the data of the current event exceeds the limit of a line.
func (p *openaiParser) tooLong() bool { return len(p.data) > jsonlines.Limit }

// finish returns the events at the end of the reply.
func (p *openaiParser) finish() []Event {
	return append(p.endEvent(), textEvents(p.text.rest())...)
}

func (p *openaiParser) chunk(data []byte) (events []Event) {
	var c completion
	if !jsonlines.Decode(data, &c) {
		p.unparsed = cmp.Or(p.unparsed, excerpt(string(data)))
		if p.event == "error" {
			return p.fail(string(data))
		}
		return []Event{unparsedLine(data)}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		events = append(events, textEvents(p.text.add(choice.Delta, choice.Message))...)
		if choice.Finish != "" {
			v := verdictOf(choice.Finish)
			p.verdict = &v
			events = append(events, v)
		}
	}
	if c.Usage != nil {
		u := c.Usage
		used := Usage{
			Input: max(0, u.Input-u.InputDetails.Cached), CachedRead: u.InputDetails.Cached,
			Output: u.Output, Thought: u.OutputDetails.Thought,
		}
		events = append(events, used.separate(u.Total))
	}
	if message := c.errorMessage(); message != "" {
		events = append(events, p.fail(message)...)
	} else if p.event == "error" {
		events = append(events, p.fail(string(data))...)
	}
	return events
}

// fail returns the verdict of a failure.
func (p *openaiParser) fail(message string) []Event {
	p.verdict = &verdict{failed: true, message: strings.TrimSpace(message)}
	return []Event{*p.verdict}
}

func textEvents(text string) []Event {
	if text == "" {
		return nil
	}
	return []Event{Text{text}}
}

// The values of finish_reason of OpenAI's API and of the servers and gateways that have it, in lower case.
var (
	finished   = []string{"stop", "end_turn", "stop_sequence", "eos", "eos_token", "end", "done", "completed"}
	cutOff     = []string{"length", "max_tokens", "max_output_tokens", "model_length", "incomplete"}
	withheld   = []string{"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content"}
	wantsTools = []string{"tool_calls", "function_call", "tool_use"}
)

// verdictOf returns the verdict of a finish_reason. An unknown one is a failure: half a reply must not pass for a
// whole one.
func verdictOf(reason string) verdict {
	known := strings.ToLower(reason)
	switch {
	case slices.Contains(finished, known):
		return verdict{}
	case slices.Contains(cutOff, known):
		return verdict{failed: true, message: incompleteLength}
	case slices.Contains(withheld, known):
		return verdict{failed: true, message: incompleteFilter}
	case slices.Contains(wantsTools, known):
		return verdict{failed: true, message: incompleteTools}
	}
	return verdict{failed: true, message: fmt.Sprintf("the reply was cut off: %s", excerpt(reason))}
}

// errorMessage returns the message of an error, which servers write in several forms; "" if it is none.
func (c completion) errorMessage() string {
	isError := c.Object == "error" || c.Type == "error" || c.ErrorMessage != ""
	switch {
	case len(c.Error) > 0 && string(c.Error) != "null":
		return messageIn(c.Error)
	case isError:
		return cmp.Or(c.ErrorMessage, c.Message)
	case len(c.Detail) > 0 && len(c.Choices) == 0:
		return messageIn(c.Detail)
	}
	return ""
}

// messageIn returns the message in the value of an error: an object or a list of objects that have one, or a string.
func messageIn(value json.RawMessage) string {
	var object struct{ Message, Msg string }
	var list []json.RawMessage
	var text string
	switch {
	case json.Unmarshal(value, &object) == nil && object.Message+object.Msg != "":
		return cmp.Or(object.Message, object.Msg)
	case json.Unmarshal(value, &text) == nil && text != "":
		return text
	case json.Unmarshal(value, &list) == nil && len(list) > 0 && list[0][0] == '{':
		return messageIn(list[0])
	}
	return string(value)
}

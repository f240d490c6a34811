package agent

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// An openaiParser parses the lines of a reply: a stream of events, or one completion if an API does
// not stream.
type openaiParser struct {
	started  bool     // the reply has text
	over     bool     // the stream has ended with its mark
	unparsed string   // an excerpt of the first line that is not a completion
	verdict  *verdict // the last one
}

// A completion is a chunk of a reply, a complete one, or an error.
type completion struct {
	Choices []struct {
		Index   int                         `json:"index"`
		Delta   struct{ Content partsText } `json:"delta"`
		Message struct{ Content partsText } `json:"message"`
		Finish  string                      `json:"finish_reason"`
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
	Error json.RawMessage `json:"error"`
}

// A partsText is the text of a content: a string, or a list of parts of which some are text.
type partsText string

// UnmarshalJSON never fails: a content of another form has no text.
func (t *partsText) UnmarshalJSON(content []byte) error {
	var text string
	var parts []json.RawMessage
	switch {
	case json.Unmarshal(content, &text) == nil:
		*t = partsText(text)
	case json.Unmarshal(content, &parts) == nil:
		for _, raw := range parts {
			var part struct{ Type, Text string }
			if jsonlines.Decode(raw, &part) && (part.Type == "" || part.Type == "text" || part.Type == "output_text") {
				*t += partsText(part.Text)
			}
		}
	}
	return nil
}

// parse returns the events of a line. It is as parser.parse, and keeps the last verdict.
func (p *openaiParser) parse(line []byte) []Event {
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	switch {
	case len(line) == 0 || line[0] == ':' || isOtherField(line):
		return nil
	case isData && string(data) == "[DONE]":
		p.over = true
		return nil
	}
	return p.chunk(data)
}

// isOtherField reports whether the line is a field of an event other than its data.
func isOtherField(line []byte) bool {
	for _, field := range []string{"event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(field)) {
			return true
		}
	}
	return false
}

func (p *openaiParser) chunk(data []byte) (events []Event) {
	var c completion
	if !jsonlines.Decode(data, &c) {
		p.unparsed = cmp.Or(p.unparsed, excerpt(string(data)))
		return []Event{unparsedLine(data)}
	}
	for _, choice := range c.Choices {
		if text := choice.Delta.Content + choice.Message.Content; text != "" && choice.Index == 0 {
			p.started = true
			events = append(events, Text{string(text)})
		}
		if choice.Finish != "" && choice.Index == 0 {
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
		p.verdict = &verdict{failed: true, message: message}
		events = append(events, *p.verdict)
	}
	return events
}

// verdictOf returns the verdict of a finish_reason.
func verdictOf(reason string) verdict {
	switch reason {
	case "length":
		return verdict{failed: true, message: incompleteLength}
	case "content_filter":
		return verdict{failed: true, message: incompleteFilter}
	case "tool_calls", "function_call":
		return verdict{failed: true, message: incompleteTools}
	}
	return verdict{}
}

// errorMessage returns the message of an error, which is an object with a message, or a string.
func (c completion) errorMessage() string {
	var object struct{ Message string }
	var text string
	switch {
	case len(c.Error) == 0 || string(c.Error) == "null":
		return ""
	case json.Unmarshal(c.Error, &object) == nil && object.Message != "":
		return object.Message
	case json.Unmarshal(c.Error, &text) == nil && text != "":
		return text
	}
	return string(c.Error)
}

package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"
	"time"
)

// A claudeParser parses the output of Claude Code. Each message comes twice, as deltas while it is
// written and then complete; of the complete one only what the deltas lack is used.
type claudeParser struct {
	reply
	deltas deltas // of the current block
	tools  toolNames
	tasks  claudeTasks

	// Of the agent's last message.
	model                 string
	contextIn, contextOut int64 // tokens

	used Usage // so far: a message that arrives late has a result of its own
}

// deltas are the pieces of a text: their length in bytes, and their hash, by which the complete text is
// compared with them.
type deltas struct {
	bytes int
	hash  maphash.Hash
}

func (d *deltas) add(piece string) {
	d.bytes += len(piece)
	_, _ = d.hash.WriteString(piece)
}

func (d *deltas) reset() {
	d.bytes = 0
	d.hash.Reset()
}

// rest returns what the pieces lack of the complete text; "" if they differ from it.
func (d *deltas) rest(text string) string {
	if d.bytes > len(text) || maphash.String(d.hash.Seed(), text[:d.bytes]) != d.hash.Sum64() {
		return ""
	}
	return text[d.bytes:]
}

type claudeLine struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	SessionID string  `json:"session_id"`
	Parent    *string `json:"parent_tool_use_id"` // set on messages of a subagent
	Event     struct {
		Type  string `json:"type"`
		Delta struct {
			Text string `json:"text"`
		} `json:"delta"`
		Usage claudeUsage `json:"usage"` // of message_delta
	} `json:"event"`
	Message struct {
		Content json.RawMessage `json:"content"`
		Model   string          `json:"model"`
		Usage   claudeUsage     `json:"usage"` // its output is not complete
	} `json:"message"`
	APIError bool   `json:"is_api_error_message"`
	UUID     string `json:"uuid"` // of a message, in the session
	IsReplay bool   `json:"isReplay"`

	// Of requests, and of responses.
	RequestID string         `json:"request_id"`
	Request   claudeRequest  `json:"request"`
	Response  claudeResponse `json:"response"`

	// Of the progress of a message that was sent.
	Sent  string `json:"command_uuid"`
	State string `json:"state"`

	Mode      string `json:"permissionMode"`
	Compacted struct {
		Before int64 `json:"pre_tokens"`
		After  int64 `json:"post_tokens"`
	} `json:"compact_metadata"`

	// On the last line of the turn.
	IsError bool        `json:"is_error"`
	Result  string      `json:"result"`
	Errors  []string    `json:"errors"`
	Usage   claudeUsage `json:"usage"`
	Cost    *float64    `json:"total_cost_usd"`
	// SinceLast is what the models have cost since the last line of the turn before.
	SinceLast map[string]struct {
		Cost float64 `json:"costUSD"`
	} `json:"model_usage_since_last_result"`
	Models map[string]struct {
		Window int64 `json:"contextWindow"`
	} `json:"modelUsage"`

	// On a line that reports a retry.
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	RetryDelay  float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"`
	Error       string  `json:"error"`
}

// A claudeUsage is the tokens of a request, or of all requests of a turn.
type claudeUsage struct {
	Input        int64 `json:"input_tokens"`
	CacheWritten int64 `json:"cache_creation_input_tokens"`
	CacheRead    int64 `json:"cache_read_input_tokens"`
	Output       int64 `json:"output_tokens"`
	Details      struct {
		Thought int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// maxRetryDelay is the longest delay of a retry that is believed, in milliseconds: a day.
const maxRetryDelay = 24 * 60 * 60 * 1000

// A claudeBlock is a part of a message.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// take returns the events of the next line: those for the consumer, and a verdict.
func (p *claudeParser) take(line claudeLine) []Event {
	switch line.Type {
	case "system":
		return p.system(line)
	case "stream_event":
		return p.delta(line)
	case "assistant", "user":
		return p.message(line)
	case "result":
		return p.result(line)
	}
	return nil
}

func (p *claudeParser) system(line claudeLine) []Event {
	switch {
	case line.Subtype == "init" && line.SessionID != "":
		return []Event{SessionStarted{line.SessionID}}
	case line.Subtype == "compact_boundary":
		return []Event{Compacted(line.Compacted)}
	case line.Subtype == "api_retry":
		reason := cmp.Or(line.Error, "no answer")
		if line.ErrorStatus != 0 {
			reason += fmt.Sprintf(" (status %d)", line.ErrorStatus)
		}
		wait := time.Duration(min(line.RetryDelay, maxRetryDelay)) * time.Millisecond
		return []Event{Retry{Reason: reason, Wait: max(0, wait), Try: line.Attempt, Max: line.MaxRetries}}
	}
	return nil
}

func (p *claudeParser) delta(line claudeLine) []Event {
	if line.Parent != nil {
		return nil
	}
	switch line.Event.Type {
	case "content_block_start":
		p.deltas.reset()
	case "message_delta":
		p.contextOut = line.Event.Usage.Output
	}
	p.deltas.add(line.Event.Delta.Text)
	return p.text(line.Event.Delta.Text)
}

// message returns the events of a complete message, of the agent or of its tools. The text of a
// subagent is meant for the agent, and left out; its tools are tools of the turn.
func (p *claudeParser) message(line claudeLine) (events []Event) {
	if line.Type == "assistant" && line.Parent == nil && !line.APIError {
		u := line.Message.Usage
		p.model, p.contextIn = line.Message.Model, u.Input+u.CacheRead+u.CacheWritten
	}
	for _, b := range blocksOf(line.Message.Content) {
		switch {
		case b.Type == "text" && line.Type == "assistant" && line.Parent == nil && !line.APIError:
			events = append(events, p.completeText(b.Text)...)
		case b.Type == "tool_use":
			id, name := p.tools.add(b.ID, b.Name)
			p.endMessage()
			events = append(events, ToolStarted{ID: id, Name: name, Input: b.Input})
			if line.Parent == nil {
				events = append(events, todoPlan(b.Name, b.Input)...)
				p.tasks.ask(id, b.Name, b.Input)
			}
		case b.Type == "tool_result":
			id, name := p.tools.remove(b.ToolUseID)
			result := textOf(b.Content)
			events = append(events, completed(id, name, result, b.IsError))
			events = append(events, p.tasks.done(id, result, b.IsError)...)
		}
	}
	if line.Parent == nil && !line.IsReplay && isUUID(line.UUID) {
		events = append(events, Point{line.UUID})
	}
	return events
}

// completeText returns what the deltas of a block lack. If they differ from the text, they stay.
func (p *claudeParser) completeText(text string) []Event {
	events := p.text(p.deltas.rest(text))
	p.deltas.reset()
	p.endMessage()
	return events
}

// failed reports whether a last line reports an error.
func (l claudeLine) failed() bool { return l.IsError || strings.HasPrefix(l.Subtype, "error") }

// failure returns the error that a last line reports.
func (l claudeLine) failure() string {
	return cmp.Or(l.Result, strings.Join(l.Errors, "; "), l.Subtype)
}

// result returns the events of the last line. Only this line has the output of a slash command
// that the agent runs without its model.
func (p *claudeParser) result(line claudeLine) []Event {
	u, used := line.Usage, &p.used
	of := Usage{
		Input: u.Input, CachedRead: u.CacheRead, CachedWrite: u.CacheWritten,
		Output: u.Output, Thought: u.Details.Thought,
	}.separate(0)
	used.add(of)
	if line.Cost != nil {
		used.Total = &Cost{*line.Cost, "USD"}
	}
	if line.SinceLast != nil { // the total of a fork includes what its origin has cost
		cost := Cost{Currency: "USD"}
		if used.Cost != nil {
			cost = *used.Cost
		}
		for _, of := range line.SinceLast {
			cost.Amount += of.Cost
		}
		used.Cost = &cost
	}
	if window := p.window(line); window > 0 && p.contextIn > 0 {
		used.Context, used.Window = p.contextIn+p.contextOut, window
	}
	events := []Event{*used}
	if line.failed() {
		return append(events, verdict{failed: true, message: line.failure()})
	}
	if !p.started {
		events = append(events, p.text(line.Result)...)
	}
	return append(events, verdict{})
}

// window returns the size of the context window of the agent's model, in tokens; 0 if it is unknown. Other models are
// those of subagents.
func (p *claudeParser) window(last claudeLine) int64 {
	if len(last.Models) == 1 {
		for _, only := range last.Models {
			return only.Window
		}
	}
	return last.Models[p.model].Window
}

// blocksOf returns the parts of a message; none if its content is a string.
func blocksOf(content json.RawMessage) []claudeBlock {
	var blocks []claudeBlock
	_ = json.Unmarshal(content, &blocks) // leaves out what does not fit
	return blocks
}

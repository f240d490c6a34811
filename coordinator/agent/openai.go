package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// OpenAI is the engine for a model with a chat completions API, such as OpenAI's own and those
// of Ollama, llama.cpp and vLLM. The prompt is one user message, and the reply is streamed. The
// model has no tools.
//
// Member.Endpoint is the address, Member.Model the model. The key, if there is one, is read in each
// turn from the variable Member.APIKeyEnv, in Member.Env or in the environment of this process. It
// is not kept, and removed from the API's error messages.
type OpenAI struct{}

// Run sends the prompt and yields the reply. The last error is a *FailureError, or wraps
// context.Cause(ctx).
func (OpenAI) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		// Leaving the loop cancels the request, too.
		requesting, cancel := context.WithCancel(ctx)
		defer cancel()
		a := api{member: turn.Member}
		more, err := a.complete(requesting, turn.Prompt, yield)
		switch {
		case !more:
		case ctx.Err() != nil:
			yield(nil, process.Stopped(ctx))
		case err != nil:
			yield(nil, err)
		}
	}
}

// An api is the API of one turn.
type api struct {
	member Member
	key    string
}

// complete requests a completion and yields it. more is false if the consumer has left the loop.
func (a *api) complete(ctx context.Context, prompt string, yield func(Event, error) bool) (more bool, err error) {
	if name := a.member.APIKeyEnv; name != "" {
		if a.key = cmp.Or(a.member.Env[name], os.Getenv(name)); a.key == "" {
			reason := fmt.Sprintf("the environment variable %q, named by the member's apiKeyEnv, is not set", name)
			return true, a.failure(reason, Remedy{Advice: "set it to the key before starting the chat"})
		}
	}
	request, err := a.request(ctx, prompt)
	if err != nil {
		return true, a.failure(err.Error(), Remedy{Advice: "check the member's endpoint"})
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		advice := "check the member's endpoint, and that its server, such as Ollama, runs"
		return true, a.failure(err.Error(), Remedy{Advice: advice})
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return true, a.statusError(response)
	}
	return a.relay(response, yield)
}

func (a *api) request(ctx context.Context, prompt string) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{
		"model":          a.member.Model,
		"messages":       []map[string]string{{"role": "user", "content": prompt}},
		"stream":         true,
		"stream_options": map[string]bool{"include_usage": true},
	})
	if err != nil {
		return nil, err
	}
	address := strings.TrimRight(a.member.Endpoint, "/") + "/chat/completions"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if a.key != "" {
		request.Header.Set("Authorization", "Bearer "+a.key)
	}
	return request, nil
}

// statusError returns the error of a response other than 200.
func (a *api) statusError(response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxReason))
	var c completion
	message := strings.TrimSpace(string(body))
	if json.Unmarshal(body, &c) == nil {
		message = cmp.Or(c.errorMessage(), message)
	}
	return a.failure(strings.TrimSuffix(response.Status+": "+message, ": "), statusRemedies[response.StatusCode])
}

// statusRemedies are the remedies by HTTP status.
var statusRemedies = map[int]Remedy{
	http.StatusUnauthorized:    {Advice: "check the key in the variable that the member's apiKeyEnv names"},
	http.StatusForbidden:       {Advice: "check the key in the variable that the member's apiKeyEnv names"},
	http.StatusNotFound:        {Advice: "check the member's endpoint, which often ends in /v1, and its model"},
	http.StatusTooManyRequests: {"wait a while, then retry", retry},
	http.StatusBadRequest: {
		Advice: "check the member's model; if the prompt is too long, " + remedyShorten.Advice,
	},
}

// failure returns the error of a turn, without the key. The remedy of a zero Remedy is a retry.
func (a *api) failure(reason string, remedy Remedy) error {
	if a.key != "" {
		reason = strings.ReplaceAll(reason, a.key, "(the key)")
	}
	address := a.member.Endpoint
	if u, err := url.Parse(address); err == nil {
		address = u.Redacted()
	}
	if remedy.Advice == "" {
		remedy.Hint = retry
	}
	return profile{name: "the API at " + address}.failure(reason, remedy)
}

// relay yields the reply, until its end. more is false if the consumer has left the loop.
func (a *api) relay(response *http.Response, yield func(Event, error) bool) (more bool, err error) {
	var p openaiParser
	r := lines.NewReader(response.Body, jsonlines.Limit)
	for {
		line, err := r.Next()
		if err != nil && err != lines.ErrTooLong {
			line = r.Rest()
		}
		events := p.parse(bytes.TrimSpace(line))
		if len(events) == 0 && bytes.HasPrefix(line, []byte("data:")) {
			events = append(events, Alive{}) // it thinks
		}
		for _, e := range events {
			switch e.(type) {
			case verdict, unparsed: // kept by the parser
				continue
			}
			if !yield(e, nil) {
				return false, nil
			}
		}
		switch {
		case err == lines.ErrTooLong:
			return true, a.failure(jsonlines.ErrTooLong.Error(), Remedy{Advice: "ask for less at once"})
		case err != nil || p.over:
			return true, a.result(&p, response, err)
		}
	}
}

// result returns the turn's error at the end of the reply.
func (a *api) result(p *openaiParser, response *http.Response, err error) error {
	switch {
	case p.verdict == nil && !p.started && p.unparsed != "":
		kind := cmp.Or(response.Header.Get("Content-Type"), "something")
		reason := fmt.Sprintf("it answered %s that is no completion: “%s”", kind, p.unparsed)
		return a.failure(reason, statusRemedies[http.StatusNotFound])
	case p.verdict == nil && err != nil && err != io.EOF:
		return a.failure("the reply broke off: "+err.Error(), Remedy{})
	case p.verdict == nil:
		return a.failure("the reply ended before it was finished", Remedy{})
	case p.verdict.failed:
		return a.failure(p.verdict.message, incompleteRemedies[p.verdict.message])
	}
	return nil
}

// The reasons for an incomplete reply.
const (
	incompleteLength = "the reply was cut off: it reached the model's limit"
	incompleteFilter = "the reply was withheld by a filter"
	incompleteTools  = "it wants to use a tool, and has none"
)

var incompleteRemedies = map[string]Remedy{
	incompleteLength: {Advice: "allow the model a longer reply or context where it runs, or shorten the message"},
	incompleteFilter: {Advice: "ask in other words"},
	incompleteTools:  {Advice: `say in its "systemInstruction" that it has no tools`},
}

// An openaiParser parses the lines of a reply: a stream of events, or one completion if an API does
// not stream.
type openaiParser struct {
	started  bool     // the reply has text
	over     bool     // the stream has ended
	unparsed string   // an excerpt of the first line that is not a completion
	verdict  *verdict // the last one
}

// A completion is a chunk of a reply, a complete one, or an error.
type completion struct {
	Choices []struct {
		Index   int                      `json:"index"`
		Delta   struct{ Content string } `json:"delta"`
		Message struct{ Content string } `json:"message"`
		Finish  string                   `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
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
		return []Event{unparsed(data)}
	}
	for _, choice := range c.Choices {
		if text := choice.Delta.Content + choice.Message.Content; text != "" && choice.Index == 0 {
			p.started = true
			events = append(events, Text{text})
		}
		if choice.Finish != "" && choice.Index == 0 {
			v := verdictOf(choice.Finish)
			p.verdict = &v
			events = append(events, v)
		}
	}
	if c.Usage != nil {
		events = append(events, Usage{InputTokens: c.Usage.Input, OutputTokens: c.Usage.Output})
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

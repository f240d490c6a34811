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

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// OpenAI is the engine for a model behind an API for chat completions, as OpenAI's own, those
// of Ollama, llama.cpp and vLLM, and many others are. The prompt is one message of the user,
// and the reply is streamed. The model has no tools.
//
// Member.Endpoint is the address, Member.Model the model. The key, if there is one, is read
// from the variable that Member.APIKeyEnv names each time, in Member.Env or in the environment
// of this program, and kept nowhere; what the API says of it is shown without it.
type OpenAI struct{}

// Run asks the model. The last error is a *FailureError, or wraps context.Cause(ctx).
func (OpenAI) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		// Leaving the loop ends the request, too.
		asking, stop := context.WithCancel(ctx)
		defer stop()
		a := api{member: turn.Member}
		heard, err := a.ask(asking, turn.Prompt, yield)
		switch {
		case !heard:
		case ctx.Err() != nil:
			yield(nil, stopped(ctx))
		case err != nil:
			yield(nil, err)
		}
	}
}

// An api is the API that one turn asks.
type api struct {
	member Member
	key    string
}

// ask asks and passes on what is answered. heard is false when the consumer wants no more.
func (a *api) ask(ctx context.Context, prompt string, yield func(Event, error) bool) (heard bool, err error) {
	if err := a.findKey(); err != nil {
		return true, err
	}
	request, err := a.request(ctx, prompt)
	if err != nil {
		return true, a.failure(err.Error(), "check the member's endpoint")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return true, a.failure(err.Error(), "check that it runs, as with ollama serve, and that the member's endpoint is right")
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return true, a.refused(response)
	}
	return a.listen(response, yield)
}

// findKey reads the key that the member names.
func (a *api) findKey() error {
	name := a.member.APIKeyEnv
	if name == "" {
		return nil
	}
	if a.key = cmp.Or(a.member.Env[name], os.Getenv(name)); a.key == "" {
		return a.failure(fmt.Sprintf("the environment variable %q, which the member's apiKeyEnv names, is not set", name), "set it to the key before you start the chat")
	}
	return nil
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
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(a.member.Endpoint, "/")+"/chat/completions", bytes.NewReader(body))
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

// refused is what an answer other than 200 says.
func (a *api) refused(response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, saysKept))
	var answer completion
	says := strings.TrimSpace(string(body))
	if json.Unmarshal(body, &answer) == nil {
		says = cmp.Or(answer.trouble(), says)
	}
	return a.failure(strings.TrimSuffix(response.Status+": "+says, ": "), refusals[response.StatusCode])
}

// refusals are what a person does about an answer.
var refusals = map[int]string{
	http.StatusUnauthorized:    "check the key in the variable that the member's apiKeyEnv names",
	http.StatusForbidden:       "check the key in the variable that the member's apiKeyEnv names",
	http.StatusNotFound:        "check the member's endpoint, which often ends in /v1, and its model",
	http.StatusTooManyRequests: "wait a while, then type /retry",
	http.StatusBadRequest:      "check the member's model; when the prompt is too long, " + helpShorter,
}

// failure is a failed turn, without the key.
func (a *api) failure(says, help string) error {
	if a.key != "" {
		says = strings.ReplaceAll(says, a.key, "(the key)")
	}
	return &FailureError{Agent: "the API at " + withoutPassword(a.member.Endpoint), Says: head(says, saysKept), Help: cmp.Or(help, "to try again, type /retry")}
}

// withoutPassword is an address as it may be shown.
func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return address
}

// listen passes on the reply, until its end.
func (a *api) listen(response *http.Response, yield func(Event, error) bool) (heard bool, err error) {
	var p openaiParser
	r := lines.NewReader(response.Body, lineLimit)
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
			if !internal(e) && !yield(e, nil) {
				return false, nil
			}
		}
		switch {
		case err == lines.ErrTooLong:
			return true, a.failure(fmt.Sprintf("it sent a line of more than %d bytes", lineLimit), "ask for less at once")
		case err != nil || p.over:
			return true, a.judge(&p, response, err)
		}
	}
}

// internal reports whether an event is for the engine alone.
func internal(e Event) bool {
	switch e.(type) {
	case verdict, noise:
		return true
	}
	return false
}

// judge is what the end of the reply makes of the turn.
func (a *api) judge(p *openaiParser, response *http.Response, err error) error {
	switch {
	case p.verdict == nil && !p.said && p.noise != "":
		return a.failure(fmt.Sprintf("it answered %s that is no completion: “%s”", cmp.Or(response.Header.Get("Content-Type"), "something"), p.noise), refusals[http.StatusNotFound])
	case p.verdict == nil && err != nil && err != io.EOF:
		return a.failure("the reply broke off: "+err.Error(), "")
	case p.verdict == nil:
		return a.failure("the reply ended before it was finished", "")
	case p.verdict.failed:
		return a.failure(p.verdict.says, finishes[p.verdict.says])
	}
	return nil
}

// An openaiParser reads the lines of a reply: a stream of events, or a completion as a whole
// where an API does not stream.
type openaiParser struct {
	said    bool
	over    bool // the stream has said that it is
	noise   string
	verdict *verdict // the last one
}

// A completion is a chunk of a reply, a whole one, or an error.
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

// finishes are the ways in which a reply stops and is not finished, and what helps.
var finishes = map[string]string{
	finishedLength: `allow the model a longer reply or context where it runs, or say less at once`,
	finishedFilter: "ask in other words",
	finishedTools:  `tell it in its "systemInstruction" that it has no tools`,
}

const (
	finishedLength = "the reply was cut off: it has become too long for the model"
	finishedFilter = "the reply was withheld by a filter"
	finishedTools  = "it wants to use a tool, and has none"
)

func (p *openaiParser) parse(line []byte) []Event {
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	switch {
	case len(line) == 0 || line[0] == ':' || isField(line):
		return nil
	case isData && string(data) == "[DONE]":
		p.over = true
		return nil
	}
	return p.chunk(data)
}

// isField reports whether the line is a field of an event that says nothing here.
func isField(line []byte) bool {
	for _, field := range []string{"event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(field)) {
			return true
		}
	}
	return false
}

// chunk is what a part of a reply says.
func (p *openaiParser) chunk(data []byte) (events []Event) {
	var c completion
	if !decode(data, &c) {
		p.noise = cmp.Or(p.noise, quote(string(data)))
		return []Event{noise(data)}
	}
	for _, choice := range c.Choices {
		if text := choice.Delta.Content + choice.Message.Content; text != "" && choice.Index == 0 {
			p.said = true
			events = append(events, Text{text})
		}
		if choice.Finish != "" && choice.Index == 0 {
			events = append(events, p.judged(finish(choice.Finish)))
		}
	}
	if c.Usage != nil {
		events = append(events, Usage{InputTokens: c.Usage.Input, OutputTokens: c.Usage.Output})
	}
	if says := c.trouble(); says != "" {
		events = append(events, p.judged(verdict{failed: true, says: says}))
	}
	return events
}

func (p *openaiParser) judged(v verdict) verdict {
	p.verdict = &v
	return v
}

// finish is the verdict of a reason to stop.
func finish(reason string) verdict {
	switch reason {
	case "length":
		return verdict{failed: true, says: finishedLength}
	case "content_filter":
		return verdict{failed: true, says: finishedFilter}
	case "tool_calls", "function_call":
		return verdict{failed: true, says: finishedTools}
	}
	return verdict{}
}

// trouble is what an error says: an object with a message, or a string.
func (c completion) trouble() string {
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

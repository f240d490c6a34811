package agent

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

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
//
// A request that the API cannot serve at the moment (status 408, 425, 429, 500, 502 to 504, 520 to 524, 529, or no
// connection) is repeated after the time that its Retry-After asks for, or after a time that
// doubles; each is a [Retry]. A request that would be repeated after Turn.Limit is not. Redirects are
// not followed: the key and the prompt are meant for the endpoint.
type OpenAI struct {
	// Wait is the time before the first retry, unless the API asks for another; zero is 1 second.
	Wait time.Duration
	// Linger is how long the API may keep the connection open after it said that the reply is finished; zero is 5
	// seconds. The reply counts nevertheless.
	Linger time.Duration
}

var _ = Register(Info{
	Name: "openai", AgentTypes: []string{"openai"}, New: func() Engine { return OpenAI{} },
	Models: true, Endpoint: true, MaxImage: anyImage,
})

// Run sends the prompt and yields the reply. The last error is a *FailureError, or wraps
// context.Cause(ctx).
func (e OpenAI) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if !yieldUnsupportedServers(turn.MCPServers, yield) {
			return
		}
		// Leaving the loop cancels the request, too.
		requesting, cancel := context.WithCancel(ctx)
		defer cancel()
		a := api{
			member: turn.Member, images: turn.Images, wait: cmp.Or(max(e.Wait, 0), defaultRetryWait), limit: turn.Limit,
			effort: turn.Member.Thinking != nil, linger: e.Linger, cancel: cancel,
		}
		more, err := a.complete(requesting, turn.Prompt, yield)
		switch {
		case !more:
		case ctx.Err() != nil && a.lastRetry != "":
			yield(nil, fmt.Errorf("%w; the last try failed: %s", process.Stopped(ctx), a.lastRetry))
		case ctx.Err() != nil:
			yield(nil, process.Stopped(ctx))
		case err != nil:
			yield(nil, err)
		}
	}
}

// An api is the API of one turn.
type api struct {
	member  Member
	wait    time.Duration // before the first retry
	limit   time.Duration // of the turn
	key     string
	address *url.URL
	plain   bool // without stream_options, which it has rejected
	effort  bool // with reasoning_effort
	images  []Image

	linger time.Duration
	cancel context.CancelFunc // of the request

	lastRetry string // why the last repeated request had failed; "" after a response
}

// complete requests a completion and yields it. more is false if the consumer has left the loop.
func (a *api) complete(ctx context.Context, prompt string, yield func(Event, error) bool) (more bool, err error) {
	if name := a.member.APIKeyEnv; name != "" {
		if a.key = cmp.Or(a.member.Env[name], os.Getenv(name)); a.key == "" {
			reason := fmt.Sprintf("the environment variable %q, named by the member's apiKeyEnv, is not set", name)
			return true, a.failure(reason, Remedy{Advice: "set it to the key before starting the chat"})
		}
	}
	if a.address, err = url.Parse(a.member.Endpoint); err != nil {
		return true, a.failure(urlReason(err), Remedy{Advice: "check the member's endpoint"})
	}
	response, more, err := a.post(ctx, prompt, yield)
	if err != nil || !more {
		return more, err
	}
	defer response.Body.Close()
	return a.relay(response, yield)
}

// request returns the request of a completion.
func (a *api) request(ctx context.Context, prompt string) (*http.Request, error) {
	asked := map[string]any{
		"model":    a.member.Model,
		"messages": []map[string]any{{"role": "user", "content": a.content(prompt)}},
		"stream":   true,
	}
	if !a.plain {
		asked["stream_options"] = map[string]bool{"include_usage": true}
	}
	if a.effort {
		asked["reasoning_effort"] = map[bool]string{false: "none", true: "medium"}[*a.member.Thinking]
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	address := a.address.JoinPath("chat", "completions").String()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if a.key != "" {
		request.Header.Set("Authorization", "Bearer "+a.key)
	}
	for name, value := range a.member.Headers {
		request.Header.Set(name, value)
	}
	return request, nil
}

// content returns the content of the message: a text, or with pictures a list of parts.
func (a *api) content(prompt string) any {
	if len(a.images) == 0 {
		return prompt
	}
	parts := []map[string]any{{"type": "text", "text": prompt}}
	for _, i := range a.images {
		parts = append(parts, map[string]any{"type": "text", "text": i.Label},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": i.dataURL()}})
	}
	return parts
}

// statusError returns the error of a response other than 200, whose body is an excerpt.
func (a *api) statusError(response *http.Response, body []byte) error {
	if target, err := response.Location(); err == nil && response.StatusCode/100 == 3 {
		reason := fmt.Sprintf("%s: it redirects to %s://%s, and redirects are not followed",
			response.Status, target.Scheme, target.Host)
		return a.failure(reason, Remedy{Advice: "set the member's endpoint to the address that answers"})
	}
	status := strings.TrimSpace(response.Status) // that of an unknown code ends with a space
	message := statusMessage(body)
	remedy := statusRemedies[response.StatusCode]
	if noCredit(body) {
		remedy = remedyCredit
	}
	return a.failure(strings.TrimSuffix(status+": "+message, ": "), remedy)
}

// statusMessage returns what the body of a response other than 200 says.
func statusMessage(body []byte) string {
	var c completion
	message := strings.TrimSpace(string(body))
	if jsonlines.Decode(body, &c) {
		return cmp.Or(c.errorMessage(), c.Message, message)
	}
	if page := htmlTitle().FindStringSubmatch(message); page != nil {
		return strings.TrimSpace(html.UnescapeString(page[1]))
	}
	return message
}

// htmlTitle matches a page of a proxy, and finds its title.
var htmlTitle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^<(?:!doctype|html).*<title>(.*?)</title>`)
})

// statusRemedies are the remedies by HTTP status.
var statusRemedies = map[int]Remedy{
	http.StatusUnauthorized:    {Advice: "check the key in the variable that the member's apiKeyEnv names"},
	http.StatusForbidden:       {Advice: "check the key in the variable that the member's apiKeyEnv names"},
	http.StatusNotFound:        {Advice: "check the member's endpoint, which often ends in /v1, and its model"},
	http.StatusPaymentRequired: remedyCredit,
	http.StatusTooManyRequests: {"wait a while, then retry", retry},
	http.StatusBadRequest: {
		Advice: "check the member's model; if the prompt is too long, " + remedyShorten.Advice,
	},
}

// failure returns the error of a turn, without secrets. The remedy of a zero Remedy is a retry.
func (a *api) failure(reason string, remedy Remedy) error {
	if remedy.Advice == "" {
		remedy.Hint = retry
	}
	name := "the API"
	if a.address != nil { // without the query and the user, which may be secrets
		shown := url.URL{Scheme: a.address.Scheme, Host: a.address.Host, Path: a.address.Path}
		name += " at " + shown.String()
	}
	return profile{name: name}.failure(a.withoutSecrets(reason), remedy)
}

// withoutSecrets returns a reason without the key, the values of headers, and those of the endpoint's
// query, which an API may repeat.
func (a *api) withoutSecrets(reason string) string {
	secrets := []string{a.key}
	for _, value := range a.member.Headers {
		secrets = append(secrets, value, strings.TrimPrefix(value, "Bearer "))
	}
	if a.address != nil {
		for _, values := range a.address.Query() {
			for _, value := range values {
				secrets = append(secrets, value, url.QueryEscape(value))
			}
		}
		secrets = append(secrets, a.address.RawQuery)
		if password, ok := a.address.User.Password(); ok {
			secrets = append(secrets, password)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			reason = strings.ReplaceAll(reason, secret, "(secret)")
		}
	}
	return reason
}

// minSecret is the length of the shortest secret that is removed from an error message. A shorter
// value, such as a version in a query, may be any word.
const minSecret = 8

// urlReason returns the reason of an error without the address, which may have secrets.
func urlReason(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// relay yields the reply, until its end. more is false if the consumer has left the loop.
func (a *api) relay(response *http.Response, yield func(Event, error) bool) (more bool, err error) {
	var p openaiParser
	body := bufio.NewReader(response.Body)
	if isObject(body) {
		return a.relayObject(&p, response, body, yield)
	}
	r := lines.NewReader(&lineEnds{r: body}, jsonlines.Limit)
	var overdue *time.Timer // of a server that leaves the connection open after the reply
	for {
		line, err := r.Next()
		if err != nil && err != lines.ErrTooLong {
			line = r.Rest()
		}
		events := p.parse(line)
		if err != nil || p.over {
			events = append(events, p.finish()...)
		}
		if len(events) == 0 && bytes.HasPrefix(line, []byte("data:")) {
			events = append(events, Alive{}) // it thinks
		}
		if p.verdict != nil && overdue == nil {
			overdue = time.AfterFunc(cmp.Or(a.linger, defaultOpenAILinger), a.cancel)
			defer overdue.Stop()
		}
		switch {
		case !yieldAll(events, yield):
			return false, nil
		case err == lines.ErrTooLong || p.tooLong():
			return true, a.failure(jsonlines.ErrTooLong.Error(), Remedy{Advice: "ask for less at once"})
		case err != nil || p.over:
			return true, a.result(&p, response, err)
		}
	}
}

// defaultOpenAILinger is how long a server may send after a finish_reason: usage, and [DONE].
const defaultOpenAILinger = 5 * time.Second

// lineEnds replaces each CR and CRLF by LF.
type lineEnds struct {
	r       io.Reader
	afterCR bool
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	kept := p[:0]
	for _, b := range p[:n] {
		switch {
		case b == '\r':
			kept = append(kept, '\n')
		case b != '\n' || !l.afterCR:
			kept = append(kept, b)
		}
		l.afterCR = b == '\r'
	}
	return len(kept), err
}

// isObject reports whether a body begins with a JSON object: the API does not stream. It reads past a byte order mark
// and blanks.
func isObject(body *bufio.Reader) bool {
	const mark = "\uFEFF"
	if start, _ := body.Peek(len(mark)); string(start) == mark {
		_, _ = body.Discard(len(mark))
	}
	for {
		first, err := body.Peek(1)
		if err != nil || !bytes.Contains([]byte(" \t\r\n"), first) {
			return err == nil && first[0] == '{'
		}
		_, _ = body.Discard(1)
	}
}

// relayObject is relay for an API that answers with JSON objects, of one or more lines.
func (a *api) relayObject(
	p *openaiParser, response *http.Response, body io.Reader, yield func(Event, error) bool,
) (more bool, err error) {
	limited := &io.LimitedReader{R: body, N: jsonlines.Limit + 1}
	for decoder := json.NewDecoder(limited); ; {
		var object json.RawMessage
		err := decoder.Decode(&object)
		switch {
		case limited.N == 0:
			return true, a.failure(jsonlines.ErrTooLong.Error(), Remedy{Advice: "ask for less at once"})
		case err != nil:
			if _, invalid := errors.AsType[*json.SyntaxError](err); invalid && p.unparsed == "" {
				p.unparsed = "{…"
			}
			return yieldAll(p.finish(), yield), a.result(p, response, err)
		case !yieldAll(p.chunk(object), yield):
			return false, nil
		case p.verdict != nil:
			return yieldAll(p.finish(), yield), a.result(p, response, nil)
		}
	}
}

// yieldAll yields the events for the consumer, and reports whether it wants more.
func yieldAll(events []Event, yield func(Event, error) bool) bool {
	for _, e := range events {
		switch e.(type) {
		case verdict, unparsedLine: // kept by the parser
			continue
		}
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

// result returns the turn's error at the end of the reply.
func (a *api) result(p *openaiParser, response *http.Response, err error) error {
	switch {
	case p.verdict == nil && !p.text.started && p.unparsed != "":
		kind := cmp.Or(response.Header.Get("Content-Type"), "something")
		reason := fmt.Sprintf("it answered %s that is no completion: “%s”", kind, p.unparsed)
		return a.failure(reason, statusRemedies[http.StatusNotFound])
	case p.verdict == nil && err != nil && err != io.EOF:
		return a.failure("the reply broke off: "+err.Error(), Remedy{})
	case p.verdict == nil && p.over && p.text.started: // some APIs give no reason when they are done
		return nil
	case p.verdict == nil:
		return a.failure("the reply ended before it was finished", Remedy{})
	case !p.verdict.failed && p.lost:
		return a.failure(fmt.Sprintf("a part of the reply cannot be read: “%s”", p.unparsed), Remedy{})
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

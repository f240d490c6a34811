package interchange

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// OTLPOptions are what WriteOTLP writes besides the events.
type OTLPOptions struct {
	Version string // of the program; "": unknown
	Texts   bool   // the texts of messages and of tool calls, too
}

// WriteOTLP writes a session as one trace of OpenTelemetry: an OTLP/JSON request of the trace service, on one line. The
// session, each turn, each tool call and each message of a person is a span, with the attributes of the semantic
// conventions for generative AI. state is the fold of the events as far as they were read. Ids are made of those of the
// session, so that the same events always give the same bytes, and a backend that has a span gets it once more.
//
// The format is that of opentelemetry.io/docs/specs/otlp#json-protobuf-encoding.
func WriteOTLP(
	out io.Writer, state *projection.State, events iter.Seq2[projection.Event, error], o OTLPOptions,
) error {
	b := bufio.NewWriter(out)
	w := &otlpWriter{w: b, o: o, state: state, replies: map[string]string{}}
	w.raw(`{"resourceSpans":[{"resource":{"attributes":`)
	resource := attributes{{"service.name", "agent-chatter"}}
	w.value(resource.with("service.version", o.Version))
	w.raw(`},"scopeSpans":[{"scope":{"name":"agent-chatter"},"spans":[`)
	var c conversation.Conversation
	for e, err := range events {
		if err != nil {
			return err
		}
		w.last = e.Time
		for _, d := range c.Apply(e) {
			w.add(d)
		}
	}
	for _, d := range c.Close() {
		w.add(d)
	}
	for _, turn := range w.unfinished {
		w.span(turn)
	}
	w.span(w.session())
	w.raw("]}]}]}\n")
	return cmp.Or(w.err, b.Flush())
}

// An otlpWriter writes spans.
type otlpWriter struct {
	w       io.Writer
	o       OTLPOptions
	state   *projection.State
	replies map[string]string // of the turns that are open, by their ids; only with OTLPOptions.Texts
	last    time.Time         // of the newest event

	unfinished []span // turns without an end so far

	spans int
	err   error
}

// A span is a span of OTLP/JSON, in which 64-bit numbers are strings.
type span struct {
	TraceID string     `json:"traceId"`
	SpanID  string     `json:"spanId"`
	Parent  string     `json:"parentSpanId,omitempty"`
	Name    string     `json:"name"`
	Kind    int        `json:"kind"`
	Start   string     `json:"startTimeUnixNano"`
	End     string     `json:"endTimeUnixNano"`
	Values  attributes `json:"attributes"`
	Status  spanStatus `json:"status"`
}

type spanStatus struct {
	Code int `json:"code,omitempty"`
}

const (
	spanInternal = 1 // SPAN_KIND_INTERNAL
	statusError  = 2 // STATUS_CODE_ERROR
)

// attributes are values with their names, in an order that does not change.
type attributes []attribute

type attribute struct {
	key   string
	value any // a string, an int64, a float64 or a []string
}

// with returns the attributes with another one, unless its value is zero.
func (a attributes) with(key string, value any) attributes {
	switch value {
	case "", int64(0), 0.0:
		return a
	}
	return append(a, attribute{key, value})
}

// MarshalJSON implements json.Marshaler.
func (a attribute) MarshalJSON() ([]byte, error) {
	return json.Marshal(fields{"key": a.key, "value": otlpValue(a.value)})
}

func otlpValue(v any) fields {
	switch v := v.(type) {
	case int64:
		return fields{"intValue": strconv.FormatInt(v, 10)}
	case float64:
		return fields{"doubleValue": v}
	case []string:
		values := make([]fields, len(v))
		for i, text := range v {
			values[i] = otlpValue(text)
		}
		return fields{"arrayValue": fields{"values": values}}
	}
	return fields{"stringValue": v}
}

// add adds the span that a delta completes.
func (w *otlpWriter) add(d conversation.Delta) {
	switch d := d.(type) {
	case conversation.Said:
		if d.Message.Speaker.Type == projection.TypeHuman {
			w.span(w.message(d))
		}
	case conversation.Completed:
		w.span(w.tool(d.Turn, d.Call, d.Time))
	case conversation.Replied:
		if w.o.Texts {
			w.replies[d.Turn.ID] = d.Message.Content
		}
	case conversation.Ended:
		for _, call := range d.Open {
			w.span(w.tool(d.Turn, call, w.last))
		}
		turn := w.turn(d)
		w.unfinished = slices.DeleteFunc(w.unfinished, func(s span) bool { return s.SpanID == turn.SpanID })
		if d.End == nil { // another turn of the member has begun; its end may follow all the same
			w.unfinished = append(w.unfinished, turn)
			return
		}
		w.span(turn)
	}
}

// session returns the span of the session, which is the parent of the others.
func (w *otlpWriter) session() span {
	s := w.state
	values := w.values("").with("agent_chatter.team", s.Team.Name).
		with("agent_chatter.messages", int64(s.Stats.Messages)).with("agent_chatter.turns", int64(s.Stats.Turns))
	if w.o.Texts {
		values = values.with("agent_chatter.title", s.Row.Title)
	}
	root := w.newSpan("session", "session", s.Row.CreatedAt, w.last, values)
	root.Parent = ""
	return root
}

// turn returns the span of a turn.
func (w *otlpWriter) turn(d conversation.Ended) span {
	t := d.Turn
	values := w.values("invoke_agent").with("gen_ai.agent.id", t.Speaker.ID).with("gen_ai.agent.name", t.Speaker.Name).
		with("gen_ai.provider.name", providerOf(t.AgentType)).with("gen_ai.request.model", t.Model)
	reply, reason := cmp.Or(w.replies[t.ID], d.Partial), "unfinished"
	delete(w.replies, t.ID)
	failed := false
	if d.End != nil {
		failed, reason = d.End.FinishReason == projection.Failed, string(d.End.FinishReason)
		values = values.withUsage(d.End.Usage)
	}
	values = append(values, attribute{"gen_ai.response.finish_reasons", []string{reason}})
	if w.o.Texts && reply != "" {
		values = values.with("gen_ai.output.messages", messageJSON("assistant", reply))
	}
	s := w.newSpan("turn "+t.ID, "invoke_agent "+t.Speaker.Name, t.Time, cmp.Or(d.Time, w.last), values)
	if failed {
		s.fail("turn")
	}
	return s
}

// withUsage returns the attributes with what a turn used; nil: it is unknown.
func (a attributes) withUsage(u *projection.Usage) attributes {
	if u == nil {
		return a
	}
	a = a.with("gen_ai.usage.input_tokens", u.Input+u.CachedRead+u.CachedWrite).
		with("gen_ai.usage.cache_read.input_tokens", u.CachedRead).
		with("gen_ai.usage.cache_creation.input_tokens", u.CachedWrite).
		with("gen_ai.usage.output_tokens", u.Output+u.Thought)
	if u.Cost != nil {
		a = a.with("agent_chatter.cost", u.Cost.Amount).with("agent_chatter.currency", u.Cost.Currency)
	}
	return a
}

// tool returns the span of a tool call of a turn.
func (w *otlpWriter) tool(t *conversation.Turn, c conversation.Call, end time.Time) span {
	name := c.Started.Name
	values := w.values("execute_tool").with("gen_ai.tool.name", name).with("gen_ai.tool.call.id", c.Started.ToolID).
		with("agent_chatter.tool.state", string(c.State()))
	if w.o.Texts {
		values = values.with("gen_ai.tool.call.arguments", string(c.Started.Input))
		if c.Result != nil {
			values = values.with("gen_ai.tool.call.result", cmp.Or(c.Result.Output, c.Result.Error))
		}
	}
	// Agents may use the id of a tool call again in another turn, or in the same.
	id := "tool " + t.ID + " " + c.Started.ToolID + " " + strconv.FormatUint(c.Seq, 10)
	s := w.newSpan(id, "execute_tool "+name, cmp.Or(c.Time, end), end, values)
	s.Parent = spanID("turn " + t.ID)
	switch c.State() {
	case conversation.Failed, conversation.Refused:
		s.fail(string(c.State()))
	}
	return s
}

// message returns the span of a message of a person, which takes no time.
func (w *otlpWriter) message(d conversation.Said) span {
	values := w.values("").with("agent_chatter.member", d.Message.Speaker.Name)
	if w.o.Texts {
		values = values.with("gen_ai.input.messages", messageJSON("user", d.Message.Content))
	}
	return w.newSpan("message "+d.Message.ID, "message "+d.Message.Speaker.Name, d.Time, d.Time, values)
}

// values returns the attributes that each span has. The operation is "" if the conventions have none.
func (w *otlpWriter) values(operation string) attributes {
	return attributes{}.with("gen_ai.operation.name", operation).with("gen_ai.conversation.id", w.state.SessionID)
}

func (w *otlpWriter) newSpan(id, name string, start, end time.Time, values attributes) span {
	if end.Before(start) { // the clock was set back
		end = start
	}
	return span{
		TraceID: traceID(w.state.SessionID), SpanID: spanID(id), Parent: spanID("session"),
		Name: name, Kind: spanInternal, Start: nanoseconds(start), End: nanoseconds(end), Values: values,
	}
}

// fail marks a span as one of what failed, as kind names it.
func (s *span) fail(kind string) {
	s.Status.Code = statusError
	s.Values = s.Values.with("error.type", kind)
}

// span writes a span.
func (w *otlpWriter) span(s span) {
	if w.spans > 0 {
		w.raw(",")
	}
	w.spans++
	w.value(s)
}

func (w *otlpWriter) value(v any) {
	text, err := json.Marshal(v)
	w.err = cmp.Or(w.err, err)
	w.raw(string(text))
}

func (w *otlpWriter) raw(text string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.w, text)
	}
}

// traceID returns the id of the trace of a session: its ULID, in hex.
func traceID(session string) string {
	if id, err := ulid.ParseStrict(session); err == nil && id != (ulid.ULID{}) {
		return hex.EncodeToString(id[:])
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16])
}

// spanID returns the id of a span for a name that is its own in the trace.
func spanID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(max(t.UnixNano(), 0), 10) }

// messageJSON returns a message as the attributes of the conventions have it.
func messageJSON(role, text string) string {
	message := []fields{{"role": role, "parts": []fields{{"type": "text", "content": text}}}}
	all, _ := json.Marshal(message) // of texts, it does not fail
	return string(all)
}

// providerOf returns the name that the conventions have for the provider of an agent; that of the agent if they have
// none.
func providerOf(agentType string) string {
	switch agentType {
	case "claude":
		return "anthropic"
	case "codex", "openai":
		return "openai"
	case "gemini":
		return "gcp.gemini"
	}
	return agentType
}

package interchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// codexFormat is the name of the format of Codex, which is also the id of its agent.
const codexFormat = "codex"

var _ = RegisterFormat(Format{
	Name: codexFormat,
	Detect: func(o Fields) bool {
		kind := o["type"]
		isLine := kind == "session_meta" || kind == "response_item" || kind == "event_msg"
		return isLine && o.Has("payload") || kind == "message" && o.Has("role", "content") ||
			o.Has("id", "timestamp", "instructions") || o.Has("record_type") || o.Has("session", "items")
	},
	Read: codexSession,
})

// ErrSubagent: a transcript is that of an agent that another session started.
var ErrSubagent = errors.New("it is the transcript of a subagent")

var codexAgent = agent(codexFormat, "Codex")

// codexSession returns the session of a Codex rollout.
func codexSession(src Source, app projection.App) (*Session, error) {
	src, err := src.withSubagents(codexSubagents(src)).withBase()
	if err == nil {
		src, err = linesOfCodex(src)
	}
	if err != nil {
		return nil, err
	}
	header, err := readCodexHeader(src)
	if err != nil {
		return nil, err
	}
	if header.messages == 0 {
		return nil, noMessages(header.unknown)
	}
	s := header.session(src.Path, app)
	s.conversation = func(yield func(journal.Record) bool) (ended, error) {
		t := &transcript{format: codexFormat, id: header.id, yield: yield}
		if err := newCodexReader(t, src, header.lines, header.removed).read(); err != nil {
			return ended{}, err
		}
		return t.finish()
	}
	return s, nil
}

// codexHeader is what a first reading of a rollout finds.
type codexHeader struct {
	transcript
	lines   int         // that are objects
	prompts []int       // lines of the person's messages that were not removed
	removed []lineRange // lines that were removed later, in order
}

// lineRange are the lines from one up to another.
type lineRange struct{ from, to int }

func readCodexHeader(src Source) (*codexHeader, error) {
	h := &codexHeader{transcript: transcript{format: codexFormat}}
	h.speakers = []projection.Speaker{user, codexAgent}
	subagent := false
	err := src.eachLine(func(_ int, text []byte) bool {
		line, ok := newCodexLine(text)
		if !ok {
			h.unknown++
			return true
		}
		h.addTime(line.at)
		switch line.kind {
		case "session_meta":
			if h.id == "" { // a later one is copied from the parent of a fork
				h.id, h.cwd = line.payload.field("id").text(), cmp.Or(line.payload.field("cwd").text(), h.cwd)
				subagent = string(line.payload.field("thread_source").plain()) == "subagent" ||
					line.payload.field("source").field("subagent") != nil
			}
		case "response_item":
			h.addPrompt(h.lines, line.payload)
		case "compacted":
			h.messages++
		case "event_msg":
			h.addEvent(h.lines, line.payload)
		case "turn_context", "token_usage_record", "state":
		default:
			h.unknown++
		}
		h.lines++
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case subagent:
		return nil, ErrSubagent
	}
	return h, nil
}

func (h *codexHeader) addPrompt(n int, item jsonValue) {
	if string(item.field("type").plain()) != "message" {
		return
	}
	switch string(item.field("role").plain()) {
	case "user":
		text := codexMessage(item)
		if _, rest, found := strings.Cut(text, "<cwd>"); found && h.cwd == "" { // the older forms have it only here
			h.cwd, _, _ = strings.Cut(rest, "</cwd>")
		}
		if _, ok := humanText(codexTexts(item)); ok {
			h.prompts = append(h.prompts, n)
			h.messages++
		}
	case "assistant":
		h.messages++
	}
}

// addEvent looks for titles and rollbacks. A rollback removes the last messages
// of the person and all that follow them.
func (h *codexHeader) addEvent(n int, event jsonValue) {
	switch string(event.field("type").plain()) {
	case "thread_name_updated":
		h.title = cmp.Or(event.field("thread_name").text(), h.title)
	case "thread_rolled_back":
		turns := int(min(event.field("num_turns").tokens(), int64(len(h.prompts))))
		if turns == 0 {
			return
		}
		from := h.prompts[len(h.prompts)-turns]
		for len(h.removed) > 0 && h.removed[len(h.removed)-1].from > from {
			h.removed = h.removed[:len(h.removed)-1]
		}
		h.removed = append(h.removed, lineRange{from, n})
		h.prompts = h.prompts[:len(h.prompts)-turns]
	}
}

// codexLine is a line of a rollout. Until September 2025, its header and its items
// had no payload around them; lines with a record_type had nothing else.
type codexLine struct {
	kind    string
	at      time.Time
	payload jsonValue
}

func newCodexLine(text []byte) (codexLine, bool) {
	var l codexLine
	whole := false
	for name, v := range jsonValue(text).fields(&whole) {
		switch string(name) {
		case "type":
			l.kind = string(v.plain())
		case "timestamp":
			l.at = v.time()
		case "payload":
			l.payload = v
		case "record_type":
			l.kind = "state"
		}
	}
	if l.payload == nil && l.kind != "state" {
		l.payload = text
		if l.kind == "" {
			l.kind = "session_meta"
		} else {
			l.kind = "response_item"
		}
	}
	return l, whole
}

// linesOfCodex returns the source as lines. The oldest rollouts are one object, which
// becomes a header and items without a payload around them.
func linesOfCodex(src Source) (Source, error) {
	isObject := false
	err := src.eachLine(func(_ int, line []byte) bool {
		if !bytes.HasPrefix(line, []byte("{")) { // a program's status
			return true
		}
		_, whole := newCodexLine(line)
		isObject = !whole || jsonValue(line).field("items") != nil
		return false
	})
	if err != nil || !isObject {
		return src, err
	}
	var all bytes.Buffer
	hasHeader := false
	whole, err := src.eachField("items", func(name string, v jsonValue) bool {
		if name == "session" || name == "items" {
			_ = json.Compact(&all, v) // which was decoded
			all.WriteByte('\n')
		}
		hasHeader = hasHeader || name == "session"
		return all.Len() <= maxSourceFile
	})
	if err == nil && all.Len() > maxSourceFile {
		err = &LimitError{"the file", maxSourceFile, "bytes"}
	}
	if err != nil || !whole || !hasHeader {
		return src, err
	}
	src.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(all.Bytes())), nil }
	return src, nil
}

// codexReader passes the lines of a rollout to the collector. The messages are
// in its response items; its events repeat them.
type codexReader struct {
	*transcript
	src     Source
	lines   int               // to read
	removed []lineRange       // of the rest
	n       int               // of the line
	part    int               // of the history in the line; 0: it has none
	total   projection.Usage  // of the session so far
	turnID  string            // of the program's turn with the last message
	begun   string            // the program's newest turn
	agents  map[string]string // ids of the agents that calls started
}

func newCodexReader(t *transcript, src Source, lines int, removed []lineRange) *codexReader {
	t.agent, t.source, t.readSubagent = codexAgent, src, readCodexSubagent
	return &codexReader{transcript: t, src: src, lines: lines, removed: removed, agents: map[string]string{}}
}

func readCodexSubagent(t *transcript, src Source) error {
	return newCodexReader(t, src, math.MaxInt, nil).read()
}

func (c *codexReader) read() error {
	return c.src.eachLine(func(_ int, text []byte) bool {
		line, ok := newCodexLine(text)
		if !ok {
			c.addUnknown()
			return true
		}
		if c.n == c.lines { // written since the first reading
			return false
		}
		if len(c.removed) > 0 && c.n == c.removed[0].to {
			c.removed = c.removed[1:]
		}
		if len(c.removed) == 0 || c.n < c.removed[0].from {
			c.add(line)
		}
		c.n++
		return !c.stopped
	})
}

func (c *codexReader) add(line codexLine) {
	switch line.kind {
	case "session_meta":
		c.addTime(line.at) // the items of older forms have no time
	case "token_usage_record", "state":
	case "turn_context":
		c.model, c.begun = line.payload.field("model").text(), line.payload.field("turn_id").text()
	case "response_item":
		c.addItem(line.payload, line.at)
	case "compacted":
		c.addCompacted(line)
	case "event_msg":
		c.addEvent(line.payload, line.at)
	default:
		c.addUnknown()
	}
}

func (c *codexReader) addItem(p jsonValue, at time.Time) {
	id := cmp.Or(p.field("id").text(), c.lineID())
	kind := string(p.field("type").plain())
	switch kind {
	case "message":
		c.turnID, c.point = c.begun, ""
		switch string(p.field("role").plain()) {
		case "user":
			c.addHuman(id, codexTexts(p), at)
		case "assistant":
			c.addReply(id, codexMessage(p), at)
		default:
			c.skipped++
		}
	case "function_call":
		c.startCall(id, p.field("call_id").text(), p.field("name").text(), []byte(p.field("arguments").text()), at)
	case "custom_tool_call":
		c.startCall(id, p.field("call_id").text(), p.field("name").text(), slices.Clone(p.field("input")), at)
	case "local_shell_call":
		c.startCall(id, cmp.Or(p.field("call_id").text(), id), "local_shell", slices.Clone(p.field("action")), at)
	case "web_search_call", "image_generation_call":
		name := strings.TrimSuffix(kind, "_call")
		c.startCall(id, id, name, slices.Clone(p.field("action")), at)
		output := ""
		if image := p.field("result"); image.isString() {
			output = attachmentText("image", "image/png", image)
		}
		c.completeTool(id, output, "", at)
	case "function_call_output", "custom_tool_call_output":
		c.completeCall(p, at)
	default:
		c.skipped++
	}
}

// startCall adds a call of a tool. If it begins a turn, that has the id of the
// item.
func (c *codexReader) startCall(item, id, name string, input []byte, at time.Time) {
	if len(input) == 0 {
		input = []byte("{}")
	}
	c.beginTurn(item, c.timeOf(at))
	c.startTool(id, name, input, at)
}

func (c *codexReader) completeCall(p jsonValue, at time.Time) {
	id := p.field("call_id").text()
	output, failed := codexOutput(p.field("output"))
	agentID := c.agents[id]
	if agentID == "" { // an older version says it only to the model
		agentID = jsonValue(output).field("agent_id").text()
	}
	if said := c.addSubagent(id, agentID); said != "" {
		output = said
	}
	if failed {
		c.completeTool(id, "", cmp.Or(output, "failed"), at)
	} else {
		c.completeTool(id, output, "", at)
	}
}

// codexOutput returns the text of a tool's output: a text, a list of parts, or
// an object with a text.
func codexOutput(v jsonValue) (output string, failed bool) {
	switch {
	case v.isString():
		text := v.text()
		if old := jsonValue(text); old.field("metadata") != nil && old.field("output").isString() {
			text = old.field("output").text()
		}
		return text, false
	case len(v) > 0 && v[0] == '{':
		content := v.field("content")
		return content.text() + codexOutputText(content), string(v.field("success")) == "false"
	}
	return codexOutputText(v), false
}

func codexOutputText(parts jsonValue) string { return strings.Join(codexParts(parts, nil), "\n\n") }

// codexMessage returns the text of a message. What the program has added to the
// message of a person is left out.
func codexMessage(item jsonValue) string { return strings.Join(codexTexts(item), "\n\n") }

// codexTexts returns the texts of the parts of a message, as codexMessage does.
func codexTexts(item jsonValue) []string {
	content, metadata := item.field("content"), item.field("internal_chat_message_metadata_passthrough")
	var written []bool // by a person, for each part; nil: unknown
	for part := range metadata.field("content_item_metadata").elements() {
		origin := string(part.field("provenance").field("type").plain())
		written = append(written, origin == "user" || origin == "")
	}
	if string(item.field("role").plain()) != "user" {
		written = nil
	}
	return codexParts(content, written)
}

// codexParts returns the texts of the parts of a message. A part that written has as false is left out; nil
// is all parts.
func codexParts(content jsonValue, written []bool) (texts []string) {
	i := -1
	for part := range content.elements() {
		if i++; i < len(written) && !written[i] {
			continue
		}
		switch kind := string(part.field("type").plain()); {
		case strings.HasSuffix(kind, "text"):
			text := part.field("text").text()
			if !strings.HasPrefix(text, "<image ") && text != "<image>" && text != "</image>" { // around an image
				texts = append(texts, text)
			}
		case strings.HasSuffix(kind, "image"):
			texts = append(texts, imageText(part.field("image_url")))
		}
	}
	return texts
}

// imageText is the placeholder of an image that a message has as a URL.
func imageText(url jsonValue) string {
	data, ok := strings.CutPrefix(string(url.plain()), "data:")
	if !ok {
		return attachmentText("image", "", nil)
	}
	mediaType, encoded, _ := strings.Cut(data, ",")
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return attachmentText("image", mediaType, jsonValue(`"`+encoded+`"`))
}

// addCompacted adds the history that a compaction kept, if this is the only
// record of it: a fork may begin there.
func (c *codexReader) addCompacted(line codexLine) {
	if c.messages > 0 {
		c.skipped++
		return
	}
	summary := line.payload.field("message").text()
	for item := range line.payload.field("replacement_history").elements() {
		text := codexMessage(item)
		if summary != "" && strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(summary)) {
			continue
		}
		c.part++
		c.addItem(item, line.at)
	}
	c.part++
	c.addReply(c.lineID(), summary, line.at)
	c.part = 0
}

// lineID returns an id for an item that has none.
func (c *codexReader) lineID() string {
	if c.part > 0 {
		return fmt.Sprintf("%s-%d-%d", c.id, c.n, c.part)
	}
	return fmt.Sprintf("%s-%d", c.id, c.n)
}

func (c *codexReader) addEvent(p jsonValue, at time.Time) {
	switch string(p.field("type").plain()) {
	case "token_count": // the total so far
		if total := p.field("info").field("total_token_usage"); total != nil {
			c.addTotal(codexUsage(total))
		}
	case "turn_aborted":
		c.stopTurn(c.lineID(), projection.Cancelled, "", at)
		c.endOwn(p)
	case "error":
		c.stopTurn(c.lineID(), projection.Failed, p.field("message").text(), at)
	case "task_complete", "turn_complete":
		if failure := p.field("error").field("message").text(); failure != "" {
			c.stopTurn(c.lineID(), projection.Failed, failure, at)
		}
		c.endOwn(p)
	case "item_completed":
		c.addAgent(p.field("item"))
	case "sub_agent_activity", "collab_agent_spawn_end":
		c.addAgent(p)
	}
}

// endOwn notes that the program's turn with the last message has ended: a fork can begin after it.
func (c *codexReader) endOwn(p jsonValue) {
	if id := p.field("turn_id").text(); id == c.turnID {
		c.point = id
	}
}

// addAgent notes which agent a call has started.
func (c *codexReader) addAgent(p jsonValue) {
	call := cmp.Or(p.field("call_id").text(), p.field("event_id").text(), p.field("id").text())
	if id := cmp.Or(p.field("agent_thread_id").text(), p.field("new_thread_id").text()); id != "" {
		c.agents[call] = id
	}
}

package interchange

import (
	"bytes"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// geminiFormat is the name of the format of the Gemini CLI, which is also the id of its agent.
const geminiFormat = "gemini"

var _ = RegisterFormat(Format{
	Name: geminiFormat,
	Detect: func(o Fields) bool {
		isMessage := (o["type"] == "user" || o["type"] == "gemini") && o.Has("id", "content")
		return isMessage || o.Has("sessionId", "projectHash") || o.Has("sessionId", "startTime", "messages")
	},
	Read: geminiSession,
})

var geminiAgent = agent(geminiFormat, "Gemini")

// Memory for the messages of a conversation, in bytes: the limit for all of them, and
// what each one needs besides its content.
const (
	maxGemini      = 64 << 20
	geminiOverhead = 200
)

// geminiSession returns the session of a conversation of the Gemini CLI. It
// holds the messages: a line may replace any of them, or all.
func geminiSession(src Source, app projection.App) (*Session, error) {
	src = src.withSubagents(geminiSubagents(src))
	g, err := readGemini(src)
	if err != nil {
		return nil, err
	}
	if g.kind == "subagent" {
		return nil, ErrSubagent
	}
	return newSession(geminiFormat, src.Path, app, func(t *transcript) error {
		g.collect(t, src)
		return nil
	})
}

func readGeminiSubagent(t *transcript, src Source) error {
	g, err := readGemini(src)
	if err == nil {
		g.collect(t, src)
	}
	return err
}

// geminiConversation is a conversation of the Gemini CLI with its final messages.
type geminiConversation struct {
	sessionID, cwd, title, kind string
	started                     time.Time
	messages                    []geminiMessage
	index                       map[string]int // of messages by id
	held                        int            // bytes
	skipped                     int            // lines
}

type geminiMessage struct {
	id  string
	raw jsonValue
}

// bytes returns how much memory the message needs.
func (m geminiMessage) bytes() int { return geminiOverhead + len(m.id) + len(m.raw) }

// readGemini reads a conversation: lines, or one object as older versions of the
// program wrote it.
func readGemini(src Source) (*geminiConversation, error) {
	g := &geminiConversation{}
	whole := false
	err := src.eachLine(func(n int, line []byte) bool {
		if whole = n == 0 && !isWhole(line); !whole {
			g.addLine(line)
		}
		return !whole && !g.isTooLong()
	})
	if err == nil && whole {
		whole, err = src.eachField("messages", func(name string, v jsonValue) bool {
			if name == "messages" {
				g.addMessage(v)
			} else {
				g.addField(name, v)
			}
			return !g.isTooLong()
		})
		if err == nil && !whole && !g.isTooLong() { // lines, the first of which is damaged
			g = &geminiConversation{}
			err = src.eachLine(func(_ int, line []byte) bool {
				g.addLine(line)
				return !g.isTooLong()
			})
		}
	}
	if err == nil && g.isTooLong() {
		err = &LimitError{"the conversation", maxGemini, "bytes"}
	}
	return g, err
}

// isTooLong reports whether the messages need more memory than the limit allows.
func (g *geminiConversation) isTooLong() bool { return g.held > maxGemini }

// isWhole reports whether a text is one object up to its last byte.
func isWhole(text []byte) bool {
	whole := false
	for range jsonValue(text).fields(&whole) {
	}
	return whole
}

// addLine adds a line. It replaces an earlier one with the same id, or sets
// fields of the conversation, perhaps all messages.
func (g *geminiConversation) addLine(line []byte) {
	if !isWhole(line) {
		g.skipped++
		return
	}
	v := jsonValue(bytes.TrimSpace(line))
	id := v.field("id")
	switch to, set := v.field("$rewindTo"), v.field("$set"); {
	case to != nil:
		g.rewind(to.text())
	case id.isString():
		g.addMessage(v)
	case set != nil:
		g.addRecord(set)
	default:
		g.addRecord(v)
	}
}

// rewind removes a message and all after it; all if there is no such message.
func (g *geminiConversation) rewind(id string) {
	from := g.index[id]
	for _, m := range g.messages[from:] {
		delete(g.index, m.id)
		g.held -= m.bytes()
	}
	clear(g.messages[from:])
	g.messages = g.messages[:from]
}

// addMessage adds a message, or replaces the one with its id.
func (g *geminiConversation) addMessage(v jsonValue) {
	m := geminiMessage{v.field("id").text(), bytes.Clone(v)}
	g.held += m.bytes()
	if i, ok := g.index[m.id]; ok {
		g.held -= g.messages[i].bytes()
		g.messages[i] = m
		return
	}
	if g.index == nil {
		g.index = map[string]int{}
	}
	g.index[m.id] = len(g.messages)
	g.messages = append(g.messages, m)
}

// addRecord adds fields of the conversation.
func (g *geminiConversation) addRecord(v jsonValue) {
	for name, v := range v.fields(nil) {
		g.addField(string(name), v)
	}
}

func (g *geminiConversation) addField(name string, v jsonValue) {
	switch name {
	case "sessionId":
		if id := v.text(); id != "" {
			g.sessionID = id
		}
	case "startTime":
		if at := v.time(); !at.IsZero() {
			g.started = at
		}
	case "kind":
		g.kind = v.text()
	case "summary":
		g.title = v.text()
	case "directories":
		for directory := range v.elements() {
			g.cwd = directory.text()
			break
		}
	case "messages":
		g.messages, g.index, g.held = nil, nil, 0
		for m := range v.elements() {
			if g.addMessage(m); g.isTooLong() {
				break
			}
		}
	}
}

// collect passes the messages to the collector.
func (g *geminiConversation) collect(t *transcript, src Source) {
	t.agent, t.source, t.readSubagent = geminiAgent, src, readGeminiSubagent
	if t.depth == 0 {
		t.id, t.cwd, t.title = g.sessionID, g.cwd, g.title
	}
	t.skipped, t.unknown = t.skipped+g.skipped, t.unknown+g.skipped
	t.addTime(g.started)
	for _, m := range g.messages {
		if t.stopped {
			return
		}
		t.addGemini(m.id, m.raw)
	}
}

// geminiContext begins what the program tells the agent before the first message of a person.
const geminiContext = "<session_context>\nThis is the Gemini CLI."

func (t *transcript) addGemini(id string, m jsonValue) {
	var kind string
	var at time.Time
	var content, displayed, model, tokens, calls jsonValue
	for name, v := range m.fields(nil) {
		switch string(name) {
		case "type":
			kind = string(v.plain())
		case "timestamp":
			at = v.time()
		case "content":
			content = v
		case "displayContent":
			displayed = v
		case "model":
			model = v
		case "tokens":
			tokens = v
		case "toolCalls":
			calls = v
		}
	}
	text := geminiText(content)
	switch kind {
	case "user":
		if shown := geminiText(displayed); shown != "" { // what was typed, without the contents of files
			text = strings.Join(append([]string{shown}, geminiFiles(content)...), "\n\n")
		}
		switch {
		case strings.HasPrefix(text, geminiContext):
			t.skipped++
		case text != "":
			t.addHuman(id, []string{text}, at)
		}
	case "gemini":
		t.model = model.text()
		for call := range calls.elements() {
			t.addGeminiCall(id, call, at)
		}
		t.addReply(id, text, at)
		t.addUsage(geminiUsage(tokens))
	case "error":
		t.stopTurn(id, projection.Failed, text, at)
	case "info":
		if strings.HasPrefix(text, "Request cancelled") {
			t.stopTurn(id, projection.Cancelled, "", at)
			return
		}
		t.skipped++
	default:
		t.skipped++
	}
	t.addTime(at)
}

// geminiText returns the text of content: a string, a part, or a list of these. An image
// or another file becomes a placeholder.
func geminiText(v jsonValue) string {
	var texts []string
	for part := range v.elements() {
		texts = append(texts, geminiPart(part))
	}
	return geminiPart(v) + strings.Join(texts, "")
}

// geminiPart returns the text of a text or a part.
func geminiPart(v jsonValue) string {
	if v.isString() {
		return v.text()
	}
	if data := v.field("inlineData"); data != nil {
		mediaType := data.field("mimeType").text()
		kind, _, _ := strings.Cut(mediaType, "/")
		return attachmentText(kind, mediaType, data.field("data"))
	}
	if file := v.field("fileData"); file != nil {
		return attachmentText("file", file.field("mimeType").text(), nil)
	}
	return v.field("text").text()
}

// geminiFiles returns placeholders for the files of a message that are not text.
func geminiFiles(content jsonValue) (files []string) {
	for part := range content.elements() {
		if part.field("inlineData") != nil || part.field("fileData") != nil {
			files = append(files, geminiPart(part))
		}
	}
	return files
}

// addGeminiCall adds a tool call of a message, with its result if it has one.
func (t *transcript) addGeminiCall(messageID string, call jsonValue, messageAt time.Time) {
	id, status := call.field("id").text(), string(call.field("status").plain())
	until := call.field("timestamp").time()
	if until.IsZero() {
		until = messageAt
	}
	t.beginTurn(messageID, t.timeOf(messageAt))
	t.startTool(id, call.field("name").text(), bytes.Clone(call.field("args")), messageAt)
	output, failure := geminiResult(call.field("result")), ""
	if said := t.addSubagent(id, call.field("agentId").text()); said != "" {
		output = said
	}
	switch status {
	case "error", "cancelled":
		output, failure = "", strings.TrimSpace(status+": "+output)
	case "success", "":
	default: // it was still running
		if output == "" {
			return
		}
	}
	t.completeTool(id, output, failure, until)
}

// geminiResult returns the texts in the parts of a tool result.
func geminiResult(v jsonValue) string {
	var texts []string
	for part := range v.elements() {
		response := part.field("functionResponse").field("response")
		if response == nil {
			texts = append(texts, geminiPart(part))
			continue
		}
		texts = append(texts, response.field("output").text()+response.field("error").text())
	}
	return strings.Join(texts, "\n")
}

// geminiUsage returns the tokens of a message. Gemini includes cached tokens in those of
// the input; here they are separate.
func geminiUsage(v jsonValue) projection.Usage {
	input, cached := v.field("input").tokens(), v.field("cached").tokens()
	cached = min(cached, input)
	return projection.Usage{
		Input: input - cached + v.field("tool").tokens(), CachedRead: cached,
		Output: v.field("output").tokens(), Thought: v.field("thoughts").tokens(),
	}
}

// geminiSubagents returns where the subagents of a conversation of the Gemini CLI are: in a directory
// with the name of the session, next to it.
func geminiSubagents(src Source) func(toolID, agentID string) []string {
	return func(_, agentID string) (paths []string) {
		if !agentIDs().MatchString(agentID) {
			return nil
		}
		dir := filepath.Dir(src.Path)
		for _, entry := range src.List(dir) {
			if entry.IsDir() {
				paths = append(paths, filepath.Join(dir, entry.Name(), agentID+".jsonl"))
			}
		}
		return paths
	}
}

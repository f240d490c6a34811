package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// ModelReply is the reply of every model without another instruction.
const ModelReply = "Hello from the stand-in. [NEXT: human]"

// modelPace is the time between two words of a slow reply.
const modelPace = 100 * time.Millisecond

// A Model answers on the loopback interface like the APIs of the vendors, streamed: Anthropic's
// messages, OpenAI's responses and chat completions, Gemini's content. The last user message, or
// Instruct, contains instructions:
//
//	say <<TEXT>>      reply with TEXT
//	slow N            reply with ModelReply and N words, slowly
//	tool <<COMMAND>>  run COMMAND with the agent's shell tool, then reply with ModelReply
//	call <<NAME {…}>> call the tool NAME with that input, then reply with ModelReply; the input may
//	                  contain instructions for a subagent; for the tool apply_patch of Codex, it has a "patch"
//	first <<TEXT>>    say TEXT before running the tool
//	fail STATUS       respond with that status
//	hang              say one word, and do not finish
type Model struct {
	*httptest.Server
	// Escalate makes the model request to run commands outside of the agent's sandbox, if the
	// shell tool has a parameter for that. It must not change during a request.
	Escalate bool

	requests    atomic.Int32
	mu          sync.Mutex
	received    strings.Builder
	bodies      []string // of the requests
	instruction string
	streamed    chan struct{} // has a token when a word was sent
}

// NewModel starts a model, which is closed when the test ends.
func NewModel(t testing.TB) *Model {
	m := &Model{streamed: make(chan struct{}, 1)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

// Instruct makes the model follow an instruction in all later replies, whatever the messages are:
// an agent that continues a conversation sends earlier messages again. It is also followed after a
// tool has run, without running it again.
func (m *Model) Instruct(instruction string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.instruction = instruction
}

// instructionFor returns the instruction that applies to a request.
func (m *Model) instructionFor(r modelRequest) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.instruction != "" && r.toolDone:
		return toolPattern.ReplaceAllString(callPattern.ReplaceAllString(m.instruction, ""), "")
	case m.instruction != "":
		return m.instruction
	case r.toolDone:
		return ""
	}
	return r.user
}

// Received reports whether a text was in the header or body of any request.
func (m *Model) Received(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Contains(m.received.String(), text)
}

// Bodies returns the bodies of all requests so far, in order.
func (m *Model) Bodies() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.bodies)
}

// Streamed receives when a word was sent since the last receive.
func (m *Model) Streamed() <-chan struct{} { return m.streamed }

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	fmt.Fprintf(&m.received, "%s %s\r\n", r.Method, r.URL.Path)
	_ = r.Header.Write(&m.received)
	m.received.Write(body)
	m.bodies = append(m.bodies, string(body))
	m.mu.Unlock()
	stream := &stream{w: w, n: int(m.requests.Add(1))}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		m.respond(r, decodeMessages(body), &anthropic{stream: stream})
	case strings.HasSuffix(path, "/responses"):
		m.respond(r, decodeResponses(body), &responses{stream: stream})
	case strings.HasSuffix(path, "/chat/completions"):
		m.respond(r, decodeMessages(body), &completions{stream: stream})
	case strings.Contains(path, ":streamGenerateContent"):
		m.respond(r, decodeContents(body), &gemini{stream: stream})
	case strings.Contains(path, ":generateContent"): // Gemini CLI's own requests, such as which model to use
		fmt.Fprint(w, encode(geminiPart(object{"text": `{"reasoning":"x","model_choice":"flash",` +
			`"complexity_reasoning":"x","complexity_score":1,"next_speaker":"user"}`})))
	default:
		http.NotFound(w, r)
	}
}

// A responseWriter writes a reply in the format of one API.
type responseWriter interface {
	begin()
	text(word string)
	toolCall(tool string, input object)
	end()
	fail(status string)
}

var (
	failPattern  = regexp.MustCompile(`\bfail (\d{3})\b`)
	hangPattern  = regexp.MustCompile(`\bhang\b`)
	callPattern  = regexp.MustCompile(`\bcall <<([\w.-]+) ((?s:.*))>>`)
	toolPattern  = regexp.MustCompile(`\btool <<((?s:.*?))>>`)
	firstPattern = regexp.MustCompile(`\bfirst <<((?s:.*?))>>`)
	sayPattern   = regexp.MustCompile(`\bsay <<((?s:.*?))>>`)
	slowPattern  = regexp.MustCompile(`\bslow (\d+)\b`)
)

// lastMatch returns the argument of the last instruction of a kind in a text.
func lastMatch(pattern *regexp.Regexp, text string) (arg string, ok bool) {
	found := pattern.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return "", false
	}
	last := found[len(found)-1]
	return last[len(last)-1], true
}

func (m *Model) respond(request *http.Request, r modelRequest, w responseWriter) {
	text, instruction := ModelReply, m.instructionFor(r)
	if status, ok := lastMatch(failPattern, instruction); ok {
		w.fail(status)
		return
	}
	if call := callPattern.FindStringSubmatch(instruction); call != nil && len(r.tools) > 0 {
		w.begin()
		var input object
		_ = json.Unmarshal([]byte(call[2]), &input)
		w.toolCall(call[1], input)
		w.end()
		return
	}
	command, wantsTool := lastMatch(toolPattern, instruction)
	if tool, ok := r.shell(); wantsTool && ok {
		w.begin()
		if first, ok := lastMatch(firstPattern, instruction); ok {
			w.text(first)
		}
		w.toolCall(tool.name, tool.input(command, m.Escalate))
		w.end()
		return
	}
	if say, ok := lastMatch(sayPattern, instruction); ok {
		text = say
	}
	words, slow := lastMatch(slowPattern, instruction)
	if n, _ := strconv.Atoi(words); slow {
		text += strings.Repeat(" word", n)
	}
	_, hangs := lastMatch(hangPattern, instruction)
	w.begin()
	for word := range strings.SplitAfterSeq(text, " ") {
		w.text(word)
		select {
		case m.streamed <- struct{}{}:
		default:
		}
		switch {
		case hangs:
			<-request.Context().Done()
			return
		case slow:
			time.Sleep(modelPace)
		}
		if request.Context().Err() != nil {
			return
		}
	}
	w.end()
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

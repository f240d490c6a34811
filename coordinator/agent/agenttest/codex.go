package agenttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A codexServer is a server that speaks as that of Codex does. It follows each line of the prompt that is an
// instruction:
//
//	say TEXT            reply with TEXT, in two pieces
//	whole TEXT          reply with TEXT in a message of which no piece is sent
//	note METHOD PARAMS  send a notification; the thread and the turn are added
//	item JSON           report an item that starts, and is completed
//	ask METHOD PARAMS   send a request, and reply with the response
//	touch PATH          request permission for a command, create the file if it is given, and reply with the response
//	withdraw METHOD …   likewise, but do not wait for the response: report that it is answered
//	print TEXT          print TEXT
//	line N              print a line of N bytes
//	requests            reply with the methods and the parameters of the requests so far, one in a line
//	args, env NAME      reply with the arguments, a variable
//	tool                run a tool that sleeps, detached, until interrupted
//	hang                do not finish until interrupted
//	end STATUS MESSAGE  finish with the status and an error
//	refuse MESSAGE      refuse the turn
//	crash               exit with code 3
type codexServer struct {
	habits   habits
	mu       sync.Mutex // of out
	out      io.Writer
	answers  chan object
	stop     chan struct{} // closed when the turn is interrupted
	thread   string
	turns    int
	asked    int
	refused  int
	requests []string
	policy   object // fields of the response that starts a thread
}

// The habits of the server of Codex.
const (
	Busy      Habit = "busy"      // another process uses each thread, at first
	Occupied  Habit = "occupied"  // another process uses each thread
	Gone      Habit = "gone"      // has no thread
	Wide      Habit = "wide"      // its threads do not follow the request
	Continued Habit = "continued" // its threads have a turn more than is known
)

// The ids of the threads of the server of Codex, and of the last turn of those that are resumed.
const (
	CodexThread = "01a20000-0000-7000-8000-000000000001"
	CodexFork   = "01a20000-0000-7000-8000-000000000002"
	CodexTurn   = "01a20000-0000-7000-9000-000000000000"
)

const roleCodex = "codex"

// CodexMember returns a member whose agent is this program as the server of Codex.
func CodexMember(habits ...Habit) agent.Member {
	m := Member(habits...)
	m.Env[roleVariable] = roleCodex
	return m
}

// playCodex is the server's main function.
func playCodex(in io.Reader, out io.Writer, h habits) int {
	s := &codexServer{habits: h, out: out, answers: make(chan object, 1), turns: 0}
	if h[Rubbish] {
		fmt.Fprintln(out, "Hello, my friend!")
		return 0
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params object
			Result object
		}
		switch {
		case json.Unmarshal(line, &m) != nil || bytes.Contains(line, []byte(`"jsonrpc"`)):
			return 4
		case h[Mute]:
		case m.Method == "" && m.ID != nil:
			s.answers <- m.Result
		case m.ID != nil:
			s.requests = append(s.requests, m.Method+" "+encode(m.Params))
			s.handle(m.ID, m.Method, m.Params)
		}
	}
}

func (s *codexServer) send(m object) { s.print(encode(m)) }

func (s *codexServer) refuse(id json.RawMessage, message string) {
	s.send(object{"id": id, "error": object{"code": -32600, "message": message}})
}

func (s *codexServer) handle(id json.RawMessage, method string, params object) {
	result := object{}
	switch method {
	case "thread/turns/list":
		last := CodexTurn
		if s.habits[Continued] {
			last = CodexFork
		}
		result["data"] = []object{{"id": last}}
	case "thread/start", "thread/resume", "thread/fork":
		switch {
		case s.habits[Gone] && method != "thread/start":
			s.refuse(id, "no rollout found for thread id "+params["threadId"].(string))
			return
		case s.habits[Older] && method != "thread/start":
			s.refuse(id, "Invalid request: unknown variant `"+method+"`")
			return
		case s.habits[Occupied], s.habits[Busy] && s.refused == 0:
			s.refused++
			s.refuse(id, "thread already has an active writer")
			return
		}
		result = s.open(method, params)
	case "model/list":
		if s.habits[Older] {
			s.refuse(id, "Invalid request: unknown variant `"+method+"`")
			return
		}
		result["data"] = []object{{"id": "one", "model": "gpt-one"}, {"id": "two", "model": "gpt-two"}}
	case "turn/start":
		s.startTurn(id, params)
		return
	case "turn/interrupt":
		s.send(object{"id": id, "result": object{}})
		if !s.habits[Stubborn] {
			close(s.stop)
		}
		return
	}
	s.send(object{"id": id, "result": result})
}

// open opens a thread with the policy of the request.
func (s *codexServer) open(method string, params object) object {
	s.thread = CodexThread
	if method == "thread/fork" {
		s.thread = CodexFork
	}
	readOnly := object{"type": "readOnly"}
	s.policy = object{"approvalPolicy": "on-request", "approvalsReviewer": "user", "sandbox": readOnly}
	for _, name := range []string{"approvalPolicy", "approvalsReviewer"} {
		if value, ok := params[name]; ok && !s.habits[Wide] {
			s.policy[name] = value
		}
	}
	if id, ok := params["permissions"]; ok && !s.habits[Wide] {
		base := ":read-only"
		if strings.Contains(strings.Join(os.Args, " "), ":workspace") {
			base = ":workspace"
		}
		s.policy["activePermissionProfile"] = object{"id": id, "extends": base}
	}
	kinds := map[any]string{"workspace-write": "workspaceWrite", "danger-full-access": "dangerFullAccess"}
	if kind := kinds[params["sandbox"]]; kind != "" {
		s.policy["sandbox"] = object{"type": kind, "writableRoots": []string{"/more"}}
	}
	if strings.Contains(strings.Join(os.Args, " "), "model_reasoning_effort=none") {
		s.policy["reasoningEffort"] = "none"
	}
	s.policy["thread"] = object{"id": s.thread}
	return s.policy
}

func (s *codexServer) startTurn(id json.RawMessage, params object) {
	prompt := params["input"].([]any)[0].(object)["text"].(string)
	if _, reason, refuse := strings.Cut(prompt, "refuse "); refuse {
		s.refuse(id, reason)
		return
	}
	s.turns++
	t := &codexTurn{
		id:       fmt.Sprintf("01a20000-0000-7000-9000-%012d", s.turns),
		stop:     make(chan struct{}),
		requests: append([]string{}, s.requests...),
	}
	t.end = object{"id": t.id, "status": "completed"}
	s.stop = t.stop
	s.send(object{"id": id, "result": object{"turn": object{"id": t.id, "status": "inProgress"}}})
	go s.run(prompt, t)
}

// A codexTurn is a prompt that is being answered.
type codexTurn struct {
	id       string
	stop     chan struct{} // closed when the turn is interrupted
	requests []string      // so far
	end      object        // what is said of the turn when it is over
}

// note sends a notification of a turn.
func (s *codexServer) note(t *codexTurn, method string, params object) {
	for name, value := range map[string]any{"threadId": s.thread, "turnId": t.id} {
		if _, ok := params[name]; !ok {
			params[name] = value
		}
	}
	s.send(object{"method": method, "params": params})
}

func (s *codexServer) say(t *codexTurn, text string) {
	s.asked++
	id := "m" + strconv.Itoa(s.asked)
	for _, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
		s.note(t, "item/agentMessage/delta", object{"itemId": id, "delta": piece})
	}
	s.note(t, "item/completed", object{"item": object{"type": "agentMessage", "id": id, "text": text}})
}

// run follows the instructions of a prompt.
func (s *codexServer) run(prompt string, t *codexTurn) {
	s.note(t, "turn/started", object{"turn": object{"id": t.id}})
	for line := range strings.Lines(prompt) {
		verb, arg, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if follow := codexInstructions[verb]; follow != nil {
			follow(s, t, arg)
		}
	}
	select {
	case <-t.stop:
		t.end["status"] = "interrupted"
	default:
	}
	s.note(t, "turn/completed", object{"turn": t.end})
}

// codexInstructions are documented at codexServer.
var codexInstructions = map[string]func(s *codexServer, t *codexTurn, arg string){
	"say": (*codexServer).say,
	"whole": func(s *codexServer, t *codexTurn, arg string) {
		s.note(t, "item/completed", object{"item": object{"type": "agentMessage", "id": "w" + arg, "text": arg}})
	},
	"note": func(s *codexServer, t *codexTurn, arg string) {
		method, params := call(arg)
		s.note(t, method, params)
	},
	"item": func(s *codexServer, t *codexTurn, arg string) {
		_, item := call("item " + arg)
		s.note(t, "item/started", object{"item": item})
		s.note(t, "item/completed", object{"item": item})
	},
	"ask": func(s *codexServer, t *codexTurn, arg string) { s.say(t, encode(s.ask(call(arg)))) },
	"touch": func(s *codexServer, t *codexTurn, arg string) {
		answer := s.ask("item/commandExecution/requestApproval", object{"itemId": "c1", "command": "touch " + arg})
		if decision, _ := answer["decision"].(string); strings.HasPrefix(decision, "accept") {
			create(arg)
		}
		s.say(t, encode(answer))
	},
	"withdraw": func(s *codexServer, t *codexTurn, arg string) {
		method, params := call(arg)
		s.send(object{"id": 7, "method": method, "params": params})
		s.note(t, "serverRequest/resolved", object{"requestId": 7})
	},
	"print": func(s *codexServer, _ *codexTurn, arg string) { s.print(arg) },
	"line": func(s *codexServer, _ *codexTurn, arg string) {
		n, _ := strconv.Atoi(arg)
		s.print(strings.Repeat("x", n))
	},
	"requests": func(s *codexServer, t *codexTurn, _ string) { s.say(t, strings.Join(t.requests, "\n")) },
	"args":     func(s *codexServer, t *codexTurn, _ string) { s.say(t, strings.Join(os.Args[1:], "\n")) },
	"env":      func(s *codexServer, t *codexTurn, arg string) { s.say(t, arg+"="+os.Getenv(arg)) },
	"tool": func(s *codexServer, t *codexTurn, _ string) {
		tool := startSleeper()
		s.say(t, strconv.Itoa(tool.Process.Pid))
		<-t.stop
		if !s.habits[Careless] {
			_ = tool.Process.Kill()
			_ = tool.Wait()
		}
	},
	"hang": func(s *codexServer, t *codexTurn, _ string) {
		s.say(t, "Let me see.")
		<-t.stop
	},
	"end": func(_ *codexServer, t *codexTurn, arg string) {
		status, reason, _ := strings.Cut(arg, " ")
		t.end["status"], t.end["error"] = status, object{"message": reason}
	},
	"crash": func(*codexServer, *codexTurn, string) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	},
}

// call splits an argument into a method and its parameters.
func call(arg string) (method string, params object) {
	method, text, _ := strings.Cut(arg, " ")
	_ = json.Unmarshal([]byte(text), &params)
	return method, params
}

func (s *codexServer) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.out, text)
}

// ask sends a request and waits for the response.
func (s *codexServer) ask(method string, params object) object {
	s.asked++
	s.send(object{"id": s.asked, "method": method, "params": params})
	select {
	case answer := <-s.answers:
		return answer
	case <-s.stop:
		return nil
	}
}

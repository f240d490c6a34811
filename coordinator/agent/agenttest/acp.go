package agenttest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"
)

// wordPace is the time between two words of a slow reply.
const wordPace = 20 * time.Millisecond

// An acpAgent is an agent that speaks the Agent Client Protocol. It follows the last line of the
// prompt that is an instruction:
//
//	say TEXT      reply with TEXT
//	slow N        reply with N words, one every 20 ms
//	long N        reply with N bytes, in pieces
//	line N        reply with N bytes in one message
//	count         reply with the length of the prompt in bytes
//	where         reply with the session, its directory, the process id and the model
//	servers       reply with the MCP servers of the session
//	tool          run a tool that sleeps, detached, until cancelled
//	plan          reply, report a tool call that fails, and complete the first of two things to do
//	serve         start the tool of "tool", reply with its process id, and finish
//	ask           request permission for a tool, and reply with the answer
//	await FILE    like ask, when there is the file
//	urge          like ask, sending thoughts meanwhile
//	repeat N      like ask, N times, and reply with the last answer
//	late          like ask, for another session
//	withdraw      request permission for a tool, withdraw the request, and do not finish
//	abandon       request permission for a tool, and finish without the answer
//	whole TEXT    send TEXT and the result at once
//	edit PATH     request permission to change a line of a file, and reply with the answer
//	use JSON      make requests of the client, [[METHOD, PARAMS], …], and reply with a line for each result or
//	              error; the method edit is the request of "edit", with a path as its params
//	think         send thoughts until cancelled
//	flood KIND N  send messages of a kind, N MiB in total, and receive no response meanwhile
//	retry TEXT    report that a request failed for that reason and is repeated, and do not finish
//	hang          reply, and do not finish
//	touch PATH    create a file, in the mode auto without a request for permission
//	sneak PATH    create a file without a request in any mode
//	disguise PATH like sneak, and say that the tool is of another kind
//	defy PATH     create a file, request permission for that, and complete it whatever the answer is
//	hurry PATH    likewise, without waiting for the answer
//	mode NAME PATH  change to the mode; this and the four above then wait to be stopped
//	env NAME      reply with the value of a variable
//	updates JSON  send updates, […]
//	after JSON    finish, and then send updates, […]
//	raw TEXT      print TEXT, in which $BREAK is a line break, $ID the request's id and $SESSION the session, and do not
//	              finish otherwise
//	crash         reply, and exit with code 3
//	leave         reply, finish, and exit
//	blurt         print lines that are not part of the protocol, and reply
//	stop REASON   reply, and finish with that stop reason
//	mute REASON   finish with that stop reason without a reply
//	usage JSON    reply, and finish with that usage
//	fail TEXT     respond with that error message
//	error JSON    respond with that error object
//	unread        respond that the request could not be parsed
//
// The reply to any other prompt is "Hello.".
type acpAgent struct {
	habits habits

	mu       sync.Mutex
	out      *bufio.Writer
	requests int
	waiting  map[string]chan json.RawMessage // for responses, by request id
	cancel   map[string]context.CancelFunc   // of prompts, by session
	dirs     map[string]string               // by session
	servers  map[string]string               // JSON, by session
	model    string
	mode     string
	scene    []byte // nil: the agent follows the instructions of prompts
	acted    int    // turns of the scene
}

type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

type object = map[string]any

// playACP is the agent's main function.
func playACP(in io.Reader, out io.Writer, h habits) int {
	if h[Stubborn] {
		ignoreSignals()
	}
	if h[Rubbish] {
		fmt.Fprintln(out, "Welcome, my friend!")
		return 0
	}
	a := &acpAgent{
		habits: h, out: bufio.NewWriter(out), waiting: map[string]chan json.RawMessage{},
		cancel: map[string]context.CancelFunc{}, dirs: map[string]string{}, servers: map[string]string{},
		scene: sceneOf(os.Getenv(sceneVariable)),
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var m struct {
			rpcMessage
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if json.Unmarshal(line, &m) == nil && !h[Mute] {
			if m.Method == "" {
				if m.Result == nil {
					m.Result = m.Error
				}
				a.receive(string(m.ID), m.Result)
			} else {
				a.handle(m.rpcMessage)
			}
		}
		switch {
		case err != nil && h[Stubborn]:
			time.Sleep(sleepTime)
		case err != nil:
			return 0
		}
	}
}

func (a *acpAgent) send(m rpcMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write(m)
}

func (a *acpAgent) write(m rpcMessage) {
	m.JSONRPC = "2.0"
	_ = json.NewEncoder(a.out).Encode(m)
	_ = a.out.Flush()
}

// handle handles a request or a notification.
func (a *acpAgent) handle(m rpcMessage) {
	var params struct {
		Cwd, SessionID, ModelID, ModeID, ConfigID, Value string

		Prompt     []struct{ Text string }
		MCPServers json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &params)
	switch m.Method {
	case "initialize":
		a.send(rpcMessage{ID: m.ID, Result: a.capabilities()})
	case "session/new":
		a.newSession(m.ID, params.Cwd, string(params.MCPServers))
	case "session/set_mode":
		a.setMode(params.ModeID)
		if a.habits[Staying] {
			a.update(params.SessionID, object{"sessionUpdate": "current_mode_update", "currentModeId": a.mode})
		}
		a.send(rpcMessage{ID: m.ID, Result: object{}})
	case "session/set_config_option":
		if params.ConfigID == "mode" {
			a.setMode(params.Value)
		} else {
			a.model = params.Value
		}
		a.send(rpcMessage{ID: m.ID, Result: object{"configOptions": a.options()}})
	case "session/set_model":
		a.model = params.ModelID
		a.send(rpcMessage{ID: m.ID, Result: object{}})
	case "session/prompt":
		ctx, cancel := context.WithCancel(context.Background())
		a.cancel[params.SessionID] = cancel
		go a.run(&acpTurn{ctx: ctx, id: m.ID, session: params.SessionID, prompt: params.Prompt[0].Text})
	case "session/cancel":
		if cancel := a.cancel[params.SessionID]; cancel != nil && !a.habits[Stubborn] {
			cancel()
		}
	case "session/close":
		delete(a.dirs, params.SessionID)
		a.send(rpcMessage{ID: m.ID, Result: object{}})
	default:
		a.send(rpcMessage{ID: m.ID, Error: object{"code": -32601, "message": "Method not found"}})
	}
}

func (a *acpAgent) capabilities() object {
	version, session := 1, object{"close": object{}}
	if a.habits[Older] {
		version = 0
	}
	if a.habits[Unclosing] {
		session = object{}
	}
	able := object{"sessionCapabilities": session, "mcpCapabilities": object{"http": a.habits[HTTPServers]}}
	return object{"protocolVersion": version, "agentCapabilities": able, "authMethods": []any{}}
}

func (a *acpAgent) newSession(id json.RawMessage, dir, servers string) {
	if a.habits[LoggedOut] {
		a.send(rpcMessage{ID: id, Error: object{"code": -32000, "message": "Authentication required"}})
		return
	}
	session := fmt.Sprintf("session-%d", len(a.dirs)+1)
	a.servers[session] = servers
	a.dirs[session] = dir
	result := object{"sessionId": session}
	if a.habits[Models] {
		result["models"] = object{"availableModels": []object{{"modelId": "m1"}}, "currentModelId": "m1"}
	}
	a.mode = modeAsks
	if a.habits[Auto] {
		a.mode = modeAuto
	}
	if modes := a.modes(); modes != nil {
		result["modes"] = modes
	}
	if options := a.options(); len(options) > 0 {
		result["configOptions"] = options
	}
	a.send(rpcMessage{ID: id, Result: result})
	// Real agents send updates outside of turns.
	a.update(session, object{"sessionUpdate": "available_commands_update", "availableCommands": []any{}})
}

func (a *acpAgent) update(session string, update object) {
	params, _ := json.Marshal(object{"sessionId": session, "update": update})
	a.send(rpcMessage{Method: "session/update", Params: params})
}

func (a *acpAgent) say(session, text string) {
	content := object{"type": "text", "text": text}
	a.update(session, object{"sessionUpdate": "agent_message_chunk", "content": content})
}

// receive passes a result to the request that waits for it.
func (a *acpAgent) receive(id string, result json.RawMessage) {
	a.mu.Lock()
	waiting := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if waiting != nil {
		waiting <- result
	}
}

// request sends a request and waits for its result. Request ids start at 0.
func (a *acpAgent) request(method string, params any) json.RawMessage {
	encoded, _ := json.Marshal(params)
	result := make(chan json.RawMessage, 1)
	a.mu.Lock()
	id := strconv.Itoa(a.requests)
	a.requests++
	a.waiting[id] = result
	a.mu.Unlock()
	a.send(rpcMessage{ID: json.RawMessage(id), Method: method, Params: encoded})
	return <-result
}

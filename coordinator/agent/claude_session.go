package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A claudeSession is a session of Claude Code and its program. It implements Session.
type claudeSession struct {
	profile
	member  Member
	id      string
	grace   time.Duration
	process *process.Process
	end     func() // ends the process group and waits; may be called repeatedly
	remove  func() // removes the files of the program; nil: there are none

	outbox   *jsonlines.Outbox
	lines    jsonlines.Splitter
	steered  steering
	inbox    []claudeLine // received, and not yet returned by receive
	requests int          // the id of the last request
	unparsed string       // an excerpt of the first line that is no JSON
	closed   bool         // its output has ended
	dead     bool         // the program was ended
	turns    int
	busy     bool     // a turn runs, of ours or of its own
	mode     string   // its mode; "" is unknown
	harmless []string // rules that allow the tools of servers that change nothing
	models   []string
}

// A claudeRequest is a request of the agent.
type claudeRequest struct {
	Subtype     string             `json:"subtype"`
	Tool        string             `json:"tool_name"`
	Input       json.RawMessage    `json:"input"`
	ToolUseID   string             `json:"tool_use_id"`
	Suggestions []claudeSuggestion `json:"permission_suggestions"`

	// Of claudeForm:
	Server  string          `json:"mcp_server_name"`
	Mode    string          `json:"mode"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requested_schema"`
}

// A claudeResponse is the response to a request.
type claudeResponse struct {
	Subtype   string          `json:"subtype"`
	RequestID string          `json:"request_id"`
	Response  json.RawMessage `json:"response,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// errClaudeExited is the error of receive when the program has closed its output, normally by exiting.
var errClaudeExited = errors.New("the agent has exited")

// errClaudeStart is the cause when a program does not start in time.
var errClaudeStart = errors.New("it does not answer in its protocol")

// A claudeRefusal is the error that the agent responds with.
type claudeRefusal struct{ reason string }

func (e *claudeRefusal) Error() string { return e.reason }

// open starts a program with a session from the origin.
func (e Claude) open(ctx context.Context, turn Turn, o Origin) (*claudeSession, error) {
	if ctx.Err() != nil {
		return nil, process.Stopped(ctx)
	}
	args, id, err := claudeOrigin(turn, o)
	if err != nil {
		return nil, err
	}
	s := &claudeSession{
		profile: claudeProfile, member: turn.Member, id: id, grace: cmp.Or(e.Grace, defaultClaudeGrace),
		outbox: jsonlines.NewOutbox(),
	}
	if err := s.start(turn, args); err != nil {
		if s.remove != nil {
			s.remove()
		}
		return nil, err
	}
	starting, cancel := context.WithTimeoutCause(ctx, cmp.Or(e.Start, defaultClaudeStart), errClaudeStart)
	defer cancel()
	if err := s.initialize(starting); err != nil {
		err = s.explain(ctx, err)
		s.kill()
		return nil, err
	}
	s.process.SetIdle(true)
	return s, nil
}

// start starts the program.
func (s *claudeSession) start(turn Turn, args []string) error {
	if len(turn.MCPServers) > 0 {
		servers, err := claudeMCP(turn.MCPServers)
		if err != nil {
			return s.failure("its MCP servers cannot be configured: "+err.Error(), Remedy{})
		}
		args, s.remove, s.harmless = append(args, servers.args...), servers.remove, servers.harmless
	}
	args, err := claudeArguments(turn.Member, args...)
	if err != nil {
		return err
	}
	program := turn.program()
	program.Command, program.Args = cmp.Or(turn.Member.Command, s.program), args
	program.Env = claudeEnv(turn.Member)
	s.process, err = process.Start(program, s.outbox.Deliver)
	if err != nil {
		return s.withInstall(err)
	}
	s.end = sync.OnceFunc(s.process.Supervise(context.Background(), s.grace))
	return nil
}

// initialize waits until the program has found its session, and makes it ask as the member's permissions say.
func (s *claudeSession) initialize(ctx context.Context) error {
	var state struct {
		Mode   string `json:"current_permission_mode"`
		Models []struct {
			Value string `json:"value"`
		} `json:"models"`
	}
	if err := s.call(ctx, map[string]any{"subtype": "initialize"}, &state); err != nil {
		return err
	}
	s.mode = cmp.Or(claudeMode(state.Mode), s.mode)
	for _, m := range state.Models {
		s.models = append(s.models, m.Value)
	}
	if err := s.enterMode(ctx); err != nil {
		return err
	}
	return s.restrict(ctx)
}

// ID implements Session.
func (s *claudeSession) ID() string { return s.id }

// Models implements ModelLister.
func (s *claudeSession) Models() []string { return s.models }

// Alive implements Session.
func (s *claudeSession) Alive() bool {
	select {
	case <-s.process.Exited():
		return false
	default:
		return !s.dead && !s.closed
	}
}

// Close implements Session.
func (s *claudeSession) Close() { s.close(false) }

// kill ends the program and everything that it has started.
func (s *claudeSession) kill() {
	s.dead = true
	s.outbox.Close()
	s.end()
	if s.remove != nil {
		s.remove()
	}
}

// close ends the program, at first by closing its standard input. A program that has not exited after the grace period
// is killed. Its detached processes are ended, too, unless they are kept.
func (s *claudeSession) close(keepDetached bool) {
	if s.dead {
		return
	}
	s.outbox.Close()
	expired := time.After(s.grace)
	for waiting := true; waiting; {
		select {
		case _, waiting = <-s.process.Texts(): // it may block on its output
		case <-expired:
			waiting = false
		}
	}
	if keepDetached {
		s.process.KeepDetached()
	}
	s.kill()
}

// send sends a message.
func (s *claudeSession) send(message any) {
	line, err := json.Marshal(message)
	if err != nil {
		panic(fmt.Sprintf("cannot encode %T: %v", message, err))
	}
	s.outbox.Put(append(line, '\n'))
}

// request sends a request and returns its id.
func (s *claudeSession) request(request map[string]any) (id string) {
	s.requests++
	id = strconv.Itoa(s.requests)
	s.send(map[string]any{"type": "control_request", "request_id": id, "request": request})
	return id
}

// respond sends the response to a request of the agent.
func (s *claudeSession) respond(id string, response any) {
	s.send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": response,
	}})
}

// refuse responds to a request that is not supported.
func (s *claudeSession) refuse(id string) {
	s.send(map[string]any{"type": "control_response", "response": claudeResponse{
		Subtype: "error", RequestID: id, Error: "not supported",
	}})
}

// call sends a request between two turns, waits for the response and decodes it. It drops everything else that the
// agent sends. Errors are those of receive, *claudeRefusal, and that of a result.
func (s *claudeSession) call(ctx context.Context, request map[string]any, response any) error {
	id := s.request(request)
	for {
		line, err := s.receive(ctx)
		switch {
		case err != nil:
			return err
		case line.Type == "control_response" && line.Response.RequestID == id:
			jsonlines.Decode(line.Response.Response, response)
			if line.Response.Subtype == "error" {
				return &claudeRefusal{excerpt(line.Response.Error)}
			}
			return nil
		case line.Type == "control_request" && line.Request.Subtype == claudePermission:
			s.respond(line.RequestID, claudeRefused(""))
		case line.Type == "control_request":
			s.refuse(line.RequestID)
		case line.Type == "result" && line.failed() && s.turns == 0:
			return s.resultError(line)
		}
	}
}

// resultError returns the error of a program that does not start.
func (s *claudeSession) resultError(line claudeLine) error {
	reason := line.failure()
	if err := claudeGone(reason); err != nil {
		return err
	}
	return s.failure(reason, s.remedy(reason))
}

// claudeGone returns an error that wraps ErrGone if the program says that it has no such session; otherwise nil.
func claudeGone(said string) error {
	if strings.HasPrefix(said, "No conversation found") || strings.HasPrefix(said, "No message found") {
		return fmt.Errorf("%w: %s", ErrGone, excerpt(said))
	}
	return nil
}

// receive waits for the next line of the agent, and notes what it says of the session. Errors are errClaudeExited,
// errNotReading, jsonlines.ErrTooLong, and the cause of ctx.
func (s *claudeSession) receive(ctx context.Context) (line claudeLine, err error) {
	for len(s.inbox) == 0 {
		switch {
		case s.closed:
			return line, errClaudeExited
		case s.lines.TooLong():
			return line, jsonlines.ErrTooLong
		case s.outbox.Overflowed():
			return line, errNotReading
		}
		select {
		case text, open := <-s.process.Texts():
			if !open {
				s.closed = true
				s.takeLine(s.lines.Rest())
				continue
			}
			s.lines.Take(text, s.takeLine)
		case <-ctx.Done():
			return line, context.Cause(ctx)
		}
	}
	line, s.inbox = s.inbox[0], s.inbox[1:]
	switch {
	case line.Type == "system" && line.Subtype == "init":
		s.busy = true
		if isUUID(line.SessionID) {
			s.id = line.SessionID
		}
	case line.Type == "result":
		s.busy = false
	}
	if line.Type == "system" {
		line.Mode = claudeMode(line.Mode)
		s.mode = cmp.Or(line.Mode, s.mode)
	}
	return line, nil
}

// errNotReading is returned when the agent sends requests and does not read the responses.
var errNotReading = errors.New("it does not read what it is sent")

func (s *claudeSession) takeLine(raw []byte) bool {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return true
	}
	for object := range jsonlines.Objects(raw) {
		var line claudeLine
		if !jsonlines.Decode(object, &line) {
			s.unparsed = cmp.Or(s.unparsed, excerpt(string(object)))
			continue
		}
		s.inbox = append(s.inbox, line)
	}
	return true
}

// explain returns the error of a turn, or of Open, that ends with an error of receive or call.
func (s *claudeSession) explain(ctx context.Context, err error) error {
	failure, explained := errors.AsType[*FailureError](err)
	switch {
	case ctx.Err() != nil:
		return process.Stopped(ctx)
	case explained:
		return failure
	case errors.Is(err, ErrGone):
		return err
	case errors.Is(err, errClaudeExited):
		return s.exitError("")
	case errors.Is(err, jsonlines.ErrTooLong):
		return s.failure(err.Error(), remedyAskLess)
	case errors.Is(err, errClaudeStart) && s.unparsed != "":
		return s.failure(fmt.Sprintf("%v, and printed “%s”", err, s.unparsed), remedyCommand)
	case errors.Is(err, errClaudeStart):
		return s.failure(err.Error(), remedyCommand)
	}
	return s.failure(err.Error(), s.remedy(err.Error()))
}

// exitError returns the error of a program that has exited in a turn. warning is what it warned of last.
func (s *claudeSession) exitError(warning string) error {
	select {
	case <-s.process.Exited():
	case <-time.After(process.KillWait): // it has only closed its standard output
	}
	s.kill()
	if err := claudeGone(s.process.Stderr()); err != nil && s.turns == 0 {
		return err
	}
	exit, _ := errors.AsType[*process.ExitError](s.process.Wait(context.Background()))
	return s.unfinished(exit, s.process.Stderr(), warning, s.unparsed)
}

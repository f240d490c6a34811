package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A codexSession is a program of Codex with one thread.
type codexSession struct {
	*jsonrpc.Conn
	profile
	end     func() // ends the process group and waits; may be called repeatedly
	grace   time.Duration
	policy  codexPolicy
	thread  codexThread
	skipped []MCPServer // Codex does not take these servers
	rules   string      // the file with what Codex is always allowed
	effort  string      // how much its model reasons; "" is as the thread has it
	steered steering
	context int64    // tokens in the context window; 0 is unknown
	once    bool     // it has one turn: its models are not needed
	listing string   // the id of the request for the models; "" before the first turn
	models  []string // that Codex has; none: it has not said
	ended   bool
}

// Open implements SessionEngine. A member without permissions has those of the user's configuration, also in a session
// that had others.
func (e Codex) Open(ctx context.Context, turn Turn, origin Origin) (Session, error) {
	if ctx.Err() != nil {
		return nil, process.Stopped(ctx)
	}
	if err := checkCodexPermissions(turn.Member); err != nil {
		return nil, err
	}
	if origin.Way != New && !(isUUID(origin.ID) && (origin.Point == "" || isUUID(origin.Point))) {
		return nil, fmt.Errorf("%w: “%s” is no id of Codex", ErrGone, excerpt(origin.ID+" "+origin.Point))
	}
	s, line, err := e.start(turn)
	if err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeoutCause(ctx, cmp.Or(e.Start, defaultCodexStart), errNoCodex)
	defer cancel()
	err = s.initialize(starting)
	if err == nil {
		err = e.enter(starting, s, turn, origin, line)
	}
	if err != nil {
		s.kill()
		if origin.Way != New && isUnknown(err) {
			return nil, fmt.Errorf("%w: %s", ErrUnsupported, excerpt(err.Error()))
		}
		return nil, s.explain(ctx, err)
	}
	return s, nil
}

// errNoCodex is the cause when a program does not start a session in time.
var errNoCodex = errors.New("it does not answer as the server of Codex does")

// start starts the program.
func (e Codex) start(turn Turn) (*codexSession, codexLine, error) {
	policy := codexPolicies[turn.Member.Permissions]
	var servers mcpSetup
	if len(turn.MCPServers) > 0 {
		var err error
		if servers, err = codexMCP(turn.Member, turn.MCPServers); err != nil {
			reason := "its MCP servers cannot be configured: " + err.Error()
			return nil, codexLine{}, codexProfile.failure(reason, Remedy{})
		}
	}
	line := codexArgs(turn.Member, policy, servers.args...)
	program := turn.program()
	program.Command, program.Args = cmp.Or(turn.Member.Command, codexProfile.program), line.args
	program.Env = map[string]string{}
	maps.Copy(program.Env, turn.Member.Env)
	maps.Copy(program.Env, servers.env)
	conn, err := jsonrpc.Start(program, "")
	if err != nil {
		return nil, line, codexProfile.withInstall(err)
	}
	s := &codexSession{
		Conn: conn, profile: codexProfile, grace: cmp.Or(e.Grace, defaultCodexGrace), policy: policy,
		skipped: servers.skipped, rules: codexRules(turn.Member),
	}
	s.end = sync.OnceFunc(conn.Process.Supervise(context.Background(), s.grace))
	return s, line, nil
}

// initialize begins the conversation with the program. Permission profiles in requests are experimental.
func (s *codexSession) initialize(ctx context.Context) error {
	params := map[string]any{
		"clientInfo": map[string]any{"name": "agent-chatter", "title": "agent-chatter", "version": "1"},
		"capabilities": map[string]any{
			"experimentalApi": true,
			// They repeat what other messages say, and may be long.
			"optOutNotificationMethods": []string{"turn/diff/updated", "item/commandExecution/outputDelta"},
		},
	}
	if err := s.Call(ctx, "initialize", params, &struct{}{}, nil); err != nil {
		return err
	}
	s.Notify("initialized", map[string]any{})
	return nil
}

// enter starts, resumes or forks the session's thread.
func (e Codex) enter(ctx context.Context, s *codexSession, turn Turn, origin Origin, line codexLine) error {
	params, err := s.parameters(ctx, turn, origin, line)
	if err != nil {
		return err
	}
	if origin.Way == Resume && origin.Point != "" {
		last, err := s.lastTurn(ctx, origin.ID)
		if err != nil {
			return err
		}
		if last != origin.Point {
			origin.Way = Fork
		}
	}
	method := map[Way]string{New: "thread/start", Resume: "thread/resume", Fork: "thread/fork"}[origin.Way]
	if origin.Way != New {
		params["threadId"], params["excludeTurns"] = origin.ID, true
	}
	if origin.Way == Fork && origin.Point != "" {
		params["lastTurnId"] = origin.Point
	}
	if origin.Way != Resume && (turn.Ephemeral || line.ephemeral) {
		params["ephemeral"] = true
	}
	err = s.Call(ctx, method, params, &s.thread, nil)
	if isBusy(err) {
		select { // the other process may be about to exit
		case <-time.After(cmp.Or(e.Retry, defaultCodexRetry)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		err = s.Call(ctx, method, params, &s.thread, nil)
	}
	switch {
	case err != nil:
		return err
	case s.ID() == "":
		return errNoCodex
	}
	if err := s.policy.follows(s.thread); err != nil {
		return s.failure(err.Error(), remedyAllow)
	}
	return nil
}

// parameters returns the parameters that the requests for all ways have.
func (s *codexSession) parameters(
	ctx context.Context, turn Turn, origin Origin, line codexLine,
) (map[string]any, error) {
	dir := line.dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(turn.Dir, dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	params := s.policy.forThread()
	thinks := turn.Member.Thinking != nil
	if origin.Way != New && (s.policy == (codexPolicy{}) || thinks) { // a thread keeps what it had
		var own codexThread
		configured := map[string]any{"cwd": dir, "ephemeral": true}
		if err := s.Call(ctx, "thread/start", configured, &own, nil); err != nil {
			return nil, err
		}
		if s.policy == (codexPolicy{}) {
			params = own.own()
		}
		if thinks {
			s.effort = own.Effort
		}
	}
	params["cwd"] = dir
	if turn.Member.Model != "" {
		params["model"] = turn.Member.Model
	}
	return params, nil
}

// lastTurn returns the id of the last turn of a thread; "" if it has none.
func (s *codexSession) lastTurn(ctx context.Context, thread string) (string, error) {
	var turns struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	params := map[string]any{"threadId": thread, "limit": 1, "sortDirection": "desc", "itemsView": "notLoaded"}
	if err := s.Call(ctx, "thread/turns/list", params, &turns, nil); err != nil {
		return "", err
	}
	if len(turns.Data) == 0 {
		return "", nil
	}
	return turns.Data[0].ID, nil
}

// isBusy reports whether Codex has refused a thread because another process uses it.
func isBusy(err error) bool {
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && strings.Contains(refused.Message, "already has an active writer")
}

// isUnknown reports whether Codex does not know a request: it is too old for it.
func isUnknown(err error) bool {
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && strings.Contains(refused.Message, "unknown variant")
}

// isGone reports whether Codex has refused a thread, or a turn of it, that it does not have.
func isGone(err error) bool {
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return false
	}
	return slices.ContainsFunc([]string{
		"no rollout found", "missing source rollout", "thread not found", "thread not loaded", "turn not found",
		"invalid session id",
	}, func(words string) bool { return strings.Contains(refused.Message, words) })
}

// ID implements Session.
func (s *codexSession) ID() string { return s.thread.Thread.ID }

// Models implements ModelLister. Codex says which it has while the first turn runs.
func (s *codexSession) Models() []string { return s.models }

// listModels requests the models, once. No turn waits for the response: Codex may ask its service for them.
func (s *codexSession) listModels() {
	if s.listing == "" && !s.once {
		s.listing = s.Request("model/list", map[string]any{"limit": maxCodexModels})
	}
}

// maxCodexModels is how many models Codex lists.
const maxCodexModels = 200

// takeModels takes the response to the request for the models. An older Codex refuses it.
func (s *codexSession) takeModels(m jsonrpc.Message) {
	var list struct {
		Data []struct {
			Model string `json:"model"`
		} `json:"data"`
	}
	jsonlines.Decode(m.Result, &list)
	for _, of := range list.Data {
		s.models = append(s.models, of.Model)
	}
}

// Alive implements Session.
func (s *codexSession) Alive() bool {
	select {
	case <-s.Process.Exited():
		return false
	default:
		return !s.ended
	}
}

// Close implements Session.
func (s *codexSession) Close() {
	s.Conn.Close()
	expired := time.After(s.grace)
	for waiting := !s.ended; waiting; {
		select {
		case _, waiting = <-s.Process.Texts(): // it may block on its output
		case <-expired:
			waiting = false
		}
	}
	s.kill()
}

// kill ends the program and everything that it has started.
func (s *codexSession) kill() {
	s.ended = true
	s.Conn.Close()
	s.end()
}

// explain returns the error of a session that cannot be used any more.
func (s *codexSession) explain(ctx context.Context, err error) error {
	failure, explained := errors.AsType[*FailureError](err)
	refused, isRefused := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ctx.Err() != nil:
		return process.Stopped(ctx)
	case explained:
		return failure
	case isBusy(err):
		return fmt.Errorf("%w: %s", ErrBusy, excerpt(err.Error()))
	case isGone(err):
		return fmt.Errorf("%w: %s", ErrGone, excerpt(err.Error()))
	case errors.Is(err, jsonrpc.ErrExited):
		return s.exitError("")
	case errors.Is(err, jsonlines.ErrTooLong):
		return s.failure(err.Error(), remedyAskLess)
	case errors.Is(err, errNoCodex) && s.Unparsed() != "":
		return s.failure(fmt.Sprintf("%v, and printed “%s”", err, excerpt(s.Unparsed())), remedyCommand)
	case errors.Is(err, errNoCodex):
		return s.failure(err.Error(), remedyCommand)
	case isRefused:
		reason := apiMessage(refused.Error())
		return s.failure(reason, s.remedy(reason))
	}
	return s.failure(err.Error(), s.remedy(err.Error()))
}

// exitError returns the error of a program that has exited in a turn.
func (s *codexSession) exitError(warning string) error {
	select {
	case <-s.Process.Exited():
	case <-time.After(process.KillWait): // it has only closed its standard output
	}
	s.kill()
	exit, _ := errors.AsType[*process.ExitError](s.Process.Wait(context.Background()))
	return s.unfinished(exit, s.Process.Stderr(), warning, excerpt(s.Unparsed()))
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"
)

// ACP is the engine for agents that speak the Agent Client Protocol over their standard input
// and output.
//
// The agent's program is started at a member's first turn and stays, until it ends by itself or
// Close is called. Each turn is a session of its own in it, so that the agent knows of the
// conversation what the prompt says, whether its program has run for long or was just started.
//
// The program is Member.Command, or what speaks the protocol for the member's agent type (see
// [ServesACP]). Member.Model is set in the session. What the agent asks leave for is decided by
// Turn.Permit. No file and no terminal is offered to it: it uses its own.
//
// A turn that is stopped is cancelled in the protocol. When the agent does not answer to that,
// or leaves something running that was not there before the turn, the program and all that it
// has started are ended, and the next turn starts it anew.
type ACP struct {
	// Grace is how long the agent has behind each way of asking it to stop; zero is 1 second.
	Grace time.Duration
	// Start is how long its program has to say what it can do; zero is 1 minute.
	Start time.Duration

	mu   sync.Mutex
	kept map[string]*resident // which nobody uses
}

const (
	defaultACPGrace = time.Second
	defaultACPStart = time.Minute
)

// Run runs a turn and yields what the agent tells. The last error is a *StartError, a
// *FailureError, or wraps context.Cause(ctx).
func (e *ACP) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, stopped(ctx))
			return
		}
		if d, _ := acpDialect(turn.Member); d.excess(turn.Prompt) > 0 {
			yield(nil, d.tooLong(turn.Prompt))
			return
		}
		r, err := e.enter(ctx, turn)
		if err != nil {
			yield(nil, err)
			return
		}
		t := newACPTurn(ctx, r, turn, yield)
		// Deferred, because the loop's body may also leave with a panic.
		defer func() { e.leave(r, t.sound) }()
		if err := t.run(ctx, cmp.Or(e.Grace, defaultACPGrace)); err != nil {
			yield(nil, err)
		}
	}
}

// Excess is how many bytes the prompt is too long for the member's agent, or somewhat less where
// the agent does not count in bytes; 0 when it is not, or nothing is known of it.
func (e *ACP) Excess(m Member, prompt string) int {
	d, _ := acpDialect(m)
	return d.excess(prompt)
}

// Close ends the programs that stay between turns. What they have started and put into
// sessions of its own stays, as it does behind a turn that ends by itself.
func (e *ACP) Close() {
	e.mu.Lock()
	kept := e.kept
	e.kept = nil
	e.mu.Unlock()
	var ending sync.WaitGroup
	for _, r := range kept {
		ending.Go(func() { r.dismiss(cmp.Or(e.Grace, defaultACPGrace)) })
	}
	ending.Wait()
}

// enter gives the turn an agent, with a session in it.
func (e *ACP) enter(ctx context.Context, turn Turn) (*resident, error) {
	if r := e.take(keyOf(turn)); r != nil {
		err := r.open(ctx, turn)
		if err == nil {
			return r, nil
		}
		if !errors.Is(err, errHungUp) {
			r.end()
			return nil, r.explain(ctx, err)
		}
		r.dismiss(0) // it has ended since its last turn, which is no fault of this one
	}
	r, err := e.start(ctx, turn)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx, turn); err != nil {
		r.end()
		return nil, r.explain(ctx, err)
	}
	return r, nil
}

// keyOf is the same for two turns that one program can answer.
func keyOf(turn Turn) string {
	m := turn.Member
	return fmt.Sprintf("%q", []any{m.ID, m.AgentType, m.Command, m.Args, m.Env, turn.Dir})
}

// take takes the agent of that key, if it stays and lives. It is the taker's until it is left.
func (e *ACP) take(key string) *resident {
	e.mu.Lock()
	r := e.kept[key]
	delete(e.kept, key)
	e.mu.Unlock()
	if r != nil && r.process.ended() {
		r.dismiss(0)
		r = nil
	}
	return r
}

// leave keeps an agent for the next turn, or ends it. Of a member that has two turns at once,
// one is kept.
func (e *ACP) leave(r *resident, sound bool) {
	if !sound {
		r.end()
		return
	}
	e.mu.Lock()
	if e.kept == nil {
		e.kept = map[string]*resident{}
	}
	other := e.kept[r.key]
	e.kept[r.key] = r
	e.mu.Unlock()
	if other != nil {
		other.dismiss(0)
	}
}

// start starts an agent's program and asks it what it can do.
func (e *ACP) start(ctx context.Context, turn Turn) (*resident, error) {
	d, args := acpDialect(turn.Member)
	key := keyOf(turn)
	turn.Prompt = "" // which is not kept for as long as the program
	turn.Member.Command, turn.Member.Args = cmp.Or(turn.Member.Command, d.program), args
	box := newMailbox()
	p, err := start(turn, plainly, box.deliver)
	if failure := (*StartError)(nil); errors.As(err, &failure) && turn.Member.Command == d.program {
		failure.Install = d.install
	}
	if err != nil {
		return nil, err
	}
	r := &resident{dialect: d, key: key, wire: wire{process: p, mailbox: box}}
	r.stop = sync.OnceFunc(p.supervise(context.Background(), cmp.Or(e.Grace, defaultACPGrace)))
	limit := cmp.Or(e.Start, defaultACPStart)
	starting, cancel := context.WithTimeoutCause(ctx, limit, errNoACP)
	defer cancel()
	if err := r.greet(starting); err != nil {
		r.end()
		return nil, r.explain(ctx, err)
	}
	return r, nil
}

// errNoACP is the fate of a program that has not answered at all.
var errNoACP = errors.New("it does not answer in the Agent Client Protocol")

// A resident is an agent whose program stays between turns.
type resident struct {
	wire
	dialect
	key     string        // of the turns that it can answer
	stop    func()        // ends it; the second time, nothing
	closes  bool          // it can close sessions
	session acp.SessionId // the last
}

// greet begins the conversation in the protocol.
func (r *resident) greet(ctx context.Context) error {
	var can struct {
		Version      int `json:"protocolVersion"`
		Capabilities struct {
			Session struct {
				Close *struct{} `json:"close"`
			} `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
	}
	err := r.call(ctx, acp.AgentMethodInitialize, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber}, &can)
	if err != nil {
		return err
	}
	if can.Version != acp.ProtocolVersionNumber {
		return fmt.Errorf("it speaks version %d of the Agent Client Protocol, and not %d", can.Version, acp.ProtocolVersionNumber)
	}
	r.closes = can.Capabilities.Session.Close != nil
	return nil
}

// open opens a session for the turn.
func (r *resident) open(ctx context.Context, turn Turn) error {
	dir, err := filepath.Abs(turn.Dir)
	if err != nil {
		return err
	}
	var opened acpSession
	if err := r.call(ctx, acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: dir, McpServers: []acp.McpServer{}}, &opened); err != nil {
		return err
	}
	r.session = opened.SessionID
	return r.choose(ctx, opened, turn.Member.Model)
}

// An acpSession is what an agent says of a new session.
type acpSession struct {
	SessionID acp.SessionId `json:"sessionId"`
	Models    *struct{}     `json:"models"`
	Options   []struct {
		ID       string `json:"id"`
		Category string `json:"category"`
	} `json:"configOptions"`
}

// choose chooses the model of the session; "" is the agent's own choice.
func (r *resident) choose(ctx context.Context, opened acpSession, model string) error {
	if model == "" {
		return nil
	}
	for _, o := range opened.Options {
		if o.ID == "model" || o.Category == "model" {
			return r.call(ctx, acp.AgentMethodSessionSetConfigOption, map[string]any{"sessionId": r.session, "configId": o.ID, "value": model}, &struct{}{})
		}
	}
	if opened.Models != nil {
		return r.call(ctx, acp.AgentMethodSessionSetModel, map[string]any{"sessionId": r.session, "modelId": model}, &struct{}{})
	}
	return errNoModels
}

var errNoModels = errors.New("it has no choice of models")

// close closes the session, where the agent can. Its answer is not waited for.
func (r *resident) close() {
	if r.closes {
		r.request(acp.AgentMethodSessionClose, acp.CloseSessionRequest{SessionId: r.session})
	}
}

// end ends the agent and everything that it has started.
func (r *resident) end() {
	r.mailbox.close()
	r.stop()
}

// dismiss ends the agent, and leaves alone what it has put into sessions of their own.
func (r *resident) dismiss(grace time.Duration) {
	r.mailbox.close() // at the end of its standard input an agent ends by itself
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for waiting := true; waiting; {
		select {
		case _, waiting = <-r.process.texts: // it may have something to say, and wait for a reader
		case <-timer.C:
			waiting = false
		}
	}
	r.process.straysEnded = true // nobody else looks before stop
	r.stop()
}

// explain is what a person is told of an error of the protocol.
func (r *resident) explain(ctx context.Context, err error) error {
	refusal, refused := errors.AsType[*acp.RequestError](err)
	switch {
	case ctx.Err() != nil:
		return stopped(ctx)
	case errors.Is(err, errHungUp):
		return r.hungUp()
	case errors.Is(err, errTooLong):
		return r.failure(err.Error(), "ask for less at once, or for a file instead")
	case errors.Is(err, errNoACP) && r.noise != "":
		return r.failure(fmt.Sprintf("%v, and printed “%s”", err, r.noise), helpNoACP)
	case errors.Is(err, errNoACP):
		return r.failure(err.Error(), helpNoACP)
	case errors.Is(err, errNoModels):
		return r.failure(err.Error(), `leave the member's "model" out`)
	case refused:
		says := spoken(refusalOf(refusal))
		return r.failure(says, r.help(says))
	}
	return r.failure(err.Error(), r.help(err.Error()))
}

const helpNoACP = `check the member's command and args; for another program, set the member's "engine" to "command"`

// hungUp says how the agent's program has ended, which it should not.
func (r *resident) hungUp() error {
	select {
	case <-r.process.exited:
	case <-time.After(killWait): // it has only closed its standard output
	}
	r.end()
	exit, _ := errors.AsType[*ExitError](r.process.result(context.Background()))
	h := hearing{dialect: r.dialect, process: r.process, noise: r.noise}
	return h.unfinished(exit)
}

// refusalOf is what an agent says of a request that it has not fulfilled.
func refusalOf(e *acp.RequestError) string {
	if e.Code == codeAuthRequired {
		return "it wants a login: " + e.Message
	}
	if data, ok := e.Data.(map[string]any); ok {
		for _, key := range []string{"details", "message", "error"} {
			if more, ok := data[key].(string); ok && more != "" {
				return e.Message + ": " + more
			}
		}
	}
	return e.Message
}

const codeAuthRequired = -32000

// acpServers are the programs that speak the protocol for agents that people know.
var acpServers = map[string]func() (server dialect, args []string){
	"claude": func() (dialect, []string) {
		return served(Claude(), "claude-agent-acp", "@agentclientprotocol/claude-agent-acp"), nil
	},
	"codex": func() (dialect, []string) {
		return served(Codex(), "codex-acp", "@agentclientprotocol/codex-acp", codexLimit), nil
	},
	"gemini": func() (dialect, []string) {
		return served(Gemini(), "gemini", "@google/gemini-cli", geminiWindow), []string{"--acp"}
	},
	"opencode": func() (dialect, []string) {
		return dialect{name: "OpenCode", program: "opencode", install: "npm install -g opencode-ai", login: "log in: type opencode auth login"}, []string{"acp"}
	},
}

// served is the dialect of a CLI's server.
func served(c CLI, program, packageName string, limits ...limit) dialect {
	d := c.dialect
	return dialect{name: d.name, program: program, install: "npm install -g " + packageName, login: d.login, trust: d.trust, bypass: d.bypass, limits: limits}
}

// acpNames are other names of agent types.
var acpNames = map[string]string{
	"claude-code": "claude", "gemini-cli": "gemini",
	"claude" + acpSuffix: "claude", "codex" + acpSuffix: "codex", "gemini" + acpSuffix: "gemini",
}

// ServesACP reports whether it is known which program speaks the protocol for an agent type,
// so that a member needs no command.
func ServesACP(agentType string) bool {
	return acpServers[cmp.Or(acpNames[agentType], agentType)] != nil
}

// acpDialect is the agent of a member, and the arguments that it is started with: the member's
// own, behind those without which a known one does not speak the protocol.
func acpDialect(m Member) (dialect, []string) {
	server := acpServers[cmp.Or(acpNames[m.AgentType], m.AgentType)]
	if server == nil {
		return dialect{name: cmp.Or(m.DisplayName, m.Command), program: m.Command}, m.Args
	}
	d, args := server()
	own := d.checked(m)
	for _, arg := range args {
		if slices.Contains(own, arg) {
			return d, own
		}
	}
	return d, slices.Concat(args, own)
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// ACP is the engine for agents that speak the Agent Client Protocol over their standard input
// and output.
//
// Each turn of Run has a new session, so that what the agent knows of the conversation is the
// prompt. An agent's program is started at a member's first turn and stays until it exits or Close is
// called. A session of Open has a program of its own.
//
// The program is Member.Command, or the one that speaks the protocol for the member's agent type
// (see [Default]). Member.Model is set in the session. Member.Permissions, one of [Policies], decides on the mode of
// the session. A turn whose session cannot be put into a mode in which the agent asks for permission fails; one that
// changes its mode by itself, or reports that it did without asking what it must not do, is stopped. Turn.Permit
// decides when the agent asks. The client offers the files and terminals of Turn.Editor; without one the agent uses its
// own. What an agent writes and runs there needs Turn.Permit, too.
//
// A turn that is stopped is cancelled in the protocol. If the agent does not respond to that, or
// leaves a process running that was not there before the turn, the program and everything that it
// has started are ended, and the next turn starts it again.
type ACP struct {
	// Grace is how long the agent has after each way of asking it to stop; zero is 1 second.
	Grace time.Duration
	// Start is how long its program has to initialize; zero is 1 minute.
	Start time.Duration

	agentType string // of all members; "" is Member.AgentType

	mu   sync.Mutex
	idle map[string]*acpAgent // agents that no turn uses, by key
}

const (
	defaultACPGrace = time.Second
	defaultACPStart = time.Minute
)

// acpEngine is the name of the engine ACP.
const acpEngine = "acp"

var _ = Register(Info{
	Name: acpEngine, New: func() Engine { return new(ACP) }, Models: true, Permissions: Policies, Protocol: true,
	MaxImage: anyImage,
})

var _ SessionEngine = (*ACP)(nil)

// member returns a member as the engine runs it.
func (e *ACP) member(m Member) Member {
	if e.agentType != "" {
		m.AgentType = e.agentType
	}
	return m
}

// acpProfile returns the profile of a member's agent and its arguments: those that a known agent
// requires to speak the protocol, then the member's own.
func acpProfile(m Member) (profile, []string) {
	k, ok := Default(acpEngine, m.AgentType)
	if !ok {
		return profile{name: cmp.Or(m.DisplayName, m.Command), program: m.Command}, m.Args
	}
	return k.profile, withRequired(k.Args, k.profile.ownArgs(m))
}

// Run runs a turn and yields its events. The last error is a *process.StartError, a
// *FailureError, or wraps context.Cause(ctx).
func (e *ACP) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, process.Stopped(ctx))
			return
		}
		turn.Member = e.member(turn.Member)
		if p, _ := acpProfile(turn.Member); p.excess(turn.Prompt) > 0 {
			yield(nil, p.checkLength(turn.Prompt))
			return
		}
		a, err := e.acquire(ctx, turn)
		if err != nil {
			yield(nil, err)
			return
		}
		t := newACPTurn(ctx, a, turn, yield)
		// Deferred, because the loop's body may also panic.
		defer func() { e.release(a, t.reusable) }()
		if err := t.run(ctx, cmp.Or(e.Grace, defaultACPGrace)); err != nil {
			yield(nil, err)
		}
	}
}

// Excess returns by how many bytes the prompt is too long for the member's agent, or somewhat less
// if the agent does not count in bytes; 0 if it is short enough, or the limit is unknown.
func (e *ACP) Excess(m Member, prompt string) int {
	p, _ := acpProfile(e.member(m))
	return p.excess(prompt)
}

// CommandLine returns the program that runs the member's turns, and its arguments.
func (e *ACP) CommandLine(m Member) []string {
	p, args := acpProfile(e.member(m))
	return append([]string{cmp.Or(m.Command, p.program)}, args...)
}

// Close ends the idle agents. Their detached processes keep running, as after a turn that was not
// stopped.
func (e *ACP) Close() {
	e.mu.Lock()
	idle := e.idle
	e.idle = nil
	e.mu.Unlock()
	var closing sync.WaitGroup
	for _, a := range idle {
		closing.Go(func() { a.close(cmp.Or(e.Grace, defaultACPGrace)) })
	}
	closing.Wait()
}

// acquire returns an agent with a session for the turn.
func (e *ACP) acquire(ctx context.Context, turn Turn) (*acpAgent, error) {
	if a := e.takeIdle(e.key(turn)); a != nil {
		err := a.newSession(ctx, turn)
		if err == nil {
			return a, nil
		}
		if !errors.Is(err, acp.ErrExited) {
			a.kill()
			return nil, a.explain(ctx, err)
		}
		a.close(0) // it has exited since its last turn, which is not a failure of this one
	}
	a, err := e.start(ctx, turn)
	if err != nil {
		return nil, err
	}
	if err := a.newSession(ctx, turn); err != nil {
		a.kill()
		return nil, a.explain(ctx, err)
	}
	return a, nil
}

// key returns the same string for two turns that one program can run.
func (e *ACP) key(turn Turn) string {
	m := turn.Member
	allowed := everything(m)                                              // decides on the environment of some agents
	member := []any{m.ID, m.AgentType, e.CommandLine(m), m.Env, turn.Dir} // of m.Args, permissions override some
	return fmt.Sprintf("%q %v %v %q", member, servicesOf(turn), allowed, acpHabitsFor(m).policyFor(turn.MCPServers))
}

// takeIdle returns an idle agent, which may have exited, or nil. It belongs to the caller until release.
func (e *ACP) takeIdle(key string) *acpAgent {
	e.mu.Lock()
	a := e.idle[key]
	delete(e.idle, key)
	e.mu.Unlock()
	if a != nil {
		a.Process.SetIdle(false)
	}
	return a
}

// release keeps an agent for the next turn if it is reusable, and kills it otherwise. Of a member
// with concurrent turns it keeps one agent.
func (e *ACP) release(a *acpAgent, reusable bool) {
	if !reusable {
		a.kill()
		return
	}
	e.mu.Lock()
	if e.idle == nil {
		e.idle = map[string]*acpAgent{}
	}
	other := e.idle[a.key]
	e.idle[a.key] = a
	a.Process.SetIdle(true) // before a turn takes it
	e.mu.Unlock()
	if other != nil {
		other.close(0)
	}
}

// start starts an agent's program and initializes it.
func (e *ACP) start(ctx context.Context, turn Turn) (*acpAgent, error) {
	p, _ := acpProfile(turn.Member)
	program, line := turn.program(), e.CommandLine(turn.Member)
	program.Command, program.Args = line[0], line[1:]
	env, err := acpEnv(turn.Member)
	if err != nil {
		return nil, p.failure(err.Error(), Remedy{Advice: `change the member's "env"`})
	}
	program.Env = env
	a := &acpAgent{profile: p, habits: acpHabitsFor(turn.Member), key: e.key(turn), ownMode: e.agentType != ""}
	policy, removePolicy, err := a.habits.writePolicy(turn.MCPServers)
	if err != nil {
		return nil, p.failure("its MCP servers cannot be configured: "+err.Error(), Remedy{})
	}
	program.Args = append(program.Args, policy...)
	if a.Client, err = acp.Start(program); err != nil {
		removePolicy()
		return nil, p.withInstall(err)
	}
	end := a.Process.Supervise(context.Background(), cmp.Or(e.Grace, defaultACPGrace))
	a.end = sync.OnceFunc(func() {
		end()
		removePolicy()
	})
	starting, cancel := context.WithTimeoutCause(ctx, cmp.Or(e.Start, defaultACPStart), errNoACP)
	defer cancel()
	if err := a.Initialize(starting, servicesOf(turn)); err != nil {
		a.kill()
		return nil, a.explain(ctx, err)
	}
	return a, nil
}

// errNoACP is the cause when a program does not initialize in time.
var errNoACP = errors.New("it does not answer in the Agent Client Protocol")

// An acpAgent is an agent whose program stays between turns.
type acpAgent struct {
	*acp.Client
	profile
	habits  acpHabits
	key     string // see ACP.key
	ownMode bool   // arguments of a member without permissions choose the mode
	end     func() // ends the process group and waits; may be called repeatedly

	numbered bool // a message had an id

	// Of the session:
	noThinking bool        // Member.Thinking has no effect
	skipped    []MCPServer // the agent does not take these servers
}

// newSession starts a session for the turn.
func (a *acpAgent) newSession(ctx context.Context, turn Turn) error {
	return a.begin(turn, func(wanted acp.Session) error { return a.NewSession(ctx, wanted) })
}

// begin calls start with the session that the turn is to have.
func (a *acpAgent) begin(turn Turn, start func(acp.Session) error) error {
	taken, skipped := split(turn.MCPServers, a.takes)
	a.skipped = skipped
	err := start(acp.Session{
		Dir: turn.Dir, Model: turn.Member.Model, Thinking: turn.Member.Thinking, MCPServers: acpServersOf(taken),
		Mode: a.mode(turn.Member),
	})
	if mode, ok := errors.AsType[*acp.ModeError](err); ok {
		return a.explainMode(turn.Member.Permissions, mode)
	}
	if a.noThinking = errors.Is(err, acp.ErrNoThinking); a.noThinking {
		return nil
	}
	return err
}

// kill ends the agent and everything that it has started.
func (a *acpAgent) kill() {
	a.Client.Close()
	a.end()
}

// close ends the agent, at first by closing its standard input, and leaves its detached processes
// alone. An agent that has not exited after the grace period is killed.
func (a *acpAgent) close(grace time.Duration) {
	a.Client.Close()
	expired := time.After(grace)
	for waiting := true; waiting; {
		select {
		case _, waiting = <-a.Process.Texts(): // it may block on its output
		case <-expired:
			waiting = false
		}
	}
	a.Process.KeepDetached()
	a.end()
}

// explain returns the error of a turn that ends with an error of the client.
func (a *acpAgent) explain(ctx context.Context, err error) error {
	refusal, refused := errors.AsType[*acp.RequestError](err)
	failure, explained := errors.AsType[*FailureError](err)
	switch {
	case ctx.Err() != nil:
		return process.Stopped(ctx)
	case explained:
		return failure
	case errors.Is(err, acp.ErrExited):
		return a.exitError()
	case errors.Is(err, jsonlines.ErrTooLong):
		return a.failure(err.Error(), remedyAskLess)
	case errors.Is(err, errNoACP) && a.Unparsed() != "":
		return a.failure(fmt.Sprintf("%v, and printed “%s”", err, excerpt(a.Unparsed())), remedyCommand)
	case errors.Is(err, errNoACP):
		return a.failure(err.Error(), remedyCommand)
	case errors.Is(err, acp.ErrNoModels):
		return a.failure(err.Error(), Remedy{Advice: `omit the member's "model"`})
	case refused:
		reason := apiMessage(refusal.Message)
		if refusal.AuthRequired {
			reason = "it requires a login: " + reason
		}
		return a.failure(reason, a.remedy(reason))
	}
	return a.failure(err.Error(), a.remedy(err.Error()))
}

// exitError returns the error of an agent whose program has exited in a turn.
func (a *acpAgent) exitError() error {
	select {
	case <-a.Process.Exited():
	case <-time.After(process.KillWait): // it has only closed its standard output
	}
	a.kill()
	exit, _ := errors.AsType[*process.ExitError](a.Process.Wait(context.Background()))
	return a.unfinished(exit, a.Process.Stderr(), "", excerpt(a.Unparsed()))
}

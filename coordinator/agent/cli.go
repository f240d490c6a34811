package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A CLI is the engine for a coding agent that prints its turn as JSON objects, one in each line,
// on standard output. [Codex] and [Gemini] return one; the zero CLI runs nothing.
//
// The prompt is the agent's standard input. The agent's own final line decides whether the turn
// succeeded, whatever its exit code is; a turn without one has failed. Lines that are not JSON are
// ignored.
//
// Member.Command replaces the agent's program; Member.Args follow the engine's arguments, without
// those that would repeat one of them. Member.Model is passed on. Member.Permissions is one of
// [Permissions], or "" for the agent's own configuration. If it is set, the options of Member.Args that
// choose the agent's sandbox or when it asks are left out; others, such as a list of allowed tools, stay.
//
// Environment and processes are as with [Command], but a turn that is stopped gets SIGINT before
// SIGTERM.
type CLI struct {
	// Grace is how long the agent has to exit after each signal; zero is 1 second.
	Grace time.Duration
	// Linger is how long the agent may run after its final line before it is stopped; zero is
	// 10 seconds. The final line counts nevertheless.
	Linger time.Duration

	profile profile
	format  format
}

const (
	// defaultCLIGrace limits a cancellation to less than 3 seconds: some agents handle neither
	// of the two signals while a tool runs.
	defaultCLIGrace = time.Second
	defaultLinger   = 10 * time.Second
)

// Permissions are the values of Member.Permissions other than "" for a CLI.
var Permissions = []string{ReadOnly, Edit, Bypass}

// A format is a CLI's command line and output.
type format struct {
	args    []string                // of every turn
	model   string                  // the option that sets the model
	permits map[string][]string     // arguments by Member.Permissions
	think   map[bool]thinkingSwitch // by Member.Thinking; nil: the agent has no choice
	mcp     mcpFunc                 // for Turn.MCPServers; nil: see runWithServers
	last    []string                // arguments after the member's own
	parser  func() parser
}

// A thinkingSwitch makes an agent's model reason or not: arguments, which the member's own override,
// and a variable, which Member.Env overrides.
type thinkingSwitch struct {
	args            []string
	variable, value string
}

// Run runs the agent and yields its events. The last error is a *process.StartError, a
// *FailureError, or wraps context.Cause(ctx).
func (c CLI) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, process.Stopped(ctx))
			return
		}
		if len(turn.MCPServers) > 0 && c.format.mcp == nil {
			c.runWithServers(ctx, turn, yield)
			return
		}
		servers, err := c.setUpServers(turn)
		if servers.remove != nil {
			defer servers.remove() // when the agent has ended
		}
		var p *process.Process
		if err == nil {
			p, err = c.start(turn, servers)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		// Deferred, because the loop's body may also panic.
		defer p.Supervise(ctx, cmp.Or(c.Grace, defaultCLIGrace))()
		s := &stream{
			profile: c.profile, process: p, parser: c.format.parser(), linger: cmp.Or(c.Linger, defaultLinger),
		}
		if turn.Member.Thinking != nil && c.format.think == nil && !yield(unsupportedThinking, nil) {
			return
		}
		if !yieldUnsupportedServers(servers.skipped, yield) || !s.relay(yield) {
			return
		}
		if err := s.result(ctx); err != nil {
			yield(nil, err)
		}
	}
}

// Excess returns by how many bytes the prompt is too long, or somewhat less if the agent does not
// count in bytes; 0 if it is short enough.
func (c CLI) Excess(_ Member, prompt string) int { return c.profile.excess(prompt) }

// setUpServers prepares the servers of a turn.
func (c CLI) setUpServers(turn Turn) (mcpSetup, error) {
	if len(turn.MCPServers) == 0 {
		return mcpSetup{}, nil
	}
	setup, err := c.format.mcp(turn.Member, turn.MCPServers)
	if err != nil {
		err = c.profile.failure("its MCP servers cannot be configured: "+err.Error(), Remedy{})
	}
	return setup, err
}

func (c CLI) start(turn Turn, servers mcpSetup) (*process.Process, error) {
	if err := c.profile.checkLength(turn.Prompt); err != nil {
		return nil, err
	}
	args, err := c.arguments(turn.Member, servers.args...)
	if err != nil {
		return nil, err
	}
	program := turn.program()
	program.Command, program.Args = c.program(turn.Member), args
	program.Interrupt = true // the agent reports how far it came
	program.Env = map[string]string{}
	maps.Copy(program.Env, turn.Member.Env)
	maps.Copy(program.Env, servers.env)
	if turn.Member.Thinking != nil {
		if t := c.format.think[*turn.Member.Thinking]; t.variable != "" {
			program.Env[t.variable] = cmp.Or(program.Env[t.variable], t.value)
		}
	}
	// Agents reject input that is not valid UTF-8.
	p, err := process.Start(program, process.Write(strings.ToValidUTF8(turn.Prompt, "\uFFFD")))
	return p, c.profile.withInstall(err)
}

// withInstall adds the command that installs the agent to a *process.StartError.
func (p profile) withInstall(err error) error {
	if e := (*process.StartError)(nil); errors.As(err, &e) && e.Command == p.program {
		e.Install = p.install
	}
	return err
}

// CommandLine returns the program that runs the member's turns, and its arguments.
func (c CLI) CommandLine(m Member) []string {
	args, err := c.arguments(m)
	if err != nil {
		args = m.Args // it does not run with invalid permissions
	}
	return append([]string{c.program(m)}, args...)
}

func (c CLI) program(m Member) string { return cmp.Or(m.Command, c.profile.program) }

// permitArguments returns the arguments that decide what the agent may do.
func (c CLI) permitArguments(m Member) ([]string, error) {
	permits, ok := c.format.permits[m.Permissions]
	if !ok && m.Permissions != "" {
		advice := fmt.Sprintf(`set the member's "permissions" to %s, or omit it`, strings.Join(Permissions, ", "))
		return nil, c.profile.failure(fmt.Sprintf("invalid permissions %q", m.Permissions), Remedy{Advice: advice})
	}
	return slices.Clone(permits), nil
}

// arguments returns the arguments of the agent's program, with additional ones before the member's own.
func (c CLI) arguments(m Member, additional ...string) ([]string, error) {
	permits, err := c.permitArguments(m)
	if err != nil {
		return nil, err
	}
	args := slices.Concat(c.format.args, permits)
	if m.Model != "" {
		args = append(args, c.format.model, m.Model)
	}
	if m.Thinking != nil {
		args = append(args, c.format.think[*m.Thinking].args...)
	}
	args = append(args, additional...)
	own := without(c.profile.ownArgs(m), slices.Concat(args, c.format.last))
	return slices.Concat(args, own, c.format.last), nil
}

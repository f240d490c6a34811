package agent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

var claudeProfile = profile{
	name:    "Claude Code",
	program: "claude",
	install: npmInstall("@anthropic-ai/claude-code"),
	login: Remedy{
		`log in there with /login, or set a key in the member's "env"`,
		hint.Hint{Kind: hint.Run, Argv: []string{"claude"}},
	},
	permits: []string{
		"--permission-mode", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions",
	},
}

var _ = Register(Info{
	Name: "claude", AgentTypes: []string{"claude", "claude-code"}, New: func() Engine { return Claude{} },
	Models: true, Permissions: Policies, InstructionFile: "CLAUDE.md", MaxImage: claudeImage,
})

var _ = RegisterAgents(
	claudeProfile.known(Known{Name: "claude", Engine: "claude", LoggedIn: []string{"auth", "status"}}),
	claudeProfile.server("claude-agent-acp", "@agentclientprotocol/claude-agent-acp").known(Known{
		Name: "claude-acp", DisplayName: "Claude Code (ACP)", Engine: acpEngine, AgentType: "claude",
	}),
)

// Claude is the engine for Claude Code: claude -p, with lines of JSON as its input and output.
//
// The program of a session runs until Close, and Run uses a new session for each turn. The agent's own final line
// decides whether a turn succeeded. Lines that are not JSON are ignored.
//
// Member.Command replaces the agent's program; Member.Args follow the engine's arguments, without those that would
// repeat one of them or choose a session. Member.Model is passed on. Member.Permissions is one of [Policies], or "" for
// the agent's own configuration; Turn.Permit decides when the agent asks. If it is set, the options of Member.Args that
// choose the agent's mode are left out, and a turn that changes its mode by itself, or reports that it did without
// asking what it must not do, is stopped. With [Deny] and [ReadOnly], the agent asks also for what its settings and
// Member.Args allow.
//
// A turn that is stopped is interrupted in the protocol. If the agent does not respond to that, or leaves a process
// running that was not there before the turn, the program and everything that it has started are ended.
type Claude struct {
	// Grace is how long the agent has after each way of asking it to stop; zero is 1 second.
	Grace time.Duration
	// Start is how long its program has to start and to find its session; zero is 1 minute.
	Start time.Duration
}

const (
	defaultClaudeGrace = time.Second
	defaultClaudeStart = time.Minute
)

var _ SessionEngine = Claude{}

// claudeArgs are the arguments of every session.
var claudeArgs = []string{
	"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
	"--permission-prompt-tool", "stdio",
}

// claudeOwn are options that a member cannot have: they decide on the session, or on who is asked.
var claudeOwn = []string{
	"--session-id", "--resume", "--continue", "-c", "--fork-session", "--resume-session-at", "--no-session-persistence",
	"--permission-prompts",
}

// claudeModes are the modes in which sessions are, by Member.Permissions.
var claudeModes = map[string]string{
	Ask: claudeAsking, Allow: claudeAsking, Deny: claudeAsking, ReadOnly: claudePlanning, Edit: "acceptEdits",
	Bypass: "bypassPermissions",
}

// The agent's names of its modes.
const (
	claudeAsking   = "default"
	claudePlanning = "plan"
)

// Run runs a turn in a session of its own. The last error is a *process.StartError, a *FailureError, or wraps
// context.Cause(ctx).
func (e Claude) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := e.open(ctx, turn, Origin{})
		if err != nil {
			yield(nil, err)
			return
		}
		done := false
		defer func() { s.close(done) }() // deferred, because the loop's body may also panic
		for event, err := range s.Turn(ctx, turn) {
			if !yield(event, err) {
				return
			}
			done = err == nil
		}
	}
}

// Open implements SessionEngine. It starts the agent's program.
func (e Claude) Open(ctx context.Context, turn Turn, origin Origin) (Session, error) {
	s, err := e.open(ctx, turn, origin)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// CommandLine returns the program that runs the member's turns, and its arguments, without those of the session.
func (Claude) CommandLine(m Member) []string {
	args, err := claudeArguments(m)
	if err != nil {
		args = m.Args // it does not run with invalid permissions
	}
	return append([]string{cmp.Or(m.Command, claudeProfile.program)}, args...)
}

// claudeArguments returns the arguments of the program, with additional ones before the member's own.
func claudeArguments(m Member, additional ...string) ([]string, error) {
	args := slices.Clone(claudeArgs)
	mode, ok := claudeModes[m.Permissions]
	switch {
	case m.Permissions == Bypass:
		args = append(args, "--dangerously-skip-permissions")
	case ok:
		args = append(args, "--permission-mode", mode)
	case m.Permissions != "":
		advice := fmt.Sprintf(`set the member's "permissions" to %s, or omit it`, strings.Join(Policies, ", "))
		return nil, claudeProfile.failure(fmt.Sprintf("invalid permissions %q", m.Permissions), Remedy{Advice: advice})
	}
	if m.Model != "" {
		args = append(args, "--model", m.Model)
	}
	args = append(args, additional...)
	return append(args, without(claudeProfile.ownArgs(m), slices.Concat(args, claudeOwn))...), nil
}

// claudeEnv returns the environment of a member's program. What the agent would do between two turns, when a command
// in the background has ended or at a time that it has chosen, would be neither shown nor permitted.
func claudeEnv(m Member) map[string]string {
	env := map[string]string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1", "CLAUDE_CODE_DISABLE_CRON": "1"}
	switch {
	case m.Thinking == nil:
	case *m.Thinking:
		env["MAX_THINKING_TOKENS"] = "31999" // its own default
	default:
		env["MAX_THINKING_TOKENS"] = "0"
	}
	maps.Copy(env, m.Env)
	return env
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// codexLimit is the length of the longest prompt of Codex.
var codexLimit = limit{1 << 20, "characters", utf8.RuneCountInString}

var codexProfile = profile{
	name:    "Codex",
	program: "codex",
	install: npmInstall("@openai/codex"),
	login: Remedy{
		`log in, or set a key in the member's "env"`,
		hint.Hint{Kind: hint.Run, Argv: []string{"codex", "login"}},
	},
	permits: []string{
		"--sandbox", "--ask-for-approval", "--approve-for-me", "--full-auto",
		"--dangerously-bypass-approvals-and-sandbox", "--yolo",
	},
	limits: []limit{codexLimit},
}

var _ = Register(Info{
	Name: "codex", AgentTypes: []string{"codex"}, New: func() Engine { return Codex{} },
	Models: true, Permissions: Policies, MaxImage: anyImage,
})

var _ = RegisterAgents(
	codexProfile.known(Known{Name: "codex", Engine: "codex", LoggedIn: []string{"login", "status"}}),
	codexProfile.server("codex-acp", "@agentclientprotocol/codex-acp", codexLimit).known(Known{
		Name: "codex-acp", DisplayName: "Codex (ACP)", Engine: acpEngine, AgentType: "codex",
	}),
)

// Codex is the engine for Codex: codex app-server, which speaks JSON-RPC over its standard input and output. A program
// has one session, a thread of Codex.
//
// Member.Args may be arguments of codex exec; codexArgs says which are passed on. Member.Permissions is one of
// [Policies]; codexPolicies has what each means for Codex.
//
// A turn that is stopped is interrupted in the protocol. If Codex does not respond to that, or leaves a process
// running that was not there before the turn, the program and everything that it has started are ended.
type Codex struct {
	// Grace is how long Codex has after each way of asking it to stop; zero is 1 second.
	Grace time.Duration
	// Start is how long its program has to start a session; zero is 1 minute.
	Start time.Duration
	// Retry is the time until Codex is asked again for a session that another process uses; zero is 1 second.
	Retry time.Duration
}

const (
	defaultCodexGrace = time.Second
	defaultCodexStart = time.Minute
	defaultCodexRetry = time.Second
)

var _ SessionEngine = Codex{}

// Run runs a turn in a session of its own and yields its events. The last error is a *process.StartError, a
// *FailureError, or wraps context.Cause(ctx).
func (e Codex) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, process.Stopped(ctx))
			return
		}
		if err := codexProfile.checkLength(turn.Prompt); err != nil {
			yield(nil, err)
			return
		}
		s, err := e.Open(ctx, turn, Origin{})
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.Close()
		s.(*codexSession).once = true
		s.Turn(ctx, turn)(yield)
	}
}

// Excess returns by how many characters the prompt is too long; 0 if it is short enough.
func (Codex) Excess(_ Member, prompt string) int { return codexProfile.excess(prompt) }

// CommandLine returns the program that runs the member's turns, and its arguments.
func (Codex) CommandLine(m Member) []string {
	policy := codexPolicies[m.Permissions] // with invalid permissions it does not run
	line := codexArgs(m, policy)
	return append([]string{cmp.Or(m.Command, codexProfile.program)}, line.args...)
}

func object(name, value string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{name: value}) // strings cannot fail
	return raw
}

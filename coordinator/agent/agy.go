package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

var agyProfile = profile{
	name:    "Antigravity CLI",
	program: "agy",
	install: []string{"sh", "-c", "curl -fsSL https://antigravity.google/cli/install.sh | bash"},
	login:   Remedy{"sign in there", hint.Hint{Kind: hint.Run, Argv: []string{"agy"}}},
	permits: []string{"--mode", "--dangerously-skip-permissions", "-dangerously-skip-permissions"},
}

var _ = Register(Info{
	Name: "agy", AgentTypes: []string{"agy", "antigravity"}, New: func() Engine { return Agy{} },
	Models: true, Permissions: []string{Allow, Deny, ReadOnly, Edit, Bypass},
})

var _ = RegisterAgents(agyProfile.known(Known{Name: "agy", Engine: "agy"}))

// Agy is the engine for the Antigravity CLI: agy --print, with lines of JSON as its input and output.
//
// The program runs for one turn, and keeps the conversation, which the next turn resumes. It gives a new one its id
// in the first turn.
//
// Member.Command replaces the agent's program; Member.Args follow the engine's arguments, without those that choose
// the prompt, the format or the conversation. The agent cannot ask for permission in this mode, so [Ask] is refused.
// [Deny] and [ReadOnly] are its mode plan, [Edit] is accept-edits, and [Allow] and [Bypass] skip its checks. With Deny,
// ReadOnly and Edit, a turn is stopped if the agent reports that it skips its checks; with Deny and ReadOnly, also if a
// tool has run a command or changed a file.
type Agy struct {
	// Grace is how long the agent has to exit after its turn, and after SIGTERM; zero is 2 seconds.
	Grace time.Duration
}

var _ SessionEngine = Agy{}

// agyArgs are the arguments of every turn. The value of --print is the prompt, which comes by standard input.
var agyArgs = []string{
	"--input-format", "stream-json", "--output-format", "stream-json", "--print=", "--print-timeout=0s",
}

// agyOwn are options that a member cannot have.
var agyOwn = []string{
	"--input-format", "--output-format", "--print", "-p", "--prompt", "-prompt", "-print", "--print-timeout",
	"--prompt-interactive", "-prompt-interactive", "-i", "--continue", "-continue", "-c", "--conversation",
}

// agyModes are the arguments that decide what the agent may do, by Member.Permissions.
var agyModes = map[string][]string{
	"": nil, Deny: {"--mode", "plan"}, ReadOnly: {"--mode", "plan"}, Edit: {"--mode", "accept-edits"},
	Allow: {"--dangerously-skip-permissions"}, Bypass: {"--dangerously-skip-permissions"},
}

// Run runs a turn in a conversation of its own. The last error is a *process.StartError, a *FailureError, or wraps
// context.Cause(ctx).
func (e Agy) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := e.Open(ctx, turn, Origin{})
		if err != nil {
			yield(nil, err)
			return
		}
		s.Turn(ctx, turn)(yield)
	}
}

// Open implements SessionEngine. It starts nothing: the program runs for a turn.
func (e Agy) Open(ctx context.Context, turn Turn, o Origin) (Session, error) {
	switch {
	case ctx.Err() != nil:
		return nil, process.Stopped(ctx)
	case o.Way == Fork:
		return nil, fmt.Errorf("%w: it has no forks", ErrUnsupported)
	case o.Way == Resume && !isUUID(o.ID):
		return nil, fmt.Errorf("%w: it has no conversation with such an id", ErrGone)
	}
	if err := checkAgyPermissions(turn.Member.Permissions); err != nil {
		return nil, err
	}
	return &agySession{turn: turn, id: o.ID, grace: cmp.Or(max(e.Grace, 0), defaultGrace)}, nil
}

// CommandLine returns the program that runs the member's turns, and its arguments, without those of the turn.
func (Agy) CommandLine(m Member) []string {
	return append([]string{cmp.Or(m.Command, agyProfile.program)}, agyArguments(m)...)
}

// checkAgyPermissions returns an error if the agent cannot have the permissions.
func checkAgyPermissions(value string) error {
	if _, ok := agyModes[value]; ok {
		return nil
	}
	info, _ := Lookup("agy")
	advice := fmt.Sprintf(`set the member's "permissions" to %s, or omit it`, strings.Join(info.Permissions, ", "))
	reason := fmt.Sprintf("invalid permissions %q", value)
	if value == Ask {
		reason = "it cannot ask for permission while another program runs it"
	}
	return agyProfile.failure(reason, Remedy{Advice: advice})
}

// agyArguments returns the arguments of the program, with additional ones before the member's own.
func agyArguments(m Member, additional ...string) []string {
	args := slices.Concat(agyArgs, agyModes[m.Permissions])
	if m.Model != "" {
		args = append(args, "--model", m.Model)
	}
	args = append(args, additional...)
	return append(args, without(agyProfile.ownArgs(m), slices.Concat(args, agyOwn))...)
}

// agyTurnArguments returns the arguments of a turn. Without --add-dir, the agent writes files elsewhere.
func agyTurnArguments(turn Turn, conversation string) ([]string, error) {
	dir, err := filepath.Abs(turn.Dir)
	if err != nil {
		return nil, err
	}
	additional := []string{"--add-dir=" + dir}
	if conversation != "" {
		additional = append(additional, "--conversation="+conversation)
	}
	return agyArguments(turn.Member, additional...), nil
}

// agyPrompt returns the line that has the prompt. One that begins like a command of the agent is text.
func agyPrompt(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.HasPrefix(text, "/") {
		text = " " + text
	}
	line, _ := json.Marshal(map[string]any{ // strings cannot fail
		"event": "user", "message": map[string]string{"role": "user", "content": text},
	})
	return string(line) + "\n"
}

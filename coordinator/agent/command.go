package agent

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// Command is the engine that runs any program: the prompt is its standard input, the reply its
// standard output, as a terminal would show it: without escape sequences, and of a line that is written again after a
// carriage return the last version. A program that prints only an error message has failed.
//
// The program is Member.Command with Member.Args, started without a shell in Turn.Dir. Its
// environment is that of this process without the variables of the agents' vendors (ANTHROPIC_…,
// CLAUDE_…, CLAUDECODE…, OPENAI_…, CODEX_…, GEMINI_…, GOOGLE_GEMINI_…), then Member.Env, then
// AGENT_CHATTER_OWNER and AGENT_CHATTER_TURN. It need not read its standard input, which ends
// after the prompt.
//
// The turn ends when the program has exited, or has been stopped. The rest of its process group is
// killed then; a process outside of the group that keeps standard output open is not waited for.
type Command struct {
	// Grace is how long the process group of a stopped turn has between SIGTERM and
	// SIGKILL; zero is 2 seconds. Systems without signals kill the program at once.
	Grace time.Duration
}

// commandEngine is the name of the engine Command, which runs agents of unknown types.
const commandEngine = "command"

var _ = Register(Info{Name: commandEngine, New: func() Engine { return Command{} }})

const defaultGrace = 2 * time.Second

// CommandLine returns the program that runs the member's turns, and its arguments.
func (Command) CommandLine(m Member) []string { return append([]string{m.Command}, m.Args...) }

// Run runs the program and yields its standard output as it arrives. The last error is a
// *process.StartError, a *process.ExitError, a *FailureError, or wraps context.Cause(ctx).
func (c Command) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, process.Stopped(ctx))
			return
		}
		if turn.Member.Thinking != nil && !yield(unsupportedThinking, nil) {
			return
		}
		if !yieldUnsupportedServers(turn.MCPServers, yield) {
			return
		}
		p, err := process.Start(turn.program(), process.Write(turn.Prompt))
		if err != nil {
			yield(nil, err)
			return
		}
		// Deferred, because the loop's body may also panic.
		defer p.Supervise(ctx, cmp.Or(max(c.Grace, 0), defaultGrace))()
		var shown terminalText
		replied := false
		for text := range p.Texts() {
			text = shown.next(text)
			replied = replied || strings.TrimSpace(text) != ""
			if text != "" && !yield(Text{text}, nil) {
				return
			}
		}
		if text := shown.rest(); text != "" {
			replied = true
			if !yield(Text{text}, nil) {
				return
			}
		}
		err = p.Wait(ctx)
		if said := p.Stderr(); err == nil && !replied && said != "" {
			reason := "it exited with code 0, without an answer: " + said
			err = profile{name: turn.Member.Command}.failure(reason, Remedy{"", retry})
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

package agent

import (
	"context"
	"iter"
	"time"
)

// Command is the engine that runs any program: the prompt on its standard input, the reply
// on its standard output.
//
// The program is Member.Command with Member.Args, started without a shell in Turn.Dir. It
// gets the parent's environment without the variables of the agents' vendors (ANTHROPIC_…,
// CLAUDE_…, CLAUDECODE…, OPENAI_…, CODEX_…, GEMINI_…, GOOGLE_GEMINI_…), then Member.Env, then
// AGENT_CHATTER_TURN. It need not read its standard input, which ends after the prompt.
//
// The turn is over when the program has exited, or has been stopped. What it left behind in
// its process group is killed then, and a process outside of the group that holds on to
// standard output is not waited for.
type Command struct {
	// Grace is how long the process group of a stopped turn has between SIGTERM and
	// SIGKILL; zero is 2 seconds. Where there are no signals the program is killed at once.
	Grace time.Duration
}

const defaultGrace = 2 * time.Second

// Run runs the program, and yields its standard output as it comes. The last error is a
// *StartError, an *ExitError, or wraps context.Cause(ctx).
func (c Command) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, stopped(ctx))
			return
		}
		p, err := start(turn, plainly, tell(turn.Prompt))
		if err != nil {
			yield(nil, err)
			return
		}
		// Deferred, because the loop's body may also leave with a panic.
		defer p.supervise(ctx, c.grace())()
		for text := range p.texts {
			if !yield(Text{text}, nil) {
				return
			}
		}
		if err := p.result(ctx); err != nil {
			yield(nil, err)
		}
	}
}

func (c Command) grace() time.Duration {
	if c.Grace <= 0 {
		return defaultGrace
	}
	return c.Grace
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// A CLI is the engine for a coding agent that tells its turn in lines of JSON, one object a
// line, on standard output. [Claude], [Codex] and [Gemini] return one; the zero CLI runs
// nothing.
//
// The prompt goes to the agent's standard input, which ends behind it. What became of the
// turn is what the agent's own final line says, whatever its exit code is; a turn without
// one has failed. Lines that are no JSON are passed over.
//
// Member.Command replaces the agent's program; Member.Args come behind the arguments that the
// engine gives, without those that would repeat one of them. Member.Model is passed on.
// Member.Permissions is one of [Permissions], or "" for what the agent is set up to do by
// itself; nothing but "bypass", or without permissions an argument, switches its own checks off.
//
// Environment and processes are as with [Command], but a turn that is stopped is asked with
// SIGINT before SIGTERM.
type CLI struct {
	// Grace is how long the agent has to end behind each signal; zero is 1 second.
	Grace time.Duration
	// Linger is how long the agent may go on behind its final line before it is stopped;
	// zero is 10 seconds. The turn has ended as that line says all the same.
	Linger time.Duration

	dialect dialect
}

const (
	// defaultCLIGrace brings a person who cancels back in less than 3 seconds: some agents
	// hear neither of the two signals while a tool runs.
	defaultCLIGrace = time.Second
	defaultLinger   = 10 * time.Second
)

// The values of Member.Permissions, beside "".
const (
	ReadOnly = "read"   // the agent changes nothing
	Edit     = "edit"   // it may change files where it works
	Bypass   = "bypass" // it may do anything, unasked: its own checks are off
)

// Permissions are the values of Member.Permissions beside "", which every CLI knows.
var Permissions = []string{ReadOnly, Edit, Bypass}

// A dialect is how one agent is started, and how it is understood.
type dialect struct {
	name    string // as people call it
	program string // what is run when the member names no command
	install string // the command that installs it
	login   string // what to do when it is not logged in
	trust   string // what to do when it does not trust the directory

	args    []string            // which every turn has
	model   string              // the option before a model
	permits map[string][]string // by Member.Permissions
	bypass  []string            // what else switches its checks off, which Member.Permissions overrules
	last    []string            // which stand behind the member's own

	parser func() parser
	limits []limit
}

// A parser reads the lines of one turn. What it gives depends on the lines alone.
type parser interface {
	// parse takes in the next line and gives what it says: events for the consumer, and
	// verdict, trouble and noise for the engine.
	parse(line []byte) []Event
}

// verdict is the agent's word on how the turn has ended. The last one counts.
type verdict struct {
	failed bool
	says   string // why it failed
}

// trouble is what is in the agent's way while it goes on trying.
type trouble string

// noise is a line that is not of the agent's format.
type noise string

func (verdict) event() {}
func (trouble) event() {}
func (noise) event()   {}

// Run runs the agent and yields what it tells. The last error is a *StartError, a
// *FailureError, or wraps context.Cause(ctx).
func (c CLI) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, stopped(ctx))
			return
		}
		p, err := c.start(turn)
		if err != nil {
			yield(nil, err)
			return
		}
		// Deferred, because the loop's body may also leave with a panic.
		defer p.supervise(ctx, cmp.Or(c.Grace, defaultCLIGrace))()
		h := &hearing{dialect: c.dialect, process: p, parser: c.dialect.parser(), linger: cmp.Or(c.Linger, defaultLinger)}
		if !h.listen(yield) {
			return
		}
		if err := h.result(ctx); err != nil {
			yield(nil, err)
		}
	}
}

// Excess is how many bytes the prompt is too long for the agent, or somewhat less where the
// agent does not count in bytes; 0 when it is not.
func (c CLI) Excess(_ Member, prompt string) int { return c.dialect.excess(prompt) }

// start starts the agent's program.
func (c CLI) start(turn Turn) (*process, error) {
	d := c.dialect
	if err := d.tooLong(turn.Prompt); err != nil {
		return nil, err
	}
	args, err := d.arguments(turn.Member)
	if err != nil {
		return nil, err
	}
	turn.Member.Command = cmp.Or(turn.Member.Command, d.program)
	turn.Member.Args = args
	// Agents refuse anything else than valid UTF-8.
	p, err := start(turn, gently, tell(strings.ToValidUTF8(turn.Prompt, "\uFFFD")))
	if e := (*StartError)(nil); errors.As(err, &e) && turn.Member.Command == d.program {
		e.Install = d.install
	}
	return p, err
}

// arguments are everything behind the program's name.
func (d dialect) arguments(m Member) ([]string, error) {
	permits, ok := d.permits[m.Permissions]
	if !ok && m.Permissions != "" {
		return nil, d.failure(fmt.Sprintf("there are no permissions %q", m.Permissions), `set the member's "permissions" to `+strings.Join(Permissions, ", ")+", or leave it out")
	}
	args := slices.Concat(d.args, permits)
	if m.Model != "" {
		args = append(args, d.model, m.Model)
	}
	own := without(d.checked(m), slices.Concat(args, d.last))
	return slices.Concat(args, own, d.last), nil
}

// checked are a member's own arguments, less those that would switch off the checks that its
// permissions ask for.
func (d dialect) checked(m Member) []string {
	if m.Permissions == "" {
		return m.Args
	}
	return without(m.Args, d.bypass)
}

// valued are the options with a value that engines give, and what they are called in short.
var valued = map[string]string{
	"--output-format": "-o", "--model": "-m", "--permission-mode": "", "--sandbox": "-s", "--approval-mode": "",
}

// long is an option by its long name.
func long(option string) string {
	for name, short := range valued {
		if option != "" && option == short {
			return name
		}
	}
	return option
}

// without are a member's own arguments, less those that are given already: some agents refuse
// an option that comes twice, and one decides what the engine can read.
func without(own, given []string) []string {
	taken := map[string]bool{}
	for _, arg := range given {
		taken[long(arg)] = true
	}
	var rest []string
	for i := 0; i < len(own); i++ {
		name, _, joined := strings.Cut(own[i], "=")
		name = long(name)
		_, hasValue := valued[name]
		switch {
		case !taken[name] || !strings.HasPrefix(name, "-") && i > 0:
			rest = append(rest, own[i])
		case !joined && hasValue:
			i++
		}
	}
	return rest
}

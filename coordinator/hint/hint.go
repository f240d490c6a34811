package hint

import "errors"

// A Hint is a remedy for an error. The zero Hint is none.
type Hint struct {
	Kind Kind
	// Argv is the argument vector, one element per argument, without any quoting. Arguments may
	// come from files of others: they may hold anything but end up as one word each. Where a value
	// that may begin with "-" is an operand, "--" precedes it if the command knows "--".
	Argv []string
}

// A Kind is the way to use Hint.Argv.
type Kind string

const (
	// Run is a program to run in a shell; Argv[0] is its name or path.
	Run Kind = "run"
	// Command is a command of agent-chatter; Argv starts with the subcommand, such as "sessions".
	Command Kind = "command"
	// Slash is a command to type in a chat; Argv[0] is its name without the slash, such as "retry".
	Slash Kind = "slash"
)

// A Hinter is an error that has a hint. Hint may return the zero Hint.
type Hinter interface {
	error
	Hint() Hint
}

// Of returns the hint of the first Hinter in err's tree; ok is false if there is none or its hint
// is the zero Hint.
func Of(err error) (h Hint, ok bool) {
	if e := Hinter(nil); errors.As(err, &e) {
		h = e.Hint()
	}
	return h, h.Kind != ""
}

// Wrap returns err with a hint. Its message is that of err, which it wraps. Wrap(nil, h) is nil.
func Wrap(err error, h Hint) error {
	if err == nil {
		return nil
	}
	return &hinted{err, h}
}

type hinted struct {
	error
	hint Hint
}

func (e *hinted) Unwrap() error { return e.error }
func (e *hinted) Hint() Hint    { return e.hint }

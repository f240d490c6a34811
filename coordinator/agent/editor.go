package agent

import "context"

// An Editor serves the files and terminals of the program in which a person works with the agents. Its files
// include what is not saved yet, and the person sees its terminals. It is safe for concurrent use. Paths are
// absolute.
type Editor interface {
	// Offers returns the services that the editor has. The methods of others fail.
	Offers() EditorServices

	// ReadTextFile returns the content of a file: limit lines from the 1-based line on. Zero is the first
	// line, and no limit.
	ReadTextFile(ctx context.Context, path string, line, limit int) (string, error)
	// WriteTextFile creates or replaces a file.
	WriteTextFile(ctx context.Context, path, content string) error

	// CreateTerminal runs a command in a new terminal and returns the terminal's id at once.
	CreateTerminal(ctx context.Context, command TerminalCommand) (id string, err error)
	// TerminalOutput returns what the command has put out so far.
	TerminalOutput(ctx context.Context, id string) (TerminalOutput, error)
	// WaitForTerminal blocks until the command has ended.
	WaitForTerminal(ctx context.Context, id string) (TerminalExit, error)
	// KillTerminal ends the command. The terminal stays.
	KillTerminal(ctx context.Context, id string) error
	// ReleaseTerminal ends the command if it runs, and frees the terminal.
	ReleaseTerminal(ctx context.Context, id string) error
}

// EditorServices are the services of an Editor.
type EditorServices struct{ ReadTextFile, WriteTextFile, Terminals bool }

// A TerminalCommand is a command to run in a terminal.
type TerminalCommand struct {
	Command     string
	Args        []string
	Env         map[string]string
	Dir         string // absolute; "" is the editor's choice
	OutputLimit int    // how many bytes of the output are kept, the last ones; 0 is the editor's choice
}

// TerminalOutput is what a command in a terminal has put out.
type TerminalOutput struct {
	Text      string
	Truncated bool          // the beginning is missing
	Exit      *TerminalExit // nil: the command is running
}

// TerminalExit is how a command in a terminal ended: with a code, or by a signal.
type TerminalExit struct {
	Code   *int
	Signal string // "" if none
}

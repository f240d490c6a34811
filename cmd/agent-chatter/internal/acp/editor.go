package acp

import (
	"context"
	"maps"
	"slices"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A editorConnection is the part of an *sdk.AgentSideConnection that an editorServices uses.
type editorConnection interface {
	ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error)
	WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error)
	CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error)
	TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error)
	WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error)
	KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error)
	ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error)
}

// editorServices implements agent.Editor with one session of an editor.
type editorServices struct {
	conn    editorConnection
	session sdk.SessionId
	offers  agent.EditorServices
}

// newEditor returns the editorServices of a session; nil if the capabilities include nothing that agents can use.
func newEditor(conn editorConnection, session sdk.SessionId, can sdk.ClientCapabilities) agent.Editor {
	offers := agent.EditorServices{
		ReadTextFile: can.Fs.ReadTextFile, WriteTextFile: can.Fs.WriteTextFile, Terminals: can.Terminal,
	}
	if offers == (agent.EditorServices{}) {
		return nil
	}
	return &editorServices{conn, session, offers}
}

// Offers implements agent.Editor.
func (e *editorServices) Offers() agent.EditorServices { return e.offers }

// ReadTextFile implements agent.Editor.
func (e *editorServices) ReadTextFile(ctx context.Context, path string, line, limit int) (string, error) {
	asked := sdk.ReadTextFileRequest{SessionId: e.session, Path: path, Line: optional(line), Limit: optional(limit)}
	r, err := e.conn.ReadTextFile(ctx, asked)
	return r.Content, err
}

// optional returns nil for 0.
func optional(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// WriteTextFile implements agent.Editor.
func (e *editorServices) WriteTextFile(ctx context.Context, path, content string) error {
	_, err := e.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: e.session, Path: path, Content: content})
	return err
}

// CreateTerminal implements agent.Editor.
func (e *editorServices) CreateTerminal(ctx context.Context, c agent.TerminalCommand) (id string, err error) {
	asked := sdk.CreateTerminalRequest{
		SessionId: e.session, Command: c.Command, Args: c.Args, OutputByteLimit: optional(c.OutputLimit),
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		asked.Env = append(asked.Env, sdk.EnvVariable{Name: name, Value: c.Env[name]})
	}
	if c.Dir != "" {
		asked.Cwd = &c.Dir
	}
	r, err := e.conn.CreateTerminal(ctx, asked)
	return r.TerminalId, err
}

// TerminalOutput implements agent.Editor.
func (e *editorServices) TerminalOutput(ctx context.Context, id string) (agent.TerminalOutput, error) {
	r, err := e.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: e.session, TerminalId: id})
	out := agent.TerminalOutput{Text: r.Output, Truncated: r.Truncated}
	if r.ExitStatus != nil {
		exit := exitOf(r.ExitStatus.ExitCode, r.ExitStatus.Signal)
		out.Exit = &exit
	}
	return out, err
}

// WaitForTerminal implements agent.Editor.
func (e *editorServices) WaitForTerminal(ctx context.Context, id string) (agent.TerminalExit, error) {
	r, err := e.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: e.session, TerminalId: id})
	return exitOf(r.ExitCode, r.Signal), err
}

func exitOf(code *int, signal *string) agent.TerminalExit {
	exit := agent.TerminalExit{Code: code}
	if signal != nil {
		exit.Signal = *signal
	}
	return exit
}

// KillTerminal implements agent.Editor.
func (e *editorServices) KillTerminal(ctx context.Context, id string) error {
	_, err := e.conn.KillTerminal(ctx, sdk.KillTerminalRequest{SessionId: e.session, TerminalId: id})
	return err
}

// ReleaseTerminal implements agent.Editor.
func (e *editorServices) ReleaseTerminal(ctx context.Context, id string) error {
	_, err := e.conn.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: e.session, TerminalId: id})
	return err
}

package acp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A Client drives one agent.
type Client struct {
	// Process is the agent's program. The caller supervises it, and must not receive from its
	// Texts while it uses the Client.
	Process *process.Process

	// TakesHTTP and TakesSSE are whether the agent takes MCP servers of these kinds. They are known after
	// Initialize.
	TakesHTTP, TakesSSE bool
	// TakesImages is whether a prompt may have pictures, likewise.
	TakesImages bool

	conn *jsonrpc.Conn

	services         Services
	canCloseSessions bool
	resume           string // the method that continues an earlier session; "": it has none
	session          sdk.SessionId
	mode             modeState
	models           []string // of the session, as the agent offers them
	prompt           string   // the id of the last prompt's request
}

// Start starts an agent's program. Errors are *process.StartErrors.
func Start(program process.Program) (*Client, error) {
	conn, err := jsonrpc.Start(program, jsonRPC)
	if err != nil {
		return nil, err
	}
	return &Client{Process: conn.Process, conn: conn}, nil
}

// Close closes the agent's standard input after everything was sent. An agent exits then.
func (c *Client) Close() { c.conn.Close() }

// SessionID returns the agent's id of the session.
func (c *Client) SessionID() string { return string(c.session) }

// Unparsed returns the first line that was not a message, or "". At most 4 KiB of it are kept.
func (c *Client) Unparsed() string { return c.conn.Unparsed() }

// clientCapabilities are those of the client. The SDK lacks the notices: the client takes those of the agent's program
// as updates of their own. Without that some agents send them as pieces of the reply.
type clientCapabilities struct {
	FS      sdk.FileSystemCapabilities `json:"fs"`
	Session struct {
		Notices struct{} `json:"notices"`
	} `json:"session"`
	Terminal    bool `json:"terminal,omitempty"`
	Elicitation struct {
		Form struct{} `json:"form"`
	} `json:"elicitation"`
}

// Initialize exchanges the version and the capabilities, which include the services that the client offers.
// It is the first request to an agent.
func (c *Client) Initialize(ctx context.Context, offered Services) error {
	var agent struct {
		Version      int `json:"protocolVersion"`
		Capabilities struct {
			Load    bool `json:"loadSession"`
			Session struct {
				Close  *struct{} `json:"close"`
				Resume *struct{} `json:"resume"`
			} `json:"sessionCapabilities"`
			MCP    struct{ HTTP, SSE bool } `json:"mcpCapabilities"`
			Prompt struct{ Image bool }     `json:"promptCapabilities"`
		} `json:"agentCapabilities"`
	}
	c.services = offered
	files := sdk.FileSystemCapabilities{ReadTextFile: offered.ReadTextFile, WriteTextFile: offered.WriteTextFile}
	params := map[string]any{
		"protocolVersion":    sdk.ProtocolVersionNumber,
		"clientCapabilities": clientCapabilities{FS: files, Terminal: offered.Terminals},
	}
	if err := c.call(ctx, sdk.AgentMethodInitialize, params, &agent); err != nil {
		return err
	}
	if agent.Version != sdk.ProtocolVersionNumber {
		return fmt.Errorf("it speaks version %d of the Agent Client Protocol, not %d",
			agent.Version, sdk.ProtocolVersionNumber)
	}
	c.canCloseSessions = agent.Capabilities.Session.Close != nil
	switch {
	case agent.Capabilities.Session.Resume != nil:
		c.resume = sdk.AgentMethodSessionResume
	case agent.Capabilities.Load:
		c.resume = sdk.AgentMethodSessionLoad
	}
	c.TakesImages = agent.Capabilities.Prompt.Image
	c.TakesHTTP, c.TakesSSE = agent.Capabilities.MCP.HTTP, agent.Capabilities.MCP.SSE
	return nil
}

// ErrNoModels is returned by NewSession if a model is given and the agent offers none.
var ErrNoModels = errors.New("it has no choice of models")

// ErrNoThinking is returned by NewSession if the agent has no choice of whether its model reasons. The
// session can be used.
var ErrNoThinking = errors.New("it has no choice of whether its model reasons")

// A sessionOption is a setting of a session.
type sessionOption struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Current  string `json:"currentValue"`
	Choices  []struct {
		Value   string `json:"value"`
		Choices []struct {
			Value string `json:"value"`
		} `json:"options"` // of a group
	} `json:"options"`
}

// values returns the values that the option can have.
func (o sessionOption) values() (all []string) {
	for _, choice := range o.Choices {
		if choice.Value != "" {
			all = append(all, choice.Value)
		}
		for _, choice := range choice.Choices {
			all = append(all, choice.Value)
		}
	}
	return all
}

// A Session is what a session is to be.
type Session struct {
	Dir        string          // the working directory
	Model      string          // "" is the agent's choice
	Thinking   *bool           // whether the model reasons; nil is the agent's choice
	MCPServers []sdk.McpServer // of kinds that the agent takes
	Mode       Mode
}

// NewSession starts a session, which becomes the client's session. Its errors are those of call, ErrNoModels, a
// *ModeError, and ErrNoThinking, after which the session can be used.
func (c *Client) NewSession(ctx context.Context, wanted Session) error {
	dir, err := filepath.Abs(wanted.Dir)
	if err != nil {
		return err
	}
	var created sessionState
	params := sdk.NewSessionRequest{Cwd: dir, McpServers: append([]sdk.McpServer{}, wanted.MCPServers...)}
	c.session, c.mode = "", modeState{}
	if err := c.call(ctx, sdk.AgentMethodSessionNew, params, &created); err != nil {
		return err
	}
	c.session = created.SessionID
	return c.setUp(ctx, wanted, created)
}

// ErrNoResume is returned by ResumeSession if the agent cannot continue earlier sessions.
var ErrNoResume = errors.New("it cannot continue an earlier session")

// A NotResumedError is the agent's refusal to continue a session.
type NotResumedError struct {
	Err  *RequestError
	Busy bool // another process uses the session
}

func (e *NotResumedError) Error() string { return e.Err.Error() }

// ResumeSession continues the session with an id. What the agent repeats of it is dropped. Its errors are those of
// NewSession, ErrNoResume, and a *NotResumedError.
func (c *Client) ResumeSession(ctx context.Context, id string, wanted Session) error {
	if c.resume == "" {
		return ErrNoResume
	}
	dir, err := filepath.Abs(wanted.Dir)
	if err != nil {
		return err
	}
	var resumed sessionState
	c.session, c.mode = sdk.SessionId(id), modeState{}
	params := map[string]any{
		"sessionId": id, "cwd": dir, "mcpServers": append([]sdk.McpServer{}, wanted.MCPServers...),
	}
	err = c.call(ctx, c.resume, params, &resumed)
	if refusal, ok := errors.AsType[*RequestError](err); ok && !refusal.AuthRequired {
		busy := strings.Contains(refusal.Message, "active writer") || strings.Contains(refusal.Message, "active_writer")
		return &NotResumedError{refusal, busy}
	}
	if err != nil {
		return err
	}
	return c.setUp(ctx, wanted, resumed)
}

// A sessionState is the response to a request that starts a session.
type sessionState struct {
	SessionID sdk.SessionId   `json:"sessionId"`
	Models    *sessionModels  `json:"models"`
	Modes     sessionModes    `json:"modes"`
	Options   []sessionOption `json:"configOptions"`
}

// sessionModels are the models of a session, in the form of the protocol that has no options.
type sessionModels struct {
	Available []struct {
		ID string `json:"modelId"`
	} `json:"availableModels"`
}

// modelOption returns the option that sets the model.
func modelOption(options []sessionOption) (sessionOption, bool) {
	i := slices.IndexFunc(options, func(o sessionOption) bool { return o.ID == "model" || o.Category == "model" })
	if i < 0 {
		return sessionOption{}, false
	}
	return options[i], true
}

// models returns the models that the agent offers.
func (s sessionState) models() (all []string) {
	if option, ok := modelOption(s.Options); ok {
		return option.values()
	}
	if s.Models != nil {
		for _, m := range s.Models.Available {
			all = append(all, m.ID)
		}
	}
	return all
}

// Models returns the models that the agent offers in the client's session; none: it has not said.
func (c *Client) Models() []string { return c.models }

// setUp makes the client's session what it is to be, however it was started.
func (c *Client) setUp(ctx context.Context, wanted Session, started sessionState) error {
	c.models = started.models()
	if wanted.Model != "" {
		if err := c.setModel(ctx, wanted.Model, started.Options, started.Models != nil); err != nil {
			return err
		}
	}
	var thinking error
	if wanted.Thinking != nil {
		thinking = c.setThinking(ctx, *wanted.Thinking, started.Options)
		if thinking != nil && !errors.Is(thinking, ErrNoThinking) {
			return thinking
		}
	}
	if err := c.enter(ctx, wanted.Mode, started.Modes, started.Options); err != nil {
		return err
	}
	return thinking
}

// methodSetModel sets the model with agents that have no option for it. Version 1 of the protocol does not have this
// method any more.
const methodSetModel = "session/set_model"

func (c *Client) setModel(ctx context.Context, model string, options []sessionOption, hasModels bool) error {
	if o, ok := modelOption(options); ok {
		return c.setOption(ctx, o.ID, model)
	}
	if !hasModels {
		return ErrNoModels
	}
	params := map[string]any{"sessionId": c.session, "modelId": model}
	return c.call(ctx, methodSetModel, params, &struct{}{})
}

func (c *Client) setOption(ctx context.Context, id, value string) error {
	var set struct {
		Options []sessionOption `json:"configOptions"`
	}
	params := map[string]any{"sessionId": c.session, "configId": id, "value": value}
	err := c.call(ctx, sdk.AgentMethodSessionSetConfigOption, params, &set)
	if err == nil {
		c.mode.noteOptions(set.Options)
	}
	return err
}

// setThinking sets the level of thought to none, or to medium if it is none.
func (c *Client) setThinking(ctx context.Context, on bool, options []sessionOption) error {
	none := []string{"none", "off", "disabled", "minimal"}
	for _, o := range options {
		if o.Category != "thought_level" {
			continue
		}
		if on && !slices.Contains(none, o.Current) {
			return nil
		}
		wanted := none
		if on {
			wanted = []string{"medium", "on", "enabled", "default", "low"}
		}
		for _, value := range wanted {
			if slices.Contains(o.values(), value) {
				return c.setOption(ctx, o.ID, value)
			}
		}
	}
	return ErrNoThinking
}

// CloseSession closes the session, if the agent can. It does not wait for the response.
func (c *Client) CloseSession() {
	if c.canCloseSessions {
		c.conn.Request(sdk.AgentMethodSessionClose, sdk.CloseSessionRequest{SessionId: c.session})
	}
}

// Prompt starts a turn. Next returns what the agent sends in it, and then its Result.
func (c *Client) Prompt(text string, images ...sdk.ContentBlock) {
	blocks := append([]sdk.ContentBlock{sdk.TextBlock(strings.ToValidUTF8(text, "\uFFFD"))}, images...)
	c.prompt = c.conn.Request(sdk.AgentMethodSessionPrompt, sdk.PromptRequest{SessionId: c.session, Prompt: blocks})
}

// Cancel asks the agent to stop the turn. The Result still follows.
func (c *Client) Cancel() {
	params := sdk.CancelNotification{SessionId: c.session}
	c.conn.Notify(sdk.AgentMethodSessionCancel, params)
}

// Next waits for the next message of the turn. Errors are ErrExited,
// jsonlines.ErrTooLong, the cause of ctx, and one for an agent that sends requests and does not read the responses.
func (c *Client) Next(ctx context.Context) (Message, error) {
	for {
		m, err := c.conn.Receive(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Responds(c.prompt):
			return resultOf(m), nil
		case m.Method == sdk.ClientMethodSessionUpdate:
			if update, ok := c.updateOf(m); ok {
				return update, nil
			}
		case m.Method == sdk.ClientMethodSessionRequestPermission && m.IsRequest():
			if request, ok := c.permissionRequestOf(m); ok {
				return request, nil
			}
		case m.Method == sdk.ClientMethodElicitationCreate && m.IsRequest():
			if request, ok := c.formRequestOf(m); ok {
				return request, nil
			}
		case m.Method == methodCancel:
			return withdrawalOf(m), nil
		case m.IsRequest() && c.services.offers(m.Method):
			if request, ok := c.serviceRequestOf(m); ok {
				return request, nil
			}
		case m.IsRequest():
			c.conn.Refuse(m)
		}
	}
}

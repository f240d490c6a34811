package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// A Mode says in which mode a session is to be. A mode decides what an agent does without a request for permission.
// The zero Mode is the agent's choice.
type Mode struct {
	// Names are the names that the mode may have, the preferred one first.
	Names []string
	// Required is whether a session that is not in the mode must not be used.
	Required bool
	// Modeless is whether the session of an agent that has no modes may be used nevertheless.
	Modeless bool
	// Stricter are modes to which the agent may change by itself: they permit no more.
	Stricter []string
}

// A ModeError is a session that is not in a mode that is required.
type ModeError struct {
	Wanted  string   // "" if the agent offers none of Mode.Names
	Current string   // the mode that the agent reports; "" if it reports none
	Offered []string // the modes of the agent
}

func (e *ModeError) Error() string {
	switch {
	case e.Wanted != "":
		return fmt.Sprintf("it does not confirm the mode %q: it reports %q", e.Wanted, e.Current)
	case len(e.Offered) == 0:
		return "it has no modes"
	}
	return "it offers no mode of a known name, only " + strings.Join(e.Offered, ", ")
}

// sessionModes are the modes of a session, in the form of the protocol that has no options.
type sessionModes struct {
	Current   string `json:"currentModeId"`
	Available []struct {
		ID string `json:"id"`
	} `json:"availableModes"`
}

func (m sessionModes) ids() (all []string) {
	for _, mode := range m.Available {
		all = append(all, mode.ID)
	}
	return all
}

// modeOption returns the option that sets the mode.
func modeOption(options []sessionOption) (sessionOption, bool) {
	i := slices.IndexFunc(options, func(o sessionOption) bool { return o.Category == categoryMode })
	if i < 0 {
		return sessionOption{}, false
	}
	return options[i], true
}

const (
	categoryMode  = "mode" // of an option
	updateMode    = "current_mode_update"
	updateOptions = "config_option_update"
)

// A modeState is what is known of the mode of the client's session.
type modeState struct {
	wanted   string   // "" if any mode is right
	stricter []string // right, too
	reported string   // by the agent, last
}

// violated reports whether the session is in a mode that is not right.
func (s *modeState) violated() bool {
	return s.wanted != "" && s.reported != s.wanted && !slices.Contains(s.stricter, s.reported)
}

// enter puts the client's session into a mode. It is called after everything else in the session is set, which may
// change the mode. What the session started with is not believed, only what the agent reports after it was asked.
func (c *Client) enter(ctx context.Context, wanted Mode, modes sessionModes, options []sessionOption) error {
	if len(wanted.Names) == 0 {
		return nil
	}
	option, hasOption := modeOption(options)
	offered := modes.ids()
	if hasOption {
		offered = option.values()
	}
	c.mode = modeState{stricter: wanted.Stricter}
	i := slices.IndexFunc(wanted.Names, func(name string) bool { return slices.Contains(offered, name) })
	if i < 0 && len(offered) == 0 && wanted.Modeless {
		return nil
	}
	if i < 0 {
		return required(wanted, &ModeError{Offered: offered})
	}
	name := wanted.Names[i]
	for range 2 { // an update from before the first time may have crossed it
		if err := c.setMode(ctx, option, name); err != nil && wanted.Required {
			return fmt.Errorf("its mode %q cannot be set: %w", name, err)
		}
		if c.mode.reported == name {
			c.mode.wanted = name
			return nil
		}
	}
	return required(wanted, &ModeError{Wanted: name, Current: c.mode.reported, Offered: offered})
}

// setMode sets the mode by an option, or without one if the option is zero.
func (c *Client) setMode(ctx context.Context, option sessionOption, name string) error {
	c.mode.reported = ""
	if option.ID != "" {
		return c.setOption(ctx, option.ID, name)
	}
	params := sdk.SetSessionModeRequest{SessionId: c.session, ModeId: sdk.SessionModeId(name)}
	err := c.call(ctx, sdk.AgentMethodSessionSetMode, params, &struct{}{})
	if err == nil && c.mode.reported == "" {
		c.mode.reported = name // the response has no content
	}
	return err
}

func required(wanted Mode, err error) error {
	if wanted.Required {
		return err
	}
	return nil
}

// noteMode notes the mode that a notification reports.
func (c *Client) noteMode(m jsonrpc.Message) {
	var params struct {
		SessionID sdk.SessionId `json:"sessionId"`
		Update    update        `json:"update"`
	}
	if m.Method == sdk.ClientMethodSessionUpdate && jsonlines.Decode(m.Params, &params) &&
		params.SessionID == c.session {
		c.mode.note(params.Update)
	}
}

// note notes the mode that an update reports.
func (s *modeState) note(u update) {
	switch u.Kind {
	case updateMode:
		s.reported = u.CurrentMode
	case updateOptions:
		s.noteOptions(u.Options)
	}
}

// noteOptions notes the mode that options have.
func (s *modeState) noteOptions(options []sessionOption) {
	if option, ok := modeOption(options); ok {
		s.reported = option.Current
	}
}

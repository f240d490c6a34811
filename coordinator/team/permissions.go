package team

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// AsksWhenUnset reports whether the member's agent asks for permission because the member has no permissions, wherever
// a person can answer.
func (m Member) AsksWhenUnset() bool {
	info := m.EngineInfo()
	return m.Type == AI && m.Permissions == "" && !info.Protocol && slices.Contains(info.Permissions, agent.Ask)
}

// WithoutPermissions returns the names of the members for which AsksWhenUnset is true.
func (t *Team) WithoutPermissions() (names []string) {
	for _, m := range t.Members {
		if m.AsksWhenUnset() {
			names = append(names, m.Name)
		}
	}
	return names
}

// PermissionsError is the error of permissions that a member's engine does not know.
type PermissionsError struct {
	Value, Engine string
	Known         []string // none: the engine has no permissions
}

func (e *PermissionsError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("the engine %s has no permissions", e.Engine)
	}
	if e.Value == agent.Ask {
		return fmt.Sprintf("the engine %s cannot ask for permission; it knows %s", e.Engine,
			strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("unknown permissions %q; the engine %s knows %s", e.Value, e.Engine, strings.Join(e.Known, ", "))
}

// CheckPermissions returns a *PermissionsError if the agent cannot have permissions; "" is unset.
func (m Member) CheckPermissions(value string) error {
	if info := m.EngineInfo(); value != "" && !slices.Contains(info.Permissions, value) {
		return &PermissionsError{value, m.EngineName(), info.Permissions}
	}
	return nil
}

// maxModel is the length of the longest name of a model, in bytes.
const maxModel = 200

var (
	errOption  = errors.New("must not begin with '-': the agent would take it for an option")
	errNoModel = errors.New("is no name of a model")
)

// CheckModel returns why the agent cannot have a model, as the rest of a sentence about it; "" is the agent's default.
func (m Member) CheckModel(model string) error {
	info := m.EngineInfo()
	notPrinted := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
	switch {
	case !info.Models:
		return fmt.Errorf("the engine %s has no models", m.EngineName())
	case strings.HasPrefix(model, "-"):
		return errOption
	case len(model) > maxModel, !utf8.ValidString(model), strings.ContainsFunc(model, notPrinted):
		return errNoModel
	}
	return nil
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// claudePermission is the subtype of requests for permission.
const claudePermission = "can_use_tool"

// claudeRules is the file to which the agent writes what is always allowed, in the project of the working directory.
const claudeRules = ".claude/settings.local.json"

// claudeKinds are what the agent's own tools do. Those of servers, and others, are unknown.
var claudeKinds = map[string]string{
	"Read": KindRead, "NotebookRead": KindRead, "Glob": KindSearch, "Grep": KindSearch, "LS": KindSearch,
	"Edit": KindEdit, "Write": KindEdit, "MultiEdit": KindEdit, "NotebookEdit": KindEdit,
	"Bash": KindExecute, "PowerShell": KindExecute, "Monitor": KindExecute,
	"WebFetch": "fetch", "WebSearch": "fetch",
}

// A claudeSuggestion is a change of the agent's permissions. Most would allow more than the request is for.
type claudeSuggestion struct {
	Type        string          `json:"type"`
	Rules       json.RawMessage `json:"rules,omitempty"`
	Behavior    string          `json:"behavior,omitempty"`
	Destination string          `json:"destination,omitempty"`
}

// allows reports whether a suggestion only adds rules for what is like the request.
func (s claudeSuggestion) allows() bool { return s.Type == "addRules" && s.Behavior == "allow" }

// allowed returns the response to a request that is granted.
func (r claudeRequest) allowed(grant Grant) map[string]any {
	response := map[string]any{"behavior": "allow", "updatedInput": r.Input}
	if grant.Answers != nil {
		response["updatedInput"] = r.answered(grant.Answers)
	}
	if grant.Scope <= Once {
		return response
	}
	destination := "session"
	if grant.Scope == Always {
		destination = "localSettings"
	}
	var rules []claudeSuggestion
	for _, s := range r.Suggestions {
		if s.allows() {
			s.Destination = destination
			rules = append(rules, s)
		}
	}
	if rules != nil {
		response["updatedPermissions"] = rules
	}
	return response
}

// claudeRefused returns the response to a request that is refused. The reason is for the agent; "" is none.
func claudeRefused(reason string) map[string]any {
	reason = cmp.Or(reason, "Permission denied: the user, or the permissions of the member, do not allow it.")
	return map[string]any{"behavior": "deny", "message": reason}
}

// permission returns what a request asks for.
func (r claudeRequest) permission() Permission {
	title := r.title()
	p := Permission{
		ToolID: label(r.ToolUseID), Tool: cmp.Or(label(r.Tool), "tool"), Kind: claudeKinds[r.Tool],
		Title: runecut.Prefix(title, maxReason), Input: r.Input,
		TakesReason: true, Session: slices.ContainsFunc(r.Suggestions, claudeSuggestion.allows),
	}
	p.Edits, p.Omitted = r.edits()
	p.Omitted += len(title) - len(p.Title)
	if len(r.Input) > maxOutput {
		p.Input = nil
		p.Omitted += len(r.Input)
	}
	if p.Session {
		p.Always = claudeRules
	}
	if r.Tool == claudeAsk {
		p.Questions, p.Session, p.Always = r.questions(), false, ""
	}
	return p
}

// title returns what a tool would do: the command that it would run, or the file that it would change.
func (r claudeRequest) title() string {
	var input struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		URL      string `json:"url"`
		Pattern  string `json:"pattern"`
		Query    string `json:"query"`
		Plan     string `json:"plan"`
	}
	jsonlines.Decode(r.Input, &input)
	title := cmp.Or(input.Command, input.File, input.Notebook, input.URL, input.Pattern, input.Query, input.Plan)
	if title == "" {
		title = questionTitle("", r.questions())
	}
	return title
}

// edits returns the changes of a file that are short enough to be shown whole, and the size of the others in bytes.
func (r claudeRequest) edits() (shown []FileEdit, omitted int) {
	type change struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
	}
	var input struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Content  string `json:"content"`
		Source   string `json:"new_source"`
		change
		Edits []change `json:"edits"`
	}
	if claudeKinds[r.Tool] != KindEdit || !jsonlines.Decode(r.Input, &input) {
		return nil, 0
	}
	changes := input.Edits
	if r.Tool != "MultiEdit" {
		changes = []change{{input.Old, cmp.Or(input.New, input.Content, input.Source)}}
	}
	path := cmp.Or(input.File, input.Notebook)
	for _, c := range changes {
		if size := len(path) + len(c.Old) + len(c.New); size > maxOutput {
			omitted += size
			continue
		}
		shown = append(shown, FileEdit{Path: path, Old: c.Old, New: c.New})
	}
	return shown, omitted
}

// enterMode puts the session into the mode that the member's permissions need.
func (s *claudeSession) enterMode(ctx context.Context) error {
	wanted, ok := claudeModes[s.member.Permissions]
	if !ok || s.mode == wanted {
		return nil
	}
	var set struct{ Mode string }
	err := s.call(ctx, map[string]any{"subtype": "set_permission_mode", "mode": wanted}, &set)
	refusal := (*claudeRefusal)(nil)
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	s.mode = cmp.Or(claudeMode(set.Mode), wanted)
	switch {
	case refusal != nil:
		return s.failure("it cannot be put into the mode that the member's permissions, "+s.member.Permissions+
			", need: "+refusal.reason, remedyUpdate)
	case !s.allowsMode(s.mode):
		return s.failure("it stays in the mode “"+excerpt(s.mode)+"”, in which it may not ask for permission",
			remedyUpdate)
	}
	return nil
}

// claudeMode returns the name of a mode, of which one has two.
func claudeMode(name string) string {
	if name == "manual" {
		return claudeAsking
	}
	return name
}

// allowsMode reports whether the session may be in a mode: it may do less than it could.
func (s *claudeSession) allowsMode(mode string) bool {
	wanted := claudeModes[s.member.Permissions]
	switch mode {
	case "", wanted, claudePlanning:
		return true
	case claudeAsking:
		return wanted != claudePlanning
	}
	return wanted == "" || everything(s.member)
}

// remedyUpdate is against a program that does not support what its member's permissions need.
var remedyUpdate = Remedy{Advice: `update it; or set the member's "permissions" to "allow", if it may do everything`}

// restrict makes the agent ask for what it does by itself otherwise: its model may decide on that in some modes, and
// settings, hooks and arguments may allow it.
func (s *claudeSession) restrict(ctx context.Context) error {
	policy := s.member.Permissions
	if policy == "" || policy == Bypass {
		return nil
	}
	settings := map[string]any{"disableAutoMode": "disable", "useAutoModeDuringPlan": false}
	strict := policy == Deny || policy == ReadOnly
	if strict {
		ask, err := s.rulesToAsk(ctx)
		if err != nil {
			return s.explainRestrict(err)
		}
		settings["permissions"] = map[string]any{"ask": ask}
	}
	err := s.call(ctx, map[string]any{"subtype": "apply_flag_settings", "settings": settings}, &struct{}{})
	if refusal := (*claudeRefusal)(nil); errors.As(err, &refusal) && !strict {
		return nil // it is older than these settings
	}
	return s.explainRestrict(err)
}

func (s *claudeSession) explainRestrict(err error) error {
	if refusal := (*claudeRefusal)(nil); errors.As(err, &refusal) {
		return s.failure("it cannot be made to ask for everything, which the member's permissions, "+
			s.member.Permissions+", need: "+refusal.reason, remedyUpdate)
	}
	return err
}

// rulesToAsk returns the rules for what the agent has to ask for: the tools that change something, and what other rules
// allow. With ReadOnly, the agent is planning: it runs only the commands that it knows to change nothing, and those
// that a rule allows.
func (s *claudeSession) rulesToAsk(ctx context.Context) (ask []string, err error) {
	for tool, kind := range claudeKinds {
		if kind == KindEdit || kind == KindExecute && s.member.Permissions == Deny {
			ask = append(ask, tool)
		}
	}
	slices.Sort(ask)
	var list struct {
		State struct {
			Rules []struct{ Behavior, Rule string }
		}
	}
	if err := s.call(ctx, map[string]any{"subtype": "list_permission_rules"}, &list); err != nil {
		return nil, err
	}
	for _, r := range list.State.Rules {
		tool, _, _ := strings.Cut(r.Rule, "(")
		reads := claudeKinds[tool] == KindRead || claudeKinds[tool] == KindSearch
		if r.Behavior == "allow" && !reads && !slices.Contains(s.harmless, r.Rule) && !slices.Contains(ask, r.Rule) {
			ask = append(ask, r.Rule)
		}
	}
	return ask, nil
}

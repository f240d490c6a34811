package coordinator

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection"
)

// leastInherited is how many bytes a secret of this program's own environment has. What is
// shorter was not given for this conversation, and may be any word of it.
const leastInherited = 8

// secretsOf are the variables that the agents of a team may show: their own, and those that
// they inherit.
func secretsOf(team *Team) []redact.Variable {
	var variables []redact.Variable
	if team != nil {
		for _, m := range team.Members {
			variables = append(variables, m.Secrets()...)
		}
	}
	return append(variables, InheritedSecrets()...)
}

// InheritedSecrets are the variables of this program's environment that may be secrets.
func InheritedSecrets() []redact.Variable {
	var variables []redact.Variable
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if len(value) >= leastInherited && !isFile(value) {
			variables = append(variables, redact.Variable{Name: name, Value: value})
		}
	}
	return variables
}

// Secrets are the variables that the member's own settings give its agent.
func (m Member) Secrets() []redact.Variable {
	var variables []redact.Variable
	env := m.Environment()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !isFile(env[name]) {
			variables = append(variables, redact.Variable{Name: name, Value: env[name]})
		}
	}
	if name := m.APIKeyEnv; name != "" {
		variables = append(variables, redact.Variable{Name: name, Value: cmp.Or(env[name], os.Getenv(name)), Certain: true})
	}
	return variables
}

// isFile reports whether a value is the path of something that is there: no secret.
func isFile(value string) bool {
	if !strings.ContainsAny(value, "/"+string(os.PathSeparator)) {
		return false
	}
	_, err := os.Stat(value)
	return err == nil
}

// reference is a value that stands for a variable of this program's environment.
var reference = regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$`)

// referenced is the name of the variable that a value of a member's environment refers to; ""
// when it is to be taken as it stands.
func referenced(value string) string {
	match := reference.FindStringSubmatch(value)
	if match == nil {
		return ""
	}
	return match[1] + match[2]
}

// Environment is what the member's Env gives its agent: $NAME and ${NAME} are what the
// variable has in the environment of this program, and left out where it has none, so that a
// team file needs no key in it. $$ at the beginning stands for a $ that refers to nothing.
func (m Member) Environment() map[string]string {
	if len(m.Env) == 0 {
		return nil
	}
	env := make(map[string]string, len(m.Env))
	for name, value := range m.Env {
		from := referenced(value)
		switch {
		case from == "":
			if strings.HasPrefix(value, "$$") {
				value = value[1:]
			}
			env[name] = value
		default:
			if value, ok := os.LookupEnv(from); ok {
				env[name] = value
			}
		}
	}
	return env
}

// Unset are the variables that the member's settings refer to and that this program's
// environment does not have, in the order of their names.
func (m Member) Unset() []string {
	names := []string{m.APIKeyEnv}
	for _, value := range m.Env {
		names = append(names, referenced(value))
	}
	_, own := m.Environment()[m.APIKeyEnv]
	names = slices.DeleteFunc(names, func(name string) bool {
		_, set := os.LookupEnv(name)
		return name == "" || set || own && name == m.APIKeyEnv
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// InPlain are the names of the member's variables whose secrets stand in its configuration as
// they are, instead of a reference.
func (m Member) InPlain() []string {
	var names []string
	for name, value := range m.Env {
		if redact.Secret(name) && referenced(value) == "" && len(value) >= leastInherited && !isFile(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// withoutSecrets is the payload as it may be kept: this is where everything that is said, or
// done, or went wrong comes by on its way to the journal. What we name the parts of a session by
// stays as it is, or they would not be found again; the names that agents give become others.
func (c *Coordinator) withoutSecrets(p projection.Payload) projection.Payload {
	clean := c.secrets.Text
	switch p := p.(type) {
	case projection.MessageAppended:
		p.Message.Content = clean(p.Message.Content)
		if p.Raw != nil {
			p.Raw = []byte(clean(string(p.Raw)))
		}
		return p
	case projection.TaskSet:
		if p.Task != nil {
			task := clean(*p.Task)
			p.Task = &task
		}
		return p
	case projection.SessionRenamed:
		p.Title = clean(p.Title)
		return p
	case projection.SessionEnded:
		p.Reason = clean(p.Reason)
		return p
	case projection.TurnText:
		p.Text = clean(p.Text)
		return p
	case projection.ToolStarted:
		p.ToolID, p.Name, p.Input = clean(p.ToolID), clean(p.Name), c.secrets.JSON(p.Input)
		return p
	case projection.ToolCompleted:
		p.ToolID, p.Name, p.Output, p.Error = clean(p.ToolID), clean(p.Name), clean(p.Output), clean(p.Error)
		return p
	case projection.PermissionAnswered:
		p.ToolID, p.Name, p.Title = clean(p.ToolID), clean(p.Name), clean(p.Title)
		return p
	case projection.TurnEnded:
		p.Error, p.Partial, p.AgentSession = clean(p.Error), clean(p.Partial), clean(p.AgentSession)
		return p
	}
	return p
}

// boundedOutput is the beginning of what a tool printed, without secrets, and whether that is
// all of it. Secrets are replaced before it is cut: half of one has no shape.
func (c *Coordinator) boundedOutput(printed string) (output string, whole bool) {
	whole = len(printed) <= 2*toolOutput
	if whole {
		output = c.secrets.Text(printed)
	} else {
		output = c.secrets.Stream().Next(printed[:2*toolOutput])
	}
	output = strings.ToValidUTF8(output, "\uFFFD")
	if len(output) > toolOutput {
		output, whole = strings.ToValidUTF8(output[:toolOutput], ""), false
	}
	return output, whole
}

// sayReplaced tells how many secrets were replaced since it was last told.
func (c *Coordinator) sayReplaced() {
	if found := c.secrets.Found(); len(found) > 0 {
		c.o.Events.Notice(Notice{Kind: SecretsReplaced, Names: redact.Counted(found), Limit: len(found)})
	}
}

package team

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
)

// leastInherited is how many bytes a secret of this program's own environment has. What is
// shorter was not given for this conversation, and may be any word of it.
const leastInherited = 8

// Secrets are the variables that the team's agents may print: those of each member's settings
// and those that they inherit. A nil team has only the latter.
func (t *Team) Secrets() []redact.Variable {
	var variables []redact.Variable
	if t != nil {
		for _, m := range t.Members {
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

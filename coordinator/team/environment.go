package team

import (
	"cmp"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
)

// minInherited is the minimum length of an inherited secret, in bytes. A shorter value may be any
// word of a conversation.
const minInherited = 8

// Secrets returns the variables whose values the team's agents may print: those of the members'
// settings and the inherited ones. A nil team has only the latter.
func (t *Team) Secrets() []redact.Variable {
	var variables []redact.Variable
	if t != nil {
		for _, m := range t.Members {
			variables = append(variables, m.Secrets()...)
		}
	}
	return append(variables, InheritedSecrets()...)
}

// hubVariable has the addresses of a hub, separated by commas, and perhaps passwords in them.
const hubVariable = "AGENT_CHATTER_HUB"

// InheritedSecrets returns the variables of the program's environment that may be secrets. Which
// of them are, package redact decides by their names. Of the addresses of a hub, the credentials are secrets.
func InheritedSecrets() []redact.Variable {
	var variables []redact.Variable
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if name == hubVariable {
			variables = append(variables, credentials(value)...)
			continue
		}
		if len(value) >= minInherited && !isFile(value) {
			variables = append(variables, redact.Variable{Name: name, Value: value})
		}
	}
	return variables
}

// credentials returns the passwords in addresses, and the names without a password, which are tokens.
func credentials(addresses string) (variables []redact.Variable) {
	for address := range strings.SplitSeq(addresses, ",") {
		_, rest, hasScheme := strings.Cut(address, "://")
		if !hasScheme {
			rest = address
		}
		secret := rest
		at := strings.LastIndexByte(rest, '@')
		if at >= 0 {
			secret = rest[:at]
		}
		name, password, found := strings.Cut(secret, ":")
		switch {
		case found && (at >= 0 || !isPort(password) && !strings.HasPrefix(name, "[")): // a comma in it cuts it in two
			secret = password
		case at < 0:
			continue
		}
		variables = append(variables, redact.Variable{Name: hubVariable, Value: secret, Certain: true})
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			variables = append(variables, redact.Variable{Name: hubVariable, Value: plain, Certain: true})
		}
	}
	return variables
}

func isPort(text string) bool { return strings.Trim(text, "0123456789/") == "" }

// Secrets returns the variables that the member's settings pass to its agent.
func (m Member) Secrets() []redact.Variable {
	var variables []redact.Variable
	env := m.environment()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !isFile(env[name]) {
			variables = append(variables, redact.Variable{Name: name, Value: env[name]})
		}
	}
	for _, value := range m.Headers {
		if name := Referenced(value); name != "" {
			variables = append(variables, redact.Variable{Name: name, Value: os.Getenv(name), Certain: true})
		}
	}
	if name := m.APIKeyEnv; name != "" {
		value := cmp.Or(env[name], os.Getenv(name))
		variables = append(variables, redact.Variable{Name: name, Value: value, Certain: true})
	}
	return variables
}

// isFile reports whether a value is the path of an existing file, which is not a secret.
func isFile(value string) bool {
	if !isPath(value) {
		return false
	}
	_, err := os.Stat(value)
	return err == nil
}

// reference matches a value that refers to a variable of the program's environment.
var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$`)
})

// Referenced returns the name of the variable that a value refers to; "" if it is literal.
func Referenced(value string) string {
	match := reference().FindStringSubmatch(value)
	if match == nil {
		return ""
	}
	return match[1] + match[2]
}

// environment returns Env with references expanded, so that a team file needs no secrets.
func (m Member) environment() map[string]string { return expanded(m.Env) }

// expanded returns values with references expanded: $NAME and ${NAME} are replaced by the variable of
// the program's environment, and left out if it is unset. A leading $$ stands for a literal $.
func expanded(values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	result := make(map[string]string, len(values))
	for name, value := range values {
		from := Referenced(value)
		switch {
		case from == "":
			if strings.HasPrefix(value, "$$") {
				value = value[1:]
			}
			result[name] = value
		default:
			if value, ok := os.LookupEnv(from); ok {
				result[name] = value
			}
		}
	}
	return result
}

// Unset returns the names of the variables that the member's settings refer to and that the
// program's environment lacks, sorted.
func (m Member) Unset() []string {
	names := []string{m.APIKeyEnv}
	for _, value := range m.Env {
		names = append(names, Referenced(value))
	}
	for _, value := range m.Headers {
		names = append(names, Referenced(value))
	}
	_, own := m.environment()[m.APIKeyEnv]
	names = slices.DeleteFunc(names, func(name string) bool {
		_, set := os.LookupEnv(name)
		return name == "" || set || own && name == m.APIKeyEnv
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// IsSecret reports whether the value of a variable in Env is a secret in plain text, so that only its
// name is shown and hashed. It is one only if the name is plainly that of a secret: the last word of a plain
// name is one of the words for it. Any other value may decide what runs: that of a function of bash, of options,
// of a command that prints a secret such as RESTIC_PASSWORD_COMMAND, and of a setting of git.
func IsSecret(name, value string) bool {
	return redact.Secret(name) && Referenced(value) == "" &&
		namesSecret().MatchString(name) && !namesSetting().MatchString(name)
}

var namesSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^([a-z0-9_]*_)?` +
		`((api|access|auth|secret|private|account|master|encryption|signing|client)?keys?|` +
		`[a-z]*(tokens?|secrets?|passwords?|passwd))(_?[0-9]+)?$`)
})

// namesSetting matches the names of settings that end like those of secrets: pairs of git's configuration,
// and what password-store and less read.
var namesSetting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(BASH_FUNC|GIT_CONFIG|PASSWORD_STORE|LESS)`)
})

// InPlain returns the names of the variables in Env that are secrets stored in plain text, sorted.
func (m Member) InPlain() []string {
	var names []string
	for name, value := range m.Env {
		if IsSecret(name, value) && len(value) >= minInherited && !isFile(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

package process

import (
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// vendorPrefixes begin the names of variables through which agents find their account, their
// model and the session that they run in. When this program itself runs inside an agent, the
// members must neither take themselves for a part of it nor silently use its account.
var vendorPrefixes = []string{
	"ANTHROPIC_", "CLAUDE_", "CLAUDECODE", "OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_GEMINI_",
}

// environment returns the environment of a program: the parent's without the vendors' variables,
// PWD, Program.Env, the owner, and the turn. The last of several values of a name counts.
func environment(parent []string, program Program) []string {
	env := slices.DeleteFunc(slices.Clone(parent), isVendors)
	if program.Dir != "" {
		// Programs that trust PWD would otherwise work in the parent's directory.
		if dir, err := filepath.Abs(program.Dir); err == nil {
			env = append(env, "PWD="+dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(program.Env)) {
		env = append(env, name+"="+program.Env[name])
	}
	if owner := thisOwner(); owner != "" {
		env = append(env, ownerVariable+"="+owner)
	}
	return append(env, TurnVariable+"="+program.TurnID)
}

// isVendors reports whether a variable, NAME=value, is one of an agent's vendor.
func isVendors(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name) // names ignore case there
	}
	return slices.ContainsFunc(vendorPrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

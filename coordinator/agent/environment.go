package agent

import (
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// vendorPrefixes begin the names of the variables by which agents find their account, their
// model and the session that they run in. When this program itself runs inside an agent, its
// children must not take themselves for a part of that one, nor use its account unasked.
var vendorPrefixes = []string{
	"ANTHROPIC_", "CLAUDE_", "CLAUDECODE", "OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_GEMINI_",
}

// environment is the environment of the turn's processes: the parent's without the vendors'
// variables, the member's own, whose the turn is, the turn's id. Of a name that occurs twice the
// last one counts.
func environment(parent []string, turn Turn) []string {
	env := slices.DeleteFunc(slices.Clone(parent), ofVendor)
	if turn.Dir != "" {
		// Programs that trust PWD would otherwise work in the parent's directory.
		if dir, err := filepath.Abs(turn.Dir); err == nil {
			env = append(env, "PWD="+dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(turn.Member.Env)) {
		env = append(env, name+"="+turn.Member.Env[name])
	}
	if owner := thisProgram(); owner != "" {
		env = append(env, OwnerVariable+"="+owner)
	}
	return append(env, TurnVariable+"="+turn.ID)
}

// ofVendor reports whether the variable, as NAME=value, belongs to an agent's vendor.
func ofVendor(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name) // names differ in case there and mean the same
	}
	return slices.ContainsFunc(vendorPrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

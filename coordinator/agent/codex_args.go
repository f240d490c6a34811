package agent

import (
	"slices"
	"strings"
)

// A codexLine is the command line of Codex, and what arguments of codex exec say that app-server does not take.
type codexLine struct {
	args      []string
	dir       string // the working directory, relative to that of the turn; "" is that
	ephemeral bool
}

// codexDropped are options of codex exec that have no effect here, and whether they have a value. The server works
// without a git repository.
var codexDropped = map[string]bool{
	"exec": false, "-": false, "--json": false, "--experimental-json": false, "--skip-git-repo-check": false,
	"--color": true, "-o": true, "--output-last-message": true,
}

// codexSettings are options of codex exec that set what these settings do.
var codexSettings = map[string][]string{
	"--dangerously-bypass-approvals-and-sandbox": codexUnlimited,
	"--full-auto": {`approval_policy="on-request"`, `sandbox_mode="workspace-write"`},
	"--yolo":      codexUnlimited,
	"--approve-for-me": {
		`approval_policy="on-request"`, `sandbox_mode="workspace-write"`, `approvals_reviewer="auto_review"`,
	},
}

var codexUnlimited = []string{`approval_policy="never"`, `sandbox_mode="danger-full-access"`}

// codexValues are options of codex exec whose value is that of a setting.
var codexValues = map[string]string{
	"-m": "model", "--model": "model", "-s": "sandbox_mode", "--sandbox": "sandbox_mode",
	"-a": "approval_policy", "--ask-for-approval": "approval_policy",
}

// codexArgs returns the command line for a member, with additional arguments before the member's own.
//
// Of the member's arguments, those of codex exec that have settings are replaced by these; codexDropped are left out;
// all others are passed on. Codex does not start with those that it does not know: they might restrict what it may do.
func codexArgs(m Member, policy codexPolicy, additional ...string) codexLine {
	l := codexLine{args: []string{"app-server"}}
	if m.Thinking != nil { // joined, so that it is not taken for the member's own -c
		effort := map[bool]string{false: "none", true: "medium"}[*m.Thinking]
		l.args = append(l.args, "--config=model_reasoning_effort="+effort)
	}
	l.args = append(l.args, additional...)
	l.add(codexProfile.ownArgs(m))
	l.args = append(l.args, policy.args()...)
	return l
}

// add adds arguments of the member.
func (l *codexLine) add(own []string) {
	for i := 0; i < len(own); i++ {
		arg := own[i]
		name, value, joined := strings.Cut(arg, "=")
		next := func() string { // the value
			if !joined && i+1 < len(own) {
				i++
				value = own[i]
			}
			return value
		}
		hasValue, dropped := codexDropped[name]
		setting, isValue := codexValues[name]
		settings, isSetting := codexSettings[name]
		switch {
		case dropped && hasValue:
			next()
		case dropped:
		case name == "--ephemeral":
			l.ephemeral = true
		case name == "-C" || name == "--cd":
			l.dir = next()
		case isValue:
			l.args = append(l.args, "--config="+setting+"="+tomlString(next()))
		case isSetting:
			for _, s := range settings {
				l.args = append(l.args, "--config="+s)
			}
		case slices.Contains([]string{"-c", "--config", "--enable", "--disable"}, name) && !joined:
			l.args = append(l.args, arg, next())
		default:
			l.args = append(l.args, arg)
		}
	}
}

package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A profile is what is known about an agent, whichever engine runs it.
type profile struct {
	name    string   // for display
	program string   // runs if the member has no command
	install []string // the command that installs it; nil if unknown
	login   Remedy   // when it is not logged in
	trust   Remedy   // when it does not trust the working directory
	permits []string // options that decide what it may do; Member.Permissions overrides them
	limits  []limit  // of a prompt
}

// known completes the description of an agent with what its profile has.
func (p profile) known(k Known) Known {
	k.DisplayName, k.Program, k.Install, k.Login = cmp.Or(k.DisplayName, p.name), p.program, p.install, p.login
	k.profile = p
	return k
}

// server returns the profile of the server of the Agent Client Protocol for an agent with an engine of its own.
func (p profile) server(program, packageName string, limits ...limit) profile {
	p.program, p.install, p.limits = program, npmInstall(packageName), limits
	return p
}

func npmInstall(packageName string) []string { return []string{"npm", "install", "-g", packageName} }

// A limit is the length of the longest prompt that an agent takes.
type limit struct {
	max  int
	unit string // bytes or characters
	size func(prompt string) int
}

func (l limit) excess(prompt string) int {
	if len(prompt) <= l.max { // no prompt has more characters than bytes
		return 0
	}
	return max(0, l.size(prompt)-l.max)
}

// excess returns by how much a prompt exceeds the strictest limit; 0 if it exceeds none.
func (p profile) excess(prompt string) (most int) {
	for _, l := range p.limits {
		most = max(most, l.excess(prompt))
	}
	return most
}

// checkLength returns an error if the prompt is too long.
func (p profile) checkLength(prompt string) error {
	for _, l := range p.limits {
		if l.excess(prompt) > 0 {
			reason := fmt.Sprintf("the prompt is too long: the limit is %d %s", l.max, l.unit)
			return p.failure(reason, remedyShorten)
		}
	}
	return nil
}

// withInstall adds the command that installs the agent to a *process.StartError.
func (p profile) withInstall(err error) error {
	if e := (*process.StartError)(nil); errors.As(err, &e) && e.Command == p.program {
		e.Install = p.install
	}
	return err
}

// countUTF16 counts characters as JavaScript does.
func countUTF16(prompt string) int {
	units := utf8.RuneCountInString(prompt)
	for _, r := range prompt {
		if r > 0xFFFF {
			units++
		}
	}
	return units
}

// ownArgs returns the member's own arguments, without those that decide what the agent may do if its
// permissions are set.
func (p profile) ownArgs(m Member) []string {
	if m.Permissions == "" {
		return m.Args
	}
	return without(m.Args, p.permits)
}

// shortOptions are the options with a value that engines set or leave out, and their short names.
var shortOptions = map[string]string{
	"--output-format": "-o", "--model": "-m", "--permission-mode": "", "--sandbox": "-s", "--approval-mode": "",
	"--ask-for-approval": "-a", "--input-format": "", "--permission-prompt-tool": "", "--permission-prompts": "",
	"--session-id": "", "--resume": "-r", "--resume-session-at": "",
	"--mode": "-mode", "--conversation": "-conversation", "--print-timeout": "-print-timeout",
}

// longOption returns the long name of an option.
func longOption(option string) string {
	for long, short := range shortOptions {
		if option != "" && option == short {
			return long
		}
	}
	return option
}

// without returns own without the options that are in given. Some agents reject an option that is
// given twice, and the engine depends on the output format.
func without(own, given []string) []string {
	taken := map[string]bool{}
	for _, arg := range given {
		taken[longOption(arg)] = true
	}
	var rest []string
	for i := 0; i < len(own); i++ {
		name, _, joined := strings.Cut(own[i], "=")
		name = longOption(name)
		_, hasValue := shortOptions[name]
		switch {
		case !taken[name] || !strings.HasPrefix(name, "-") && i > 0:
			rest = append(rest, own[i])
		case !joined && hasValue:
			i++
		}
	}
	return rest
}

// withRequired returns own preceded by the required arguments, unless own has one of them.
func withRequired(required, own []string) []string {
	for _, arg := range required {
		if slices.Contains(own, arg) {
			return own
		}
	}
	return slices.Concat(required, own)
}

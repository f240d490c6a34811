package usage

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// otherSpelling returns the command of a command line that is that of another program of this kind: what is a command
// here is a flag there, such as --list-sessions, and a message is an argument.
func otherSpelling(args []string) (app.Help, bool) {
	for i, arg := range args {
		flag, value, joined := strings.Cut(arg, "=")
		rest := slices.Concat(args[:i], args[i+1:])
		if joined {
			rest = slices.Concat(args[:i], []string{value}, args[i+1:])
		}
		switch flag {
		case "--list-sessions":
			return app.To("list the sessions", "sessions"), true
		case "--clean-sessions":
			if !slices.Contains(rest, "--older-than") {
				rest = append(rest, "--older-than", "7d")
			}
			return app.To("move old sessions to the trash", slices.Concat([]string{"sessions", "clean"}, rest)...), true
		case "--diff":
			return app.To("compare two sessions", slices.Concat([]string{"sessions", "diff"}, rest)...), true
		case "--merge":
			return app.To("merge two sessions", slices.Concat([]string{"sessions", "merge"}, rest)...), true
		case "--replay":
			return app.To("replay it", slices.Concat([]string{"replay"}, rest)...), true
		case "--fork-at-round":
			return app.To("resume a copy of the latest session up to a turn",
				"chat", "--resume", "--fork", "--at", "turn:"+first(rest[min(i, len(rest)):], "N")), true
		}
	}
	switch {
	case slices.Contains(args, "--resume"), slices.Contains(args, "--continue"):
		return app.To("resume the latest session", "chat", "--resume"), true
	case len(args) > 0 && !strings.HasPrefix(args[0], "-") && strings.ContainsAny(args[0], " \t\n"):
		return app.To("send it as a message", slices.Concat([]string{"chat", "-m", args[0]}, rounds(args[1:]))...), true
	}
	return app.Help{}, false
}

// rounds returns the flags of chat for those that limit the rounds elsewhere.
func rounds(args []string) []string {
	limits := []string{"-r", "--rounds", "--max-rounds"}
	for i := range len(args) - 1 {
		if _, err := strconv.Atoi(args[i+1]); err == nil && slices.Contains(limits, args[i]) {
			return []string{"--max-rounds", args[i+1]}
		}
	}
	return nil
}

// first returns the first of some arguments, unless it is a flag or there is none.
func first(args []string, otherwise string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return otherwise
	}
	return args[0]
}

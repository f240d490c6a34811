package chat

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A look is what commands that only look show of a conversation.
type look struct {
	session    *coordinator.Session // nil before the first message
	status     coordinator.Status
	speaking   string // the name of the member whose turn runs; "": none
	queued     []coordinator.Queued
	changes    []projection.QueueChange
	had, limit int // agent turns, as Coordinator.Rounds
}

// looks keeps the look of a conversation while its turns run: the Coordinator cannot be called then from the
// goroutine of a command.
type looks struct {
	mu   sync.Mutex
	last *look // nil: no turn runs
}

// take returns the look of a conversation.
func take(c *coordinator.Coordinator) *look {
	l := &look{
		session: c.Session(), status: c.Status(),
		queued: slices.Clone(c.Queued()), changes: slices.Clone(c.QueueChanges()),
	}
	if l.session != nil {
		l.session.Stats.Usage.Costs = maps.Clone(l.session.Stats.Usage.Costs)
	}
	l.had, l.limit = c.Rounds()
	return l
}

// refresh replaces the look while turns run.
func (l *looks) refresh(now *look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		l.last = now
	}
}

// set replaces the look; nil: no turn runs any more.
func (l *looks) set(now *look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = now
}

// look returns the newest look.
func (r *repl) look() look {
	r.looks.mu.Lock()
	last := r.looks.last
	r.looks.mu.Unlock()
	if last == nil {
		last = take(r.c)
	}
	return *last
}

// runLook runs a command that only looks.
func (r *repl) runLook(line string) { _ = r.runSlash(r.turns, line) }

// onlyLooks reports whether a line is a command that changes nothing, so that it can run during a turn.
func onlyLooks(line string) bool {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	i := slices.IndexFunc(slashCommands(), func(s slashCommand) bool { return strings.EqualFold(s.name, name) })
	return i >= 0 && slashCommands()[i].looks(strings.TrimFunc(args, unicode.IsSpace))
}

// members returns the members that the input box completes, humans last: a message is seldom for its own author.
func members(t *team.Team) (choices []editor.Choice) {
	var humans []editor.Choice
	for _, m := range t.Members {
		choice := editor.Choice{Text: "@" + tty.SafeLine(m.Name), Help: tty.SafeLine(m.DisplayName)}
		if m.Type == team.Human {
			humans = append(humans, choice)
		} else {
			choices = append(choices, choice)
		}
	}
	return append(choices, humans...)
}

// sources returns what the input box completes, without the members of a team.
func sources(cwd string) (s editor.Sources) {
	for _, c := range slashCommands() {
		if c.help != "" {
			s.Commands = append(s.Commands, editor.Choice{Text: c.name, Help: c.help})
		}
	}
	if root, err := os.OpenRoot(cwd); err == nil { // no link leads out of it
		s.Files = root.FS()
	}
	return s
}

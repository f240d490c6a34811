package chat

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// arguments are what the input box completes after a command. They belong to the goroutine of the console: all that
// changes is replaced with them, or is safe for concurrent use.
type arguments struct {
	app              *app.App
	c                *coordinator.Coordinator // only Models is called
	team, configured *team.Team
	files            fs.FS // the working directory; nil: it cannot be read
	session          string
	title            string
	turns            int

	cached map[string]cachedChoices // what takes a while, by command
}

type cachedChoices struct {
	choices []editor.Choice
	at      time.Time
}

// arguments returns what can be completed in the conversation as it is.
func (r *repl) arguments() *arguments {
	a := &arguments{app: r.app, c: r.c, team: r.c.Team(), configured: r.c.Configured()}
	if s := r.c.Session(); s != nil {
		a.session, a.title, a.turns = s.ID, tty.SafeLine(s.Title), s.Stats.Turns
	}
	return a
}

// cacheTime is how long choices that take a while are kept.
const cacheTime = 5 * time.Second

// Of returns the choices for an argument of a command, as editor.Sources.Arguments.
func (a *arguments) Of(command string, before []string, typed string) []editor.Choice {
	nth := len(before)
	switch strings.ToLower(command) {
	case "/model":
		return a.setting(before, a.models)
	case "/permissions":
		return a.setting(before, permissionChoices)
	case "/remove", "/compact", "/cancel":
		if nth == 0 {
			return a.agents()
		}
	case "/add":
		if nth == 0 {
			return a.cache("/add", a.registered)
		}
	case "/resume":
		if nth == 0 {
			return a.cache("/resume", a.sessions)
		}
	case "/team":
		return a.teams(before, typed)
	case "/export":
		if nth == 0 && a.files != nil {
			return editor.Paths(a.files, "", typed)
		}
	case "/fork":
		if nth == 0 {
			return a.points()
		}
	case "/rename":
		if nth == 0 && a.title != "" {
			return []editor.Choice{{Text: a.title, Help: "the title now"}}
		}
	}
	return nil
}

func (a *arguments) cache(key string, find func() []editor.Choice) []editor.Choice {
	if c, ok := a.cached[key]; ok && time.Since(c.at) < cacheTime {
		return c.choices
	}
	found := find()
	if a.cached == nil {
		a.cached = map[string]cachedChoices{}
	}
	a.cached[key] = cachedChoices{found, time.Now()}
	return found
}

// setting returns the members, or the values of one.
func (a *arguments) setting(before []string, values func(team.Member) []editor.Choice) []editor.Choice {
	switch len(before) {
	case 0:
		return a.agents()
	case 1:
		if m, ok := a.team.Match(before[0]); ok && m.Type == team.AI {
			return values(m)
		}
	}
	return nil
}

// agents returns the agents of the team, with their models and permissions.
func (a *arguments) agents() (choices []editor.Choice) {
	for _, m := range a.team.Members {
		if m.Type == team.AI {
			help := m.DisplayName + " · " + host.ModelOf(m) + " · " + host.PermissionsOf(m)
			choices = append(choices, editor.Choice{Text: m.Name, Help: help})
		}
	}
	return choices
}

func (a *arguments) models(m team.Member) []editor.Choice {
	return a.cache("/model "+m.ID, func() (choices []editor.Choice) {
		for _, model := range host.KnownModels(a.app, m, a.c.Models(m.ID), a.team, a.configured) {
			if model == "default" || tty.SafeLine(model) != model || strings.ContainsAny(model, " \t") {
				continue
			}
			help := ""
			if model == m.Model {
				help = "now"
			}
			choices = append(choices, editor.Choice{Text: model, Help: help})
		}
		return append(choices, editor.Choice{Text: "default", Help: "as the team has it"})
	})
}

func permissionChoices(m team.Member) (choices []editor.Choice) {
	for _, value := range m.EngineInfo().Permissions {
		help := setup.PermissionMeaning(value)
		if value == m.Permissions {
			help = "now: " + help
		}
		choices = append(choices, editor.Choice{Text: value, Help: help})
	}
	return append(choices, editor.Choice{Text: "default", Help: "as the team has it"})
}

// registered returns the agents that can be added: members that were removed first.
func (a *arguments) registered() (choices []editor.Choice) {
	add := func(name, help string) {
		known := func(c editor.Choice) bool { return c.Text == name }
		if !slices.ContainsFunc(choices, known) && tty.SafeLine(name) == name {
			choices = append(choices, editor.Choice{Text: name, Help: help})
		}
	}
	for _, m := range a.configured.Members {
		if _, ok := a.team.Member(m.ID); !ok {
			add(m.Name, "was removed")
		}
	}
	found, others := setup.AgentNames(a.app)
	for _, name := range found {
		add(name, "installed")
	}
	for _, name := range others {
		add(name, "another way, or not installed")
	}
	return choices
}

// sessions returns the newest sessions by their short ids.
func (a *arguments) sessions() []editor.Choice {
	choices := []editor.Choice{{Text: "--last", Help: "the newest other session"}}
	list, err := a.app.Catalog.List(context.Background(), catalog.Query{Damaged: catalog.Without})
	if err != nil {
		return choices
	}
	short := catalog.ShortIDs(list.Sessions)
	for _, s := range list.Sessions[:min(len(list.Sessions), 4*offeredSessions)] {
		if s.MessageCount > 0 && s.Newer == "" && s.ID != a.session {
			help := fmt.Sprintf("%s, %s", cmp.Or(tty.SafeLine(s.Title), "untitled"), app.Age(s.UpdatedAt, time.Now()))
			choices = append(choices, editor.Choice{Text: short[s.ID], Help: help})
		}
	}
	return choices
}

// teams returns the arguments of /team.
func (a *arguments) teams(before []string, typed string) (choices []editor.Choice) {
	switch {
	case len(before) == 0:
		return []editor.Choice{{Text: "deploy", Help: "switch to a team"}, {Text: "list", Help: "list the teams"}}
	case len(before) > 1 || before[0] != "deploy":
		return nil
	}
	files, _ := team.Files(a.app.Places())
	for _, f := range files {
		if !f.Hidden && tty.SafeLine(f.Name) == f.Name && !strings.ContainsAny(f.Name, " \t") {
			choices = append(choices, editor.Choice{Text: f.Name, Help: "a team"})
		}
	}
	if a.files == nil {
		return choices
	}
	for _, c := range editor.Paths(a.files, "", typed) {
		if strings.HasSuffix(c.Text, "/") || strings.HasSuffix(c.Text, ".json") {
			choices = append(choices, c)
		}
	}
	return choices
}

// points returns the ends of the newest turns.
func (a *arguments) points() (choices []editor.Choice) {
	for n := a.turns; n > max(0, a.turns-offeredSessions); n-- {
		choices = append(choices, editor.Choice{Text: fmt.Sprintf("turn:%d", n), Help: "up to the end of this turn"})
	}
	return choices
}

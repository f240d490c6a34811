package completion

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// completable is how many sessions are completed by title and id.
const completable = 1000

// sessions returns the names of sessions that start with the word, newest first: the
// suffix of the id that lists show, the whole id if the word starts one, and titles.
func (l *commandLine) sessions(word string) []candidate {
	list, err := l.app.Catalog.List(context.Background(), catalog.Query{Limit: completable})
	if err != nil || len(list.Sessions) == 0 {
		return nil
	}
	sessions := list.Sessions
	short := catalog.ShortIDs(sessions, list.Matches...)
	found := startingWith([]candidate{{catalog.LatestName, sessions[0].Title}}, word)
	titles := map[string]bool{}
	for _, s := range sessions {
		switch upper := strings.ToUpper(word); {
		case strings.HasPrefix(short[s.ID], upper):
			found = append(found, candidate{short[s.ID], s.Title})
		case strings.HasPrefix(s.ID, upper):
			found = append(found, candidate{s.ID, s.Title})
		}
		matches := word != "" && len(s.Title) >= len(word) && strings.EqualFold(s.Title[:len(word)], word)
		if matches && !titles[s.Title] && tty.SafeLine(s.Title) == s.Title {
			titles[s.Title] = true
			found = append(found, candidate{s.Title, s.ID})
		}
	}
	return found
}

// trash returns the ids of the sessions in the trash.
func (l *commandLine) trash(word string) []candidate {
	trashed, err := l.app.Catalog.Trash(context.Background())
	if err != nil {
		return nil
	}
	var found []candidate
	for _, item := range trashed {
		if strings.HasPrefix(item.ID, strings.ToUpper(word)) {
			found = append(found, candidate{item.ID, filepath.Base(item.Dir)})
		}
	}
	return found
}

// teams returns the teams that a chat can name.
func (l *commandLine) teams() []candidate {
	names := map[string]string{}
	if files, err := team.Files(l.app.Places()); err == nil {
		for _, f := range files {
			if !f.Hidden {
				names[f.Name] = cmp.Or(f.Path, "built in")
			}
		}
	}
	return candidatesOf(names)
}

// teamIDs returns the teams that have sessions.
func (l *commandLine) teamIDs() []candidate {
	names := map[string]string{}
	if list, err := l.app.Catalog.List(context.Background(), catalog.Query{Limit: completable}); err == nil {
		for _, s := range list.Sessions {
			names[s.TeamID] = ""
		}
	}
	return candidatesOf(names)
}

// members returns the agents of the session that the first argument names.
func (l *commandLine) members() []candidate {
	session, _, err := l.app.Catalog.Find(context.Background(), cmp.Or(l.first, catalog.LatestName))
	if err != nil {
		return nil
	}
	state, _, err := l.app.Catalog.At(session.Dir()).Load(context.Background(), session.ID)
	if err != nil {
		return nil
	}
	names := map[string]string{}
	for _, m := range state.Members() {
		if m.Type == projection.TypeAI {
			names[m.ID] = m.DisplayName
		}
	}
	return candidatesOf(names)
}

// agents returns the registered and the known agents.
func (l *commandLine) agents() []candidate {
	names := map[string]string{}
	if registered, err := team.RegisteredAgents(l.app.Home); err == nil {
		for _, r := range registered {
			names[r.Name] = r.DisplayName
		}
	}
	for _, k := range agent.KnownAgents() {
		names[k.Name] = k.DisplayName
	}
	return candidatesOf(names)
}

// devices returns the ids of the paired devices.
func (l *commandLine) devices() []candidate {
	names := map[string]string{}
	paired, _ := devices.Open(l.app.Home).List() // without them, nothing completes the word
	for _, d := range paired {
		names[d.ID] = d.Name
	}
	return candidatesOf(names)
}

func candidatesOf(names map[string]string) []candidate {
	var all []candidate
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if tty.SafeLine(name) == name {
			all = append(all, candidate{name, names[name]})
		}
	}
	return all
}

package host

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// An AgentSession is a session that the program of a member's agent keeps.
type AgentSession struct {
	MemberID string   `json:"memberId"`
	Agent    string   `json:"agent"`           // the member's agent type; "": unknown
	ID       string   `json:"id"`              // the program's
	Files    []string `json:"files,omitempty"` // that have it; none: the program keeps it in another way
}

const (
	maxAgentSessions = 1000 // that are returned of a session
	maxAgentID       = 300  // bytes; an agent's ids are shorter
)

// AgentSessions returns the sessions that agents' programs keep of the session whose events r reads, up to damage and
// at most maxAgentSessions. Files are named only of those that this home has recorded, since a journal from elsewhere
// may name other sessions of this machine. What Claude Code and Codex no longer have is left out.
func AgentSessions(ctx context.Context, a *app.App, r *journal.Reader) []AgentSession {
	state, begun := new(projection.State), projection.TurnStarted{}
	key := sync.OnceValue(HomeKey(a, home.CheckKey(a.Home) == nil))
	var found []AgentSession
	for e, err := range r.Grep(func(lines []byte) int {
		if ctx.Err() != nil {
			return -1
		}
		return firstOf(lines, projection.AgentAttached{}, projection.TurnStarted{}, projection.SessionCreated{},
			projection.SessionResumed{})
	}) {
		if err != nil {
			break
		}
		p, _ := projection.Decode(e)
		if started, ok := p.(projection.TurnStarted); ok { // before what it attaches
			begun = started
			continue
		}
		known, ok := p.(projection.AgentAttached)
		if !ok {
			state.Apply(e)
			continue
		}
		same := func(s AgentSession) bool { return s.ID == known.AgentSession && s.MemberID == known.MemberID }
		tooLong := len(known.AgentSession) > maxAgentID || len(known.MemberID) > maxAgentID
		if tooLong || slices.ContainsFunc(found, same) {
			continue
		}
		own := key() != nil && known.Host == coordinator.AttachedHost(key(), known)
		s := AgentSession{MemberID: known.MemberID, ID: known.AgentSession}
		if begun.TurnID == known.TurnID {
			s.Agent = begun.AgentType
		}
		if !own || s.find(a, state) {
			found = append(found, s)
		}
		if len(found) == maxAgentSessions {
			break
		}
	}
	return found
}

// firstOf returns the offset of what may be the first event of some types; -1 if there is none.
func firstOf(lines []byte, events ...projection.Payload) int {
	first := -1
	for _, p := range events {
		if i := bytes.Index(lines, []byte(`"`+projection.TypeOf(p)+`"`)); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// find finds the files of a session. It returns false if the agent's program no longer has it.
func (s *AgentSession) find(a *app.App, state *projection.State) bool {
	engine := agent.ForType(s.Agent).Name
	m, dir := teamMember(a, state, s.MemberID)
	s.Files = agentFiles(engine, m, dir, s.ID)
	return s.Files != nil || engine != "claude" && engine != "codex"
}

// teamMember returns the member of the team as it is configured now, as far as it decides where a program keeps files.
func teamMember(a *app.App, state *projection.State, id string) (m agent.Member, dir string) {
	if state.Team.Source == nil {
		return m, state.CWD
	}
	t, err := team.Load(state.Team.Source.Path, a.Home)
	if err != nil {
		return m, state.CWD
	}
	for _, other := range t.Members {
		if other.ID == id {
			return agent.Member{Env: other.Env}, cmp.Or(other.BaseDir, state.CWD)
		}
	}
	return m, state.CWD
}

// OwnFile reports whether a file is one in which the program of an engine keeps a session.
func OwnFile(engine, session, path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(agentFiles(engine, agent.Member{}, ".", session), func(own string) bool {
		other, err := os.Stat(own)
		return err == nil && os.SameFile(info, other)
	})
}

// agentFiles is agent.SessionFiles, also in the directories of this process's environment.
func agentFiles(engine string, m agent.Member, dir, id string) []string {
	files := agent.SessionFiles(engine, m, dir, id)
	env := map[string]string{}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		if v := os.Getenv(name); v != "" {
			env[name] = v
		}
	}
	for _, path := range agent.SessionFiles(engine, agent.Member{Env: env}, ".", id) {
		if !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return files
}

// maxNamed is how many lines AgentSessionsText has for sessions.
const maxNamed = 20

// AgentSessionsText is for sessions that remain in the programs of agents when the session here is deleted.
func AgentSessionsText(sessions []AgentSession) string {
	var lines []string
	for _, s := range sessions {
		name := tty.SafeLine(cmp.Or(s.Agent, s.MemberID))
		for _, path := range s.Files {
			lines = append(lines, fmt.Sprintf("  %s: %s", name, tty.SafeLine(path)))
		}
		if len(s.Files) == 0 {
			lines = append(lines, fmt.Sprintf("  %s: session %s", name, tty.SafeLine(s.ID)))
		}
	}
	if more := len(lines) - maxNamed; more > 0 {
		lines = append(lines[:maxNamed], fmt.Sprintf("  and %d more", more))
	}
	return "The agents' programs keep their own sessions. Delete the files, and other sessions in the program " +
		"itself:\n" + strings.Join(lines, "\n")
}

package transfer

import (
	"os"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// signOrigin returns interchange.Session.Sign for a file. It signs only what the program of an agent has itself: a file
// from elsewhere may name one of its sessions and have other messages.
func signOrigin(a *app.App, path string) func(string, projection.ImportOrigin) string {
	return func(source string, o projection.ImportOrigin) string {
		if !isOwnFile(source, o.AgentSession, path) {
			return ""
		}
		key := host.HomeKey(a, true)()
		if key == nil {
			return ""
		}
		return coordinator.OriginHost(key, source, o)
	}
}

// isOwnFile reports whether a file is that of a session where its program keeps it.
func isOwnFile(engine, session, path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	m := agent.Member{Env: map[string]string{}}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		m.Env[name] = os.Getenv(name)
	}
	return slices.ContainsFunc(agent.SessionFiles(engine, m, ".", session), func(own string) bool {
		other, err := os.Stat(own)
		return err == nil && os.SameFile(info, other)
	})
}

package transfer

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection"
)

// signOrigin returns interchange.Session.Sign for a file. It signs only what the program of an agent has itself: a file
// from elsewhere may name one of its sessions and have other messages.
func signOrigin(a *app.App, path string) func(string, projection.ImportOrigin) string {
	return func(source string, o projection.ImportOrigin) string {
		if !host.OwnFile(source, o.AgentSession, path) {
			return ""
		}
		key := host.HomeKey(a, true)()
		if key == nil {
			return ""
		}
		return coordinator.OriginHost(key, source, o)
	}
}

package host

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
)

// HomeKey returns what coordinator.Options.HomeKey is: the key of the home, if the conversation is written there.
func HomeKey(a *app.App, writes bool) func() []byte {
	if !writes {
		return func() []byte { return nil }
	}
	return func() []byte {
		key, err := home.Key(a.Home)
		if err != nil {
			a.Log.Warn("the home has no key", "error", err)
		}
		return key
	}
}

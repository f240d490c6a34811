package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/config"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
)

// HubPatience bounds how long a command waits for the answer to whether the hub has more than this machine.
const HubPatience = 2 * time.Second

// ErrNoHub is returned by App.Hub if no hub is configured, or with --offline.
var ErrNoHub = errors.New("no hub is configured")

// hubConnection is the connection to the hub of an App. It is made when it is needed.
type hubConnection struct {
	urls    string
	offline bool

	mu  sync.Mutex
	hub *hub.Hub
}

// HubSettings returns the settings of the hub; without URLs there is none.
func (a *App) HubSettings() (config.Hub, error) {
	if a.hub == nil || a.hub.offline {
		return config.Hub{}, nil
	}
	c, err := a.Config()
	if err != nil {
		return config.Hub{}, err
	}
	if a.hub.urls != "" {
		return c.Hub.WithURLs(a.hub.urls), nil
	}
	return c.Hub, nil
}

// HubOptions returns the options of a connection to the hub. It returns ErrNoHub if there is none.
func (a *App) HubOptions() (jetstream.Options, error) {
	settings, err := a.HubSettings()
	if err == nil && len(settings.URLs) == 0 {
		err = ErrNoHub
	}
	return jetstream.Options{
		URLs: settings.URLs, Credentials: settings.Credentials, CA: settings.TLS.CA,
		Cert: settings.TLS.Cert, Key: settings.TLS.Key, Timeout: settings.Wait(),
	}, err
}

// Hub returns the hub, and connects to it if there is no connection yet. It returns ErrNoHub if there is none;
// other errors are those of jetstream.Open, after which it may be called again.
func (a *App) Hub(ctx context.Context) (*hub.Hub, error) {
	o, err := a.HubOptions()
	if err != nil {
		return nil, err
	}
	a.hub.mu.Lock()
	defer a.hub.mu.Unlock()
	if a.hub.hub != nil {
		return a.hub.hub, nil
	}
	engine, err := jetstream.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	a.hub.hub = hub.New(engine, a.HubMachine())
	return a.hub.hub, nil
}

// HubMachine describes this machine for others.
func (a *App) HubMachine() hub.Options {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return hub.Options{Home: a.Home, Host: host}
}

// CloseHub ends the connection to the hub.
func (a *App) CloseHub() {
	if a.hub == nil {
		return
	}
	a.hub.mu.Lock()
	defer a.hub.mu.Unlock()
	if a.hub.hub != nil {
		a.hub.hub.Close()
		a.hub.hub = nil
	}
}

// explainHub explains an error of the hub; the empty Message: it is none.
func explainHub(err error) Message {
	var (
		claimed     *hub.ClaimedError
		fenced      *hub.FencedError
		diverged    *hub.DivergedError
		behind      *hub.BehindError
		gap         *hub.GapError
		bad         *hub.BadMessageError
		unavailable *hub.UnavailableError
		refused     *hub.RefusedError
	)
	switch {
	case errors.Is(err, ErrNoHub):
		return Text("No hub is configured.").With(To("read how", "guide", "hub"))
	case errors.As(err, &claimed):
		return claimedText(claimed)
	case errors.As(err, &fenced):
		return Text("Session %s was taken over by %s.", fenced.Session.ID, holderText(fenced.Claim)).
			With(To("fetch what was written there", "hub", "pull", fenced.Session.ID))
	case errors.As(err, &diverged) && diverged.Common.Seq == 0:
		return Text("The hub has another session with the id %s: nothing was changed.", diverged.Session.ID)
	case errors.As(err, &diverged):
		return Text("Session %s diverged from the hub after event %d.", diverged.Session.ID, diverged.Common.Seq).
			With(To("make a fork of what is only here", "hub", "pull", diverged.Session.ID))
	case errors.As(err, &behind):
		return Text("Session %s has events on the hub that are not here: %d there, %d here.", behind.Session.ID,
			behind.Hub.Seq, behind.Local.Seq).With(To("fetch them", "hub", "pull", behind.Session.ID))
	case errors.As(err, &gap):
		return Text("%s", Sentence(gap)).
			With(To("restore them, on a machine that has the session", "hub", "verify", gap.Session.ID))
	case errors.As(err, &bad):
		return Text("%s", Sentence(bad)).
			With(To("restore its lines, on a machine that has the session", "hub", "verify", bad.Session.ID))
	case errors.Is(err, hub.ErrMissing):
		return Text("The hub does not exist yet.").With(To("create it", "hub", "init"))
	case errors.Is(err, hub.ErrNewer):
		return Text("A newer version of agent-chatter has written to the hub. Upgrade agent-chatter to use it.")
	case errors.Is(err, hub.ErrPurged):
		return Text("The session was purged from the hub. What is here stays here.")
	case errors.As(err, &refused), errors.As(err, &unavailable):
		return Text("%s.", Sentence(err))
	}
	return Message{}
}

// claimedText is for a session that another machine has claimed.
func claimedText(e *hub.ClaimedError) Message {
	id := e.Session.ID
	return Text("Session %s is claimed by %s.", id, holderText(e.Claim)).With(
		To("take it over", "chat", "--resume", id, "--take-over"),
		To("watch it", "tail", "-f", id),
		To("resume a copy", "chat", "--resume", id, "--fork"),
	)
}

// holderText names the machine that holds a claim.
func holderText(c hub.Claim) string {
	return fmt.Sprintf("%s (%s, since %s)", tty.SafeLine(c.Host), tty.SafeLine(c.Home),
		c.Time.Local().Format("2006-01-02 15:04"))
}

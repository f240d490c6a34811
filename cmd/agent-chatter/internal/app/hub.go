package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// ReportHub prints, each text once in a run, that what the hub has is not shown.
func (a *App) ReportHub(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	message := Explain(err)
	if a.Remote.First(message.Text) {
		a.Show(message)
	}
}

// explainHub explains an error of the hub; the empty Message: it is none.
func explainHub(err error) Message {
	var (
		claimed  *hub.ClaimedError
		fenced   *hub.FencedError
		diverged *hub.DivergedError
		behind   *hub.BehindError
		split    *store.SplitError
		other    *home.DivergedError
		sealed   *hub.SealedError
		gap      *hub.GapError
		bad      *hub.BadMessageError
		shared   *home.IdentitySharedError
	)
	switch {
	case errors.As(err, &other):
		return Text("Session %s has diverged from the hub: what is here is shown.", other.ID).
			With(To("make a fork of what is only here", "hub", "pull", other.ID))
	case errors.As(err, &sealed):
		return sealedText(sealed)
	case errors.As(err, new(*hub.PlainError)), errors.As(err, new(*hub.RecipientsError)),
		errors.Is(err, hub.ErrNotRecipient):
		return Text("%s.\nName the recipients of all machines in hub.encryptTo of config.json.", Sentence(err)).
			With(To("read about recipients", "guide", "hub"))
	case errors.As(err, &shared):
		return Text("%s.", Sentence(shared)).With(ToRun("make it private", "chmod", "600", shared.Path))
	case errors.As(err, &split):
		return Text("Session %s has diverged from the hub. Its local events are now session %s.", split.SessionID,
			split.Fork).With(To("resume what is on the hub", "chat", "--resume", split.SessionID),
			To("resume what was only here", "chat", "--resume", split.Fork))
	case errors.Is(err, home.ErrNoHub):
		return Text("No hub is configured.").With(To("read how to set one up", "guide", "hub"))
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
		return missingHereText(behind)
	case errors.As(err, &gap):
		return damagedHubText(err, gap.Session.ID)
	case errors.As(err, &bad):
		return damagedHubText(err, bad.Session.ID)
	case errors.Is(err, hub.ErrMissing):
		return Text("The hub does not exist yet.").With(To("create it", "hub", "init"))
	case errors.Is(err, hub.ErrNewer):
		return newerText(err)
	case errors.Is(err, hub.ErrPurged):
		return Text("The session was purged from the hub. What is here stays here.")
	case errors.As(err, new(*hub.RefusedError)), errors.As(err, new(*hub.UnavailableError)),
		errors.Is(err, home.ErrOffline):
		return Text("%s.", Sentence(err))
	}
	return Message{}
}

// missingHereText is for a session of which the hub has events that are not here.
func missingHereText(e *hub.BehindError) Message {
	return Text("Session %s has events on the hub that are not here: %d there, %d here.", e.Session.ID, e.Hub.Seq,
		e.Local.Seq).With(To("fetch them", "hub", "pull", e.Session.ID))
}

// damagedHubText is for a session of which the hub has messages that are missing or not valid.
func damagedHubText(err error, id string) Message {
	return Text("%s", Sentence(err)).With(
		To("continue with what is here", "chat", "--resume", id, "--take-over"),
		To("restore lines, on a machine that has the session", "hub", "verify"),
	)
}

// sealedText is for a session with messages on the hub that no identity of this machine opens.
func sealedText(e *hub.SealedError) Message {
	m := Text("%s.\nAsk for the identity of a recipient, or be made one.", Sentence(e)).
		With(To("list the identities that are here", "identities"))
	if !e.TakeOver {
		return m
	}
	return m.With(To("continue without these messages", "chat", "--resume", e.Session.ID, "--take-over"))
}

// newerText is for a hub, or a session on it, to which a newer version has written.
func newerText(err error) Message {
	e := (*hub.NewerError)(nil)
	if !errors.As(err, &e) {
		return Text("A newer version of agent-chatter has written to the hub. Upgrade agent-chatter to use it.")
	}
	m := Text("A newer version of agent-chatter has written to session %s on the hub, after event %d. Upgrade "+
		"agent-chatter to read that.", e.Session.ID, e.After)
	if !e.TakeOver {
		return m
	}
	return m.With(To("continue without these messages", "chat", "--resume", e.Session.ID, "--take-over"))
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

package host

import (
	"errors"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// hubTexts renders what is said of the hub with sample values.
func hubTexts() (texts []apptest.Text) {
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	status := func(lag uint64, origin store.Origin, err error) store.ReplicaStatus {
		s := store.ReplicaStatus{SessionID: apptest.AliceID, Origin: origin}
		s.Lag, s.Err = lag, err
		return s
	}
	failed := errors.New(apptest.Hostile)
	add("stateText", "everything is on the hub", stateText(status(0, store.OnTheHub, nil), true))
	add("stateText", "purged", stateText(status(1, store.OnTheHub, hub.ErrPurged), false))
	add("stateText", "unclaimed", stateText(status(2, store.OnTheHub, failed), false))
	add("stateText", "unclaimed, perhaps", stateText(status(2, store.Resumed, failed), false))
	add("stateText", "the hub is waited for", stateText(status(2, store.Created, nil), true))
	add("stateText", "offline", stateText(status(2, store.Created, home.ErrOffline), false))
	add("stateText", "the hub is not waited for", stateText(status(1, store.Created, failed), false))
	add("reasonText", "", reasonText(nil))
	add("leftText", "", leftText(status(3, store.Created, nil)))
	sealed := &hub.SealedError{Session: hub.Session{ID: apptest.AliceID}}
	add("leftText", "sealed for others", leftText(status(3, store.OnTheHub, sealed)))
	gap := &hub.GapError{Session: sealed.Session, Next: journal.Position{Seq: 5}}
	add("leftText", "messages that are not valid", leftText(status(3, store.OnTheHub, gap)))
	add("forkText", "", forkText(apptest.BobID))
	add("backlogText", "", backlogText(1, "shop"))
	add("backlogLeftText", "", backlogLeftText(2, "shop"))
	return texts
}

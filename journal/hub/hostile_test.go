package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
)

// endOf is replaced in a head by the position at which the history of the session ends.
const endOf = "END"

// hostile are messages that any writer of a hub can publish after a session.
var hostile = []struct{ head, body string }{
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":9999,"sum":"0badcafe"}}`, "xx\n"},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":99999999,"sum":"0badcafe"},"part":1,"parts":3}`, "xx"},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":6,"offset":9999,"sum":"0badcafe"},"part":1,"parts":2}`, "xx"},
	{`{"v":1,"kind":"lines","from":{"seq":7,"offset":9000,"sum":"00000000"},"to":{"seq":9,"offset":9999,"sum":"0badcafe"}}`, ""},
	{`{"v":99,"kind":"lines"}`, "xx"},
	{`not a head`, ""},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":9999,"sum":"0badcafe"},"key":"AAAA","sealed":"AAAA"}`, "xx"},
	{`{"v":1,"kind":"claim","claim":{"nonce":"eve","home":"\u001b[2J","host":"e\nve"}}`, ""},
	{`{"v":1,"kind":"release","claim":{"nonce":"eve"},"head":{"seq":99,"offset":9,"sum":"00000000"}}`, ""},
}

// FuzzHostileMessage publishes any message after a session. A machine without the session gets every event of it. The
// owner is never told that its own event is too long, and can take the session over, unless the message says that a newer
// version, or a recipient, or a purge made it: those it may continue unclaimed.
func FuzzHostileMessage(f *testing.F) {
	for _, m := range hostile {
		f.Add(m.head, m.body)
	}
	f.Fuzz(func(t *testing.T, head, body string) {
		m, ann, ben := two(t)
		end, err := json.Marshal(ann.End(t))
		if err != nil {
			t.Fatal(err)
		}
		head = strings.ReplaceAll(head, endOf, string(end))
		if len(body) > m.MaxBody() {
			return
		}
		all := m.Messages(session)
		last := all[len(all)-1].Revision
		if _, err := m.Publish(t.Context(), session, last, hub.Message{Head: []byte(head), Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		fetched, err := ben.Fetch(t.Context(), session, ben.Dir, hub.Mark{})
		if errors.Is(err, hub.ErrPurged) {
			return
		}
		checkTolerated(t, "Fetch", err)
		checkTolerated(t, "Fetch", fetched.Damage)
		if got := ben.Bytes(t); !strings.HasPrefix(got, ann.Bytes(t)) {
			t.Fatalf("fetched %d bytes of %d", len(got), len(ann.Bytes(t)))
		}
		checkOwner(t, ann)
	})
}

// checkOwner takes the session over and ships an event.
func checkOwner(t *testing.T, ann *hubtest.Machine) {
	t.Helper()
	ann.Write(t, "third")
	_, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), ann.Mark(), false, ann.WriteMark)
	checkTolerated(t, "Claim", err)
	w, err := ann.Hub.Claim(context.Background(), session, ann.Reader(t), ann.Mark(), true, ann.WriteMark)
	if errors.Is(err, hub.ErrNewer) || errors.As(err, new(*hub.SealedError)) || errors.As(err, new(*hub.DivergedError)) {
		return
	}
	if err != nil {
		t.Fatalf("taking it over: %v", err)
	}
	if err := ann.Ship(t, w); err != nil {
		t.Errorf("shipping after a take-over: %v", err)
	}
}

// checkTolerated checks that an error is of the hub, not of what this machine writes.
func checkTolerated(t *testing.T, what string, err error) {
	t.Helper()
	if errors.Is(err, journal.ErrTooLong) || errors.As(err, new(*journal.CorruptError)) {
		t.Errorf("%s: %v", what, err)
	}
}

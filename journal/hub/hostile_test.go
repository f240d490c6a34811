package hub_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
)

// endOf is replaced in a head by the position at which the history of the session ends.
const endOf = "END"

// hostile are messages that any writer of a hub can publish.
var hostile = []struct{ head, body string }{
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":9999,"sum":"0badcafe"}}`, "xx\n"},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":99999999,"sum":"0badcafe"},"part":1,"parts":3}`, "xx"},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":6,"offset":9999,"sum":"0badcafe"},"part":1,"parts":2}`, "xx"},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":6,"offset":9999,"sum":"0badcafe"},"part":2,"parts":2}`, "xx"},
	{`{"v":1,"kind":"lines","from":{"seq":7,"offset":9000},"to":{"seq":9,"offset":9999,"sum":"0badcafe"}}`, ""},
	{`{"v":1,"kind":"lines","from":{"seq":999999999,"offset":9},"to":{"seq":1000000000,"offset":10}}`, "x"},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":18446744073709551615,"offset":9223372036854775807}}`, "x"},
	{`{"v":1,"kind":"lines","from":{"seq":0,"offset":0},"to":{"seq":1,"offset":9}}`, "another beginning\n"},
	{`{"v":99,"kind":"lines"}`, "xx"},
	{`{"v":99,"kind":"claim","claim":{"nonce":"eve"},"head":END}`, ""},
	{`not a head`, ""},
	{`{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":9999,"sum":"0badcafe"},"key":"AAAA","sealed":"AAAA"}`, "xx"},
	{`{"v":1,"kind":"claim","claim":{"nonce":"eve","home":"\u001b[2J","host":"e\nve"}}`, ""},
	{`{"v":1,"kind":"claim","claim":{"nonce":"eve"},"head":END}`, ""},
	{`{"v":1,"kind":"release","claim":{"nonce":"eve"},"head":{"seq":99,"offset":9,"sum":"00000000"}}`, ""},
	{`{"v":1,"kind":"tombstone"}`, ""},
	{`{"v":1,"kind":"other","row":[[[[]]]],"head":END}`, ""},
}

// hostileSealed are messages of eve, sealed for herself and others: a claim, lines and a release.
func hostileSealed(t testing.TB, others ...*age.X25519Identity) (all []hub.Stored) {
	t.Helper()
	m := &hubtest.Memory{Limit: 296}
	eve := hubtest.NewMachine(t, m, session, "eve", sealing(hubtest.NewIdentity(t), others...))
	eve.Write(t, "by eve")
	eve.Push(t)
	return m.Messages(session)
}

// isOther is a hub.Options.Check: lines of another type are of another session.
func isOther(_ hub.Session, lines []byte) error {
	if bytes.Count(lines, []byte(`"type":"text.added"`)) < bytes.Count(lines, []byte("\n")) {
		return errors.New("it is another session")
	}
	return nil
}

// FuzzHostileMessage publishes any two messages before, within or after a session, which is in plain text or sealed.
// A machine without the session gets every event that was shipped before. The owner can append at any time and is never
// told that its own event is too long; after a take-over, unless the session was purged or really continued, all that
// it appends is shipped, and other machines get it without another take-over. Another session is as it was.
func FuzzHostileMessage(f *testing.F) {
	_, _, own := readGolden(f)
	for where := range uint8(3) {
		for machine := range uint8(3) {
			for _, m := range hostile {
				f.Add(where, machine, m.head, m.body, "", "")
			}
			f.Add(where, machine, hostile[0].head, hostile[0].body, hostile[9].head, "")
			f.Add(where, machine, hostile[2].head, hostile[2].body, hostile[3].head, hostile[3].body)
			foreign, ours := hostileSealed(f), hostileSealed(f, own)
			for i, m := range foreign {
				f.Add(where, machine, string(m.Head), string(m.Body), string(ours[i].Head), string(ours[i].Body))
				altered := strings.Replace(string(ours[i].Head), `"sealed":"`, `"sealed":"AAAA`, 1)
				f.Add(where, machine, altered, string(ours[i].Body), "", "")
			}
		}
	}
	f.Fuzz(func(t *testing.T, where, machine uint8, head, body, head2, body2 string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h := &hostileHub{Memory: &hubtest.Memory{Limit: 296}, t: t, machine: machine, own: own}
		first := hub.Message{Head: []byte(head), Body: []byte(body)}
		h.run(where, []hub.Message{first, {Head: []byte(head2), Body: []byte(body2)}})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
			t.Errorf("%d MiB were allocated", used>>20)
		}
	})
}

// hostileHub is a hub to which eve publishes messages.
type hostileHub struct {
	*hubtest.Memory
	t       *testing.T
	machine uint8 // how its machines use it
	own     *age.X25519Identity
}

func (h *hostileHub) newMachine(s hub.Session, name string) *hubtest.Machine {
	use := []func(*hub.Options){
		func(*hub.Options) {},
		func(o *hub.Options) { // a plain session that eve has sealed is continued in plain text
			hubtest.Open(h.own)(o)
			hubtest.Plain(o)
		},
		sealing(h.own),
	}[h.machine%3]
	check := func(o *hub.Options) { o.Check = isOther }
	return hubtest.NewMachine(h.t, h.Memory, s, name, use, check)
}

func (h *hostileHub) run(where uint8, messages []hub.Message) {
	h.t.Helper()
	other := hub.Session{Team: session.Team, ID: "01JD0000000000000000000001"}
	theirs := h.newMachine(other, "ann")
	theirs.Write(h.t, "of another session")
	theirs.Push(h.t)

	ann, shipped := h.newMachine(session, "ann"), ""
	publish := func() {
		h.publish(ann, messages)
		h.checkFetched(shipped)
	}
	isShipped := true
	for part := range uint8(3) {
		if part > 0 {
			ann.Write(h.t, "one", strings.Repeat("two ", 100))
			if isShipped = isShipped && h.ship(ann, where%3 == part-1); isShipped {
				shipped = ann.Bytes(h.t)
			}
		}
		if where%3 == part {
			publish()
		}
	}
	ann.Write(h.t, "third")
	if isShipped && h.ship(ann, where%3 == 2) {
		carl := h.newMachine(session, "carl")
		if f := carl.Pull(h.t); f.Damage != nil || carl.Bytes(h.t) != ann.Bytes(h.t) {
			h.t.Errorf("after a take-over %d of %d bytes are fetched: %v", len(carl.Bytes(h.t)), len(ann.Bytes(h.t)),
				f.Damage)
		}
		carl.Write(h.t, "by carl")
		carl.Push(h.t)
	}
	ben := h.newMachine(other, "ben")
	if ben.Pull(h.t); ben.Bytes(h.t) != theirs.Bytes(h.t) {
		h.t.Error("the other session has changed")
	}
	ben.Write(h.t, "by ben")
	ben.Push(h.t)
}

// publish stores messages after what the hub has, also where no session can be.
func (h *hostileHub) publish(ann *hubtest.Machine, messages []hub.Message) {
	h.t.Helper()
	end := journal.Position{}
	if _, err := ann.Dir.Stat(session.ID); err == nil {
		end = ann.Compare(h.t).Local
	}
	text, err := json.Marshal(end)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range messages {
		if len(m.Head) == 0 || len(m.Body) > h.MaxBody() {
			continue
		}
		m.Head = bytes.ReplaceAll(m.Head, []byte(endOf), text)
		for _, s := range []hub.Session{session, {Team: "..", ID: "../../etc"}, {Team: session.Team, ID: "x\n"}} {
			last, err := h.Last(h.t.Context(), s)
			if err == nil {
				_, err = h.Publish(h.t.Context(), s, last.Revision, m)
			}
			if err != nil {
				h.t.Fatal(err)
			}
		}
	}
}

// checkFetched checks that a machine without the session gets what was shipped, and that the list can be read.
func (h *hostileHub) checkFetched(shipped string) {
	h.t.Helper()
	ben := h.newMachine(session, "ben")
	f, err := ben.Fetch(h.t.Context(), session, ben.Dir, hub.Mark{})
	if !errors.Is(err, hub.ErrPurged) {
		h.checkTolerated("Fetch", err)
		h.checkTolerated("Fetch", f.Damage)
		if shipped != "" && !strings.HasPrefix(ben.Bytes(h.t), shipped) {
			h.t.Errorf("fetched %d bytes of %d", len(ben.Bytes(h.t)), len(shipped))
		}
	}
	err = ben.Hub.Rows(h.t.Context(), "", func(r hub.Row) {
		if !r.Session.Valid() {
			h.t.Errorf("the list has %q", r.Session)
		}
	})
	if err != nil {
		h.t.Error(err)
	}
}

// ship claims the session, ships it, and releases it. It takes the session over only if eve has published since. It
// returns false if eve has ended the session for its owner: purged it, published an event of it, or begun it.
func (h *hostileHub) ship(ann *hubtest.Machine, published bool) bool {
	h.t.Helper()
	first := ann.Mark().Revision == 0
	w, err := ann.Hub.Claim(h.t.Context(), session, ann.Reader(h.t), ann.Mark(), false, ann.WriteMark)
	if published && err != nil {
		h.checkTolerated("Claim", err)
		w, err = ann.Hub.Claim(h.t.Context(), session, ann.Reader(h.t), ann.Mark(), true, ann.WriteMark)
	}
	ended := errors.Is(err, hub.ErrPurged) || errors.As(err, new(*hub.DivergedError)) ||
		errors.As(err, new(*hub.BehindError))
	if ended || first && hub.IsDamage(err) && !hub.TakeOverHelps(err) {
		return false
	}
	if err != nil {
		h.t.Fatalf("claiming, after a take-over if eve published: %v", err)
	}
	if err := ann.Ship(h.t, w); err != nil {
		h.t.Fatalf("shipping: %v", err)
	}
	if err := w.Release(h.t.Context(), ann.Reader(h.t)); err != nil {
		h.t.Fatalf("releasing: %v", err)
	}
	ann.Keep(h.t, w.Mark())
	return true
}

// checkTolerated checks that an error is of the hub, not of what this machine writes.
func (h *hostileHub) checkTolerated(what string, err error) {
	h.t.Helper()
	if errors.Is(err, journal.ErrTooLong) || errors.As(err, new(*journal.CorruptError)) {
		h.t.Errorf("%s: %v", what, err)
	}
}

// A machine without recipients takes a session over that another one has sealed since, but ships nothing that it may
// have from a sealed copy of it.
func TestTakeOverShipsNothingThatWasSealed(t *testing.T) {
	for name, c := range map[string]struct {
		mark   func(hub.Mark) hub.Mark
		allows bool
	}{
		"written here": {func(m hub.Mark) hub.Mark { return m }, true},
		"imported": {func(m hub.Mark) hub.Mark {
			m.Copies = []string{session.ID}
			return m
		}, false},
		"a copy of a sealed one": {func(m hub.Mark) hub.Mark {
			m.Sealed = true
			return m
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, ann, _ := two(t)
			eve := hubtest.NewMachine(t, m, session, "eve", sealing(hubtest.NewIdentity(t)))
			eve.Pull(t)
			eve.Write(t, "sealed by eve")
			eve.Push(t)
			stored := len(m.Messages(session))
			ann.Write(t, "by ann")
			_, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), ann.Mark(), false, ann.WriteMark)
			if !isSealed(err, 5) || !hub.TakeOverHelps(err) {
				t.Errorf("claim: %v", err)
			}
			_, err = ann.Hub.Claim(t.Context(), session, ann.Reader(t), c.mark(ann.Mark()), true, ann.WriteMark)
			if c.allows != (err == nil) || !c.allows && (!isSealed(err, 5) || len(m.Messages(session)) > stored) {
				t.Errorf("take-over: %v", err)
			}
			if f, err := eve.Fetch(t.Context(), session, eve.Dir, eve.Mark()); err != nil || f.Hub.Seq != 6 {
				t.Errorf("eve has %d events on the hub: %v", f.Hub.Seq, err)
			}
		})
	}
}

// The lines of a machine that took over what it cannot read become a fork once it can.
func TestTakeOverOfUnreadMessagesBecomesAFork(t *testing.T) {
	a, b := hubtest.NewIdentity(t), hubtest.NewIdentity(t)
	m, ann, _ := two(t, sealing(a))
	eve := hubtest.NewMachine(t, m, session, "eve", sealing(b), hubtest.Open(a, b))
	eve.Pull(t)
	eve.Write(t, "by eve")
	eve.Push(t)
	ann.Write(t, "by ann")
	if err := ann.Ship(t, ann.Claim(t, true)); err != nil {
		t.Fatal(err)
	}
	c, err := hub.New(m, with(func(o *hub.Options) { hubtest.Open(a, b)(o) })).
		Compare(t.Context(), session, ann.Reader(t), hub.Mark{})
	if err != nil || !c.Diverged() || c.Common.Seq != 5 || c.Hub.Seq != 6 {
		t.Errorf("with the identity: %+v, %v", c, err)
	}
}

package hub_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
)

// sealing returns options of a machine with an identity that seals for itself and others.
func sealing(own *age.X25519Identity, others ...*age.X25519Identity) func(*hub.Options) {
	return func(o *hub.Options) {
		hubtest.Seal(append(others, own)...)(o)
		hubtest.Open(own)(o)
	}
}

// isSealed reports whether an error is a *SealedError of the session after an event.
func isSealed(err error, after uint64) bool {
	sealed := (*hub.SealedError)(nil)
	return errors.As(err, &sealed) && sealed.Session == session && sealed.After == after
}

func TestOnlyPlacesOfSealedSessionsAreVisible(t *testing.T) {
	m := &hubtest.Memory{Limit: 256}
	ann := hubtest.NewMachine(t, m, session, "ann", sealing(hubtest.NewIdentity(t)))
	ann.Write(t, "the secret", strings.Repeat("long secret ", 60))
	w := ann.Claim(t, false)
	w.SetRow(map[string]string{"title": "the title"})
	if err := ann.Ship(t, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Release(t.Context(), ann.Reader(t)); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"claim": {"key", "kind", "sealed", "v"}, "release": {"head", "key", "kind", "sealed", "v"},
		"lines": {"from", "head", "key", "kind", "part", "parts", "sealed", "to", "v"},
	}
	for _, stored := range m.Messages(session) {
		sum := ann.End(t).Sum.String()
		for _, secret := range []string{"secret", "text.added", "title", "/home/ann", "nonce", sum} {
			if bytes.Contains(stored.Head, []byte(secret)) || bytes.Contains(stored.Body, []byte(secret)) {
				t.Errorf("message %d has %q in plain text: %s", stored.Revision, secret, stored.Head)
			}
		}
		var fields map[string]any
		if err := json.Unmarshal(stored.Head, &fields); err != nil {
			t.Fatal(err)
		}
		kind := fmt.Sprint(fields["kind"])
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if !slices.Contains(want[kind], name) {
				t.Errorf("a head of %s has %q", kind, name)
			}
		}
		for _, at := range []string{"from", "to", "head"} {
			if p, ok := fields[at].(map[string]any); ok && p["sum"] != "00000000" {
				t.Errorf("a head of %s has a sum in %q", kind, at)
			}
		}
	}
	if r := row(t, ann.Hub); string(r.Row) != `{"title":"the title"}` || r.Head != ann.End(t) || !r.Claim.Released {
		t.Errorf("the row is %+v", r)
	}
}

// row returns the row of the session.
func row(t *testing.T, h *hub.Hub) (found hub.Row) {
	t.Helper()
	if err := h.Rows(t.Context(), session.Team, func(r hub.Row) { found = r }); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestAlteredSealedMessage alters each byte of a short sealed message in turn.
func TestAlteredSealedMessage(t *testing.T) {
	m := &hubtest.Memory{}
	ann := hubtest.NewMachine(t, m, session, "ann", sealing(hubtest.NewIdentity(t)))
	ann.Write(t, "one")
	if err := ann.Ship(t, ann.Claim(t, false)); err != nil {
		t.Fatal(err)
	}
	stored := m.Messages(session)
	alter := func(i int, of func(*hub.Stored) *[]byte, at int) error {
		m.Change(session, func([]hub.Stored) []hub.Stored {
			all := slices.Clone(stored)
			text := bytes.Clone(*of(&all[i]))
			text[at] ^= 1
			*of(&all[i]) = text
			return all
		})
		c, err := ann.Hub.Compare(t.Context(), session, nil, hub.Mark{})
		if err == nil && (i == 0 && c.Claim != nil || i == 1 && c.Hub.Seq > 0) {
			return fmt.Errorf("it is valid with another byte %d", at)
		}
		if !errors.Is(err, hub.ErrNewer) && err != nil && !isSealed(err, 0) {
			return err
		}
		return nil
	}
	head, body := func(m *hub.Stored) *[]byte { return &m.Head }, func(m *hub.Stored) *[]byte { return &m.Body }
	for i := range stored {
		for at := range stored[i].Head {
			if err := alter(i, head, at); err != nil {
				t.Errorf("head of message %d: %v", i, err)
			}
		}
		for at := range stored[i].Body {
			if err := alter(i, body, at); err != nil {
				t.Errorf("body of message %d: %v", i, err)
			}
		}
	}
}

// TestOtherFormsOfSealedHeads writes a sealed head in other ways that JSON and Base64 allow.
func TestOtherFormsOfSealedHeads(t *testing.T) {
	m, ann, _ := two(t, sealing(hubtest.NewIdentity(t)))
	stored := m.Messages(session)
	last := len(stored) - 1
	for name, change := range map[string]func(head string) string{
		"a space":            func(head string) string { return head + " " },
		"another field":      func(head string) string { return strings.TrimSuffix(head, "}") + `,"row":{"title":"x"}}` },
		"the field twice":    func(head string) string { return strings.Replace(head, `{`, `{"sealed":"AA==",`, 1) },
		"an escape":          func(head string) string { return strings.TrimSuffix(head, `"}`) + `\n"}` },
		"capitals of a name": func(head string) string { return strings.Replace(head, `"sealed"`, `"Sealed"`, 1) },
	} {
		m.Change(session, func([]hub.Stored) []hub.Stored {
			all := slices.Clone(stored)
			all[last].Head = []byte(change(string(all[last].Head)))
			return all
		})
		if r := row(t, ann.Hub); r.Err == nil {
			t.Errorf("with %s the row is %+v", name, r)
		}
	}
}

// TestKeyIsUnwrappedOnce lists and reads a session whose messages have one key.
func TestKeyIsUnwrappedOnce(t *testing.T) {
	own := hubtest.NewIdentity(t)
	m, _, _ := two(t, sealing(own))
	counted := &countingIdentity{Identity: own}
	ben := hubtest.NewMachine(t, m, session, "ben", func(o *hub.Options) { o.Identities = []age.Identity{counted} })
	ben.Pull(t)
	ben.Compare(t)
	if r := row(t, ben.Hub); r.Err != nil || counted.calls != 1 {
		t.Errorf("unwrapped %d times: %+v", counted.calls, r)
	}
}

// countingIdentity counts the calls of Unwrap.
type countingIdentity struct {
	age.Identity
	calls int
}

func (c *countingIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	c.calls++
	return c.Identity.Unwrap(stanzas)
}

// TestMovedSealedMessages moves sealed messages, heads and bodies of a session to other places.
func TestMovedSealedMessages(t *testing.T) {
	other := hub.Session{Team: session.Team, ID: "01JD0000000000000000000001"}
	otherTeam := hub.Session{Team: "other", ID: session.ID}
	for name, tt := range map[string]struct {
		to    hub.Session
		move  func(all []hub.Stored) []hub.Stored // claim, events 1 and 2, parts 1 to 4 of event 3, event 4, release
		want  uint64                              // the last event that is valid
		claim bool
	}{
		"nowhere":            {session, func(all []hub.Stored) []hub.Stored { return all }, 4, true},
		"to another session": {other, func(all []hub.Stored) []hub.Stored { return all }, 0, false},
		"to another team":    {otherTeam, func(all []hub.Stored) []hub.Stored { return all }, 0, false},
		"bodies": {session, func(all []hub.Stored) []hub.Stored {
			all[1].Body, all[6].Body = all[6].Body, all[1].Body
			return all
		}, 0, true},
		"heads": {session, func(all []hub.Stored) []hub.Stored {
			all[1].Head, all[6].Head = all[6].Head, all[1].Head
			return all
		}, 0, true},
		"bodies of parts": {session, func(all []hub.Stored) []hub.Stored {
			all[2].Body, all[3].Body = all[3].Body, all[2].Body
			return all
		}, 2, true},
		"the sealed text of a head": {session, func(all []hub.Stored) []hub.Stored {
			a, b := cutSealed(all[2].Head), cutSealed(all[3].Head)
			all[2].Head, all[3].Head = append(a[0], b[1]...), append(b[0], a[1]...)
			return all
		}, 2, true},
		"an altered copy to the end": {session, func(all []hub.Stored) []hub.Stored {
			again := all[1]
			again.Head = bytes.Replace(again.Head, []byte(`"sealed":"`), []byte(`"sealed":"AAAA`), 1)
			return renumber(append(all, again))
		}, 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &hubtest.Memory{Limit: 296}
			change := sealing(hubtest.NewIdentity(t))
			ann := hubtest.NewMachine(t, m, session, "ann", change)
			ann.Write(t, "one", "two", strings.Repeat("three ", 150), "four")
			ann.Push(t)
			if n := len(m.Messages(session)); n != 8 {
				t.Fatalf("%d messages", n)
			}
			moved := tt.move(m.Messages(session))
			m.Change(tt.to, func([]hub.Stored) []hub.Stored { return moved })
			c, err := ann.Hub.Compare(t.Context(), tt.to, nil, hub.Mark{})
			if err != nil || c.Hub.Seq != tt.want || (c.Claim != nil) != tt.claim {
				t.Errorf("valid up to %d, want %d, claim %v: %v", c.Hub.Seq, tt.want, c.Claim, err)
			}
			if session == tt.to && (c.Damage == nil) != (tt.want == 4) {
				t.Errorf("damage %v", c.Damage)
			}
		})
	}
}

// cutSealed divides a sealed head before its last field.
func cutSealed(head []byte) [2][]byte {
	i := bytes.Index(head, []byte(`,"sealed"`))
	return [2][]byte{bytes.Clone(head[:i]), bytes.Clone(head[i:])}
}

func TestSealedSessionWithoutAnIdentityThatOpensIt(t *testing.T) {
	for name, change := range map[string]func(*hub.Options){
		"none":    func(*hub.Options) {},
		"another": sealing(hubtest.NewIdentity(t)),
		"one that fails": func(o *hub.Options) {
			o.Identities = []age.Identity{failingIdentity{}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, ann, _ := two(t, sealing(hubtest.NewIdentity(t)))
			ben := hubtest.NewMachine(t, m, session, "ben", change)
			if _, err := ben.Fetch(t.Context(), session, ben.Dir, hub.Mark{}); !isSealed(err, 0) {
				t.Errorf("fetch: %v", err)
			}
			if _, err := ben.Dir.Stat(session.ID); !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("fetch made a journal: %v", err)
			}
			ben.Write(t, "one")
			before := ben.Bytes(t)
			_, err := ben.Fetch(t.Context(), session, ben.Dir, hub.Mark{})
			if !isSealed(err, 0) || ben.Bytes(t) != before {
				t.Errorf("fetch into a journal: %v", err)
			}
			if _, err := ben.Hub.Compare(t.Context(), session, ben.Reader(t), hub.Mark{}); !isSealed(err, 0) {
				t.Errorf("compare: %v", err)
			}
			if _, err := ben.Copy(t.Context(), session, new(bytes.Buffer)); !isSealed(err, 0) {
				t.Errorf("copy: %v", err)
			}
			for _, takeOver := range []bool{false, true} {
				_, err := ben.Hub.Claim(t.Context(), session, ben.Reader(t), hub.Mark{}, takeOver, ben.WriteMark)
				if !isSealed(err, 0) {
					t.Errorf("claim: %v", err)
				}
			}
			if r := row(t, ben.Hub); errors.Is(r.Err, errToken) != (name == "one that fails") {
				t.Errorf("row: %v", r.Err)
			}
			if r := row(t, ben.Hub); !isSealed(r.Err, 0) || r.Head.Seq != 5 || r.Claim != nil || r.Row != nil {
				t.Errorf("row: %+v", r)
			}
			if err := ben.Hub.Purge(t.Context(), session); err != nil {
				t.Errorf("purge: %v", err)
			}
			if _, err := ann.Fetch(t.Context(), session, ann.Dir, ann.Mark()); !errors.Is(err, hub.ErrPurged) {
				t.Errorf("fetch after the purge: %v", err)
			}
		})
	}
}

// failingIdentity is one that cannot be used, as one on a token that is not plugged in.
type failingIdentity struct{}

var errToken = errors.New("no token")

func (failingIdentity) Unwrap([]*age.Stanza) ([]byte, error) { return nil, errToken }

// TestPurgeThatCrashed leaves sealed lines before a tombstone.
func TestPurgeThatCrashed(t *testing.T) {
	m, ann, _ := two(t, sealing(hubtest.NewIdentity(t)))
	stored := m.Messages(session)
	if err := ann.Hub.Purge(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	m.Change(session, func(tombstone []hub.Stored) []hub.Stored { return append(stored, tombstone...) })
	ben := hubtest.NewMachine(t, m, session, "ben")
	for _, machine := range []*hubtest.Machine{ann, ben} {
		_, err := machine.Fetch(t.Context(), session, machine.Dir, machine.Mark())
		if !errors.Is(err, hub.ErrPurged) {
			t.Errorf("fetch: %v", err)
		}
	}
	if err := ben.Hub.Purge(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	if left := m.Messages(session); len(left) != 1 || left[0].Revision != stored[len(stored)-1].Revision+1 {
		t.Errorf("after the second purge: %d messages", len(left))
	}
}

// TestAddedRecipient adds ben to the recipients of a session.
func TestAddedRecipient(t *testing.T) {
	for name, begin := range map[string]struct {
		change  func(ann *age.X25519Identity) func(*hub.Options)
		fetched uint64 // what ben can fetch
	}{
		"plain":  {func(ann *age.X25519Identity) func(*hub.Options) { return hubtest.Open(ann) }, 5},
		"sealed": {func(ann *age.X25519Identity) func(*hub.Options) { return sealing(ann) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := hubtest.NewIdentity(t), hubtest.NewIdentity(t)
			m, ann, _ := two(t, begin.change(a))
			again := func(change func(*hub.Options)) {
				ann.Hub = hub.New(m, with(change))
				ann.Write(t, "more")
				ann.Push(t)
			}
			again(sealing(a))
			again(sealing(a, b))
			ben := hubtest.NewMachine(t, m, session, "ben", sealing(b, a))
			if r := row(t, ben.Hub); r.Err != nil || r.Head.Seq != 7 || r.Claim.Host != "ann" {
				t.Errorf("row: %+v", r)
			}
			_, err := ben.Fetch(t.Context(), session, ben.Dir, hub.Mark{})
			if !isSealed(err, begin.fetched) {
				t.Errorf("fetch: %v", err)
			}
			if begin.fetched > 0 && !strings.HasPrefix(ann.Bytes(t), ben.Bytes(t)) {
				t.Error("the fetched lines are not those that were shipped")
			}
			// With ann's identity, ben reads everything, and continues from there with its own.
			ben.Hub = hub.New(m, with(sealing(a)))
			ben.Pull(t)
			ben.Hub = hub.New(m, with(sealing(b, a)))
			ben.Write(t, "by ben")
			ben.Push(t)
			ann.Pull(t)
			if ann.Bytes(t) != ben.Bytes(t) {
				t.Error("the journals differ")
			}
		})
	}
}

// with returns options of ann.
func with(change func(*hub.Options)) hub.Options {
	o := hub.Options{Home: "/home/ann", Host: "ann"}
	change(&o)
	return o
}

func TestSealedSessionIsNotContinuedInPlainText(t *testing.T) {
	a := hubtest.NewIdentity(t)
	m, _, ben := two(t, sealing(a))
	ben.Pull(t)
	ben.Write(t, "six")
	ben.Hub = hub.New(m, with(hubtest.Open(a)))
	n := len(m.Messages(session))
	isPlain := func(err error) bool {
		plain := (*hub.PlainError)(nil)
		return errors.As(err, &plain) && plain.Session == session && len(m.Messages(session)) == n
	}
	for _, mark := range []hub.Mark{{}, ben.Mark()} {
		for _, takeOver := range []bool{false, true} {
			_, err := ben.Hub.Claim(t.Context(), session, ben.Reader(t), mark, takeOver, ben.WriteMark)
			if !isPlain(err) {
				t.Errorf("claim: %v", err)
			}
		}
	}
	ben.Hub = hub.New(m, with(func(o *hub.Options) {
		hubtest.Open(a)(o)
		hubtest.Plain(o)
	}))
	ben.Push(t)
	ben.Hub = hub.New(m, with(hubtest.Open(a))) // it is in plain text now
	ben.Write(t, "seven")
	ben.Push(t)
	ben.Hub = hub.New(m, with(sealing(a))) // and is sealed again
	ben.Write(t, "eight")
	ben.Push(t)
	ben.Hub = hub.New(m, with(hubtest.Open(a)))
	ben.Write(t, "nine")
	n = len(m.Messages(session))
	if _, err := ben.Hub.Claim(t.Context(), session, ben.Reader(t), ben.Mark(), false, ben.WriteMark); !isPlain(err) {
		t.Errorf("claim: %v", err)
	}
	m.Change(session, func(all []hub.Stored) []hub.Stored { return slices.Delete(all, 1, 2) })
	n--
	if _, err := ben.Refill(t.Context(), session, ben.Reader(t), hub.Mark{}); !isPlain(err) {
		t.Errorf("refill: %v", err)
	}

	// A refill in plain text does not make it a session in plain text.
	forced := hub.New(m, with(func(o *hub.Options) {
		hubtest.Open(a)(o)
		hubtest.Plain(o)
	}))
	if lines, err := forced.Refill(t.Context(), session, ben.Reader(t), hub.Mark{}); lines == 0 || err != nil {
		t.Errorf("refilled %d lines: %v", lines, err)
	}
	n = len(m.Messages(session))
	if _, err := ben.Hub.Claim(t.Context(), session, ben.Reader(t), hub.Mark{}, false, ben.WriteMark); !isPlain(err) {
		t.Errorf("claim after the refill: %v", err)
	}
}

func TestRecipientsThatCannotBeUsed(t *testing.T) {
	own := hubtest.NewIdentity(t)
	var many []*age.X25519Identity
	for range 30 {
		many = append(many, hubtest.NewIdentity(t))
	}
	claim := func(change func(*hub.Options)) error {
		m := &hubtest.Memory{}
		ann := hubtest.NewMachine(t, m, session, "ann", change)
		ann.Write(t, "one")
		_, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), hub.Mark{}, false, ann.WriteMark)
		if stored := m.Messages(session); err != nil && len(stored) > 0 {
			t.Errorf("stored %s", stored[0].Head)
		}
		return err
	}
	if err := claim(sealing(own, many[:20]...)); err != nil {
		t.Errorf("21 recipients: %v", err)
	}
	tooMany := (*hub.RecipientsError)(nil)
	if err := claim(sealing(own, many...)); !errors.As(err, &tooMany) || tooMany.Recipients != 31 {
		t.Errorf("31 recipients: %v", err)
	}
	for name, change := range map[string]func(*hub.Options){
		"no identity": hubtest.Seal(own),
		"another": func(o *hub.Options) {
			hubtest.Seal(own)(o)
			hubtest.Open(many[0])(o)
		},
	} {
		if err := claim(change); !errors.Is(err, hub.ErrNotRecipient) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongSealedHeadOmitsTheRow(t *testing.T) {
	a := hubtest.NewIdentity(t)
	for home, want := range map[int]bool{100: true, 1000: false} {
		m := &hubtest.Memory{}
		ann := hubtest.NewMachine(t, m, session, "ann", sealing(a, slices.Repeat([]*age.X25519Identity{a}, 22)...),
			func(o *hub.Options) { o.Home = strings.Repeat("h", home) })
		ann.Write(t, "one")
		w := ann.Claim(t, false)
		w.SetRow(strings.Repeat("r", hub.MaxRow-2))
		if err := ann.Ship(t, w); err != nil {
			t.Fatal(err)
		}
		if r := row(t, ann.Hub); r.Head.Seq != 1 || (r.Row != nil) != want {
			t.Errorf("with a home of %d bytes: %+v", home, r)
		}
	}
}

// golden is a sealed session as a hub has stored it.
type golden struct {
	Identity string
	Session  hub.Session
	Messages []struct{ Head, Body string } // the body in Base64
	Lines    []string
}

// readGolden returns a sealed session that an earlier build has stored, and its identity.
func readGolden(t testing.TB) (g golden, messages []hub.Stored, identity *age.X25519Identity) {
	t.Helper()
	content, err := os.ReadFile("testdata/sealed-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &g); err != nil {
		t.Fatal(err)
	}
	if identity, err = age.ParseX25519Identity(g.Identity); err != nil {
		t.Fatal(err)
	}
	for _, m := range g.Messages {
		body, err := base64.StdEncoding.DecodeString(m.Body)
		if err != nil {
			t.Fatal(err)
		}
		stored := hub.Stored{Session: g.Session, Message: hub.Message{Head: []byte(m.Head), Body: body}}
		messages = append(messages, stored)
	}
	return g, renumber(messages), identity
}

func TestStoredSealedSession(t *testing.T) {
	g, messages, identity := readGolden(t)
	m := &hubtest.Memory{}
	m.Change(g.Session, func([]hub.Stored) []hub.Stored { return messages })
	ann := hubtest.NewMachine(t, m, g.Session, "ann", hubtest.Open(identity))
	if f := ann.Pull(t); f.Damage != nil || !f.Claim.Released || f.Claim.Home != "/home/ann" {
		t.Errorf("fetched %+v", f)
	}
	if got, want := ann.Bytes(t), strings.Join(g.Lines, "\n")+"\n"; got != want {
		t.Errorf("the journal is %s, want %s", got, want)
	}
}

// FuzzMessage reads a session whose first lines, or last message, are arbitrary. Only what was sealed is opened.
func FuzzMessage(f *testing.F) {
	g, messages, identity := readGolden(f)
	for _, m := range messages {
		f.Add(m.Head, m.Body)
	}
	f.Add([]byte(`{"v":1,"kind":"lines","to":{"seq":1,"offset":106,"sum":"337ec8d0"}}`), []byte(g.Lines[0]+"\n"))
	f.Fuzz(func(t *testing.T, head, body []byte) {
		sealed := false
		for _, m := range messages {
			sealed = sealed || bytes.Equal(m.Head, head)
		}
		for _, at := range []int{1, len(messages) - 1} {
			m := &hubtest.Memory{}
			m.Change(g.Session, func([]hub.Stored) []hub.Stored {
				all := slices.Clone(messages)
				all[at].Head, all[at].Body = head, body
				return all
			})
			h := hub.New(m, hub.Options{Identities: []age.Identity{identity}})
			var text bytes.Buffer
			end, err := h.Copy(t.Context(), g.Session, &text)
			if after, verr := (journal.Position{}).Verify(text.Bytes()); verr != nil || after != end {
				t.Errorf("%d lines: %v, %v", end.Seq, verr, err)
			}
			err = h.Rows(t.Context(), g.Session.Team, func(r hub.Row) {
				var fields struct{ Sealed []byte }
				json.Unmarshal(head, &fields)
				if at > 1 && r.Err == nil && fields.Sealed != nil && !sealed {
					t.Errorf("opened %s", head)
				}
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

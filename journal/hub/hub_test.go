package hub_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

var session = hub.Session{Team: "team", ID: "01JD0000000000000000000000"}

// sealings are the ways to use a hub: the options of each machine. All read what any of them has stored.
func sealings(t *testing.T) map[string]func(*hub.Options) {
	identity := hubtest.NewIdentity(t)
	return map[string]func(*hub.Options){
		"plain": func(o *hub.Options) {
			hubtest.Open(identity)(o)
			hubtest.Plain(o)
		},
		"sealed": func(o *hub.Options) {
			hubtest.Open(identity)(o)
			hubtest.Seal(identity)(o)
		},
	}
}

// two returns two machines and their hub, which has a session of five events in four messages, released.
func two(t *testing.T, change ...func(*hub.Options)) (m *hubtest.Memory, ann, ben *hubtest.Machine) {
	t.Helper()
	m = &hubtest.Memory{Limit: 296}
	ann = hubtest.NewMachine(t, m, session, "ann", change...)
	ben = hubtest.NewMachine(t, m, session, "ben", change...)
	ann.Write(t, "one", "two", strings.Repeat("three ", 50), "four", "five")
	ann.Push(t)
	return m, ann, ben
}

// TestBrokenHub damages the hub in one way, and then fetches its session on a machine that has none of it.
func TestBrokenHub(t *testing.T) {
	for name, tt := range map[string]struct {
		damage  func([]hub.Stored) []hub.Stored
		fetched uint64 // the last event that a machine without the session can fetch
		wantErr string // of the hub; "": none
		sealed  string // likewise, of a sealed session; "": the same
	}{
		"nothing": {func(all []hub.Stored) []hub.Stored { return all }, 5, "", ""},
		"each message twice": {func(all []hub.Stored) (double []hub.Stored) {
			for _, m := range all {
				double = append(double, m, m)
			}
			return renumber(double)
		}, 5, "", ""},
		"messages in reverse order": {func(all []hub.Stored) []hub.Stored {
			slices.Reverse(all)
			return renumber(all)
		}, 2, "lacks", ""}, // the parts of the third event are in the wrong order, too
		"the first lines are missing": {func(all []hub.Stored) []hub.Stored {
			return slices.Delete(all, 1, 2)
		}, 0, "the hub lacks the lines from 1 to 2", ""},
		"a part is missing": {func(all []hub.Stored) []hub.Stored {
			return slices.Delete(all, 3, 4)
		}, 2, "the hub lacks the lines from 3 to 3", ""},
		"a byte of the lines is changed": {func(all []hub.Stored) []hub.Stored {
			all[1].Body = bytes.Clone(all[1].Body)
			all[1].Body[len(all[1].Body)-30] ^= 1
			return all
		}, 0, "checksum mismatch", "the hub lacks the lines from 1 to 2"},
		"a line is missing in a message": {func(all []hub.Stored) []hub.Stored {
			all[1].Body = all[1].Body[:bytes.IndexByte(all[1].Body, '\n')+1]
			return all
		}, 0, "its lines lead to 1", "the hub lacks the lines from 1 to 2"},
		"messages of another program": {func(all []hub.Stored) []hub.Stored {
			for _, head := range []string{"", "null", "[]", `{"v":0}`, `{"v":1,"kind":"lines"}`, `{"v":1,"kind":"claim"}`,
				`{"v":1,"kind":"poem"}`, `{"v":1,"kind":"lines","from":{"seq":1},"to":{"seq":1}}`, "\x00\xff"} {
				foreign := hub.Stored{Session: session, Message: hub.Message{Head: []byte(head), Body: []byte("{}\n")}}
				all = slices.Insert(all, 2, foreign)
			}
			return renumber(all)
		}, 5, "", ""},
	} {
		for sealing, change := range sealings(t) {
			wantErr := tt.wantErr
			if sealing == "sealed" {
				wantErr = cmp.Or(tt.sealed, tt.wantErr)
			}
			t.Run(name+", "+sealing, func(t *testing.T) { testBrokenHub(t, change, tt.damage, tt.fetched, wantErr) })
		}
	}
}

func testBrokenHub(
	t *testing.T, change func(*hub.Options), damage func([]hub.Stored) []hub.Stored, fetched uint64, wantErr string,
) {
	m, ann, ben := two(t, change)
	m.Change(session, damage)
	f := ben.Pull(t)
	if f.Hub.Seq != fetched || f.Local.Seq != fetched {
		t.Errorf("fetched up to %d, and the hub has %d, want %d", f.Local.Seq, f.Hub.Seq, fetched)
	}
	if wantErr == "" && f.Damage != nil || wantErr != "" &&
		(f.Damage == nil || !strings.Contains(f.Damage.Error(), wantErr)) {
		t.Errorf("damage %v, want %q", f.Damage, wantErr)
	}
	if fetched > 0 && !strings.HasPrefix(ann.Bytes(t), ben.Bytes(t)) {
		t.Error("the fetched lines are not those that were shipped")
	}
	before := ann.Bytes(t)
	ann.Pull(t)
	if _, err := ann.Refill(t.Context(), session, ann.Reader(t), hub.Mark{}); err != nil {
		t.Fatal(err)
	}
	ben.Pull(t)
	if ann.Bytes(t) != before || ben.Bytes(t) != before {
		t.Errorf("after the refill ben has %d bytes of %d", len(ben.Bytes(t)), len(before))
	}
}

// renumber gives messages revisions in their order.
func renumber(all []hub.Stored) []hub.Stored {
	for i := range all {
		all[i].Revision = hub.Revision(i + 1)
	}
	return all
}

// TestLinesThatWereStoredAgain stores lines again, as a refill does, after those that a machine has not fetched yet.
func TestLinesThatWereStoredAgain(t *testing.T) {
	m, ann, ben := two(t)
	ben.Pull(t)
	ann.Write(t, "six", "seven")
	ann.Push(t)
	m.Change(session, func(all []hub.Stored) []hub.Stored { return renumber(append(all, all[1], all[5])) })
	if f := ben.Pull(t); f.Hub.Seq != 7 || f.Local != f.Hub || f.Damage != nil {
		t.Errorf("fetched %+v", f)
	}
	if ben.Bytes(t) != ann.Bytes(t) {
		t.Error("the journals differ")
	}
}

// TestLineOverTheLimit reads a line in parts that this machine could not keep.
func TestLineOverTheLimit(t *testing.T) {
	m, ann, _ := two(t)
	ben := hubtest.NewMachine(t, m, session, "ben", func(o *hub.Options) { o.MaxLine = journal.MinMaxLine })
	ann.Write(t, strings.Repeat("seven ", 500))
	ann.Push(t)
	f := ben.Pull(t)
	if !errors.As(f.Damage, new(*hub.LineLimitError)) || errors.Is(f.Damage, journal.ErrTooLong) || f.Local.Seq != 5 {
		t.Errorf("fetched up to %d: %v", f.Local.Seq, f.Damage)
	}
}

func TestNewerMessagesNeedATakeOver(t *testing.T) {
	m, ann, ben := two(t)
	m.Change(session, func(all []hub.Stored) []hub.Stored {
		all[2].Head = bytes.Replace(all[2].Head, []byte(`"v":1`), []byte(`"v":2`), 1)
		return all
	})
	isNewer := func(err error) bool {
		newer := (*hub.NewerError)(nil)
		return errors.Is(err, hub.ErrNewer) && errors.As(err, &newer) && newer.Session == session && newer.TakeOver
	}
	if _, err := ben.Fetch(t.Context(), session, ben.Dir, hub.Mark{}); !isNewer(err) {
		t.Errorf("fetch: %v", err)
	}
	_, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), hub.Mark{}, false, ann.WriteMark)
	if !isNewer(err) {
		t.Errorf("claim: %v", err)
	}
	w, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), hub.Mark{}, true, ann.WriteMark)
	if err == nil {
		err = ann.Ship(t, w)
	}
	if err != nil {
		t.Errorf("take-over: %v", err)
	}
	if ben.Pull(t); ben.Bytes(t) != ann.Bytes(t) {
		t.Error("the journals differ")
	}
}

func TestRecreatedHubGetsTheSessionAgain(t *testing.T) {
	m, ann, ben := two(t)
	ben.Pull(t)
	m.Recreate()
	if c := ann.Compare(t); !c.Regressed() || !c.Ahead() || c.Hub.Seq != 0 {
		t.Errorf("after the hub was created again: %+v", c)
	}
	ben.Push(t)
	ann.Write(t, "six")
	ann.Push(t)
	ben.Pull(t)
	if ann.Bytes(t) != ben.Bytes(t) {
		t.Error("the journals differ")
	}
}

// TestRecreatedHubWithAnOpenWriter creates the hub again while a machine has the session claimed.
func TestRecreatedHubWithAnOpenWriter(t *testing.T) {
	m, ann, ben := two(t)
	w := ann.Claim(t, false)
	m.Recreate()
	ann.Write(t, "six")
	if err := ann.Ship(t, w); err != nil {
		t.Fatal(err)
	}
	if f := ben.Pull(t); f.Hub.Seq != 6 || ben.Bytes(t) != ann.Bytes(t) {
		t.Errorf("ben has %d events", f.Hub.Seq)
	}
}

func TestRestoredBackupIsNoticed(t *testing.T) {
	for _, others := range []int{0, 1, 2} { // messages that were stored after the backup was restored
		m, ann, _ := two(t)
		backup := m.Messages(session)
		ann.Write(t, "six")
		ann.Push(t)
		cat := hubtest.NewMachine(t, m, session, "cat")
		m.Change(session, func([]hub.Stored) []hub.Stored { return backup })
		cat.Pull(t)
		if others > 0 {
			cat.Write(t, "six, by cat")
			w := cat.Claim(t, false)
			if err := cat.Ship(t, w); err != nil {
				t.Fatal(err)
			}
		}
		c := ann.Compare(t)
		if others == 0 && (!c.Regressed() || !c.Ahead()) || others > 0 && !c.Diverged() {
			t.Errorf("with %d messages: %+v", others, c)
		}
	}
}

func TestLostClaimOfAnotherNeedsTakeOver(t *testing.T) {
	m, ann, ben := two(t)
	ben.Pull(t)
	backup := m.Messages(session)
	w := ann.Claim(t, false)
	ben.Keep(t, ben.Compare(t).Mark)
	m.Change(session, func([]hub.Stored) []hub.Stored { return backup })
	_, err := ben.Hub.Claim(t.Context(), session, ben.Reader(t), ben.Mark(), false, ben.WriteMark)
	if held := (*hub.ClaimedError)(nil); !errors.As(err, &held) || held.Claim.Host != "ann" {
		t.Errorf("claim after the hub lost that of another machine: %v", err)
	}
	ann.Write(t, "six")
	if err := ann.Ship(t, w); err != nil {
		t.Errorf("the holder ships: %v", err)
	}
}

// A claim that may be stored is not one yet: what is written without it may become a fork.
func TestClaimThatIsNotStored(t *testing.T) {
	for _, taken := range []bool{false, true} {
		m, ann, ben := two(t)
		ben.Pull(t)
		m.Fault = func(stored bool) error {
			if !stored {
				return &hub.UnavailableError{Err: errors.New("no answer")}
			}
			return nil
		}
		w, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), ann.Mark(), false, ann.WriteMark)
		if err == nil || w == nil || w.Claimed() {
			t.Fatalf("a claim that is not stored: %+v, %v", w, err)
		}
		m.Fault = nil
		if taken {
			ben.Claim(t, false)
		}
		ann.Write(t, "six")
		err = ann.Ship(t, w)
		switch c := ben.Compare(t); {
		case taken && (!errors.As(err, new(*hub.FencedError)) || w.Claimed() || !c.Mine || c.Hub.Seq != 5):
			t.Errorf("ben claimed it: %v, %+v", err, c)
		case !taken && (err != nil || !w.Claimed() || !c.Held() || c.Claim.Host != "ann" || c.Hub.Seq != 6):
			t.Errorf("it is unclaimed: %v, %+v", err, c)
		}
	}
}

func TestClaimOfOwnCrashIsTakenSilently(t *testing.T) {
	_, ann, ben := two(t)
	ann.Claim(t, false) // and crashes
	ann.Write(t, "six")
	if c := ann.Compare(t); !c.Mine || c.Held() {
		t.Errorf("the claim is not ann's: %+v", c)
	}
	ann.Push(t)
	clone := ben // a copy of ben's disk, before another claim of ben
	ben.Pull(t)
	mark := ben.Mark()
	ben.Claim(t, false)
	_, err := clone.Hub.Claim(t.Context(), session, clone.Reader(t), mark, false, clone.WriteMark)
	if held := (*hub.ClaimedError)(nil); !errors.As(err, &held) {
		t.Errorf("claim of the clone: %v", err)
	}
}

// TestCrashAfterAClaimWasStored ends a machine before it gets the answer to its claim.
func TestCrashAfterAClaimWasStored(t *testing.T) {
	m, ann, _ := two(t)
	type crash struct{}
	m.Fault = func(stored bool) error {
		if stored {
			panic(crash{})
		}
		return nil
	}
	func() {
		defer func() {
			if r := recover(); r != (crash{}) {
				panic(r)
			}
		}()
		ann.Claim(t, false)
	}()
	m.Fault = nil
	if c := ann.Compare(t); !c.Mine || c.Claim.Released {
		t.Errorf("the claim is not known as ann's: %+v", c)
	}
	ann.Push(t)
}

// TestManyLostClaims keeps the nonce of the claim that the hub has, whatever is tried after it.
func TestManyLostClaims(t *testing.T) {
	m, ann, _ := two(t)
	ann.Claim(t, false)
	m.Fault = func(stored bool) error { return &hub.RefusedError{Reason: "the disk is full"} }
	for range 20 {
		if _, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), ann.Mark(), false, ann.WriteMark); err == nil {
			t.Fatal("claimed")
		}
	}
	if n := len(ann.Mark().Nonces); n > 10 {
		t.Errorf("%d nonces are kept", n)
	}
	m.Fault = nil
	ann.Claim(t, false)
}

// TestUnchangedSessionIsNotRead compares a session that has not changed since its mark.
func TestUnchangedSessionIsNotRead(t *testing.T) {
	m, ann, _ := two(t)
	counted := &countingEngine{Engine: m}
	ann.Hub = hub.New(counted, hub.Options{})
	for range 2 {
		if c := ann.Compare(t); c.Hub != c.Local || c.Damage != nil {
			t.Errorf("%+v", c)
		}
	}
	if counted.reads != 0 {
		t.Errorf("read %d times", counted.reads)
	}
}

// countingEngine counts the calls of Read.
type countingEngine struct {
	hub.Engine
	reads int
}

func (c *countingEngine) Read(ctx context.Context, s hub.Session, after hub.Revision) iter.Seq2[hub.Stored, error] {
	c.reads++
	return c.Engine.Read(ctx, s, after)
}

// TestLostAnswers loses the answer of each message in turn.
func TestLostAnswers(t *testing.T) {
	for name, change := range sealings(t) {
		t.Run(name, func(t *testing.T) { testLostAnswers(t, change) })
	}
}

func testLostAnswers(t *testing.T, change func(*hub.Options)) {
	lost := &hub.UnavailableError{Err: errors.New("no answer")}
	for _, stored := range []bool{false, true} {
		for nth := range 6 {
			m := &hubtest.Memory{Limit: 296}
			ann := hubtest.NewMachine(t, m, session, "ann", change)
			ben := hubtest.NewMachine(t, m, session, "ben", change)
			n := -1
			m.Fault = func(after bool) error {
				if after != stored {
					return nil
				}
				if n++; n == nth {
					return lost
				}
				return nil
			}
			ann.Write(t, "one", "two", strings.Repeat("three ", 50), "four")
			w, err := ann.Hub.Claim(t.Context(), session, ann.Reader(t), ann.Mark(), false, ann.WriteMark)
			if w != nil {
				ann.Keep(t, w.Mark())
			}
			if err != nil {
				w = ann.Claim(t, false)
			}
			for err = lost; errors.Is(err, lost); {
				err = w.Ship(t.Context(), ann.Reader(t), ann.End(t))
			}
			if err != nil {
				t.Fatalf("%d: %v", nth, err)
			}
			for err = lost; errors.Is(err, lost); {
				err = w.Release(t.Context(), ann.Reader(t))
			}
			if err != nil {
				t.Fatalf("%d: %v", nth, err)
			}
			if f := ben.Pull(t); f.Hub.Seq != 4 || f.Damage != nil || !f.Claim.Released || ben.Bytes(t) != ann.Bytes(t) {
				t.Errorf("answer %d, stored %v: ben has %d events, %v", nth, stored, f.Hub.Seq, f.Damage)
			}
		}
	}
}

func TestFetchOfCancelledContextLeavesABeginning(t *testing.T) {
	_, ann, ben := two(t)
	for n := range 20 {
		ctx := &cancelAfter{t.Context(), n}
		if _, err := ben.Fetch(ctx, session, ben.Dir, ben.Mark()); err == nil {
			break
		} else if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := ben.Dir.Stat(session.ID); err == nil && !strings.HasPrefix(ann.Bytes(t), ben.Bytes(t)) {
			t.Error("the journal is no beginning of the other one")
		}
	}
	ben.Pull(t)
	if ben.Bytes(t) != ann.Bytes(t) {
		t.Error("the journals differ")
	}
}

// cancelAfter is a context that is done after its Err was called n times.
type cancelAfter struct {
	context.Context
	n int
}

func (c *cancelAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestMachinesAgree runs random steps of three machines on one session, with faults of the hub.
func TestMachinesAgree(t *testing.T) {
	all := sealings(t)
	for name, of := range map[string][]string{"plain": {"plain"}, "sealed": {"sealed"}, "mixed": {"plain", "sealed"}} {
		t.Run(name, func(t *testing.T) {
			if name != "mixed" {
				sizetest.SkipUnlessFull(t, "the mixed sessions are plain or sealed, too")
			}
			propertytest.Check(t, func(r *rapid.T) {
				testMachinesAgree(t, r, func() func(*hub.Options) {
					return all[rapid.SampledFrom(of).Draw(r, "sealing")]
				})
			})
		})
	}
}

func testMachinesAgree(t *testing.T, r *rapid.T, sealing func() func(*hub.Options)) {
	m := &hubtest.Memory{Limit: 300}
	var all []*hubtest.Machine
	for i := range 3 {
		all = append(all, hubtest.NewMachine(t, m, session, fmt.Sprintf("machine%d", i), sealing()))
		defer all[i].Close()
	}
	lost := &hub.UnavailableError{Err: errors.New("no answer")}
	m.Fault = func(bool) error {
		if rapid.IntRange(0, 9).Draw(r, "fault") == 0 {
			return lost
		}
		return nil
	}
	acknowledged := map[string]string{} // by text: the machine
	for step := range rapid.IntRange(1, 25).Draw(r, "steps") {
		machine := rapid.SampledFrom(all).Draw(r, "machine")
		if rapid.IntRange(0, 15).Draw(r, "reconnect") == 0 {
			m.Reconnect()
		}
		turn(t, r, machine, fmt.Sprintf("step %d", step), acknowledged)
	}
	m.Fault = nil
	fresh := hubtest.NewMachine(t, m, session, "fresh", sealing())
	defer fresh.Close()
	f := fresh.Pull(t)
	if f.Damage != nil {
		r.Fatalf("the hub is damaged: %v", f.Damage)
	}
	if f.Hub.Seq == 0 {
		return
	}
	texts := fresh.Texts(t)
	for text, machine := range acknowledged {
		if n := countOf(texts, text); n != 1 {
			r.Errorf("%q, acknowledged by %s, is on the hub %d times", text, machine, n)
		}
	}
}

func countOf(texts []string, text string) (n int) {
	for _, t := range texts {
		if t == text {
			n++
		}
	}
	return n
}

// turn is one turn of a machine: fetch, claim, write, ship, and perhaps release. A machine that diverged stops.
func turn(t *testing.T, r *rapid.T, m *hubtest.Machine, text string, acknowledged map[string]string) {
	f, err := m.Fetch(t.Context(), session, m.Dir, m.Mark())
	if err != nil || f.Diverged() {
		return
	}
	m.Keep(t, f.Mark)
	w, err := m.Hub.Claim(t.Context(), session, m.Reader(t), m.Mark(), rapid.Bool().Draw(r, "take over"), m.WriteMark)
	if w != nil {
		m.Keep(t, w.Mark())
	}
	if err != nil {
		return
	}
	texts := []string{text}
	if rapid.Bool().Draw(r, "long") {
		texts = append(texts, text+strings.Repeat(" long", 150))
	}
	m.Write(t, texts...)
	if rapid.IntRange(0, 5).Draw(r, "crash") == 0 {
		return
	}
	reader := m.Reader(t)
	c, err := m.Hub.Compare(t.Context(), session, reader, m.Mark())
	if err != nil {
		return
	}
	if err := w.Ship(t.Context(), reader, c.Local); err != nil {
		return
	}
	m.Keep(t, w.Mark())
	for _, text := range texts {
		acknowledged[text] = m.Session.ID
	}
	if rapid.Bool().Draw(r, "release") {
		w.Release(t.Context(), reader)
	}
}

var _ hub.LineReader = (*journal.Reader)(nil)

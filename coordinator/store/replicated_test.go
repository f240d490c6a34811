package store_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/store/storetest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// machine is a home whose sessions are shipped to a hub.
type machine struct {
	*store.Replicated
	root    string
	offline error // the error of Connect; nil: none
	options func(*hub.Options)
}

func newMachine(t *testing.T, e hub.Engine, name string) *machine {
	m := &machine{root: t.TempDir(), options: func(*hub.Options) {}}
	m.Replicated = &store.Replicated{
		Files: store.NewFiles(catalog.New(m.root, journal.Options{})),
		Connect: func(context.Context) (*hub.Hub, error) {
			o := hub.Options{Home: "/home/" + name, Host: name}
			m.options(&o)
			return hub.New(e, o), m.offline
		},
		Ships:      func(string) bool { return true },
		AskTimeout: time.Minute, ExitWait: time.Minute, SyncWait: time.Minute,
	}
	return m
}

// read returns the journal of a session.
func (m *machine) read(t *testing.T, id string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.root, team, id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReplicatedIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return newMachine(t, &hubtest.Memory{}, "ann") })
}

func TestCloseTellsThatItShips(t *testing.T) {
	ann := newMachine(t, &hubtest.Memory{}, "ann")
	begun, ended := 0, 0
	ann.Shipping = func() func() {
		begun++
		return func() { ended++ }
	}
	s := create(t, ann, team)
	s.append(message("hello", noon))
	if begun != 0 {
		t.Error("an open session is shipped")
	}
	if err := s.Close(s.state); err != nil {
		t.Fatal(err)
	}
	if status, ok := ann.Status(); begun != 1 || ended != 1 || !ok || status.Lag != 0 {
		t.Errorf("begun %d times, ended %d times; %+v", begun, ended, status)
	}
}

func TestSavedIsOnTheHub(t *testing.T) {
	memory := &hubtest.Memory{}
	ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
	s := create(t, ann, team)
	s.append(message("hello", noon))
	s.save(0, 0) // waits for the hub
	status, ok := ann.Status()
	if !ok || !status.Claimed || status.Lag != 0 || status.Err != nil || status.Shipped.Seq != 2 {
		t.Errorf("after a save: %+v", status)
	}
	if err := os.RemoveAll(ann.root); err != nil { // the machine is lost
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(ben.root, team), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ben.Split(t.Context(), team, s.SessionID()); err != nil { // fetches it
		t.Fatal(err)
	}
	snapshot, err := ben.Load(t.Context(), team, s.SessionID())
	if err != nil || len(snapshot.Context.Messages) != 1 {
		t.Errorf("ben has %+v: %v", snapshot, err)
	}
}

func TestOpenFetchesAndClaims(t *testing.T) {
	memory := &hubtest.Memory{}
	ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
	id := add(t, ann)
	if _, err := ben.Split(t.Context(), team, id); err != nil {
		t.Fatal(err)
	}
	again := open(t, ann, id)
	again.append(message("again", noon))
	_, _, err := ben.Open(t.Context(), team, id)
	if held := (*hub.ClaimedError)(nil); !errors.As(err, &held) || held.Claim.Host != "ann" {
		t.Errorf("open of a claimed session: %v", err)
	}
	if err := again.Close(again.state); err != nil {
		t.Fatal(err)
	}
	s := open(t, ben, id)
	if s.state.Seq != again.state.Seq || ann.read(t, id) != ben.read(t, id) {
		t.Errorf("ben opens event %d, want %d", s.state.Seq, again.state.Seq)
	}
	s.Close(s.state)
	if s := open(t, ann, id); s.Close(s.state) != nil {
		t.Error("ann cannot open it again")
	}
}

func TestTakenOverSessionBecomesAFork(t *testing.T) {
	memory := &hubtest.Memory{}
	ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
	id := add(t, ann)
	s := open(t, ann, id)
	if _, err := ben.Split(t.Context(), team, id); err != nil {
		t.Fatal(err)
	}
	ben.TakeOver = true
	other := open(t, ben, id)
	other.append(message("by ben", noon))
	other.save(0, 0)
	s.append(message("by ann", noon))
	s.save(0, 0)
	status, _ := ann.Status()
	if fenced := (*hub.FencedError)(nil); !status.Final() || !errors.As(status.Err, &fenced) || fenced.Claim.Host != "ben" {
		t.Errorf("ann's status is %+v", status)
	}
	if err := s.Close(s.state); err != nil {
		t.Fatal(err)
	}
	if status, ok := ann.Status(); !ok || !status.Final() || status.SessionID != id {
		t.Errorf("after the close: %+v", status)
	}
	fork, err := ann.Split(t.Context(), team, id)
	if err != nil || fork == "" {
		t.Fatalf("the fork is %q: %v", fork, err)
	}
	if ann.read(t, id) != ben.read(t, id) {
		t.Error("the journals differ")
	}
	snapshot, err := ann.Load(t.Context(), team, fork)
	if err != nil || len(snapshot.Context.Messages) != 3 || snapshot.Context.Messages[2].Content != "by ann" {
		t.Errorf("the fork has %+v: %v", snapshot, err)
	}
	other.Close(other.state)
}

// A copied home, such as that of a cloned virtual machine, has the claims of the other one.
func TestCopiedHomesDoNotBothAppend(t *testing.T) {
	memory := &hubtest.Memory{}
	ann, bob := newMachine(t, memory, "ann"), newMachine(t, memory, "ann")
	id := add(t, ann)
	s := open(t, ann, id)
	if err := os.CopyFS(bob.root, os.DirFS(ann.root)); err != nil { // while it is open
		t.Fatal(err)
	}
	other := open(t, bob, id)
	other.append(message("by bob", noon))
	other.save(0, 0)
	if status, _ := bob.Status(); status.Lag != 0 || status.Err != nil {
		t.Errorf("bob's status is %+v", status)
	}
	s.append(message("by ann", noon))
	s.save(0, 0)
	if status, _ := ann.Status(); !status.Final() || status.Lag == 0 {
		t.Errorf("ann's status is %+v", status)
	}
	if err := errors.Join(s.Close(s.state), other.Close(other.state)); err != nil {
		t.Fatal(err)
	}
	fork, err := ann.Split(t.Context(), team, id)
	if err != nil || fork == "" {
		t.Fatalf("the fork is %q: %v", fork, err)
	}
	if ann.read(t, id) != bob.read(t, id) {
		t.Error("the journals differ")
	}
	for id, want := range map[string]string{id: "by bob", fork: "by ann"} {
		snapshot, err := ann.Load(t.Context(), team, id)
		if err != nil || len(snapshot.Context.Messages) != 3 || snapshot.Context.Messages[2].Content != want {
			t.Errorf("the session with %q has %+v: %v", want, snapshot, err)
		}
	}
}

// The first line of a session differs from that of a session on the hub: neither is replaced.
func TestOtherSessionOfTheSameIDIsNotOpened(t *testing.T) {
	ann, ben := newMachine(t, &hubtest.Memory{}, "ann"), newMachine(t, &hubtest.Memory{}, "ben")
	id := add(t, ann)
	memory := &hubtest.Memory{}
	foreign := hubtest.NewMachine(t, memory, hub.Session{Team: team, ID: id}, "cat")
	foreign.Write(t, "another first line")
	foreign.Push(t)
	ben.Connect = func(context.Context) (*hub.Hub, error) { return hub.New(memory, hub.Options{}), nil }
	if err := os.CopyFS(ben.root, os.DirFS(ann.root)); err != nil {
		t.Fatal(err)
	}
	before, n := ben.read(t, id), len(memory.Messages(foreign.Session))
	for _, ben.TakeOver = range []bool{false, true} {
		_, _, err := ben.Open(t.Context(), team, id)
		if diverged := (*hub.DivergedError)(nil); !errors.As(err, &diverged) || diverged.Common.Seq != 0 {
			t.Errorf("open: %v", err)
		}
	}
	if ben.read(t, id) != before || len(memory.Messages(foreign.Session)) != n {
		t.Error("the session was changed, here or on the hub")
	}
}

func TestOfflineSessionIsShippedLater(t *testing.T) {
	memory := &hubtest.Memory{}
	ann := newMachine(t, memory, "ann")
	ann.offline = &hub.UnavailableError{Err: errors.New("no network")}
	ann.SyncWait, ann.ExitWait = time.Nanosecond, time.Nanosecond
	id := add(t, ann)
	status, ok := ann.Status()
	if !ok || status.Claimed || status.Lag == 0 {
		t.Errorf("offline: %+v", status)
	}
	s := open(t, ann, id)
	if status, _ := ann.Status(); status.Claimed || !errors.Is(status.Err, ann.offline) {
		t.Errorf("resumed offline: %+v", status)
	}
	s.append(message("more", noon))
	ann.offline = nil
	ann.SyncWait, ann.ExitWait = time.Minute, time.Minute
	if err := s.Close(s.state); err != nil {
		t.Fatal(err)
	}
	if status, _ := ann.Status(); status.Lag != 0 || status.Err != nil {
		t.Errorf("closed online: %+v", status)
	}
	ben := newMachine(t, memory, "ben")
	if _, err := ben.Split(t.Context(), team, id); err != nil || ann.read(t, id) != ben.read(t, id) {
		t.Errorf("the journals differ: %v", err)
	}
}

func TestUnansweredClaimIsNoClaim(t *testing.T) {
	memory := &hubtest.Memory{}
	ann := newMachine(t, memory, "ann")
	id := add(t, ann)
	lost := &hub.UnavailableError{Err: errors.New("no answer")}
	memory.Fault = func(bool) error { return lost }
	s := open(t, ann, id)
	if status, _ := ann.Status(); status.Claimed || !errors.Is(status.Err, lost) {
		t.Errorf("resumed: %+v", status)
	}
	memory.Fault = nil
	if err := s.Close(s.state); err != nil {
		t.Fatal(err)
	}
	ben := newMachine(t, memory, "ben")
	if _, err := ben.Split(t.Context(), team, id); err != nil {
		t.Fatal(err)
	}
	if s := open(t, ben, id); s.Close(s.state) != nil { // nothing was written, and the claim was released
		t.Error("ben cannot close it")
	}
}

func TestDivergedSessionIsSplitWhenOpened(t *testing.T) {
	memory := &hubtest.Memory{}
	ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
	id := add(t, ann)
	if _, err := ben.Split(t.Context(), team, id); err != nil {
		t.Fatal(err)
	}
	ben.offline = &hub.UnavailableError{Err: errors.New("no network")}
	ben.ExitWait = time.Nanosecond
	s := open(t, ben, id)
	s.append(message("by ben", noon))
	s.Close(s.state)
	ben.offline, ben.ExitWait = nil, time.Minute
	s = open(t, ann, id)
	s.append(message("by ann", noon))
	s.Close(s.state)
	_, _, err := ben.Open(t.Context(), team, id)
	split := (*store.SplitError)(nil)
	if !errors.As(err, &split) || split.SessionID != id {
		t.Fatalf("open of a diverged session: %v", err)
	}
	for _, id := range []string{id, split.Fork} {
		s := open(t, ben, id)
		s.Close(s.state)
	}
}

func TestUnshippedTeamStaysHere(t *testing.T) {
	memory := &hubtest.Memory{}
	ann := newMachine(t, memory, "ann")
	ann.Ships = func(string) bool { return false }
	id := add(t, ann)
	s := open(t, ann, id)
	s.append(message("more", noon))
	s.Close(s.state)
	if _, ok := ann.Status(); ok || len(memory.Messages(hub.Session{Team: team, ID: id})) > 0 {
		t.Error("the session was shipped")
	}
}

// unreadable is an engine that returns rows, but no lines.
type unreadable struct{ hub.Engine }

func (unreadable) Read(context.Context, hub.Session, hub.Revision) iter.Seq2[hub.Stored, error] {
	return func(yield func(hub.Stored, error) bool) {
		yield(hub.Stored{}, &hub.UnavailableError{Err: errors.New("no answer")})
	}
}

func TestSessionKnownToBeBehindIsNotContinued(t *testing.T) {
	memory := &hubtest.Memory{}
	ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
	id := add(t, ann)
	if _, err := ben.Split(t.Context(), team, id); err != nil {
		t.Fatal(err)
	}
	s := open(t, ann, id)
	s.append(message("more", noon))
	s.Close(s.state)
	connect := ben.Connect
	ben.Connect = func(context.Context) (*hub.Hub, error) { return hub.New(unreadable{memory}, hub.Options{}), nil }
	if log, _, err := ben.Open(t.Context(), team, id); err == nil {
		log.Close(nil)
		t.Error("the session was continued")
	}
	ben.Connect = connect
	if s := open(t, ben, id); s.Close(s.state) != nil || ann.read(t, id) != ben.read(t, id) {
		t.Error("the session was not fetched")
	}
}

func TestTakeOverHappensWhenTheHubAnswers(t *testing.T) {
	memory := &hubtest.Memory{}
	ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
	id := add(t, ann)
	if _, err := ben.Split(t.Context(), team, id); err != nil {
		t.Fatal(err)
	}
	held := open(t, ann, id)
	ben.TakeOver, ben.offline = true, &hub.UnavailableError{Err: errors.New("no network")}
	s := open(t, ben, id)
	ben.offline = nil
	s.append(message("by ben", noon))
	s.save(0, 0)
	if status, _ := ben.Status(); !status.Claimed || status.Lag != 0 {
		t.Errorf("after a save: %+v", status)
	}
	s.Close(s.state)
	held.Close(held.state)
}

func TestStatusIsThatOfTheOpenSession(t *testing.T) {
	ann := newMachine(t, &hubtest.Memory{}, "ann")
	first, second := add(t, ann), add(t, ann)
	current := open(t, ann, first)
	other := open(t, ann, second)
	other.Close(other.state)
	if status, ok := ann.Status(); !ok || status.SessionID != first || !status.Claimed {
		t.Errorf("the status is %+v", status)
	}
	current.Close(current.state)
	if status, ok := ann.Status(); !ok || status.SessionID != first {
		t.Errorf("after the close: %+v", status)
	}
}

func TestCanceledOpenDoesNotContinue(t *testing.T) {
	ann := newMachine(t, &hubtest.Memory{}, "ann")
	id := add(t, ann)
	ctx, cancel := context.WithCancel(t.Context())
	connect := ann.Connect
	ann.Connect = func(ctx context.Context) (*hub.Hub, error) {
		cancel()
		return nil, ctx.Err()
	}
	if _, _, err := ann.Open(ctx, team, id); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	ann.Connect = connect
	s := open(t, ann, id) // the lock is free
	s.Close(s.state)
}

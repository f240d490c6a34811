package hubtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/oklog/ulid/v2"
)

// Test runs the tests that every engine passes. open returns a connection to the same hub each time; name distinguishes
// the sessions of one test from those of another.
func Test(t *testing.T, open func(t *testing.T) hub.Engine) {
	for name, test := range map[string]func(*testing.T, func(*testing.T) hub.Engine){
		"a message is stored only after the expected one": testCompareAndSwap,
		"one of many concurrent messages is stored":       testConcurrentPublish,
		"messages are read in order and whole":            testRead,
		"a list has the last message of each session":     testList,
		"a watch reports the last and each new message":   testWatch,
		"a purge removes messages before a revision":      testPurge,
		"a done context ends a call":                      testContext,
		"sessions of several machines":                    testSessions,
		"sealed sessions of several machines":             testSealedSessions,
		"a claim and a release keep the row of a session": testRowIsKept,
		"a refill keeps the row and the head":             testRefillKeepsRow,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// newSession returns a session that no other test uses.
func newSession() hub.Session {
	id := ulid.Make().String()
	return hub.Session{Team: "team-" + strings.ToLower(id[len(id)-6:]), ID: id}
}

func message(text string) hub.Message {
	return hub.Message{Head: fmt.Appendf(nil, `{"text":%q}`, text), Body: []byte(text)}
}

// publish publishes a message that must be stored.
func publish(t *testing.T, e hub.Engine, s hub.Session, last hub.Revision, m hub.Message) hub.Revision {
	t.Helper()
	revision, err := e.Publish(t.Context(), s, last, m)
	if err != nil || revision <= last {
		t.Fatalf("publish after %d: revision %d, %v", last, revision, err)
	}
	return revision
}

func testCompareAndSwap(t *testing.T, open func(*testing.T) hub.Engine) {
	e, s, other := open(t), newSession(), newSession()
	first := publish(t, e, s, 0, message("1"))
	second := publish(t, e, s, first, message("2"))
	publish(t, e, other, 0, message("of another session"))
	for _, last := range []hub.Revision{0, first, second + 1} {
		_, err := e.Publish(t.Context(), s, last, message("3"))
		if conflict := (*hub.ConflictError)(nil); !errors.As(err, &conflict) || conflict.Session != s {
			t.Errorf("after %d: %v", last, err)
		}
	}
	publish(t, e, s, second, message("3"))
	if last, err := e.Last(t.Context(), newSession()); err != nil || last.Revision != 0 {
		t.Errorf("the last message of a session without any: %+v, %v", last, err)
	}
}

func testConcurrentPublish(t *testing.T, open func(*testing.T) hub.Engine) {
	s, first := newSession(), open(t)
	last := publish(t, first, s, 0, message("0"))
	engines := []hub.Engine{first, open(t), open(t)}
	for round := range 20 {
		var group sync.WaitGroup
		stored := make([]hub.Revision, len(engines))
		for i, e := range engines {
			group.Go(func() {
				revision, err := e.Publish(t.Context(), s, last, message(fmt.Sprintf("%d by %d", round, i)))
				if conflict := (*hub.ConflictError)(nil); err != nil && !errors.As(err, &conflict) {
					t.Error(err)
				}
				stored[i] = revision
			})
		}
		group.Wait()
		stored = slices.DeleteFunc(stored, func(r hub.Revision) bool { return r == 0 })
		if len(stored) != 1 {
			t.Fatalf("%d messages were stored after the same one", len(stored))
		}
		last = stored[0]
	}
}

func testRead(t *testing.T, open func(*testing.T) hub.Engine) {
	e, s := open(t), newSession()
	large := bytes.Repeat([]byte("x"), e.MaxBody())
	head := append(append([]byte(`{"x":"`), bytes.Repeat([]byte("h"), hub.MaxHead-8)...), `"}`...)
	messages := []hub.Message{message("one"), {Head: head, Body: large}, {Head: []byte("{}")}, message("four")}
	var revisions []hub.Revision
	var last hub.Revision
	for _, m := range messages {
		last = publish(t, e, s, last, m)
		revisions = append(revisions, last)
		other := newSession()
		publish(t, e, other, 0, message("of another session"))
	}
	for skip := range messages {
		after := hub.Revision(0)
		if skip > 0 {
			after = revisions[skip-1]
		}
		n := skip
		for m, err := range open(t).Read(t.Context(), s, after) {
			if err != nil {
				t.Fatal(err)
			}
			if m.Revision != revisions[n] || m.Session != s || !bytes.Equal(m.Head, messages[n].Head) ||
				!bytes.Equal(m.Body, messages[n].Body) {
				t.Errorf("message %d is %d of %v with %d bytes", n, m.Revision, m.Session, len(m.Body))
			}
			n++
		}
		if n != len(messages) {
			t.Errorf("after %d: %d messages were read, want %d", after, n-skip, len(messages)-skip)
		}
	}
	for m := range e.Read(t.Context(), s, last) {
		t.Errorf("after the last message: %+v", m)
	}
	for m := range e.Read(t.Context(), newSession(), 0) {
		t.Errorf("of a session without messages: %+v", m)
	}
	for range e.Read(t.Context(), s, 0) {
		break // ends the read
	}
}

func testList(t *testing.T, open func(*testing.T) hub.Engine) {
	e, s, other := open(t), newSession(), newSession()
	sameTeam := hub.Session{Team: s.Team, ID: other.ID}
	first := publish(t, e, s, 0, message("first"))
	want := map[hub.Session]hub.Revision{
		s: publish(t, e, s, first, message("last")), sameTeam: publish(t, e, sameTeam, 0, message("only")),
	}
	publish(t, e, other, 0, message("of another team"))
	got := map[hub.Session]hub.Revision{}
	for m, err := range e.List(t.Context(), s.Team) {
		if err != nil {
			t.Fatal(err)
		}
		got[m.Session] = m.Revision
		if m.Session == s && string(m.Head) != string(message("last").Head) || len(m.Body) > 0 {
			t.Errorf("the last message is %s with %d bytes", m.Head, len(m.Body))
		}
	}
	if len(got) != len(want) || got[s] != want[s] || got[sameTeam] != want[sameTeam] {
		t.Errorf("listed %v, want %v", got, want)
	}
	n := 0
	for m, err := range e.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if m.Session == s || m.Session == other || m.Session == sameTeam {
			n++
		}
	}
	if n != 3 {
		t.Errorf("the list of all teams has %d of 3 sessions", n)
	}
	for m, err := range e.List(t.Context(), newSession().Team) {
		t.Errorf("of a team without sessions: %+v, %v", m, err)
	}
}

func testWatch(t *testing.T, open func(*testing.T) hub.Engine) {
	e, s := open(t), newSession()
	first := publish(t, e, s, 0, message("first"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen, ended := make(chan hub.Revision, 100), make(chan error, 1)
	watcher := open(t)
	go func() { ended <- watcher.Watch(ctx, s.Team, func(m hub.Stored) { seen <- m.Revision }) }()
	if got := <-seen; got != first {
		t.Errorf("the watch begins with %d, want %d", got, first)
	}
	last := first
	for range 3 {
		last = publish(t, e, s, last, message("more"))
		publish(t, e, newSession(), 0, message("of another team"))
		if got := <-seen; got != last {
			t.Errorf("the watch reports %d, want %d", got, last)
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ends with %v", err)
	}
}

func testPurge(t *testing.T, open func(*testing.T) hub.Engine) {
	e, s, other := open(t), newSession(), newSession()
	publish(t, e, other, 0, message("kept"))
	last := publish(t, e, s, publish(t, e, s, 0, message("1")), message("2"))
	if err := e.Purge(t.Context(), s, last); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[hub.Session]int{s: 1, other: 1} {
		n := 0
		for range e.Read(t.Context(), session, 0) {
			n++
		}
		if n != want {
			t.Errorf("%d messages are left, want %d", n, want)
		}
	}
	publish(t, e, s, last, message("3"))
}

func testContext(t *testing.T, open func(*testing.T) hub.Engine) {
	e, s := open(t), newSession()
	publish(t, e, s, 0, message("1"))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := e.Publish(ctx, s, 0, message("2")); !errors.Is(err, context.Canceled) {
		t.Errorf("publish: %v", err)
	}
	if _, err := e.Last(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("last: %v", err)
	}
	for _, err := range e.Read(ctx, s, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
	}
}

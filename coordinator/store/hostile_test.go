package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
)

// invalidHeads are the heads of messages that any writer can publish after a session. END is the end of its history.
func invalidHeads(t *testing.T) map[string]string {
	return map[string]string{
		"sealed for others": sealedHead(t),
		"sealed with a garbage key": `{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":9999},"key":"AAAA",` +
			`"sealed":"AAAA"}`,
		"a claim with a garbage key": `{"v":1,"kind":"claim","head":END,"key":"AAAA","sealed":"AAAA"}`,
		"lines with another sum": `{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":9999,"sum":"0badcafe"},` +
			`"head":{"seq":9,"offset":9999,"sum":"0badcafe"}}`,
		"lines without a head": `{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":9999,"sum":"0badcafe"}}`,
		"the first part of a long line": `{"v":1,"kind":"lines","from":END,"to":{"seq":9,"offset":99999999,` +
			`"sum":"0badcafe"},"part":1,"parts":3}`,
		"lines after a gap": `{"v":1,"kind":"lines","from":{"seq":7,"offset":9000,"sum":"00000000"},` +
			`"to":{"seq":9,"offset":9999,"sum":"0badcafe"}}`,
		"no head":               `?`,
		"a head of version 99":  `{"v":99}`,
		"a claim without lines": `{"v":1,"kind":"release","claim":{"nonce":"eve","released":true}}`,
	}
}

// sealedHead returns the head of a message that is sealed for another recipient.
func sealedHead(t *testing.T) string {
	t.Helper()
	memory, session := &hubtest.Memory{}, hub.Session{Team: team, ID: "01JD0000000000000000000000"}
	eve := hubtest.NewIdentity(t)
	m := hubtest.NewMachine(t, memory, session, "eve", hubtest.Seal(eve), hubtest.Open(eve))
	m.Write(t, "by eve")
	m.Push(t)
	return string(memory.Messages(session)[1].Head)
}

// Whatever another writer publishes after a session, its owner and another machine open it and append to it, and a
// take-over ships again. The same holds for a sealed session.
func TestSessionWithAnInvalidMessageOnTheHubIsContinued(t *testing.T) {
	for name, head := range invalidHeads(t) {
		for use, change := range map[string]func(*hub.Options){"plain": nil, "sealed": sealing(t)} {
			t.Run(name+", "+use, func(t *testing.T) { testContinued(t, head, change) })
		}
	}
}

// sealing returns options of machines with one identity.
func sealing(t *testing.T) func(*hub.Options) {
	own := hubtest.NewIdentity(t)
	return func(o *hub.Options) {
		hubtest.Seal(own)(o)
		hubtest.Open(own)(o)
	}
}

// publishAfter stores a message after a session.
func publishAfter(t *testing.T, memory *hubtest.Memory, id, head string) {
	t.Helper()
	session := hub.Session{Team: team, ID: id}
	stored := memory.Messages(session)
	last := stored[len(stored)-1]
	var of struct{ Head json.RawMessage }
	if err := json.Unmarshal(last.Head, &of); err != nil {
		t.Fatal(err)
	}
	invalid := hub.Message{Head: []byte(strings.ReplaceAll(head, "END", string(of.Head))), Body: []byte("xx\n")}
	if _, err := memory.Publish(t.Context(), session, last.Revision, invalid); err != nil {
		t.Fatal(err)
	}
}

// speak opens a session, appends a message, and saves it. It returns the state on the hub.
func speak(t *testing.T, m *machine, id, text string) store.ReplicaStatus {
	t.Helper()
	s := open(t, m, id)
	s.append(message(text, noon))
	s.save(0, 0)
	status, _ := m.Status()
	s.Close(s.state)
	if !strings.Contains(m.read(t, id), text) {
		t.Errorf("%q is not in the journal", text)
	}
	return status
}

func testContinued(t *testing.T, head string, change func(*hub.Options)) {
	memory := &hubtest.Memory{}
	ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
	if change != nil {
		ann.options, ben.options = change, change
	}
	id, other := add(t, ann), add(t, ann)
	publishAfter(t, memory, id, head)
	for _, id := range []string{id, other} {
		ben.Split(t.Context(), team, id) // fetches what is valid
		if ben.read(t, id) != ann.read(t, id) {
			t.Errorf("ben did not get session %s", id)
		}
	}
	speak(t, ann, id, "third") // claimed or not
	speak(t, ann, id, "fourth")
	ann.TakeOver = true
	if status := speak(t, ann, id, "fifth"); !status.Claimed || status.Lag != 0 {
		t.Errorf("after a take-over: %+v", status)
	}
	// Another machine needs none.
	status := speak(t, ben, id, "by ben")
	if !status.Claimed || status.Lag != 0 || !strings.Contains(ben.read(t, id), "fifth") {
		t.Errorf("on another machine: %+v", status)
	}
	if status := speak(t, ben, other, "elsewhere"); !status.Claimed {
		t.Errorf("another session: %+v", status)
	}
}

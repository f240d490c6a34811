package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
)

// Whatever another writer publishes after a session, its owner and another machine open it and append to it, and a
// take-over ships again.
func TestSessionWithAnInvalidMessageOnTheHubIsContinued(t *testing.T) {
	for name, head := range map[string]string{
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
	} {
		t.Run(name, func(t *testing.T) {
			memory := &hubtest.Memory{}
			ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
			id := add(t, ann)
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
			ben.Split(t.Context(), team, id) // fetches what is valid
			if ben.read(t, id) != ann.read(t, id) {
				t.Error("ben did not get the session")
			}
			for _, m := range []*machine{ann, ben} {
				s := open(t, m, id)
				s.append(message("third", noon))
				s.Close(s.state)
				if name != "a head of version 99" {
					break // ben would diverge now
				}
			}
			ann.TakeOver = true
			s := open(t, ann, id)
			s.append(message("fourth", noon))
			s.save(0, 0)
			if status, _ := ann.Status(); name != "a head of version 99" && (!status.Claimed || status.Lag != 0) {
				t.Errorf("after a take-over: %+v", status)
			}
			s.Close(s.state)
		})
	}
}

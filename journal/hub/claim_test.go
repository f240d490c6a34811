package hub_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
)

func TestLongTextsOfAClaimAreCut(t *testing.T) {
	m := &hubtest.Memory{}
	long := strings.Repeat("é", 5000)
	ann := hubtest.NewMachine(t, m, session, "ann", func(o *hub.Options) { o.Home, o.Host = long, long })
	ann.Write(t, "one")
	ann.Claim(t, false)
	head := strings.Replace(string(m.Messages(session)[0].Head), `"host":"`, `"host":"`+long[:3000]+"\\ud800", 1)
	m.Change(session, func(all []hub.Stored) []hub.Stored {
		all[0].Head = []byte(head)
		return all
	})
	c := row(t, ann.Hub).Claim
	if c == nil || !strings.HasPrefix(long, c.Host) || len(c.Host) < 60 || len(c.Host) > 64 ||
		!strings.HasPrefix(long, c.Home) || len(c.Home) < 1000 || len(c.Home) > 1024 {
		t.Errorf("%+v", c)
	}
}

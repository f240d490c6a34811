package api

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// A page decodes each of its events once, besides the first event of the session, which names the file of the team's
// secrets and, for a later page, the members.
func TestItemsDecodeEachEventOnce(t *testing.T) {
	payloads, _ := conversationtest.AtOnce(4)
	home := t.TempDir()
	writeSession(t, home, payloads...)
	d := newDesk(t, home)
	read[any](t, d, "/api/sessions") // the index has the session now
	for place, want := range map[string]int{
		"": len(payloads) + 1, "?after=0": len(payloads) + 1, "?around=1": len(payloads) + 1, "?before=3": 2 + 1,
	} {
		before := projection.Decodings()
		read[partJSON](t, d, alice+"/items"+place)
		if got := projection.Decodings() - before; got != uint64(want) {
			t.Errorf("%q: %d decodings of %d events, want %d", place, got, len(payloads), want)
		}
	}
}

package marker_test

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

func TestIntentString(t *testing.T) {
	for intent, want := range map[marker.Intent]string{
		-1: "", 0: "", marker.Interrupt: "P1", marker.Reply: "P2", marker.Extend: "P3", marker.Extend + 1: "",
	} {
		if got := intent.String(); got != want {
			t.Errorf("Intent(%d) = %q, want %q", int(intent), got, want)
		}
	}
}

package acp

import (
	"io"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/acptest"
)

// recorded returns the input and the output of an agent whose lines are checked against the schema of the protocol.
func recorded(t *testing.T, in io.Reader, out io.Writer) (io.Reader, io.Writer) {
	t.Helper()
	recording, err := acptest.NewRecording()
	if err != nil {
		t.Fatal(err)
	}
	return recording.Tap(in, out, func(from acptest.Side, err error) {
		if from == acptest.Agent {
			t.Error(err)
		}
	})
}

package jsonlines_test

import (
	"bytes"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

func TestOutboxHoldsThousandLines(t *testing.T) {
	o := jsonlines.NewOutbox()
	for range 1000 {
		o.Put([]byte("a\n"))
	}
	if o.Overflowed() {
		t.Error("1000 lines are too many")
	}
	o.Put([]byte("b\n"))
	if !o.Overflowed() {
		t.Error("1001 lines are not too many")
	}
	var written bytes.Buffer
	o.Close()
	o.Deliver(&written)
	if got := written.String(); got != string(bytes.Repeat([]byte("a\n"), 1000)) {
		t.Errorf("%d bytes were written", len(got))
	}
}

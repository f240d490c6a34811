package main

import (
	"encoding/json"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Whatever config.json holds: it is refused, or asks for nothing that cannot be.
func FuzzConfig(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := decodeConfig(content)
		if err != nil || c.check() != nil {
			return
		}
		if !json.Valid(content) {
			t.Fatal("it is not JSON")
		}
		if p := c.policy(); p.Keep < 0 || p.ArchiveAfter < 0 || p.DeleteAfter < 0 {
			t.Errorf("the policy is %+v", p)
		}
		if c.Window.Messages < 0 || c.Window.Bytes < 0 {
			t.Errorf("the window is %+v", c.Window)
		}
		if line := c.Journal.MaxLine; line != 0 && line < journal.MinMaxLine {
			t.Errorf("the limit of a line is %d", line)
		}
	})
}

package journal

import (
	"bytes"
	"encoding/json"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// compactJSON returns data without the white space between its tokens, or the
// error of package json when it is not JSON. Payloads mostly are compact when
// they come, and are returned as they are: seeing that takes a small part of
// the time that json.Compact needs, which is longer than writing them.
func compactJSON(data []byte) ([]byte, error) {
	if isCompact(data) {
		return data, nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, data)
	return compact.Bytes(), err
}

// isCompact reports whether json.Compact would leave data as it is. False says
// nothing.
func isCompact(data []byte) bool {
	c := layout.Glance(data)
	c.Raw()
	return c.End()
}

package journal

import (
	"bytes"
	"encoding/json"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// compactJSON returns data without white space between its tokens, or the error of
// encoding/json if it is not JSON. Most payloads are compact and are returned
// unchanged: detecting that takes a fraction of the time of json.Compact.
func compactJSON(data []byte) ([]byte, error) {
	if layout.Compact(data) {
		return data, nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, data)
	return compact.Bytes(), err
}

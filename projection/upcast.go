package projection

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An upcaster converts a payload of one version to the next.
type upcaster func(json.RawMessage) (json.RawMessage, error)

// upcasters has the upcasters of each type of event: from version 1 to 2, from 2 to 3,
// and so on. So far every payload has its first version.
var upcasters = map[string][]upcaster{}

// upcast converts a payload to the newest version of its type.
func upcast(eventType string, data json.RawMessage) (json.RawMessage, error) {
	steps := upcasters[eventType]
	version := payloadVersion(data)
	if version > len(steps)+1 {
		return nil, fmt.Errorf("%w (%d, this program knows %d)", ErrNewer, version, len(steps)+1)
	}
	for ; version <= len(steps); version++ {
		var err error
		if data, err = steps[version-1](data); err != nil {
			return nil, fmt.Errorf("upcast from version %d: %w", version, err)
		}
	}
	return data, nil
}

// payloadVersion returns the "v" of a payload; 1 if there is none.
func payloadVersion(data json.RawMessage) int {
	if !bytes.Contains(data, []byte(`"v"`)) {
		return 1
	}
	var p struct {
		V int `json:"v"`
	}
	if json.Unmarshal(data, &p) != nil || p.V < 1 {
		return 1
	}
	return p.V
}

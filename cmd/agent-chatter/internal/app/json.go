package app

import (
	"encoding/json"
	"io"
)

// writeJSON prints one JSON object on one line.
func WriteJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

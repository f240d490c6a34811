package app

import (
	"encoding/json"
	"io"
)

// WriteJSON writes v as JSON on one line.
func WriteJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

package recall

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// scheme begins the URI of a session.
const scheme = "session://"

// maxCursor is the length of the longest cursor, in bytes.
const maxCursor = 4 << 10

// A cursor is the position at which a result ends, of one tool and one set of arguments.
type cursor struct {
	Of string          `json:"of"` // a sum of the tool, the team and the arguments
	At json.RawMessage `json:"at"`
}

// cursorAt returns the cursor of a position. args has no cursor.
func (r *Recall) cursorAt(tool string, args, position any) string {
	at, _ := json.Marshal(position) // cannot fail: positions are numbers, times and texts
	text, _ := json.Marshal(cursor{r.sum(tool, args), at})
	return base64.RawURLEncoding.EncodeToString(text)
}

// position reads the cursor of a position, which must be of the same tool and arguments.
func (r *Recall) position(text, tool string, args, position any) error {
	invalid := failure("The cursor is not one that %s returned. Call it without a cursor.", tool)
	if len(text) > maxCursor {
		return invalid
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	var c cursor
	if err != nil || strictly(data, &c) != nil || strictly(c.At, position) != nil {
		return invalid
	}
	if c.Of != r.sum(tool, args) {
		return failure("The cursor belongs to other arguments of %s. Repeat those of the call that returned it, "+
			"or call without a cursor.", tool)
	}
	return nil
}

func strictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func (r *Recall) sum(tool string, args any) string {
	text, _ := json.Marshal([]any{tool, r.team, args})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// cutEvent cuts the number of an event from a citation, or from the path of a URI.
func cutEvent(name string) (session string, event uint64) {
	if i := strings.LastIndexAny(name, "#/"); i >= 0 {
		if n, err := strconv.ParseUint(name[i+1:], 10, 63); err == nil {
			return name[:i], n
		}
	}
	return name, 0
}

package agent

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

var uuidPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
})

// isUUID reports whether an id has the form of the ids of Claude Code and Codex. Claude Code takes others for titles.
func isUUID(id string) bool { return uuidPattern().MatchString(id) }

// newUUID returns a random UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// claudeOrigin returns the arguments for a session from the origin, and the id of the session.
func claudeOrigin(turn Turn, o Origin) (args []string, id string, err error) {
	if turn.Ephemeral {
		args = append(args, "--no-session-persistence")
	}
	switch {
	case o.Way == New:
		id = newUUID()
		return append(args, "--session-id="+id), id, nil
	case !isUUID(o.ID) || o.Point != "" && !isUUID(o.Point):
		return nil, "", fmt.Errorf("%w: it has no session with such an id", ErrGone)
	}
	args = append(args, "--resume="+o.ID)
	if o.Way == Resume && (o.Point == "" || o.Point == claudeLastPoint(turn, o.ID)) {
		return args, o.ID, nil
	}
	id = newUUID()
	args = append(args, "--fork-session", "--session-id="+id)
	if o.Point != "" {
		args = append(args, "--resume-session-at="+o.Point)
	}
	return args, id, nil
}

// claudeLastPoint returns the id of the last message in a session's file; "" if it is unknown. id is a UUID.
func claudeLastPoint(turn Turn, id string) string {
	files := claudeFiles(turn.Member, turn.Dir, id)
	if len(files) != 1 {
		return ""
	}
	file, err := regularfile.Open(files[0])
	if err != nil {
		return ""
	}
	defer file.Close()
	return lastMessage(file)
}

// maxSessionEnd is how much of a session's end is searched for its last message, in bytes.
const maxSessionEnd = 8 << 20

// lastMessage returns the id of the last message in a session's file, which has other lines, too; "" if it has none.
func lastMessage(file *os.File) string {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	end := make([]byte, min(size, maxSessionEnd))
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil {
		return ""
	}
	for len(end) > 0 {
		var line struct {
			Type, UUID  string
			IsSidechain bool // it is of a subagent
		}
		at := bytes.LastIndexByte(bytes.TrimSuffix(end, []byte("\n")), '\n') + 1
		if jsonlines.Decode(end[at:], &line) && !line.IsSidechain && (line.Type == "assistant" || line.Type == "user") {
			return line.UUID
		}
		end = end[:at]
	}
	return ""
}

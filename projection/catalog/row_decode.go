package catalog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/projection"
)

// decodeRow decodes a line of the index.
func decodeRow(line string) (row, bool) {
	var r row
	if layout.Decode([]byte(line), &r) {
		return r, true
	}
	r = row{}
	err := json.Unmarshal([]byte(line), &r)
	return r, err == nil
}

// glance returns when a session was updated, if the line of its row describes the
// file as it is now and reports no damage. Most of the lines of a long list are
// read this far only.
func glance(info journal.Info, line []byte) (updated time.Time, ok bool) {
	var space [256]byte
	head := appendHead(space[:0], info)
	if !bytes.HasPrefix(line, head) {
		return updated, false
	}
	// A row with damage has other fields between lastSeq and end.
	lastSeq, rest, ok := bytes.Cut(line[len(head):], []byte(`,"end":`))
	if !ok || len(lastSeq) == 0 || lastSeq[0] == '0' || len(bytes.Trim(lastSeq, "0123456789")) > 0 {
		return updated, false
	}
	_, rest, _ = bytes.Cut(rest, []byte(`,"updatedAt":"`))
	at, _, ok := bytes.Cut(rest, []byte(`"`))
	return updated, ok && updated.UnmarshalText(at) == nil
}

// appendHead appends the start of the line of a row, as far as it describes the file.
func appendHead(line []byte, info journal.Info) []byte {
	line = append(append(line, `{"id":"`...), info.ID...)
	line = strconv.AppendInt(append(line, `","foldVersion":`...), projection.FoldVersion, 10)
	line = strconv.AppendInt(append(line, `,"rowVersion":`...), rowVersion, 10)
	line = strconv.AppendBool(append(line, `,"archived":`...), info.Archived)
	line = strconv.AppendInt(append(line, `,"size":`...), info.Size, 10)
	line = info.ModTime.UTC().AppendFormat(append(line, `,"modTime":"`...), time.RFC3339Nano)
	line = strconv.AppendUint(append(line, `","inode":`...), info.Inode, 10)
	return append(line, `,"lastSeq":`...)
}

package catalog

import (
	"encoding/json"
	"strconv"
	"strings"
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
func glance(info journal.Info, line string) (updated time.Time, ok bool) {
	var space [256]byte
	head := appendHead(space[:0], info)
	if len(line) < len(head) || line[:len(head)] != string(head) {
		return updated, false
	}
	// A row with damage has other fields between lastSeq and end.
	lastSeq, rest, ok := strings.Cut(line[len(head):], `,"end":`)
	if !ok || lastSeq == "" || lastSeq[0] == '0' || strings.Trim(lastSeq, "0123456789") != "" {
		return updated, false
	}
	_, rest, _ = strings.Cut(rest, `,"updatedAt":"`)
	at, _, ok := strings.Cut(rest, `"`)
	return updated, ok && updated.UnmarshalText([]byte(at)) == nil
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

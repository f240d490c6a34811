package catalog

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// decodeRow reads a line of the index. Most are as simple as this program writes
// them: those are read here, all others by encoding/json, with the same result.
func decodeRow(line string) (row, bool) {
	var r row
	if !utf8.ValidString(line) || !r.decodePlain(line) {
		r = row{}
		if json.Unmarshal([]byte(line), &r) != nil {
			return row{}, false
		}
	}
	return r, true
}

// glance reads when a session was updated, in a line that was made from the file
// as it is now, of a session of which nothing is wrong. A hundred thousand lines
// are what makes a list slow: most begin as they were written for such a file,
// and are not decoded at all.
func glance(info journal.Info, line string) (updated time.Time, ok bool) {
	var space [256]byte
	begins := appendBeginning(space[:0], info)
	if len(line) < len(begins) || line[:len(begins)] != string(begins) {
		return updated, false
	}
	lastSeq, rest, ok := strings.Cut(line[len(begins):], `,"end":`)
	if !ok || strings.Trim(lastSeq, "0123456789") != "" || lastSeq == "" || lastSeq[0] == '0' {
		return updated, false
	}
	_, rest, ok = strings.Cut(rest, `,"updatedAt":`)
	if !ok {
		return updated, false
	}
	quoted, _, ok := cutString(rest)
	return updated, ok && setTime(&updated, quoted)
}

// appendBeginning is how the line of a row begins that describes the file.
func appendBeginning(line []byte, info journal.Info) []byte {
	line = append(append(line, `{"id":"`...), info.ID...)
	line = strconv.AppendInt(append(line, `","foldVersion":`...), projection.FoldVersion, 10)
	line = strconv.AppendBool(append(line, `,"archived":`...), info.Archived)
	line = strconv.AppendInt(append(line, `,"size":`...), info.Size, 10)
	line = info.ModTime.UTC().AppendFormat(append(line, `,"modTime":"`...), time.RFC3339Nano)
	line = strconv.AppendUint(append(line, `","inode":`...), info.Inode, 10)
	return append(line, `,"lastSeq":`...)
}

// decodePlain reads a row whose fields are plain strings, whole numbers, true
// and false, without a blank between them. It gives up at anything else, and
// whatever it has set by then means nothing.
func (r *row) decodePlain(line string) bool {
	rest, ok := strings.CutPrefix(line, "{")
	if !ok {
		return false
	}
	for {
		name, behind, ok := cutString(rest)
		if !ok || behind == "" || behind[0] != ':' {
			return false
		}
		value, behind, ok := cutValue(behind[1:])
		name = name[1 : len(name)-1]
		if !ok || behind == "" || !r.set(name, value) {
			return false
		}
		if behind == "}" {
			return true
		}
		if behind[0] != ',' {
			return false
		}
		rest = behind[1:]
	}
}

// cutValue returns a string with its quotes, or a word without any.
func cutValue(text string) (value, rest string, ok bool) {
	if text != "" && text[0] == '"' {
		return cutString(text)
	}
	for i := range len(text) {
		if text[i] == ',' || text[i] == '}' {
			return text[:i], text[i:], true
		}
	}
	return "", "", false
}

// cutString returns a JSON string with its quotes.
func cutString(text string) (quoted, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[:i+1], text[i+1:], true
		case c < ' ':
			return "", "", false
		case c == '\\':
			if i++; i == len(text) || strings.IndexByte(`"\/bfnrt`, text[i]) < 0 {
				return "", "", false
			}
		}
	}
	return "", "", false
}

// set gives a field its value. A field that is not known here is no reason to
// lose it: encoding/json may know it.
func (r *row) set(name, value string) bool {
	switch name {
	case "id":
		return setString(&r.ID, value)
	case "teamId":
		return setString(&r.TeamID, value)
	case "cwd":
		return setString(&r.CWD, value)
	case "createdAt":
		return setTime(&r.CreatedAt, value)
	case "updatedAt":
		return setTime(&r.UpdatedAt, value)
	case "title":
		return setString(&r.Title, value)
	case "renamed":
		return setBool(&r.Renamed, value)
	case "preview":
		return setString(&r.Preview, value)
	case "messageCount":
		return setInt(&r.MessageCount, value)
	case "lastSpeakerId":
		return setString(&r.LastSpeakerID, value)
	case "lastSpeaker":
		return setString(&r.LastSpeaker, value)
	case "pinned":
		return setBool(&r.Pinned, value)
	case "newer":
		return setString(&r.Newer, value)
	case "ended":
		return setString(&r.Ended, value)
	case "foldVersion":
		return setInt(&r.Fold, value)
	case "summary": // for others
		return strings.HasPrefix(value, `"`)
	case "archived":
		return setBool(&r.Archived, value)
	case "damaged":
		return setString(&r.Damaged, value)
	case "size":
		return setInt(&r.Bytes, value)
	case "modTime":
		return setTime(&r.ModTime, value)
	case "inode":
		return setUint(&r.Inode, value)
	case "lastSeq":
		return setUint(&r.LastSeq, value)
	case "lost":
		return setUint(&r.Lost, value)
	case "end":
		return setInt(&r.End, value)
	case "sum":
		return len(value) > 2 && value[0] == '"' && r.Sum.UnmarshalText([]byte(value[1:len(value)-1])) == nil
	}
	return false
}

func setString(s *string, value string) bool {
	if value == "" || value[0] != '"' {
		return false
	}
	if strings.IndexByte(value, '\\') >= 0 {
		var text string // on the heap, where the row need not be
		err := json.Unmarshal([]byte(value), &text)
		*s = text
		return err == nil
	}
	*s = value[1 : len(value)-1]
	return true
}

func setTime(t *time.Time, value string) bool {
	return len(value) > 2 && t.UnmarshalJSON([]byte(value)) == nil
}

func setBool(b *bool, value string) bool {
	*b = value == "true"
	return *b || value == "false"
}

// whole reports whether a number is one of JSON, as far as strconv does not.
func whole(value string) bool {
	digits := strings.TrimPrefix(value, "-")
	return digits != "" && digits[0] != '+' && (digits[0] != '0' || digits == "0" && value == "0")
}

func setInt[N int | int64](n *N, value string) bool {
	v, err := strconv.ParseInt(value, 10, 64)
	*n = N(v)
	return err == nil && whole(value) && int64(*n) == v
}

func setUint(n *uint64, value string) bool {
	v, err := strconv.ParseUint(value, 10, 64)
	*n = v
	return err == nil && whole(value)
}

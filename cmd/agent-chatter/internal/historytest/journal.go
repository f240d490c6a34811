package historytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
)

// Line is an event as a journal has it.
type Line struct {
	Seq  uint64
	Sum  string // in hexadecimal digits
	Type string
	Body string // its time, type and data as JSON members: the same in a session and in its forks
}

// aboutFile reports whether a line describes the file of a journal, so that no fork has it.
func (l Line) aboutFile() bool { return l.Type == "journal.recovered" || l.Type == "journal.sealed" }

// sumBytes is the length of the member at the end of a line: ,"sum":"xxxxxxxx"}
const sumBytes = 18

// ParseLine parses a line of a journal, with or without its line break. It does not verify the sum.
func ParseLine(text []byte) (Line, error) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return l, err
	}
	start := bytes.Index(text, []byte(`"time":`))
	if start < 0 || start > len(text)-sumBytes || len(l.Sum) != 8 {
		return l, fmt.Errorf("%q has no time or no sum", text)
	}
	l.Body = string(text[start : len(text)-sumBytes])
	return l, nil
}

// session is a journal that was read.
type session struct {
	id     string
	parent string // of a fork
	common uint64 // of a fork: it has the events of its parent up to this sequence number
	lines  []Line
}

// read reads and verifies a whole journal.
func read(id string, journal []byte) (session, error) {
	s := session{id: id}
	previous := "00000000"
	for text := range bytes.Lines(journal) {
		line, err := ParseLine(text)
		if err != nil {
			return s, err
		}
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		sum.Write([]byte(previous))
		sum.Write(text[:len(text)-sumBytes-1])
		previous = fmt.Sprintf("%08x", sum.Sum32())
		switch {
		case text[len(text)-1] != '\n':
			return s, fmt.Errorf("line %d has no line break", line.Seq)
		case line.Seq != uint64(len(s.lines))+1:
			return s, fmt.Errorf("line %d follows line %d", line.Seq, len(s.lines))
		case line.Sum != previous:
			return s, fmt.Errorf("line %d has the sum %s, want %s", line.Seq, line.Sum, previous)
		}
		s.lines = append(s.lines, line)
	}
	return s, s.readParent()
}

// readParent reads session.created, which is the first line.
func (s *session) readParent() error {
	if len(s.lines) == 0 || s.lines[0].Type != "session.created" {
		return fmt.Errorf("it does not begin with session.created")
	}
	var created struct {
		Data struct {
			SessionID string
			Parent    struct {
				SessionID string
				Seq       uint64
			}
		}
	}
	if err := json.NewDecoder(strings.NewReader("{" + s.lines[0].Body + "}")).Decode(&created); err != nil {
		return err
	}
	if created.Data.SessionID != s.id {
		return fmt.Errorf("it is the journal of %q", created.Data.SessionID)
	}
	s.parent, s.common = created.Data.Parent.SessionID, created.Data.Parent.Seq
	return nil
}

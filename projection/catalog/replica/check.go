package replica

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection"
)

// OtherSessionError reports lines that are of another session than the one under whose name they are stored.
type OtherSessionError struct {
	Session hub.Session // the name
	ID      string      // what session.created says
	TeamID  string
}

func (e *OtherSessionError) Error() string {
	return fmt.Sprintf("it is session %.40q of team %.80q", e.ID, e.TeamID)
}

var sessionCreated = projection.TypeOf(projection.SessionCreated{})

// Check returns an *OtherSessionError if lines begin another session than s. It is a hub.Options.Check.
func Check(s hub.Session, lines []byte) error {
	for line := range bytes.Lines(lines) {
		if plainType(line) != "" && plainType(line) != sessionCreated {
			continue
		}
		var e struct {
			Type string
			Data json.RawMessage
		}
		if json.Unmarshal(line, &e) != nil || e.Type != sessionCreated {
			continue
		}
		var state projection.State
		state.Apply(journal.Event{Seq: 1, Type: e.Type, Data: e.Data})
		if state.SessionID != s.ID || journal.DirName(state.Team.ID) != s.Team {
			return &OtherSessionError{s, state.SessionID, state.Team.ID}
		}
	}
	return nil
}

// plainType returns the type of a line in the layout of a writer; "" if it may have another layout.
func plainType(line []byte) string {
	start := line[:min(len(line), 200)]
	_, rest, found := bytes.Cut(start, []byte(`Z","type":"`))
	name, _, closed := bytes.Cut(rest, []byte(`","data":`))
	if !found || !closed || !bytes.HasPrefix(line, []byte(`{"seq":`)) || bytes.ContainsAny(name, "\\\"") {
		return ""
	}
	return string(name)
}

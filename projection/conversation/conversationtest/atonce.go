package conversationtest

import (
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Turn is a turn of AtOnce. Its texts occur nowhere else in the session. All calls have the same id.
type Turn struct {
	projection.Speaker
	ID            string
	Before, After string // the text before and after the call; Text has both
	Command       string
	Output        string
}

// Text returns the message of the turn.
func (t Turn) Text() string { return t.Before + " " + t.After }

// AtOnce returns the payloads of a session in which n agents, at most four, take turns at the same time, and the turns
// in the order of their starts. Those that began last end first.
func AtOnce(n int) (payloads []projection.Payload, turns []Turn) {
	team := projection.Team{ID: "kitchen", Name: "Kitchen"}
	team.Members = append(team.Members, member(Mia))
	for _, name := range []string{"Ada", "Bo", "Cleo", "Dan"}[:n] {
		s := projection.Speaker{ID: "m-" + name, Name: name, DisplayName: name, Type: projection.TypeAI}
		team.Members = append(team.Members, member(s))
		turns = append(turns, Turn{
			Speaker: s, ID: "t-" + name, Before: "Look at " + name + ".", After: "Done by " + name + ".",
			Command: "cat " + name + ".txt", Output: "file of " + name,
		})
	}
	created := projection.SessionCreated{
		Format: projection.Format, SessionID: "at-once", Team: team, CWD: "/kettle",
	}
	payloads = append(payloads, created, message(Mia, "Please look.", ""))
	each := func(of func(Turn) projection.Payload) {
		for _, t := range turns {
			payloads = append(payloads, of(t))
		}
	}
	each(func(t Turn) projection.Payload {
		return projection.TurnStarted{TurnID: t.ID, MemberID: t.Speaker.ID, AgentType: "demo"}
	})
	each(func(t Turn) projection.Payload { return projection.TurnText{TurnID: t.ID, Text: t.Before} })
	each(func(t Turn) projection.Payload {
		input := []byte(`{"command":"` + t.Command + `"}`)
		return projection.ToolStarted{TurnID: t.ID, ToolID: "item_1", Name: "Bash", Input: input}
	})
	each(func(t Turn) projection.Payload {
		return projection.ToolCompleted{TurnID: t.ID, ToolID: "item_1", Name: "Bash", Output: t.Output}
	})
	each(func(t Turn) projection.Payload { return projection.TurnText{TurnID: t.ID, Text: " " + t.After} })
	for i := range turns {
		t := turns[n-1-i]
		end := projection.TurnEnded{TurnID: t.ID, MemberID: t.Speaker.ID, FinishReason: projection.Done}
		end.DurationMS = int64(n-i) * 1000
		payloads = append(payloads, message(t.Speaker, t.Text(), t.ID), end)
	}
	return payloads, turns
}

// began is the time of the first event of a session.
var began = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// message returns a message of a turn, or of none.
func message(by projection.Speaker, text, turnID string) projection.MessageAppended {
	m := projection.NewMessage("m-"+by.ID+"-"+turnID, began, by, text, nil)
	m.TurnID = turnID
	return m
}

// Records returns the records of payloads, a second apart.
func Records(payloads ...projection.Payload) (records []journal.Record) {
	for i, p := range payloads {
		records = append(records, projection.Record(began.Add(time.Duration(i)*time.Second), p))
	}
	return records
}

// Write writes the journal of a session.
func Write(dir *journal.Dir, id string, payloads ...projection.Payload) error {
	log, err := dir.Create(id)
	if err != nil {
		return err
	}
	if _, err := log.Append(Records(payloads...)...); err != nil {
		log.Close()
		return err
	}
	return log.Close()
}

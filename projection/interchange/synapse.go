package interchange

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// synapseFormat is the name of the format of Synapse, which is also the id of its agent.
const synapseFormat = "synapse"

var _ = RegisterFormat(Format{
	Name: synapseFormat,
	DetectWhole: func(o Fields) bool {
		return o.Has("role", "content") && !o.Has("type")
	},
	Read: synapseSession,
})

// synapseMessage is a line of a Synapse session. It has no time and no id.
type synapseMessage struct {
	Role       string
	Content    synapseContent
	ToolCalls  []struct{ ID, Name, Arguments string }
	ToolCallID string
}

// synapseContent is a list of texts and images; thinking is left out.
type synapseContent []struct {
	Type, Text string
	ImageURL   struct{ URL string }
}

// UnmarshalJSON returns no error. Elements of other types are empty; a value that is not
// a list is an empty list.
func (c *synapseContent) UnmarshalJSON(data []byte) error {
	type list synapseContent
	_ = json.Unmarshal(data, (*list)(c))
	return nil
}

func (c synapseContent) texts() (texts []string) {
	for _, part := range c {
		switch part.Type {
		case "text":
			texts = append(texts, part.Text)
		case "image_url":
			texts = append(texts, imageText(stringValue(part.ImageURL.URL)))
		}
	}
	return texts
}

// synapseIndex is the list of sessions in the same directory.
type synapseIndex struct {
	Sessions []struct {
		ID, Title, CWD       string
		CreatedAt, UpdatedAt timestamp
	}
}

// maxSynapseIndex is the length of the longest index that is read, in bytes.
const maxSynapseIndex = 16 << 20

// synapseSession returns the session of a Synapse transcript. Messages have the session's creation time from the
// sessions.json in its directory, and the last one its update if that is later. If the index lacks the session or its
// creation time, src.Modified is the time of every message. A time that no journal can hold is an error.
func synapseSession(src Source, app projection.App) (*Session, error) {
	id := strings.TrimSuffix(filepath.Base(src.Path), filepath.Ext(src.Path))
	from, until := src.Modified.UTC(), src.Modified.UTC()
	header := transcript{undated: true}
	index := src.readFile(filepath.Join(filepath.Dir(src.Path), "sessions.json"), maxSynapseIndex)
	var known synapseIndex
	if json.Unmarshal(index, &known) == nil {
		for _, s := range known.Sessions {
			if s.ID != id {
				continue
			}
			header.cwd, header.title = s.CWD, s.Title
			if !s.CreatedAt.IsZero() {
				from, until = s.CreatedAt.Time, later(s.CreatedAt.Time, s.UpdatedAt.Time)
				header.undated = false
			}
		}
	}
	if _, err := parseTime(projection.FormatTime(from)); err != nil { // of the file
		return nil, err
	}
	return newSession(synapseFormat, src.Path, app, func(t *transcript) error {
		t.id, t.cwd, t.title, t.undated = id, header.cwd, header.title, header.undated
		t.untimed, t.toolsFollow = true, true
		t.speak(agent(synapseFormat, "Synapse"), "")
		var last *synapseMessage // so far
		err := eachObject(src, &t.skipped, func(m synapseMessage) bool {
			if last != nil {
				t.addSynapse(*last, from)
			}
			last = &m
			return !t.stopped
		})
		if last != nil {
			t.addSynapse(*last, until)
		}
		t.endAt(until)
		return err
	})
}

func (t *transcript) addSynapse(m synapseMessage, at time.Time) {
	text := strings.Join(m.Content.texts(), "\n\n")
	switch m.Role {
	case "user":
		t.addHuman("", m.Content.texts(), at)
	case "assistant":
		t.addReply("", text, at)
		for _, call := range m.ToolCalls {
			t.beginTurn("", at)
			t.startTool(call.ID, call.Name, json.RawMessage(call.Arguments), at)
		}
	case "tool":
		t.completeTool(m.ToolCallID, text, "", at)
	default:
		t.skipped++
	}
}

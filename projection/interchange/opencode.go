package interchange

import (
	"encoding/json"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// openCodeFormat is the name of the format of OpenCode, which is also the id of its agent.
const openCodeFormat = "opencode"

var _ = RegisterFormat(Format{
	Name: openCodeFormat,
	Detect: func(o Fields) bool {
		return o.Has("info", "messages")
	},
	Read: openCodeTranscript,
})

// openCodeInfo is the header of what "opencode export" writes: an object with the
// fields info and messages.
type openCodeInfo struct {
	ID, Title, Directory string
	Time                 openCodeTime
	Revert               *struct{ MessageID string } // what follows was undone
}

type openCodeTime struct{ Created, Completed, Start, End timestamp }

// openCodeMessage is a message of a person, or one step of the agent.
type openCodeMessage struct {
	Info struct {
		ID, Role, ModelID, Finish string
		Summary                   json.RawMessage // true: it repeats earlier messages
		Time                      openCodeTime
		Cost                      float64
		Tokens                    struct {
			Input, Output, Reasoning int64
			Cache                    struct{ Read, Write int64 }
		}
		Error *struct {
			Name string
			Data struct{ Message string }
		}
	}
	Parts []openCodePart
}

type openCodePart struct {
	Type                string
	Text                string
	Time                openCodeTime
	Synthetic, Ignored  bool // a text of the program
	Filename, Mime, URL string
	CallID, Tool        string
	State               struct {
		Status, Output, Error string
		Input                 json.RawMessage
		Time                  openCodeTime
		Attachments           []openCodePart
	}
}

// fileText is in the place of a file.
func (p openCodePart) fileText() string {
	if strings.HasPrefix(p.Mime, "image/") {
		return imageText(stringValue(p.URL))
	}
	return "[file: " + p.Filename + "]"
}

// openCodeTranscript returns an exported session of OpenCode.
func openCodeTranscript(src Source, app projection.App) (*Session, error) {
	var info openCodeInfo
	_, err := src.eachField("messages", func(name string, v jsonValue) bool {
		if name == "info" {
			_ = json.Unmarshal(v, &info) // an invalid field is empty
		}
		return name != "info"
	})
	if err != nil {
		return nil, err
	}
	return newSession(openCodeFormat, src.Path, app, func(t *transcript) error { return t.readOpenCode(src, info) })
}

func (t *transcript) readOpenCode(src Source, info openCodeInfo) error {
	t.toolsFollow = true
	t.id, t.cwd = info.ID, info.Directory
	if !strings.HasPrefix(info.Title, "New session - ") { // which has not got its title yet
		t.title = info.Title
	}
	t.addTime(info.Time.Created.Time)
	undone := false
	whole, err := src.eachField("messages", func(name string, v jsonValue) bool {
		var m openCodeMessage
		switch {
		case name != "messages":
			return true
		case undone || json.Unmarshal(v, &m) != nil:
			t.skipped++
			return true
		case info.Revert != nil && m.Info.ID == info.Revert.MessageID:
			undone = true
			t.skipped++
		case m.Info.Role == "user":
			t.addOpenCodeHuman(m)
		case m.Info.Role == "assistant" && string(m.Info.Summary) != "true":
			t.addOpenCodeStep(m)
		default:
			t.skipped++
		}
		return !t.stopped
	})
	if !whole && !t.stopped {
		t.skipped++ // the rest of the file
	}
	return err
}

func (t *transcript) addOpenCodeHuman(m openCodeMessage) {
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Type == "text" && !p.Synthetic && !p.Ignored:
			texts = append(texts, p.Text)
		case p.Type == "file":
			texts = append(texts, p.fileText())
		default:
			t.skipped++
		}
	}
	t.addHuman(m.Info.ID, texts, m.Info.Time.Created.Time)
}

func (t *transcript) addOpenCodeStep(m openCodeMessage) {
	began := t.timeOf(m.Info.Time.Created.Time)
	until := later(began, m.Info.Time.Completed.Time)
	t.speak(agent(openCodeFormat, "OpenCode"), m.Info.ModelID)
	t.addTime(began)
	var texts []string
	id, at := m.Info.ID, began
	reply := func() {
		if len(texts) > 0 {
			t.addReply(id, strings.Join(texts, "\n\n"), at)
			texts, id = nil, "" // of another message in the same step
		}
	}
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			texts, at = append(texts, p.Text), later(at, p.Time.End.Time)
		case "tool":
			reply()
			t.addOpenCodeTool(m.Info.ID, p)
		case "step-start", "step-finish", "reasoning", "snapshot", "patch":
		default:
			t.skipped++
		}
	}
	reply()
	u := m.Info.Tokens
	t.addUsage(validUsage(projection.Usage{
		Input: u.Input, CachedRead: u.Cache.Read, CachedWrite: u.Cache.Write, Output: u.Output, Thought: u.Reasoning,
	}, m.Info.Cost))
	reason, failure := projection.FinishReason(""), ""
	switch e := m.Info.Error; {
	case e != nil && e.Name == "MessageAbortedError":
		reason = projection.Cancelled
	case e != nil:
		reason, failure = projection.Failed, e.Data.Message
	case m.Info.Finish == "" && m.Info.Time.Completed.IsZero():
		reason = projection.Interrupted
	}
	if reason != "" {
		t.beginTurn(m.Info.ID, until)
		t.stopTurn(m.Info.ID, reason, failure, until)
	}
}

func (t *transcript) addOpenCodeTool(message string, p openCodePart) {
	started := p.State.Time.Start.Time
	t.beginTurn(message, t.timeOf(started))
	t.startTool(p.CallID, p.Tool, p.State.Input, started)
	ended := later(started, p.State.Time.End.Time)
	switch p.State.Status {
	case "completed":
		texts := []string{p.State.Output}
		for _, file := range p.State.Attachments {
			texts = append(texts, file.fileText())
		}
		t.completeTool(p.CallID, strings.Join(texts, "\n"), "", ended)
	case "error":
		t.completeTool(p.CallID, "", p.State.Error, ended)
	}
}

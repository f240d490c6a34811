package interchange

import (
	"encoding/json"
	"hash/maphash"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/projection"
)

// piFormat is the name of the format of Pi, which is also the id of its agent.
const piFormat = "pi"

var _ = RegisterFormat(Format{
	Name: piFormat,
	Detect: func(o Fields) bool {
		return o["type"] == "session" && o.Has("id", "timestamp", "cwd") ||
			o["type"] == "message" && o.Has("id", "parentId", "message")
	},
	Read: piSession,
})

// piLine is a line of a session of Pi: its header or an entry. The entries are a
// tree: it branches where the person went back. Version 1 has no ids.
type piLine struct {
	Type      string
	ID        string
	ParentID  string
	Timestamp timestamp
	CWD       string // of the header
	Name      string // of a session_info entry
	Message   piMessage
}

type piMessage struct {
	Role         string
	Content      piContent
	ToolCallID   string
	IsError      bool
	Model        string
	StopReason   string
	ErrorMessage string
	Usage        struct {
		Input, Output, CacheRead, CacheWrite int64
		Cost                                 struct{ Total float64 }
	}
}

// piContent is a text or a list of blocks. Anything else is empty.
type piContent []piBlock

type piBlock struct {
	Type      string
	Text      string
	Data      string // of an image, in base64
	MimeType  string
	ID, Name  string
	Arguments json.RawMessage
}

// UnmarshalJSON returns no error.
func (c *piContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = piContent{{Type: "text", Text: text}}
		return nil
	}
	var blocks []piBlock
	_ = json.Unmarshal(data, &blocks)
	*c = blocks
	return nil
}

// text joins the texts of the content.
func (c piContent) text() string { return strings.Join(c.texts(), "\n\n") }

// texts returns the texts, with placeholders for images. Thinking is left out.
func (c piContent) texts() (texts []string) {
	for _, block := range c {
		switch block.Type {
		case "text":
			texts = append(texts, block.Text)
		case "image":
			texts = append(texts, attachmentText("image", block.MimeType, stringValue(block.Data)))
		}
	}
	return texts
}

// piFile matches a file that Pi put into a message of a person.
var piFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<file name="([^"\n]*)">.*?</file>`)
})

// piHuman returns what a person wrote, with placeholders for files.
func piHuman(texts []string) []string {
	for i, text := range texts {
		texts[i] = piFile().ReplaceAllStringFunc(text, func(file string) string {
			return "[file: " + path.Base(piFile().FindStringSubmatch(file)[1]) + "]"
		})
	}
	return texts
}

// piSession returns the session of Pi that the branch with the last entry is, with
// the other branches.
func piSession(src Source, app projection.App) (*Session, error) {
	tree, err := readPiTree(src)
	if err != nil {
		return nil, err
	}
	active := tree.branch(int32(len(tree.parents) - 1))
	s, err := tree.session(src, app, active)
	if err != nil {
		return nil, err
	}
	owned := slices.Clone(active)
	for _, leaf := range tree.leaves() {
		first, conversation := leaf, false
		for i := leaf; i >= 0 && !owned[i]; i = tree.parents[i] {
			owned[i], first = true, i
			conversation = conversation || tree.messages[i]
		}
		if !conversation {
			continue
		}
		s.addBranch(func() (*Session, error) {
			name, err := piID(src, first)
			if err != nil {
				return nil, err
			}
			other, err := tree.session(src, app, tree.branch(leaf))
			if err == nil && name != "" {
				other.sourceID += "/" + name
				other.SetTeam(other.TeamID)
			}
			return other, err
		})
	}
	return s, nil
}

// piTree are the entries of a session.
type piTree struct {
	parents  []int32 // of each entry; -1: none
	messages []bool  // entries that are messages of a person or of the agent
}

// isPiEntry reports whether a line is an entry: an object, and not the header.
func isPiEntry(line []byte) bool {
	return isWhole(line) && string(jsonValue(line).field("type").plain()) != "session"
}

// readPiTree finds the parents of the entries. If a parent is missing, or there are no
// ids, the parent is the entry before. A parent is before its children, so there are
// no cycles.
func readPiTree(src Source) (*piTree, error) {
	p := &piTree{}
	entries, seed := map[uint64]int32{}, maphash.MakeSeed() // by hashes of their ids
	err := src.eachLine(func(_ int, line []byte) bool {
		if !isPiEntry(line) {
			return true
		}
		id, parentID := jsonValue(line).field("id").plain(), jsonValue(line).field("parentId").plain()
		i := int32(len(p.parents))
		parent, known := entries[maphash.Bytes(seed, parentID)]
		switch {
		case known:
		case len(parentID) > 0 || len(id) == 0:
			parent = i - 1
		default:
			parent = -1
		}
		entries[maphash.Bytes(seed, id)] = i
		role := string(jsonValue(line).field("message").field("role").plain())
		p.parents = append(p.parents, parent)
		p.messages = append(p.messages, role == "user" || role == "assistant")
		return len(p.parents) <= maxSourceNodes
	})
	if err == nil && len(p.parents) > maxSourceNodes {
		err = &LimitError{"the transcript", maxSourceNodes, "entries"}
	}
	return p, err
}

// piID returns the id of an entry.
func piID(src Source, entry int32) (id string, err error) {
	i := int32(-1)
	err = src.eachLine(func(_ int, line []byte) bool {
		if isPiEntry(line) {
			i++
		}
		if i == entry {
			id = jsonValue(line).field("id").text()
		}
		return i < entry
	})
	return id, err
}

// branch reports for each entry whether it leads to a leaf.
func (p *piTree) branch(leaf int32) []bool {
	on := make([]bool, len(p.parents))
	for i := leaf; i >= 0; i = p.parents[i] {
		on[i] = true
	}
	return on
}

// leaves returns the entries without children.
func (p *piTree) leaves() (leaves []int32) {
	followed := make([]bool, len(p.parents))
	for _, parent := range p.parents {
		if parent >= 0 {
			followed[parent] = true
		}
	}
	for i := range p.parents {
		if !followed[i] {
			leaves = append(leaves, int32(i))
		}
	}
	return leaves
}

// session returns the session of a branch.
func (p *piTree) session(src Source, app projection.App, branch []bool) (*Session, error) {
	return newSession(piFormat, src.Path, app, func(t *transcript) error { return t.readPi(src, branch) })
}

func (t *transcript) readPi(src Source, branch []bool) error {
	t.toolsFollow = true
	entry := -1
	return src.eachLine(func(_ int, text []byte) bool {
		on := false
		if isPiEntry(text) {
			if entry++; entry == len(branch) {
				return false // written since the first reading
			}
			on = branch[entry]
		}
		var line piLine
		switch {
		case json.Unmarshal(text, &line) != nil:
			t.addUnknown()
		case line.Type == "session":
			if t.id == "" {
				t.id, t.cwd = line.ID, line.CWD
				t.addTime(line.Timestamp.Time)
			}
		case line.Type == "session_info":
			t.title = line.Name
		case line.Type == "model_change", line.Type == "thinking_level_change":
		case line.Type == "message" && on:
			t.addPi(line)
		default:
			t.skipped++
		}
		return !t.stopped
	})
}

func (t *transcript) addPi(line piLine) {
	m, at := line.Message, line.Timestamp.Time
	switch m.Role {
	case "user":
		t.addHuman(line.ID, piHuman(m.Content.texts()), at)
	case "assistant":
		t.addPiReply(line)
	case "toolResult":
		output, failure := m.Content.text(), ""
		if m.IsError {
			output, failure = "", output
		}
		t.completeTool(m.ToolCallID, output, failure, at)
	default:
		t.skipped++
	}
}

func (t *transcript) addPiReply(line piLine) {
	m, at := line.Message, line.Timestamp.Time
	t.speak(agent(piFormat, "Pi"), m.Model)
	t.addReply(line.ID, m.Content.text(), at)
	for _, block := range m.Content {
		if block.Type == "toolCall" {
			t.beginTurn(line.ID, t.timeOf(at))
			t.startTool(block.ID, block.Name, block.Arguments, at)
		}
	}
	u := m.Usage
	t.addUsage(validUsage(projection.Usage{
		Input: u.Input, CachedRead: u.CacheRead, CachedWrite: u.CacheWrite, Output: u.Output,
	}, u.Cost.Total))
	switch m.StopReason {
	case "error", "aborted":
		t.beginTurn(line.ID, t.timeOf(at))
	}
	switch m.StopReason {
	case "error":
		t.stopTurn(line.ID, projection.Failed, m.ErrorMessage, at)
	case "aborted":
		t.stopTurn(line.ID, projection.Cancelled, "", at)
	}
}

// validUsage returns usage with its cost in US dollars, 0 being unknown, and
// without invalid numbers.
func validUsage(u projection.Usage, dollars float64) projection.Usage {
	for _, n := range []*int64{&u.Input, &u.CachedRead, &u.CachedWrite, &u.Output, &u.Thought} {
		*n = max(0, *n)
	}
	if cost := (projection.Cost{Amount: dollars, Currency: "USD"}); dollars > 0 && cost.Valid() {
		u.Cost = &cost
	}
	return u
}
